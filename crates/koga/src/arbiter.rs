//! Rivals are weighed by what they win. What loses stays in the report, with the winner and the rule.

use shakmaty::{Bitboard, Move, Position, Role, Square};

use crate::{
    line::{Line, captured},
    material::value,
    tactic::{Detections, Finding, FindingRole, Mark, Rejection, Rule, Tactic},
};

/// What Koga has to say of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Index into `findings` of what a player would name first.
    pub headline: Option<usize>,
    /// What stands: motifs before follow-ups before what was there already, the weightiest first.
    pub findings: Vec<Finding>,
    /// What a rival on the same ply, or the mate at the end, made needless.
    pub superseded: Vec<Superseded>,
    /// Shapes that a rule refused, by ply.
    pub rejections: Vec<Rejection>,
}

/// A finding that lost against another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Superseded {
    /// What lost.
    pub finding: Finding,
    /// What it lost against.
    pub by: Tactic,
    /// The rule that decided.
    pub rule: Rule,
}

/// A mate beats what never mattered on the way to it.
pub const R3: Rule = Rule { id: "R3", text: "The line ends in mate: its targets never mattered." };
/// Fork against its rivals.
pub const F10: Rule =
    Rule { id: "F10", text: "The rival on the same move wins more, or as much and says it more exactly." };
/// Discovered attack against a pinned defender.
pub const A8: Rule =
    Rule { id: "A8", text: "The rival on the same move wins more, or as much and says it more exactly." };
/// The more specific tactic against the double attack.
pub const D11: Rule = Rule { id: "D11", text: "The more specific tactic says the same." };
/// The bigger tactic against the capture that makes it.
pub const A7: Rule = Rule { id: "A7", text: "The same move does more than capture." };
/// Pinned defender against the pin.
pub const P8: Rule = Rule { id: "P8", text: "The capture that the pin makes possible says more." };
/// Capture of what an earlier finding won.
pub const H3: Rule = Rule { id: "H3", text: "The capture cashes in what the earlier tactic won." };
/// A fork with check whose forker is taken, of which nothing remains to weigh.
pub const F9: Rule = Rule { id: "F9", text: "The forking piece is taken, and the piece that takes it is not won." };
/// A piece given up, rather than a fork.
pub const F13: Rule = Rule {
    id: "F13",
    text: "The forking piece is taken, and beside what takes it and the king only pawns were attacked.",
};
/// Pawns that a player does not speak of.
pub const R4: Rule = Rule { id: "R4", text: "Only a pawn is at stake, and the line does not take it." };
/// Relevance.
pub const R1: Rule = Rule { id: "R1", text: "The line passes it over, and it forced nothing." };

/// The rules by which rivals are weighed.
pub const RULES: &[Rule] = &[R3, F10, A8, D11, A7, P8, H3, F9, F13, R4, R1];

/// Weighs what was detected.
pub fn arbitrate(line: &Line, detections: Detections) -> Report {
    let Detections { mut findings, mut rejections } = detections;
    if findings.is_empty() {
        return Report { rejections, ..Report::default() };
    }
    findings.retain(|finding| {
        let rule = if is_passed_over(line, finding) { Some(R1) } else { is_about_a_pawn(line, finding).then_some(R4) };
        rejections.extend(rule.map(|rule| refused(finding, rule)));
        rule.is_none()
    });
    let mut verdicts: Vec<Option<(Tactic, Rule)>> =
        findings.iter().map(|finding| superseded_by(line, finding, &findings)).collect();
    for index in 0..findings.len() {
        if verdicts[index].is_none() && findings[index].tactic == Tactic::HangingCapture {
            let standing = findings.iter().zip(&verdicts).filter(|(_, verdict)| verdict.is_none());
            let winner = cashed_in(line, &findings[index], standing.map(|(finding, _)| finding));
            verdicts[index] = winner.map(|winner| (winner, H3));
        }
    }
    let mut report = Report { rejections, ..Report::default() };
    for (finding, verdict) in findings.into_iter().zip(verdicts) {
        match verdict {
            Some((by, rule)) => report.superseded.push(Superseded { finding, by, rule }),
            None if is_taken_for_nothing(&finding) => report.rejections.push(refused(&finding, F9)),
            None if is_given_up(line, &finding) => report.rejections.push(refused(&finding, F13)),
            None => report.findings.push(finding),
        }
    }
    report.rejections.sort_by_key(|rejection| rejection.ply);
    report.findings.sort_by_key(|finding| (finding.role, precedence(line, finding)));
    report.superseded.sort_by_key(|lost| (lost.finding.ply, precedence(line, &lost.finding)));
    report.headline = headline(&report.findings);
    report
}

/// The mate if there is one, else the first motif, else the first follow-up.
fn headline(findings: &[Finding]) -> Option<usize> {
    let of_role = |role| findings.iter().position(|finding| finding.role == role);
    findings
        .iter()
        .position(|finding| finding.tactic.is_mate())
        .or_else(|| of_role(FindingRole::Motif))
        .or_else(|| of_role(FindingRole::FollowUp))
}

/// What the line pays before what it does not show before what it passes over; then the heavier, then the more specific,
/// then the earlier. A sacrifice is only the price of something else.
fn precedence(line: &Line, finding: &Finding) -> impl Ord + use<> {
    let relevance = match finding.won {
        _ if finding.tactic.is_mate() => 0,
        Some(won) if won > 0 => 1,
        // Where the line ends here nothing could be shown: what is at stake counts in full.
        None if finding.ply == line.len() => 1,
        None => 2,
        Some(_) => 3,
    };
    let rank = rank(finding.tactic);
    (finding.tactic == Tactic::Sacrifice, relevance, -finding.weight(), rank, finding.ply, finding.piece)
}

/// From the most to the least specific: how ties are broken.
fn rank(tactic: Tactic) -> u8 {
    match tactic {
        Tactic::BackRankMate => 0,
        Tactic::Checkmate => 1,
        Tactic::PinnedDefender => 2,
        Tactic::DiscoveredAttack => 3,
        Tactic::Fork => 4,
        Tactic::XRay => 5,
        Tactic::Pin => 6,
        Tactic::Skewer => 7,
        Tactic::DoubleAttack => 8,
        Tactic::TrappedPiece => 9,
        Tactic::RemovingTheDefender => 10,
        Tactic::HangingCapture => 11,
        Tactic::DiscoveredCheck => 12,
        Tactic::DoubleCheck => 13,
        Tactic::Sacrifice => 14,
    }
}

/// A fork or double attack with no more than a pawn to win, in a line that goes on or led up to it and does not take that
/// pawn (R4).
fn is_about_a_pawn(line: &Line, finding: &Finding) -> bool {
    matches!(finding.tactic, Tactic::Fork | Tactic::DoubleAttack)
        && finding.role != FindingRole::Enabling
        && line.len() > 1
        && finding.prize <= Some(value(Role::Pawn))
        && finding.won.is_none_or(|won| won == 0)
        && finding.marked(Mark::Refuter).is_empty()
        && finding.marked(Mark::Mate).is_empty()
        && !(finding.role == FindingRole::FollowUp && finding.won == Some(0) && chased_away(line, finding))
}

/// A fork or double attack on a later ply that the line does not cash in and that forced nothing (R1).
fn is_passed_over(line: &Line, finding: &Finding) -> bool {
    let applies = matches!(finding.tactic, Tactic::Fork | Tactic::DoubleAttack)
        && finding.role == FindingRole::FollowUp
        && finding.won == Some(0);
    applies && !line.positions[finding.ply].is_check() && !chased_away(line, finding)
}

/// Whether the line's answer moves the heaviest target away, the king apart.
fn chased_away(line: &Line, finding: &Finding) -> bool {
    let board = line.positions[finding.ply].board();
    let worth = |sq: &Square| board.role_at(*sq).filter(|role| *role != Role::King).map_or(0, value);
    let heaviest = finding.targets.iter().map(worth).max();
    let leaver = line.moves.get(finding.ply).and_then(|m| m.from());
    leaver.is_some_and(|from| finding.targets.contains(&from) && Some(worth(&from)) == heaviest)
}

/// A fork whose forker is taken and that the line shows winning nothing: with check it may still be weighed against rivals,
/// but it does not stand (F9).
fn is_taken_for_nothing(finding: &Finding) -> bool {
    finding.tactic == Tactic::Fork
        && finding.role != FindingRole::Enabling
        && finding.weight() == 0
        && finding.marked(Mark::Refuter).any()
}

/// Whether a fork's piece was given up rather than played to fork (F13): it is taken, and what it attacked beside the king
/// (without check: beside what takes it) were pawns that the line does not take.
fn is_given_up(line: &Line, finding: &Finding) -> bool {
    let refuter = finding.marked(Mark::Refuter);
    if finding.tactic != Tactic::Fork || finding.role == FindingRole::Enabling || refuter.is_empty() {
        return false;
    }
    let board = line.positions[finding.ply].board();
    let targets: Bitboard = finding.targets.iter().copied().collect();
    let rest = if (targets & board.kings()).any() { targets & !board.kings() } else { targets & !refuter };
    let takes = |m: &Move| captured(*m).is_some_and(|(sq, _)| rest.contains(sq));
    rest.is_subset(board.pawns()) && !line.moves[finding.ply..].iter().skip(1).step_by(2).any(takes)
}

/// Whether a fork or double attack in a line that mates does not matter: it takes none of its targets, or only a pawn by
/// the mating move itself, or the mate is what takes the taker of the forker (R3).
fn is_fork_to_mate(line: &Line, finding: &Finding) -> bool {
    let takes_a_pawn = || line.moves.last().and_then(|m| captured(*m)).is_some_and(|(_, role)| role == Role::Pawn);
    let recaptures = || finding.marked(Mark::Refuter).any();
    matches!(finding.tactic, Tactic::Fork | Tactic::DoubleAttack)
        && (finding.won.is_none_or(|won| won == 0)
            || (finding.ply + 2 >= line.len() && (takes_a_pawn() || recaptures())))
}

fn refused(finding: &Finding, rule: Rule) -> Rejection {
    let squares = finding.targets.iter().copied().collect::<Bitboard>().with(finding.piece);
    Rejection { tactic: finding.tactic, ply: finding.ply, rule, squares }
}

/// The rival that makes a finding needless, and the rule that says so.
fn superseded_by(line: &Line, finding: &Finding, all: &[Finding]) -> Option<(Tactic, Rule)> {
    let mate = all.iter().find(|other| other.tactic.is_mate());
    let rivals = || all.iter().filter(|rival| rival.ply == finding.ply && rival.role != FindingRole::Enabling);
    let stronger = |tactics: &[Tactic]| {
        rivals().filter(|rival| tactics.contains(&rival.tactic)).min_by_key(|rival| precedence(line, rival))
    };
    // What does not stand itself beats nothing.
    let standing = |tactics: &[Tactic]| {
        let falls = |rival: &Finding| {
            is_taken_for_nothing(rival) || is_given_up(line, rival) || (mate.is_some() && is_fork_to_mate(line, rival))
        };
        let of = |rival: &&Finding| tactics.contains(&rival.tactic);
        rivals().filter(of).filter(|rival| !falls(rival)).min_by_key(|rival| precedence(line, rival))
    };
    match finding.tactic {
        Tactic::Fork | Tactic::DoubleAttack if mate.is_some() && is_fork_to_mate(line, finding) => {
            mate.map(|mate| (mate.tactic, R3))
        }
        Tactic::Fork | Tactic::DiscoveredAttack | Tactic::PinnedDefender => {
            if finding.role == FindingRole::Enabling {
                return None;
            }
            let best = standing(&SPECIFIC).filter(|best| best.tactic != finding.tactic)?;
            let about_fork = [best.tactic, finding.tactic].contains(&Tactic::Fork);
            Some((best.tactic, if about_fork { F10 } else { A8 }))
        }
        // What it takes, it takes with the mating move.
        Tactic::Skewer if finding.ply + 2 >= line.len() => mate.map(|mate| (mate.tactic, R3)),
        Tactic::DoubleAttack => stronger(&SPECIFIC).map(|rival| (rival.tactic, D11)),
        Tactic::HangingCapture => {
            if let Some(mate) = mate.filter(|mate| mate.ply == finding.ply) {
                return Some((mate.tactic, R3));
            }
            let same_move = stronger(&SPECIFIC).filter(|rival| rival.weight() >= finding.weight());
            same_move.map(|rival| (rival.tactic, A7))
        }
        Tactic::Pin => {
            let capture = rivals().find(|rival| {
                rival.tactic == Tactic::PinnedDefender && rival.marked(Mark::Defender).contains(finding.targets[0])
            });
            capture.map(|rival| (rival.tactic, P8))
        }
        _ => None,
    }
}

/// The tactics that are weighed against each other on one ply.
const SPECIFIC: [Tactic; 3] = [Tactic::PinnedDefender, Tactic::DiscoveredAttack, Tactic::Fork];

/// The earlier finding whose target this capture takes.
fn cashed_in<'f>(line: &Line, capture: &Finding, standing: impl Iterator<Item = &'f Finding>) -> Option<Tactic> {
    let victim = line.origin(capture.targets[0], capture.ply - 1);
    let earlier = standing.filter(|other| other.ply < capture.ply && other.role != FindingRole::Enabling);
    earlier
        .filter(|other| other.tactic != Tactic::Sacrifice && other.tactic != Tactic::HangingCapture)
        .filter(|other| other.targets.iter().any(|sq| line.origin(*sq, other.ply) == victim))
        .min_by_key(|other| rank(other.tactic))
        .map(|other| other.tactic)
}

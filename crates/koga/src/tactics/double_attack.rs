//! A **double attack** is two threats at once that cannot both be met. The name is used where no more specific
//! tactic describes them.
//!
//! # Reported when
//!
//! One of our moves makes two of these threats: a check (D2); an attack by the moved piece on a piece worth a
//! knight or more that is undefended or worth more than the attacker (D1); mate in one, were it our move again,
//! apart from taking that piece (D3); another enemy piece newly hanging to another piece of ours (D4); an
//! attacked piece together with the mate that ends the line, by another piece (D5). An attacker pinned to its
//! king counts if the pinner is a target worth more than the attacker (D10).
//!
//! # Not reported when
//!
//! - There is one threat only: a check alone, an attacked piece alone (D7), or a mate that is the capture of the
//!   attacked piece itself (D6).
//! - The attacker is taken on the next ply and neither target is ever won (D8), or can simply be taken where the
//!   line ends.
//! - The captures would not be legal (D9), and the pinner is no target worth more than the attacker (D10).
//! - A fork, discovered attack or pinned defender on the same ply says it better (D11): superseded.
//!
//! # Known gaps
//!
//! Threats of mate in two or more and threats to promote are not counted.

use shakmaty::Bitboard;

use crate::{
    material::{PIECE, Points, value},
    mobility::{mates_in_one, passed},
    pins::pins,
    survey::{CashIn, Survey},
    tactic::{Detections, Finding, Mark, Rule, Tactic},
    words::{Words, alternatives, list},
};

pub(super) const D6: Rule = Rule { id: "D6", text: "The mate is the capture of the attacked piece: one threat." };
pub(super) const D8: Rule = Rule { id: "D8", text: "The attacking piece is taken, and the line takes neither target." };
pub(super) const D9: Rule = Rule { id: "D9", text: "The attacking piece may not take: it would expose its own king." };
pub(super) const D10: Rule = Rule {
    id: "D10",
    text: "The attacking piece is pinned by a target worth no more than itself, which simply takes it.",
};

/// The rules by which a double attack is refused.
pub(super) const RULES: &[Rule] = &[D6, D8, D9, D10];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    let shape = s.newly_attacked().without(s.king).into_iter().filter(|sq| s.value(*sq) >= PIECE).collect::<Bitboard>();
    let check = !s.checkers.is_empty();
    let in_danger = |sq: &_| s.value(*sq) > value(s.role) || s.guards(*sq, s.to).is_empty();
    let mut attacked: Bitboard = shape.into_iter().filter(|sq| s.can_capture(s.to, *sq)).filter(in_danger).collect();
    if shape != attacked && usize::from(check) + shape.count() > 1 {
        match take_the_pinner(s, shape) {
            Some(Ok(both)) => attacked = both,
            Some(Err(rule)) => {
                return out.reject(Tactic::DoubleAttack, s.ply, rule, shape.with(s.to));
            }
            None => {}
        }
    }
    if !check && attacked.is_empty() {
        return;
    }
    let (hanging, attacker) = newly_hanging(s, attacked);
    let mut threats = usize::from(check) + attacked.count() + hanging.count();
    let mut mate = Bitboard::EMPTY;
    if threats == 1 && !check {
        let (elsewhere, on_target) = threatened_mates(s, attacked);
        mate = elsewhere;
        if mate.is_empty() && on_target {
            out.reject(Tactic::DoubleAttack, s.ply, D6, attacked.with(s.to));
        } else if mate.is_empty() && ends_in_mate_by_another(s) {
            mate = s.line.moves.last().map(|m| m.to()).into_iter().collect();
        }
        threats += usize::from(mate.any());
    }
    if threats < 2 {
        return;
    }

    let victims = attacked | hanging;
    let mut finding = Finding::new(Tactic::DoubleAttack, s.ply, s.to);
    let king = (check || mate.any()).then_some(s.king);
    finding.targets.extend(victims | Bitboard::from_iter(king));
    finding.won = s.payoff(victims);
    finding.prize = Some(prize(s, victims, hanging, king.is_some()));
    finding.mark(Mark::Attacker, attacker);
    finding.mark(Mark::Mate, mate);
    let won_later = matches!(s.cash_in(victims), CashIn::Won { .. } | CashIn::Taken);
    if !s.survives() && !won_later {
        return out.reject(Tactic::DoubleAttack, s.ply, D8, victims.with(s.to));
    }
    out.findings.push(finding);
}

/// The attacked pieces of a pinned attacker: all of them if one is the pinner and worth more (D10), else why not.
fn take_the_pinner(s: &Survey, shape: Bitboard) -> Option<Result<Bitboard, Rule>> {
    let theirs = pins(&s.men, s.them);
    let pin = theirs.iter().find(|pin| pin.absolute && pin.pinned == s.to)?;
    if shape.is_subset(Bitboard::from_square(pin.pinner)) {
        return None;
    }
    if !shape.contains(pin.pinner) {
        return Some(Err(D9));
    }
    if s.value(pin.pinner) <= value(s.role) {
        return Some(Err(D10));
    }
    let others = shape.into_iter().filter(|sq| s.value(*sq) > value(s.role) || s.guards(*sq, s.to).is_empty());
    Some(Ok(others.chain([pin.pinner]).collect()))
}

/// Enemy pieces that hang to another piece of ours since this move (D4), and the pieces that they hang to.
fn newly_hanging(s: &Survey, attacked: Bitboard) -> (Bitboard, Bitboard) {
    let (mut hanging, mut by) = (Bitboard::EMPTY, Bitboard::EMPTY);
    for sq in s.theirs & !s.board.pawns() & !s.board.kings() & !attacked {
        let ours = s.men.attackers(sq, s.us).without(s.to);
        let takes_for_free = |from: &_| s.can_capture(*from, sq) && s.guards(sq, *from).is_empty();
        let takers: Bitboard = ours.into_iter().filter(takes_for_free).collect();
        if takers.is_empty() {
            continue;
        }
        let was_attacked = s.past.attackers(sq, s.us).any();
        if !was_attacked || s.exchange_before(sq) <= 0 {
            hanging.add(sq);
            by |= takers;
        }
    }
    (hanging, by)
}

fn prize(s: &Survey, victims: Bitboard, hanging: Bitboard, with_check: bool) -> Points {
    let net = |sq| {
        let guarded = !hanging.contains(sq) && s.guards(sq, s.to).any();
        s.value(sq) - if guarded { value(s.role) } else { 0 }
    };
    let mut nets: Vec<Points> = victims.into_iter().map(net).collect();
    nets.sort_unstable();
    nets.into_iter().rev().nth(usize::from(!with_check)).unwrap_or(0).max(0)
}

/// Where we would mate in one if the enemy passed and could not before the move (D3), apart from taking the attacked pieces;
/// and whether taking one of them would mate (D6).
fn threatened_mates(s: &Survey, attacked: Bitboard) -> (Bitboard, bool) {
    let Some(passed) = passed(s.after) else {
        return (Bitboard::EMPTY, false);
    };
    let now: Bitboard = mates_in_one(&passed).into_iter().map(|m| m.to()).collect();
    if now.is_empty() {
        return (now, false);
    }
    let before: Bitboard = mates_in_one(s.before).into_iter().map(|m| m.to()).collect();
    (now & !before & !attacked, (now & attacked).any())
}

/// Whether the line ends in mate by a piece other than the one moved here (D5).
fn ends_in_mate_by_another(s: &Survey) -> bool {
    let last = s.line.len();
    if last == s.ply || !s.line.mates {
        return false;
    }
    let Some(ply) = s.line.ply(last) else {
        return false;
    };
    let mater = crate::line::moved(ply.m)[0].map(|(from, _)| s.line.origin(from, last - 1));
    mater != Some(s.line.origin(s.to, s.ply))
}

pub(super) fn explain(w: &Words) -> String {
    let s = &w.survey;
    let hands = w.finding.marked(Mark::Attacker);
    let mut threats = Vec::new();
    if s.checkers.any() {
        threats.push(format!("{} the king", if s.checkers.contains(s.to) { "checks" } else { "uncovers a check to" }));
    }
    let victims: Bitboard = w.finding.targets.iter().copied().filter(|sq| *sq != s.king).collect();
    let direct = victims & s.attacks(s.to);
    if direct.any() {
        threats.push(format!("attacks {}", w.men(direct)));
    }
    let mates = w.finding.marked(Mark::Mate);
    if mates.any() {
        let in_line = s.line.mates && s.line.moves.last().is_some_and(|m| mates.contains(m.to()));
        let squares: Vec<String> = mates.into_iter().map(|sq| sq.to_string()).collect();
        let verb = if in_line { "prepares the mate" } else { "threatens mate" };
        threats.push(format!("{verb} on {}", alternatives(&squares)));
    }
    let left = victims & !direct;
    if left.any() {
        threats.push(format!("leaves {} hanging to {}", w.men(left), w.men(hands)));
    }
    let count = victims.count() + usize::from(s.checkers.any()) + usize::from(mates.any());
    let number = ["two", "two", "two", "three", "four"].get(count).copied().unwrap_or("many");
    format!("{} {}: {number} threats at once.{}", w.man(s.to), list(&threats), w.outcome(victims))
}

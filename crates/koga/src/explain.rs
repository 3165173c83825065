//! Sentences: what a coach would say of a finding, and no more than the board proves.

use shakmaty::Position;

use crate::{
    Finding, Line, Rejection, Superseded, Tactic,
    material::Points,
    tactics::Definition,
    words::{Words, capitalized, list, man, side, worth},
};

/// A finding in one or two sentences.
///
/// ```
/// use koga::{Line, analyze, explain};
/// let line = Line::parse("r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1", ["Nc7+", "Kd8", "Nxa8"])?;
/// let report = analyze(&line);
/// assert_eq!(
///     explain::finding(&line, &report.findings[0]),
///     "The knight on c7 forks the king on e8 and the rook on a8. White wins the rook with Nxa8."
/// );
/// # Ok::<_, koga::parse::ParseError>(())
/// ```
pub fn finding(line: &Line, finding: &Finding) -> String {
    capitalized(&(Definition::of(finding.tactic).explain)(&Words::new(line, finding)))
}

/// A finding that lost, and against what.
pub fn superseded(line: &Line, lost: &Superseded) -> String {
    format!("{} {}", finding(line, &lost.finding), capitalized(&reason(lost)))
}

/// Against what a finding lost, and by which rule.
pub fn reason(lost: &Superseded) -> String {
    format!("superseded by the {} ({}). {}", title(lost.by), lost.rule.id, lost.rule.text)
}

/// A shape that was refused, and why.
pub fn rejection(line: &Line, rejection: &Rejection) -> String {
    let board = line.positions[rejection.ply].board();
    let men: Vec<String> = rejection.squares.into_iter().map(|sq| man(board, sq)).collect();
    format!("{} ({})", rejection.rule.text, list(&men))
}

/// What the line wins or loses in all, as a sentence; nothing for a line that mates or keeps the balance.
pub fn line_won(line: &Line) -> Option<String> {
    let won: Points = line.won();
    if line.end().is_stalemate() {
        return Some("The line ends in stalemate: a draw.".to_owned());
    }
    match (line.mates, won) {
        (false, ..=-1) => Some(format!("When the line ends, {} has given up {}.", side(line.pov()), worth(-won))),
        (false, 1..) => Some(format!("In all the line wins {} for {}.", worth(won), side(line.pov()))),
        _ => None,
    }
}

/// The tactic's name in a sentence: "discovered attack".
pub fn title(tactic: Tactic) -> &'static str {
    match tactic {
        Tactic::Fork => "fork",
        Tactic::DoubleAttack => "double attack",
        Tactic::DiscoveredAttack => "discovered attack",
        Tactic::DiscoveredCheck => "discovered check",
        Tactic::DoubleCheck => "double check",
        Tactic::Pin => "pin",
        Tactic::XRay => "x-ray",
        Tactic::PinnedDefender => "pinned defender",
        Tactic::TrappedPiece => "trapped piece",
        Tactic::HangingCapture => "hanging capture",
        Tactic::RemovingTheDefender => "removal of the defender",
        Tactic::Sacrifice => "sacrifice",
        Tactic::BackRankMate => "back-rank mate",
        Tactic::Checkmate => "checkmate",
        Tactic::Skewer => "skewer",
    }
}

//! What tactics are called in the column `KogaThemes`.

use koga::{FindingRole, Report, Tactic};

/// A tactic's name in the manner of the Lichess themes.
///
/// ```
/// assert_eq!(koga_tag::theme(koga::Tactic::DiscoveredAttack), "discoveredAttack");
/// ```
pub const fn theme(tactic: Tactic) -> &'static str {
    match tactic {
        Tactic::Fork => "fork",
        Tactic::DoubleAttack => "doubleAttack",
        Tactic::DiscoveredAttack => "discoveredAttack",
        Tactic::DiscoveredCheck => "discoveredCheck",
        Tactic::DoubleCheck => "doubleCheck",
        Tactic::Pin => "pin",
        Tactic::XRay => "xRayAttack",
        Tactic::PinnedDefender => "pinnedDefender",
        Tactic::TrappedPiece => "trappedPiece",
        Tactic::HangingCapture => "hangingPiece",
        Tactic::RemovingTheDefender => "capturingDefender",
        Tactic::Sacrifice => "sacrifice",
        Tactic::BackRankMate => "backRankMate",
        Tactic::Checkmate => "mate",
        Tactic::Skewer => "skewer",
    }
}

/// The themes of a report: what the line makes, not what was there before, each once, in the report's order.
pub fn themes(report: &Report) -> impl Iterator<Item = &'static str> + '_ {
    let made = |n: &usize| report.findings[*n].role != FindingRole::Enabling;
    let tactic = |n: usize| report.findings[n].tactic;
    (0..report.findings.len())
        .filter(made)
        .filter(move |n| (0..*n).filter(made).all(|before| tactic(before) != tactic(*n)))
        .map(move |n| theme(tactic(n)))
}

//! **Checkmate** ends the game: the king is attacked and nothing helps.
//!
//! # Reported when
//!
//! The last move of the line is ours and mates.
//!
//! # Not reported when
//!
//! - The king is mated along its first rank behind its own men: that is a back-rank mate.
//! - The enemy has no move but is not in check: stalemate is no mate.
//!
//! # Known gaps
//!
//! The named mating patterns are not told apart yet.

use super::back_rank_mate::is_back_rank;
use crate::{
    survey::Survey,
    tactic::{Detections, Finding, Mark, Rule, Tactic},
    words::Words,
};

/// A mate is a mate: no rule refuses one.
pub(super) const RULES: &[Rule] = &[];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    if s.is_mate() && !is_back_rank(s) {
        out.findings.push(finding(s, Tactic::Checkmate));
    }
}

/// The finding of a mate on this ply.
pub(super) fn finding(s: &Survey, tactic: Tactic) -> Finding {
    // Of several uncovered checkers none is the one: the piece that uncovered them acts.
    let mut finding = Finding::new(tactic, s.ply, s.checkers.single_square().unwrap_or(s.to));
    finding.targets.push(s.king);
    finding.mark(Mark::Attacker, s.checkers.without(finding.piece));
    finding.prize = None;
    finding.won = None;
    finding
}

pub(super) fn explain(w: &Words) -> String {
    let verb = if w.survey.checkers.more_than_one() { "mate" } else { "mates" };
    format!("{} {verb} the king on {}.", w.men(w.survey.checkers), w.survey.king)
}

//! A **double check** is check by two pieces at once: only a king move answers it.
//!
//! # Reported when
//!
//! After our move two of our pieces attack the enemy king.
//!
//! # Not reported when
//!
//! - One piece gives check, whatever else it attacks.
//!
//! # Known gaps
//!
//! None.

use super::discovered_attack::{free_hand, role};
use crate::{
    survey::Survey,
    tactic::{Detections, Finding, Mark, Rule, Tactic},
    words::Words,
};

/// No shape of a double check is ever refused.
pub(super) const RULES: &[Rule] = &[];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    if !s.checkers.more_than_one() {
        return;
    }
    let mut finding = Finding::new(Tactic::DoubleCheck, s.ply, s.to);
    finding.role = role(s);
    finding.targets.push(s.king);
    finding.mark(Mark::Attacker, s.checkers.without(s.to));
    finding.prize = Some(free_hand(s));
    finding.won = s.payoff((s.attacks(s.to) & s.theirs).without(s.king));
    out.findings.push(finding);
}

pub(super) fn explain(w: &Words) -> String {
    let s = &w.survey;
    format!("{} give check at once: only the king can move.", w.men(s.checkers))
}

//! A capture with a **pinned defender** takes a piece that looks defended: every man that could take back is pinned.
//!
//! # Reported when
//!
//! We capture a piece; at least one enemy man attacks the square; and none of them may legally take back because each
//! is pinned to its king by one of our sliders. The capture must win something by it.
//!
//! # Not reported when
//!
//! - A defender may take back after all: it is not pinned, or may capture along the pin line (N1).
//! - The line gives it back, or it only takes back what was just lost (N2).
//! - A fork or discovered attack on the same ply wins more (A8): superseded.
//!
//! # Known gaps
//!
//! Defenders pinned only to a queen or rook are not counted: they may legally take back.

use crate::{
    material::value,
    pins::pinned_to_king,
    survey::Survey,
    tactic::{Detections, Finding, Mark, Rule, Tactic},
    words::{Words, name},
};

pub(super) const N1: Rule = Rule { id: "N1", text: "A defender is pinned, but another man may take back." };
pub(super) const N2: Rule = Rule { id: "N2", text: "The defenders are pinned, but nothing is won by it." };

/// The rules by which a capture with a pinned defender is refused.
pub(super) const RULES: &[Rule] = &[N1, N2];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    let Some((sq, role)) = s.captured else { return };
    let defenders = s.men.attackers(s.to, s.them).without(s.king);
    if defenders.is_empty() {
        return;
    }
    let pinned = defenders & pinned_to_king(&s.men, s.us);
    if pinned.is_empty() {
        return;
    }
    let squares = defenders.with(s.to);
    if pinned != defenders || s.men.capturers(s.to, s.them).any() {
        return out.reject(Tactic::PinnedDefender, s.ply, N1, squares);
    }
    let mut finding = Finding::new(Tactic::PinnedDefender, s.ply, s.to);
    finding.targets.push(sq);
    finding.mark(Mark::Defender, pinned);
    finding.prize = Some(value(role));
    finding.won = Some((s.line.settled_balance(s.ply) - s.line.balance(s.ply - 1)).max(0));
    if finding.won == Some(0) || (s.is_recapture() && value(role) <= s.just_lost()) {
        return out.reject(Tactic::PinnedDefender, s.ply, N2, squares);
    }
    out.findings.push(finding);
}

pub(super) fn explain(w: &Words) -> String {
    let s = &w.survey;
    let defenders = w.finding.marked(Mark::Defender);
    let (are, them) = if defenders.more_than_one() { ("are", "They") } else { ("is", "It") };
    let taken = s.captured.map_or("piece", |(_, role)| name(role));
    format!(
        "{} takes the {taken} on {}, which only {} guarded. {them} {are} pinned to the king and may not take back.",
        w.man(s.to).split(" on ").next().unwrap_or_default(),
        s.to,
        w.men(defenders),
    )
}

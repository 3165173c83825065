//! A **discovered check** is a discovered attack on the king: the moved piece opens a line to it and is free to
//! do what it likes, since the check comes first.
//!
//! # Reported when
//!
//! The moved piece was the only man between our slider and the enemy king, and the slider gives check now (A3).
//! The discovered attack is reported with it; if the moved piece checks too, double check as well.
//!
//! # Not reported when
//!
//! - The moved piece gives check alone: nothing was uncovered.
//! - The move is castling, whatever the rook attacks then (A2).
//!
//! # Known gaps
//!
//! None.

use shakmaty::{Bitboard, Position};

use super::discovered_attack::{free_hand, role};
use crate::{
    survey::{Discovery, Survey},
    tactic::{Detections, Finding, Mark, Rule, Tactic},
    words::{Words, name},
};

/// No shape of a discovered check is ever refused.
pub(super) const RULES: &[Rule] = &[];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    for &Discovery { slider, target } in &s.discoveries {
        if target != s.king {
            continue;
        }
        let mut finding = Finding::new(Tactic::DiscoveredCheck, s.ply, slider);
        finding.role = role(s);
        finding.targets.push(target);
        finding.mark(Mark::Mover, Bitboard::from_square(s.to));
        finding.prize = Some(free_hand(s));
        finding.won = s.payoff((s.attacks(s.to) & s.theirs).without(s.king));
        out.findings.push(finding);
    }
}

pub(super) fn explain(w: &Words) -> String {
    let s = &w.survey;
    let mover = s.before.board().role_at(s.from).map_or("piece", name);
    format!("moving the {mover} to {} uncovers check from {}.", s.to, w.man(w.finding.piece))
}

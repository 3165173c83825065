//! A **hanging capture** takes a piece that is not sufficiently defended: undefended, outnumbered, or worth more than
//! what takes it.
//!
//! # Reported when
//!
//! Our move captures a knight or more and the exchange on its square wins material for us.
//!
//! # Not reported when
//!
//! - It is a recapture: the enemy has just taken there (H1).
//! - The line's answer gets it back at once: there, or elsewhere in a line that wins nothing (H2).
//! - A fork, discovered attack or pinned defender by the same move says it better (A7): superseded.
//! - It cashes in what an earlier finding of the line won: superseded by that one.
//!
//! # Known gaps
//!
//! At the root the enemy's last move is known only if it is given; without it a recapture there looks like a capture.

use shakmaty::Role;

use crate::{
    exchange::move_value,
    material::{PIECE, value},
    survey::Survey,
    tactic::{Detections, Finding, Rule, Tactic},
    words::{Words, name},
};

pub(super) const H1: Rule = Rule { id: "H1", text: "It takes back where the enemy has just taken: a recapture." };
pub(super) const H2: Rule = Rule { id: "H2", text: "The line gives back what the capture won." };

/// The rules by which a hanging capture is refused.
pub(super) const RULES: &[Rule] = &[H1, H2];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    let Some((sq, role)) = s.captured.filter(|(_, role)| value(*role) >= PIECE) else {
        return;
    };
    let net = move_value(s.before, s.m);
    if net <= 0 {
        return;
    }
    let squares = shakmaty::Bitboard::from_iter([sq, s.to]);
    if s.is_recapture() {
        return out.reject(Tactic::HangingCapture, s.ply, H1, squares);
    }
    let promoted = s.m.promotion().map_or(0, |role| value(role) - value(Role::Pawn));
    let won = s.line.settled_balance(s.ply) - s.line.balance(s.ply - 1) - promoted;
    let answered = s.line.ply(s.ply + 1).filter(|reply| reply.captured().is_some());
    let left = answered.map_or(won, |reply| s.line.settled_balance(reply.number) - s.line.balance(s.ply - 1));
    let in_all = s.line.won() + s.line.balance(0) - s.line.balance(s.ply - 1);
    if won <= 0 || (left <= 0 && in_all <= 0) {
        return out.reject(Tactic::HangingCapture, s.ply, H2, squares);
    }
    let mut finding = Finding::new(Tactic::HangingCapture, s.ply, s.to);
    finding.targets.push(sq);
    finding.prize = Some(net.min(value(role)));
    finding.won = Some(won);
    out.findings.push(finding);
}

pub(super) fn explain(w: &Words) -> String {
    let s = &w.survey;
    let Some((sq, role)) = s.captured else {
        return String::new();
    };
    // A pawn that promotes takes as a pawn.
    let (taker, taken) = (s.m.role(), name(role));
    let worth_more = value(role) > value(taker);
    let taker = name(taker);
    let guards = s.men.capturers(s.to, s.them);
    if guards.is_empty() {
        return format!("the {taker} takes the {taken} on {sq}, and nothing can take back.");
    }
    if worth_more {
        return format!("the {taker} takes the {taken} on {sq}, which is worth more, guarded or not.");
    }
    format!("the {taker} takes the {taken} on {sq}, which is not guarded well enough against all that attacks it.")
}

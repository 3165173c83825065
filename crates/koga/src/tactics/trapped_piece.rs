//! A **trapped piece** is attacked and has nowhere to go: every move of it, and staying, loses material.
//!
//! # Reported when
//!
//! After our move an enemy knight, bishop, rook or queen is attacked so that taking it wins material, and every legal
//! move of it leads to a square where it is lost at a profit for us, whatever it takes there. Enabling if it was
//! trapped before the move.
//!
//! # Not reported when
//!
//! - It has a move that loses nothing.
//! - Another man can help: take the attacker, step in between, or guard it well enough (T1).
//! - The moved piece is taken at once, or can simply be taken (T2).
//! - It is pinned to its king: that is a pin.
//! - The enemy is in check: the check decides what may move.
//!
//! # Known gaps
//!
//! A check that leads the attacker away is not seen as help.

use shakmaty::{Bitboard, Square};

use crate::{
    mobility::{is_beyond_help, loses_wherever_it_goes, passed},
    pins::pinned_to_king,
    survey::Survey,
    tactic::{Detections, Finding, FindingRole, Rule, Tactic},
    words::Words,
};

pub(super) const T1: Rule =
    Rule { id: "T1", text: "The attacked piece has nowhere to go, but another man can come to its help." };

pub(super) const T2: Rule = Rule { id: "T2", text: "The moved piece is taken at once." };

/// The rules by which a trapped piece is refused.
pub(super) const RULES: &[Rule] = &[T1, T2];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    if s.checkers.any() {
        return;
    }
    let big = s.theirs & !s.board.pawns() & !s.board.kings();
    let mut attacked = big.into_iter().filter(|sq| s.exchange(*sq) > 0).collect::<Bitboard>();
    if attacked.is_empty() {
        return;
    }
    attacked &= !pinned_to_king(&s.men, s.us);
    for sq in attacked {
        let known = |finding: &Finding| {
            finding.tactic == Tactic::TrappedPiece
                && s.line.origin(finding.targets[0], finding.ply) == s.line.origin(sq, s.ply)
        };
        if out.findings.iter().any(known) {
            continue;
        }
        // Any attacked piece has this shape: a rejection is worth recording only where it cannot move.
        if !loses_wherever_it_goes(s.after, sq) {
            continue;
        }
        let mover_falls = match s.refuter() {
            Some(refuter) => refuter != sq,
            None => s.reply.is_none() && s.men.without(sq).exchange(s.to, s.them) > 0,
        };
        if mover_falls {
            out.reject(Tactic::TrappedPiece, s.ply, T2, Bitboard::from_iter([sq, s.to]));
            continue;
        }
        if !is_beyond_help(s.after, sq) {
            out.reject(Tactic::TrappedPiece, s.ply, T1, Bitboard::from_square(sq));
            continue;
        }
        let mut finding = Finding::new(Tactic::TrappedPiece, s.ply, s.to);
        finding.targets.push(sq);
        if was_trapped(s, sq) {
            finding.role = FindingRole::Enabling;
        }
        finding.prize = Some(s.exchange(sq));
        finding.won = s.payoff(Bitboard::from_square(sq));
        out.findings.push(finding);
    }
}

fn was_trapped(s: &Survey, sq: Square) -> bool {
    let attacked = s.past.exchange(sq, s.us) > 0;
    attacked && passed(s.before).is_some_and(|pos| loses_wherever_it_goes(&pos, sq))
}

pub(super) fn explain(w: &Words) -> String {
    let target = w.finding.targets[0];
    let already = if w.finding.role == FindingRole::Enabling { "is still" } else { "is" };
    format!(
        "{} {already} attacked and trapped: wherever it goes, and if it stays, it is lost.{}",
        w.man(target),
        w.outcome(Bitboard::from_square(target))
    )
}

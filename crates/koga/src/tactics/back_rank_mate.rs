//! A **back-rank mate** is mate by a rook or queen along the king's first rank, with the king's own men in its way.
//!
//! # Reported when
//!
//! The last move of the line is ours and mates; a rook or queen gives the check along the rank that is the king's
//! first; and its own men bar it most of the squares in front of it, on which we do not attack them: it is their fault that it
//! cannot step out.
//!
//! # Not reported when
//!
//! - The check comes from elsewhere, or the king stands on another rank: that is checkmate.
//! - It is mostly we who bar the way, by attacking the squares in front (B1).
//!
//! # Known gaps
//!
//! None.

use shakmaty::{Bitboard, attacks::king_attacks};

use super::checkmate::finding;
use crate::{
    survey::Survey,
    tactic::{Detections, Mark, Rule, Tactic},
    words::Words,
};

pub(super) const B1: Rule =
    Rule { id: "B1", text: "Mate on the first rank, but it is mostly our own pieces that bar the king's way." };

/// The rules by which a back-rank mate is refused.
pub(super) const RULES: &[Rule] = &[B1];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    if !s.is_mate() || !along_first_rank(s) {
        return;
    }
    if is_back_rank(s) {
        let mut finding = finding(s, Tactic::BackRankMate);
        let mater = checkers_on_rank(s).first().unwrap_or(finding.piece);
        finding.squares.clear();
        finding.mark(Mark::Attacker, s.checkers.without(mater));
        finding.piece = mater;
        out.findings.push(finding);
    } else {
        out.reject(Tactic::BackRankMate, s.ply, B1, s.checkers.with(s.king));
    }
}

/// Whether the mate on the board is a back-rank mate.
pub(super) fn is_back_rank(s: &Survey) -> bool {
    along_first_rank(s) && 2 * barred(s).count() > front(s).count()
}

/// Squares in front of the king on which only its own men keep it from stepping out.
pub(super) fn barred(s: &Survey) -> Bitboard {
    let without_king = s.men.without(s.king);
    (front(s) & s.theirs).into_iter().filter(|sq| without_king.attackers(*sq, s.us).is_empty()).collect()
}

/// The squares in front of a king on its first rank: two or three.
fn front(s: &Survey) -> Bitboard {
    king_attacks(s.king) & !Bitboard::from_rank(s.king.rank())
}

fn along_first_rank(s: &Survey) -> bool {
    s.king.rank() == s.them.backrank() && checkers_on_rank(s).any()
}

/// The rooks and queens that give check along the king's rank.
fn checkers_on_rank(s: &Survey) -> Bitboard {
    s.checkers & s.board.rooks_and_queens() & Bitboard::from_rank(s.king.rank())
}

pub(super) fn explain(w: &Words) -> String {
    let s = &w.survey;
    format!(
        "{} mates along the back rank: {} bar{} the king's way out.",
        w.man(w.finding.piece),
        w.men(barred(s)),
        if barred(s).more_than_one() { "" } else { "s" },
    )
}

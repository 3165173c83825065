//! A position on the way down the tree, with what the search wants to know of it at all times.

use shakmaty::{
    Bitboard, CastlingSide, Chess, Color, EnPassantMode, FromSetup, Move, Piece, Position, PositionError, Square,
};

use super::{
    eval::structure,
    terms::{FULL_PHASE, Term, phase, random, term},
};

/// A position with its key, its running evaluation and the men that give check.
#[derive(Clone)]
pub(crate) struct Node {
    pub pos: Chess,
    /// Equal for positions that count as repetitions of each other.
    pub key: u64,
    /// Plies since which no position can be repeated: since a capture, a pawn move or a null move.
    pub reversible: u32,
    pub checkers: Bitboard,
    mg: i32,
    eg: i32,
    phase: i32,
}

const WHITE_KEY: u64 = random(1000);

fn castling_key(rook: Square) -> u64 {
    random(1100 + rook.to_usize() as u64)
}

fn en_passant_key(pos: &Chess) -> u64 {
    match pos.maybe_ep_square().and_then(|_| pos.legal_ep_square()) {
        Some(sq) => random(1200 + sq.file() as u64),
        None => 0,
    }
}

impl Node {
    pub(crate) fn new(pos: Chess) -> Node {
        let mut key = en_passant_key(&pos);
        if pos.turn() == Color::White {
            key ^= WHITE_KEY;
        }
        for rook in pos.castles().castling_rights() {
            key ^= castling_key(rook);
        }
        let checkers = pos.checkers();
        let board = pos.board().clone();
        let mut node = Node { reversible: pos.halfmoves(), pos, key, checkers, mg: 0, eg: 0, phase: 0 };
        for (sq, piece) in &board {
            node.add(piece, sq);
        }
        node
    }

    /// The key under which the table knows the position: near the fifty-move draw the count of moves matters too.
    pub(crate) fn table_key(&self) -> u64 {
        match self.pos.halfmoves() {
            few if few < 80 => self.key,
            many => self.key ^ random(2000 + u64::from(many.min(100))),
        }
    }

    pub(crate) fn is_check(&self) -> bool {
        self.checkers.any()
    }

    /// The position after a legal move.
    pub(crate) fn play(&self, m: Move) -> Node {
        let us = self.pos.turn();
        let mut next = self.clone();
        next.pos.play_unchecked(m);
        match m {
            Move::Normal { role, from, capture, to, promotion } => {
                next.remove(role.of(us), from);
                if let Some(victim) = capture {
                    next.remove(victim.of(!us), to);
                }
                next.add(promotion.unwrap_or(role).of(us), to);
            }
            Move::EnPassant { from, to } => {
                next.remove(us.pawn(), from);
                next.remove((!us).pawn(), Square::from_coords(to.file(), from.rank()));
                next.add(us.pawn(), to);
            }
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_king_side(king < rook);
                next.remove(us.king(), king);
                next.remove(us.rook(), rook);
                next.add(us.king(), side.king_to(us));
                next.add(us.rook(), side.rook_to(us));
            }
            Move::Put { .. } => unreachable!("chess has no drops"),
        }
        next.key ^= WHITE_KEY;
        let rights = self.pos.castles().castling_rights();
        if rights.any() {
            for rook in rights ^ next.pos.castles().castling_rights() {
                next.key ^= castling_key(rook);
            }
        }
        next.key ^= en_passant_key(&self.pos) ^ en_passant_key(&next.pos);
        next.reversible = if m.is_zeroing() { 0 } else { self.reversible + 1 };
        next.checkers = next.pos.checkers();
        next
    }

    /// The position if the side to move passes, which it may not do in check.
    pub(crate) fn pass(&self) -> Option<Node> {
        let mode = self.pos.castles().mode();
        let mut setup = self.pos.to_setup(EnPassantMode::Always);
        setup.swap_turn();
        let pos = Chess::from_setup(setup, mode).or_else(PositionError::ignore_too_much_material).ok()?;
        let key = self.key ^ WHITE_KEY ^ en_passant_key(&self.pos);
        Some(Node { pos, key, reversible: 0, checkers: Bitboard::EMPTY, ..*self })
    }

    /// The score for the side to move as the men stand, in centipawns.
    pub(crate) fn evaluate(&self) -> i32 {
        let structure = structure(self.pos.board());
        let (mg, eg) = (self.mg + structure.mg, self.eg + structure.eg);
        let phase = self.phase.min(FULL_PHASE);
        let white = (mg * phase + eg * (FULL_PHASE - phase)) / FULL_PHASE;
        // A dozen queens are still no mate.
        let white = white.clamp(-MOST, MOST);
        TEMPO + self.pos.turn().fold_wb(white, -white)
    }

    fn add(&mut self, piece: Piece, sq: Square) {
        let Term { key, mg, eg } = *term(piece.color, piece.role, sq);
        self.key ^= key;
        self.mg += i32::from(mg);
        self.eg += i32::from(eg);
        self.phase += phase(piece.role);
    }

    fn remove(&mut self, piece: Piece, sq: Square) {
        let Term { key, mg, eg } = *term(piece.color, piece.role, sq);
        self.key ^= key;
        self.mg -= i32::from(mg);
        self.eg -= i32::from(eg);
        self.phase -= phase(piece.role);
    }
}

/// No evaluation is beyond this, either way.
const MOST: i32 = 20_000;
/// What the right to move is worth.
const TEMPO: i32 = 12;

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;
    use crate::builtin::MATE_BOUND;

    #[test]
    fn no_number_of_queens_looks_like_a_mate() {
        for fen in ["QQQQ4/QQQQ4/QQQQ4/QQQQ4/8/8/4P2K/5k2 b - - 0 1", "qqqq4/qqqq4/qqqq4/qqqq4/8/8/4p2k/5K2 w - - 0 1"]
        {
            let pos: Result<Chess, _> = fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard);
            let pos = pos.or_else(PositionError::ignore_too_much_material);
            let score = Node::new(pos.expect("nothing else is wrong")).evaluate();
            assert!(score.abs() > 10_000 && score.abs() < MATE_BOUND, "{score}");
        }
    }
}

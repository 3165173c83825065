//! Legal moves in two helpings: those that win material first, the quiet ones only when they are wanted.

use shakmaty::{Bitboard, CastlingSide, Chess, Color, Move, Position, Rank, Role, Square, attacks};

use super::node::Node;

/// Captures, en passant included, and promotions to a queen. Not for positions in check.
pub(crate) fn tactical(node: &Node, push: impl FnMut(Move)) {
    Moves::of(&node.pos, push).tactical();
}

/// All other moves. Not for positions in check.
pub(crate) fn quiet(node: &Node, push: impl FnMut(Move)) {
    Moves::of(&node.pos, push).quiet();
}

/// Quiet moves of pieces that give check directly. Not for positions in check.
pub(crate) fn quiet_checks(node: &Node, push: impl FnMut(Move)) {
    Moves::of(&node.pos, push).quiet_checks();
}

/// Writes legal moves of a side that is not in check.
struct Moves<'p, F> {
    pos: &'p Chess,
    us: Color,
    king: Square,
    /// Our men that stand alone between our king and an enemy slider.
    pinned: Bitboard,
    push: F,
}

impl<'p, F: FnMut(Move)> Moves<'p, F> {
    fn of(pos: &'p Chess, push: F) -> Moves<'p, F> {
        let us = pos.turn();
        let king = pos.board().king_of(us).expect("both sides have a king");
        Moves { pos, us, king, pinned: pinned(pos, king), push }
    }

    fn tactical(&mut self) {
        let them = self.pos.them();
        let pawns = self.pos.our(Role::Pawn);
        for to in self.forward(pawns & self.seventh()) & !self.pos.board().occupied() {
            self.pawn(self.behind(to), to, None, Some(Role::Queen));
        }
        for from in pawns {
            for to in attacks::pawn_attacks(self.us, from) & them {
                let promotion = Bitboard::BACKRANKS.contains(to).then_some(Role::Queen);
                self.pawn(from, to, self.pos.board().role_at(to), promotion);
            }
        }
        if self.pos.maybe_ep_square().is_some() {
            self.pos.en_passant_moves().into_iter().for_each(&mut self.push);
        }
        self.pieces(them);
    }

    fn quiet(&mut self) {
        let empty = !self.pos.board().occupied();
        let pawns = self.pos.our(Role::Pawn);
        let once = self.forward(pawns & !self.seventh()) & empty;
        for to in once {
            self.pawn(self.behind(to), to, None, None);
        }
        let third = Bitboard::from_rank(self.us.fold_wb(Rank::Third, Rank::Sixth));
        for to in self.forward(once & third) & empty {
            self.pawn(self.behind(self.behind(to)), to, None, None);
        }
        for from in pawns & self.seventh() {
            let ahead = self.forward(Bitboard::from_square(from)) & empty;
            for to in ahead | (attacks::pawn_attacks(self.us, from) & self.pos.them()) {
                for role in [Role::Knight, Role::Rook, Role::Bishop] {
                    self.pawn(from, to, self.pos.board().role_at(to), Some(role));
                }
            }
        }
        if self.pos.castles().has_color(self.us) {
            for side in CastlingSide::ALL {
                self.pos.castling_moves(side).into_iter().for_each(&mut self.push);
            }
        }
        self.pieces(empty);
    }

    fn quiet_checks(&mut self) {
        let board = self.pos.board();
        let (occupied, enemy) = (board.occupied(), board.king_of(!self.us).expect("both sides have a king"));
        for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
            let from_king = attacks::attacks(enemy, role.of(self.us), occupied) & !occupied;
            self.role(role, from_king);
        }
    }

    fn pieces(&mut self, target: Bitboard) {
        for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
            self.role(role, target);
        }
        let board = self.pos.board();
        for to in attacks::king_attacks(self.king) & target {
            if board.attacks_to(to, !self.us, board.occupied().without(self.king)).is_empty() {
                let (from, capture) = (self.king, board.role_at(to));
                (self.push)(Move::Normal { role: Role::King, from, capture, to, promotion: None });
            }
        }
    }

    fn role(&mut self, role: Role, target: Bitboard) {
        let board = self.pos.board();
        for from in self.pos.our(role) {
            let mut to_squares = attacks::attacks(from, role.of(self.us), board.occupied()) & target;
            if self.pinned.contains(from) {
                to_squares &= attacks::ray(self.king, from);
            }
            for to in to_squares {
                (self.push)(Move::Normal { role, from, capture: board.role_at(to), to, promotion: None });
            }
        }
    }

    fn pawn(&mut self, from: Square, to: Square, capture: Option<Role>, promotion: Option<Role>) {
        if !self.pinned.contains(from) || attacks::aligned(from, to, self.king) {
            (self.push)(Move::Normal { role: Role::Pawn, from, capture, to, promotion });
        }
    }

    /// The rank from which pawns promote.
    fn seventh(&self) -> Bitboard {
        Bitboard::from_rank(self.us.fold_wb(Rank::Seventh, Rank::Second))
    }

    fn forward(&self, pawns: Bitboard) -> Bitboard {
        pawns.shift(self.us.fold_wb(8, -8))
    }

    fn behind(&self, to: Square) -> Square {
        to.offset(self.us.fold_wb(-8, 8)).expect("a pawn came from there")
    }
}

fn pinned(pos: &Chess, king: Square) -> Bitboard {
    let board = pos.board();
    let sliders = (attacks::rook_attacks(king, Bitboard::EMPTY) & board.rooks_and_queens())
        | (attacks::bishop_attacks(king, Bitboard::EMPTY) & board.bishops_and_queens());
    let mut pinned = Bitboard::EMPTY;
    for slider in sliders & pos.them() {
        let between = attacks::between(king, slider) & board.occupied();
        if !between.more_than_one() {
            pinned |= between & pos.us();
        }
    }
    pinned
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;

    fn compare(node: &Node, depth: u32) {
        let legal = node.pos.legal_moves();
        if !node.is_check() {
            let mut ours = Vec::new();
            tactical(node, |m| ours.push(m));
            quiet(node, |m| ours.push(m));
            let mut checks = Vec::new();
            quiet_checks(node, |m| checks.push(m));
            for m in &legal {
                assert!(ours.contains(m), "{m} of {:?} is missing", node.pos);
            }
            assert_eq!(ours.len(), legal.len());
            assert!(checks.iter().all(|m| legal.contains(m) && node.play(*m).is_check()));
        }
        for m in legal {
            let child = node.play(m);
            let fresh = Node::new(child.pos.clone());
            assert_eq!((child.key, child.evaluate()), (fresh.key, fresh.evaluate()));
            if depth > 1 {
                compare(&child, depth - 1);
            }
        }
    }

    #[test]
    fn moves_and_running_sums_are_those_of_the_rules() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
            "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
        ] {
            let fen: Fen = fen.parse().unwrap();
            let pos: Chess = fen
                .into_position(CastlingMode::Chess960)
                .unwrap_or_else(|e| shakmaty::PositionError::ignore_too_much_material(e).unwrap());
            compare(&Node::new(pos), 3);
        }
    }
}

//! Static exchange evaluation: what a series of captures on one square wins.
//!
//! The least valuable attacker takes first and either side may stop. Every capture is legal when it is
//! made, so pins, checks and safe squares for the king are judged anew as pieces leave, and pieces
//! behind the capturers join in. Where two attackers are worth the same, the better one takes.
//! A pawn that takes on the last rank becomes a queen.

use shakmaty::{Chess, Color, Move, Position, Rank, Role, Square, attacks};

use crate::{
    attacks::Men,
    line::captured,
    material::{Points, value},
};

impl Men<'_> {
    /// What `color` wins at most by starting captures on `sq`, never below 0: it need not start.
    ///
    /// ```
    /// use koga::attacks::Men;
    /// use shakmaty::{Board, Color, Square};
    /// let board = Board::from_ascii_board_fen(b"4k3/2p5/3p4/4n3/8/8/4R3/4K3").unwrap();
    /// // The knight is guarded by a pawn: a rook takes it at a loss, so White leaves it alone.
    /// assert_eq!(Men::on(&board).exchange(Square::E5, Color::White), 0);
    /// ```
    pub fn exchange(&self, sq: Square, color: Color) -> Points {
        match self.board.role_at(sq) {
            Some(role) if role != Role::King => self.swap(sq, color, value(role)),
            _ => 0,
        }
    }

    /// What `color` wins or loses by taking on `sq` with the man on `from`, both sides then playing on as in
    /// [`Men::exchange`].
    pub fn capture_value(&self, from: Square, sq: Square, color: Color) -> Points {
        let victim = self.board.role_at(sq).map_or(0, value);
        self.take(from, sq, color, victim)
    }

    /// The best that `color` gets on `sq`, where a man worth `victim` stands.
    fn swap(&self, sq: Square, color: Color, victim: Points) -> Points {
        let all = self.attackers(sq, color);
        if all.is_empty() {
            return 0;
        }
        let board = self.board;
        // From the least to the most valuable.
        let order = [board.pawns(), board.knights() | board.bishops(), board.rooks(), board.queens(), board.kings()];
        for same_worth in order {
            let same_worth = all & same_worth;
            let mut best = None;
            let mut plain_tried = false;
            for from in same_worth {
                // Attackers whose leaving opens nothing can stand in for each other: one of them is enough.
                let plain = same_worth.more_than_one() && self.is_plain(from, sq);
                if (plain && plain_tried) || !self.is_legal_capture(from, sq, color) {
                    continue;
                }
                plain_tried |= plain;
                best = best.max(Some(self.take(from, sq, color, victim)));
            }
            if let Some(best) = best {
                return best.max(0);
            }
        }
        0
    }

    /// Takes on `sq`, where a man worth `victim` stands, and lets the other side answer there.
    fn take(&self, from: Square, sq: Square, color: Color, victim: Points) -> Points {
        let role = self.board.role_at(from).unwrap_or(Role::Pawn);
        let promotes = role == Role::Pawn && matches!(sq.rank(), Rank::First | Rank::Eighth);
        let becomes = if promotes { Role::Queen } else { role };
        let gain = victim + value(becomes) - value(role);
        let after = Men { occupied: self.occupied.without(from).with(sq), ..*self };
        gain - after.swap(sq, !color, value(becomes))
    }

    /// Whether it makes no difference to an exchange on `sq` that the man on `from` leaves its square: nothing sees `sq`
    /// through it, and on no line with a king it can pin, be pinned, or stand in the way of a pin.
    fn is_plain(&self, from: Square, sq: Square) -> bool {
        let without = self.without(from);
        let opens = |color| !without.attackers(sq, color).is_subset(self.attackers(sq, color));
        let on_line = |king| attacks::ray(from, king).any();
        !self.board.kings().into_iter().any(on_line) && !Color::ALL.into_iter().any(opens)
    }
}

/// What the move wins or loses on the square it goes to: a capture's exchange, or what is left of a man
/// that goes to a square where it can be taken. 0 for castling.
pub fn move_value(pos: &Chess, m: Move) -> Points {
    let Some(from) = m.from().filter(|_| !m.is_castle()) else { return 0 };
    let mut men = Men::of(pos);
    if let Some((sq, _)) = captured(m) {
        men.occupied.discard(sq);
    }
    men.occupied = men.occupied.without(from).with(m.to());
    let becomes = m.promotion().unwrap_or(m.role());
    let gain = m.capture().map_or(0, value) + value(becomes) - value(m.role());
    if becomes == Role::King { gain } else { gain - men.swap(m.to(), !pos.turn(), value(becomes)) }
}

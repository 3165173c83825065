//! Who attacks a square, and who can really take there.
//!
//! *Attacks* is geometry. *Can capture* means a legal capture if it were that side's move: a pinned
//! piece attacks along its pin line only as far as captures go, a king takes only onto safe squares,
//! and a side in check takes only what ends the check.

use shakmaty::{Bitboard, Board, Chess, Color, Position, Role, Square, attacks};

/// The men on a board, of whom some may be thought away.
///
/// ```
/// use koga::attacks::Men;
/// use shakmaty::{Board, Color, Square};
/// let board = Board::from_ascii_board_fen(b"4k3/4n3/8/3B4/8/8/8/4R1K1").unwrap();
/// let men = Men::on(&board);
/// // The knight attacks the bishop, but it is pinned to its king.
/// assert_eq!(men.attackers(Square::D5, Color::Black).count(), 1);
/// assert!(men.capturers(Square::D5, Color::Black).is_empty());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Men<'b> {
    /// The board.
    pub board: &'b Board,
    /// The men that are there.
    pub occupied: Bitboard,
    /// Men whose checks do not count, since they have been answered by the time that is thought of.
    pub answered: Bitboard,
}

impl<'b> Men<'b> {
    /// All men on a board.
    pub fn on(board: &'b Board) -> Men<'b> {
        Men { board, occupied: board.occupied(), answered: Bitboard::EMPTY }
    }

    /// All men of a position.
    pub fn of(pos: &'b Chess) -> Men<'b> {
        Men::on(pos.board())
    }

    /// These men without some.
    pub fn without(self, men: impl Into<Bitboard>) -> Men<'b> {
        Men { occupied: self.occupied.without(men), ..self }
    }

    /// The men of a colour.
    pub fn by_color(&self, color: Color) -> Bitboard {
        self.board.by_color(color) & self.occupied
    }

    /// The sliders of a colour: its rooks, bishops and queens.
    pub fn sliders(&self, color: Color) -> Bitboard {
        self.board.sliders() & self.by_color(color)
    }

    /// Squares attacked by the man on `from`.
    pub fn attacks(&self, from: Square) -> Bitboard {
        self.board.piece_at(from).map_or(Bitboard::EMPTY, |piece| attacks::attacks(from, piece, self.occupied))
    }

    /// Men of `color` that attack `sq`.
    pub fn attackers(&self, sq: Square, color: Color) -> Bitboard {
        self.board.attacks_to(sq, color, self.occupied) & self.occupied
    }

    /// Whether the man of `color` on `from` may take on `to` without leaving its own king in check. That it attacks `to`
    /// is taken for granted.
    pub fn is_legal_capture(&self, from: Square, to: Square, color: Color) -> bool {
        let king = match self.board.king_of(color) {
            Some(king) if king == from => to,
            Some(king) => king,
            None => return true,
        };
        let after = Men { occupied: self.occupied.without(from).with(to), ..*self };
        // Whatever stood on `to` has just been taken and attacks nothing any more.
        let checkers = after.attackers(king, !color).without(to);
        if king == to { checkers.is_empty() } else { checkers.is_subset(self.answered) }
    }

    /// Men of `color` that can legally take on `sq`.
    pub fn capturers(&self, sq: Square, color: Color) -> Bitboard {
        self.attackers(sq, color).into_iter().filter(|from| self.is_legal_capture(*from, sq, color)).collect()
    }

    /// Men of `color` that can legally take back after the man on `capturer` has taken on `sq`.
    ///
    /// Pieces standing behind the capturer or behind each other on its line are among them once the line
    /// is open; pinned guards are not.
    pub fn defenders(&self, sq: Square, capturer: Square, color: Color) -> Bitboard {
        Men { occupied: self.occupied.without(capturer).with(sq), ..*self }.capturers(sq, color)
    }
}

/// Whether a piece of `role` moves along the line through `a` and `b`.
pub fn moves_along(role: Role, a: Square, b: Square) -> bool {
    let straight = a.file() == b.file() || a.rank() == b.rank();
    match role {
        Role::Queen => attacks::ray(a, b).any(),
        Role::Rook => straight,
        Role::Bishop => !straight && attacks::ray(a, b).any(),
        _ => false,
    }
}

//! Who attacks a square, and who can really take there.
//!
//! *Attacks* is geometry. *Can capture* means a legal capture if it were that side's move: a pinned
//! piece attacks along its pin line only as far as captures go, a king takes only onto safe squares,
//! and a side in check takes only what ends the check.

use shakmaty::{Bitboard, Board, Color, Role, Square, attacks};

/// Squares attacked by the piece on `from`, with the men of `occupied` in the way.
pub fn attacked_from(board: &Board, from: Square, occupied: Bitboard) -> Bitboard {
    board.piece_at(from).map_or(Bitboard::EMPTY, |piece| attacks::attacks(from, piece, occupied))
}

/// Men of `color` among `occupied` that attack `sq`.
pub fn attackers(board: &Board, sq: Square, color: Color, occupied: Bitboard) -> Bitboard {
    board.attacks_to(sq, color, occupied) & occupied
}

/// Whether the man of `color` on `from` may take on `to` without leaving its own king in check.
/// That it attacks `to` is taken for granted; pieces missing from `occupied` are off the board.
pub fn is_legal_capture(board: &Board, from: Square, to: Square, color: Color, occupied: Bitboard) -> bool {
    let occupied = occupied.without(from).with(to);
    let king = match board.king_of(color) {
        Some(king) if king == from => to,
        Some(king) => king,
        None => return true,
    };
    // Whatever stood on `to` has just been taken and attacks nothing any more.
    attackers(board, king, !color, occupied).without(to).is_empty()
}

/// Men of `color` that can legally take on `sq`.
pub fn capturers(board: &Board, sq: Square, color: Color, occupied: Bitboard) -> Bitboard {
    attackers(board, sq, color, occupied)
        .into_iter()
        .filter(|from| is_legal_capture(board, *from, sq, color, occupied))
        .collect()
}

/// Men that can legally take back after the man on `capturer` has taken on `sq`.
///
/// Pieces standing behind the capturer or behind each other on its line are among them once the line
/// is open; pinned guards are not.
pub fn defenders(board: &Board, sq: Square, capturer: Square, color: Color, occupied: Bitboard) -> Bitboard {
    capturers(board, sq, color, occupied.without(capturer).with(sq))
}

/// The sliders of `color` (rooks, bishops, queens).
pub fn sliders(board: &Board, color: Color) -> Bitboard {
    board.sliders() & board.by_color(color)
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

/// Squares behind `screen` as seen from `viewer`, up to and including the next man of `occupied`.
/// Empty where the two do not stand on one line.
pub fn beyond(viewer: Square, screen: Square, occupied: Bitboard) -> Bitboard {
    let ray = attacks::ray(viewer, screen);
    if ray.is_empty() {
        return Bitboard::EMPTY;
    }
    // Beyond the screen lies what the viewer sees on that ray once the screen is gone, and not before.
    let through = attacks::queen_attacks(viewer, occupied.without(screen));
    (through & ray) & !attacks::queen_attacks(viewer, occupied)
}

/// The first man behind `screen` as seen from `viewer`.
pub fn behind(viewer: Square, screen: Square, occupied: Bitboard) -> Option<Square> {
    (beyond(viewer, screen, occupied) & occupied).first()
}

//! Static exchange evaluation: what a series of captures on one square wins.
//!
//! The least valuable attacker takes first and either side may stop. Every capture is legal when it is
//! made, so pins, checks and safe squares for the king are judged anew as pieces leave, and pieces
//! behind the capturers join in. Where two attackers are worth the same, the better one takes.
//! A pawn that takes on the last rank becomes a queen.

use shakmaty::{Bitboard, Board, Chess, Color, Move, Position, Rank, Role, Square};

use crate::{
    attacks::{attackers, is_legal_capture},
    material::{Points, value},
};

/// Roles from the least to the most valuable: the order in which captures are made.
const ORDER: [Role; 6] = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];

/// What `color` wins at most by starting captures on `sq`, never below 0: it need not start.
///
/// ```
/// use koga::exchange::exchange_value;
/// use shakmaty::{Bitboard, Board, Color, Square};
/// let board = Board::from_ascii_board_fen(b"4k3/2p5/3p4/4n3/8/8/4R3/4K3").unwrap();
/// // The knight is guarded by a pawn: a rook takes it at a loss, so White leaves it alone.
/// assert_eq!(exchange_value(&board, Square::E5, Color::White, board.occupied()), 0);
/// ```
pub fn exchange_value(board: &Board, sq: Square, color: Color, occupied: Bitboard) -> Points {
    match board.role_at(sq) {
        Some(role) if role != Role::King => swap(board, sq, color, occupied, value(role)),
        _ => 0,
    }
}

/// What `color` wins or loses by taking on `sq` with the man on `from`, both sides then playing on as
/// in [`exchange_value`].
pub fn capture_value(board: &Board, from: Square, sq: Square, color: Color, occupied: Bitboard) -> Points {
    let victim = board.role_at(sq).map_or(0, value);
    take(board, from, sq, color, occupied, victim)
}

/// What the move wins or loses on the square it goes to: a capture's exchange, or what is left of a man
/// that goes to a square where it can be taken. 0 for castling.
pub fn move_value(pos: &Chess, m: Move) -> Points {
    let (board, color) = (pos.board(), pos.turn());
    let Some(from) = m.from().filter(|_| !m.is_castle()) else { return 0 };
    let mut occupied = board.occupied();
    if m.is_en_passant() {
        occupied.discard(Square::from_coords(m.to().file(), from.rank()));
    }
    let victim = m.capture().map_or(0, value);
    match m.promotion() {
        None => take(board, from, m.to(), color, occupied, victim),
        Some(role) => {
            let gain = victim + value(role) - value(Role::Pawn);
            let occupied = occupied.without(from).with(m.to());
            gain - swap(board, m.to(), !color, occupied, value(role))
        }
    }
}

/// The best that `color` gets on `sq`, where a man worth `victim` stands.
fn swap(board: &Board, sq: Square, color: Color, occupied: Bitboard, victim: Points) -> Points {
    let all = attackers(board, sq, color, occupied);
    if all.is_empty() {
        return 0;
    }
    for role in ORDER {
        let mut best = None;
        let mut plain_tried = false;
        let same_worth = all & board.by_role(role);
        for from in same_worth {
            // Attackers that screen nothing can stand in for each other: one of them is enough.
            if same_worth.more_than_one() && !is_screen(board, from, sq, occupied) {
                if plain_tried {
                    continue;
                }
                if !is_legal_capture(board, from, sq, color, occupied) {
                    continue;
                }
                plain_tried = true;
            } else if !is_legal_capture(board, from, sq, color, occupied) {
                continue;
            }
            best = best.max(Some(take(board, from, sq, color, occupied, victim)));
        }
        if let Some(best) = best {
            return best.max(0);
        }
    }
    0
}

/// Takes on `sq`, where a man worth `victim` stands, and lets the other side answer there.
fn take(board: &Board, from: Square, sq: Square, color: Color, occupied: Bitboard, victim: Points) -> Points {
    let role = board.role_at(from).unwrap_or(Role::Pawn);
    let promotes = role == Role::Pawn && matches!(sq.rank(), Rank::First | Rank::Eighth);
    let (gain, at_risk) = if promotes {
        (victim + value(Role::Queen) - value(Role::Pawn), value(Role::Queen))
    } else {
        (victim, value(role))
    };
    gain - swap(board, sq, !color, occupied.without(from).with(sq), at_risk)
}

/// Whether something sees the square or a king through the man on `from`.
fn is_screen(board: &Board, from: Square, sq: Square, occupied: Bitboard) -> bool {
    let without = occupied.without(from);
    let sees_more = |target: Square| {
        [Color::White, Color::Black].into_iter().any(|color| {
            attackers(board, target, color, without) & !attackers(board, target, color, occupied) != Bitboard::EMPTY
        })
    };
    sees_more(sq) || board.kings().into_iter().any(sees_more)
}

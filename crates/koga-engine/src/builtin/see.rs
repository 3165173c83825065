//! Static exchange evaluation for move ordering: fast and blind to pins.

use shakmaty::{Bitboard, Board, Chess, Color, Move, Position, Role, Square};

use super::terms::value;

/// Whether the captures that follow `m` on its square leave its side at least `threshold` up.
pub(crate) fn wins_at_least(pos: &Chess, m: Move, threshold: i32) -> bool {
    let (Some(from), false) = (m.from(), m.is_castle()) else {
        return threshold <= 0;
    };
    let becomes = m.promotion().unwrap_or(m.role());
    let gain = m.capture().map_or(0, value) + value(becomes) - value(m.role());
    if gain < threshold {
        return false;
    }
    let mut occupied = pos.board().occupied().without(from).with(m.to());
    if m.is_en_passant() {
        occupied.discard(Square::from_coords(m.to().file(), from.rank()));
    }
    !gains(pos.board(), m.to(), !pos.turn(), occupied, value(becomes), gain - threshold + 1)
}

/// Whether `color` gains `need`, which is above 0, by taking the man worth `victim` on `sq`.
fn gains(board: &Board, sq: Square, color: Color, occupied: Bitboard, victim: i32, need: i32) -> bool {
    if victim < need {
        return false;
    }
    let capturers = board.attacks_to(sq, color, occupied) & occupied;
    let Some((role, from)) = least_valuable(board, capturers) else {
        return false;
    };
    let occupied = occupied.without(from);
    if role == Role::King && (board.attacks_to(sq, !color, occupied) & occupied).any() {
        return false;
    }
    // The gain stands unless the other side takes back more than what is to spare.
    !gains(board, sq, !color, occupied, value(role), victim - need + 1)
}

fn least_valuable(board: &Board, men: Bitboard) -> Option<(Role, Square)> {
    if men.is_empty() {
        return None;
    }
    Role::ALL.into_iter().find_map(|role| Some((role, (men & board.by_role(role)).first()?)))
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;

    /// The same by trying every capture in turn.
    fn slow(pos: &Chess, m: Move) -> i32 {
        fn swap(board: &mut shakmaty::Board, to: Square, color: Color) -> i32 {
            let men = board.attacks_to(to, color, board.occupied());
            let Some((role, from)) =
                Role::ALL.into_iter().find_map(|role| Some((role, (men & board.by_role(role)).first()?)))
            else {
                return 0;
            };
            if role == Role::King && board.attacks_to(to, !color, board.occupied().without(from)).any() {
                return 0;
            }
            let victim = board.role_at(to).map_or(0, value);
            board.discard_piece_at(from);
            board.set_piece_at(to, role.of(color));
            (victim - swap(board, to, !color)).max(0)
        }
        let mut board = pos.board().clone();
        let becomes = m.promotion().unwrap_or(m.role());
        board.discard_piece_at(m.from().unwrap());
        if m.is_en_passant() {
            board.discard_piece_at(Square::from_coords(m.to().file(), m.from().unwrap().rank()));
        }
        board.set_piece_at(m.to(), becomes.of(pos.turn()));
        let gain = m.capture().map_or(0, value) + value(becomes) - value(m.role());
        gain - swap(&mut board, m.to(), !pos.turn())
    }

    #[test]
    fn exchanges_agree_with_a_slow_reference() {
        let mut compared = 0;
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
            "3rr1k1/pp3ppp/2n1b3/2q1N3/3RP3/2P1B3/PP2Q1PP/3R2K1 b - - 0 1",
        ] {
            let fen: Fen = fen.parse().unwrap();
            let pos: Chess = fen.into_position(CastlingMode::Standard).unwrap();
            for first in pos.legal_moves() {
                let mut after = pos.clone();
                after.play_unchecked(first);
                for m in after.legal_moves().into_iter().filter(|m| !m.is_castle()) {
                    let exact = slow(&after, m);
                    assert!(wins_at_least(&after, m, exact), "{m} after {first} wins {exact}");
                    assert!(!wins_at_least(&after, m, exact + 1), "{m} after {first} wins but {exact}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 1000);
    }
}

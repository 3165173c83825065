//! What a side could do with a move.

use shakmaty::{Chess, EnPassantMode, FromSetup, Move, Position, Square};

use crate::exchange::move_value;

/// The position with the other side to move, as if this one passed; `None` if that cannot be, since the side that would
/// pass is in check.
pub fn passed(pos: &Chess) -> Option<Chess> {
    if pos.is_check() {
        return None;
    }
    let mut setup = pos.to_setup(EnPassantMode::Legal);
    setup.ep_square = None;
    setup.swap_turn();
    Chess::from_setup(setup, pos.castles().mode()).or_else(|err| err.ignore_impossible_check()).ok()
}

/// The moves that mate at once.
pub fn mates_in_one(pos: &Chess) -> Vec<Move> {
    let mates = |m: &Move| {
        let mut after = pos.clone();
        after.play_unchecked(*m);
        after.is_checkmate()
    };
    pos.legal_moves().into_iter().filter(mates).collect()
}

/// Whether every legal move of the piece on `sq`, whose side is to move, leads to where it is lost at a profit for the
/// enemy, whatever it takes there. True also of a piece that cannot move at all.
pub fn loses_wherever_it_goes(pos: &Chess, sq: Square) -> bool {
    pos.legal_moves().into_iter().filter(|m| m.from() == Some(sq)).all(|m| move_value(pos, m) < 0)
}

//! What a side could do with a move.

use shakmaty::{Bitboard, Chess, EnPassantMode, FromSetup, Move, Position, Square, attacks};

use crate::{
    attacks::Men,
    exchange::move_value,
    line::{captured, moved},
    material::{Points, balance},
};

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
    pos.legal_moves().into_iter().filter(|m| may_check(pos, *m)).filter(mates).collect()
}

/// Whether the move could give check: the moved man attacks the king from where it goes, or leaves a line with it. True of more
/// moves than check.
fn may_check(pos: &Chess, m: Move) -> bool {
    let (Some(from), Some(king)) = (m.from(), pos.board().king_of(!pos.turn())) else { return true };
    let piece = m.promotion().unwrap_or(m.role()).of(pos.turn());
    let occupied = pos.board().occupied().without(from).with(m.to());
    m.is_castle()
        || m.is_en_passant()
        || attacks::ray(from, king).any()
        || attacks::attacks(m.to(), piece, occupied).contains(king)
}

/// Whether every legal move of the piece on `sq`, whose side is to move, leads to where it is lost at a profit for the
/// enemy, whatever it takes there. True also of a piece that cannot move at all.
pub fn loses_wherever_it_goes(pos: &Chess, sq: Square) -> bool {
    pos.legal_moves().into_iter().filter(|m| m.from() == Some(sq)).all(|m| move_value(pos, m) < 0)
}

/// Whether no move of another man helps the piece on `sq`, whose side is to move: it can be taken with profit afterwards all the
/// same. Moves that lose material themselves are no help; checks only put it off.
pub fn is_beyond_help(pos: &Chess, sq: Square) -> bool {
    let helps = |m: &Move| {
        let mut after = pos.clone();
        after.play_unchecked(*m);
        let lost = Men::of(&after).exchange(sq, after.turn()) > 0;
        !lost && !after.is_check() && move_value(pos, *m) >= 0
    };
    !pos.legal_moves().iter().filter(|m| m.from() != Some(sq)).any(helps)
}

/// Whether some answer leaves the side not to move no capture that wins anything. The squares of `first` are looked at before
/// all others: with good ones it is quick.
pub fn is_parried(pos: &Chess, first: Bitboard) -> bool {
    let us = !pos.turn();
    answers(pos).any(|(_, after, lost)| {
        let men = Men::of(&after);
        let falls = |sq| men.exchange(sq, us) > lost;
        !(first & men.by_color(!us)).into_iter().any(falls)
            && !after.capture_moves().into_iter().any(|m| move_value(&after, m) > lost)
    })
}

/// Whether the side not to move is sure to win one of these men of the other: whatever is answered, it can take one of them with
/// profit, wherever it went.
pub fn is_sure_to_win_one(pos: &Chess, men: Bitboard) -> bool {
    let falls_after = |(reply, after, lost): (Move, Chess, Points)| {
        let men = moved(reply).into_iter().flatten().fold(men, |men, (from, to)| match men.contains(from) {
            true => men.without(from).with(to),
            false => men,
        });
        let takes_one = |m: &Move| captured(*m).is_some_and(|(sq, _)| men.contains(sq));
        after.capture_moves().into_iter().filter(takes_one).any(|m| move_value(&after, m) > lost)
    };
    let mut answers = answers(pos).peekable();
    answers.peek().is_some() && answers.all(falls_after)
}

/// What the side not to move is sure of: whatever the other side answers, it has a capture afterwards that leaves it at
/// least this much better off than now, exchanges on that square counted. 0 if some answer avoids that.
pub fn sure_gain(pos: &Chess) -> Points {
    let gain_after = |(_, after, lost): (Move, Chess, Points)| {
        let best = after.capture_moves().into_iter().map(|m| move_value(&after, m)).max().unwrap_or(0);
        best.max(0) - lost
    };
    answers(pos).map(gain_after).min().unwrap_or(0).max(0)
}

/// The answers of the side to move, each with the position after it and the points that the other side loses by it.
fn answers(pos: &Chess) -> impl Iterator<Item = (Move, Chess, Points)> {
    let us = !pos.turn();
    let now = balance(pos.board(), us);
    pos.legal_moves().into_iter().map(move |reply| {
        let mut after = pos.clone();
        after.play_unchecked(reply);
        let lost = now - balance(after.board(), us);
        (reply, after, lost)
    })
}

//! Slow references: the shared facts once more, read off legal moves and off the squares one by one.
//!
//! Nothing here uses what it is compared with.

use koga::{
    material::Points,
    shakmaty::{Bitboard, Board, Chess, Color, EnPassantMode, FromSetup, Move, Piece, Position, Role, Square},
};

/// The worth of a piece; of a king nothing, since it is never taken.
pub fn worth(role: Role) -> Points {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 0,
    }
}

/// The position with that side to move; `None` where the other one is in check.
pub fn with_turn(pos: &Chess, turn: Color) -> Option<Chess> {
    if pos.turn() == turn {
        return Some(pos.clone());
    }
    let mut setup = pos.to_setup(EnPassantMode::Always);
    setup.turn = turn;
    setup.ep_square = None;
    Chess::from_setup(setup, pos.castles().mode()).or_else(|err| err.ignore_impossible_check()).ok()
}

/// The position after a move.
pub fn after(pos: &Chess, m: Move) -> Chess {
    let mut next = pos.clone();
    next.play_unchecked(m);
    next
}

/// The legal captures of the man on a square; pawns become queens. En passant is not among them: its pawn stands elsewhere.
pub fn captures_on(pos: &Chess, sq: Square) -> Vec<Move> {
    let takes = |m: &Move| match m {
        Move::Normal { capture: Some(_), to, promotion, .. } => {
            *to == sq && promotion.is_none_or(|role| role == Role::Queen)
        }
        _ => false,
    };
    pos.legal_moves().into_iter().filter(takes).collect()
}

/// What the side to move wins at most by captures on a square, the least valuable man first; it need not begin.
pub fn exchange(pos: &Chess, sq: Square) -> Points {
    let captures = captures_on(pos, sq);
    // A king comes last, whatever its worth.
    let price = |m: &Move| match m.role() {
        Role::King => Points::MAX,
        role => worth(role),
    };
    let Some(least) = captures.iter().map(price).min() else {
        return 0;
    };
    let cheapest = captures.iter().filter(|m| price(m) == least);
    let best = cheapest.map(|m| move_value(pos, *m)).max().unwrap_or(0);
    best.max(0)
}

/// What a move wins or loses on the square it goes to.
pub fn move_value(pos: &Chess, m: Move) -> Points {
    if m.is_castle() {
        return 0;
    }
    let promoted = m.promotion().map_or(0, |role| worth(role) - worth(Role::Pawn));
    let gain = m.capture().map_or(0, worth) + promoted;
    gain - exchange(&after(pos, m), m.to())
}

/// Material of a colour minus that of the other, counted man by man.
pub fn balance(board: &Board, color: Color) -> Points {
    let signed = |piece: Piece| match piece.color == color {
        true => worth(piece.role),
        false => -worth(piece.role),
    };
    let men = Square::ALL.into_iter().filter_map(|sq| board.piece_at(sq));
    men.map(signed).sum()
}

/// A step on the board; `None` over its edge.
pub fn step(sq: Square, (dx, dy): (i32, i32)) -> Option<Square> {
    let file = sq.file().offset(dx)?;
    let rank = sq.rank().offset(dy)?;
    Some(Square::from_coords(file, rank))
}

/// Where a rook goes.
pub const STRAIGHT: [(i32, i32); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
/// Where a bishop goes.
pub const DIAGONAL: [(i32, i32); 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];
const KNIGHT: [(i32, i32); 8] = [(1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)];

/// The directions in which a slider goes; none for other men.
pub fn directions(role: Role) -> Vec<(i32, i32)> {
    match role {
        Role::Rook => STRAIGHT.to_vec(),
        Role::Bishop => DIAGONAL.to_vec(),
        Role::Queen => [STRAIGHT, DIAGONAL].concat(),
        _ => Vec::new(),
    }
}

/// The men met on the way from a square, nearest first.
pub fn men_on_the_way(board: &Board, from: Square, direction: (i32, i32)) -> Vec<Square> {
    let mut met = Vec::new();
    let mut at = from;
    while let Some(next) = step(at, direction) {
        if board.piece_at(next).is_some() {
            met.push(next);
        }
        at = next;
    }
    met
}

/// Whether the man on `from` attacks `to`.
pub fn attacks(board: &Board, from: Square, to: Square) -> bool {
    let Some(piece) = board.piece_at(from) else {
        return false;
    };
    let reaches = |steps: &[(i32, i32)]| steps.iter().any(|by| step(from, *by) == Some(to));
    match piece.role {
        Role::Pawn => {
            let up = piece.color.fold_wb(1, -1);
            reaches(&[(1, up), (-1, up)])
        }
        Role::Knight => reaches(&KNIGHT),
        Role::King => reaches(&[STRAIGHT, DIAGONAL].concat()),
        role => directions(role).into_iter().any(|direction| {
            let mut at = step(from, direction);
            while let Some(sq) = at {
                if sq == to {
                    return true;
                }
                if board.piece_at(sq).is_some() {
                    return false;
                }
                at = step(sq, direction);
            }
            false
        }),
    }
}

/// The men of a colour that attack a square.
pub fn attackers(board: &Board, sq: Square, color: Color) -> Bitboard {
    board.by_color(color).into_iter().filter(|from| attacks(board, *from, sq)).collect()
}

/// The board without the man on a square.
pub fn without(board: &Board, sq: Square) -> Board {
    let mut board = board.clone();
    board.discard_piece_at(sq);
    board
}

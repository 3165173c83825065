//! What pieces are worth, and who has more of it.

use shakmaty::{Board, Color, Role};

/// Material in pawns. The king is beyond price: see [`KING`].
pub type Points = i32;

/// Stands in for the king's worth where pieces are compared: above everything else on a board.
pub const KING: Points = 1000;

/// From this worth on a man is a *piece*, not a pawn.
pub const PIECE: Points = 3;

/// The worth of a piece: pawn 1, knight 3, bishop 3, rook 5, queen 9, king [`KING`].
pub const fn value(role: Role) -> Points {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => KING,
    }
}

/// Material of `color` minus material of the other side, kings apart.
///
/// ```
/// use koga::material::balance;
/// use shakmaty::{Board, Color};
/// assert_eq!(balance(&Board::new(), Color::White), 0);
/// ```
pub fn balance(board: &Board, color: Color) -> Points {
    let (ours, theirs) = (board.by_color(color), board.by_color(!color));
    [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen]
        .into_iter()
        .map(|role| {
            let of_role = board.by_role(role);
            value(role) * ((ours & of_role).count() as Points - (theirs & of_role).count() as Points)
        })
        .sum()
}

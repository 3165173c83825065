//! What pawns, free pieces and endangered kings are worth beyond where the men stand.

use shakmaty::{Bitboard, Board, Color, Rank, Role, attacks};

/// A score in the middlegame and in the endgame.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pair {
    pub mg: i32,
    pub eg: i32,
}

impl Pair {
    fn add(&mut self, times: i32, mg: i32, eg: i32) {
        self.mg += times * mg;
        self.eg += times * eg;
    }
}

/// What the structure of a position is worth to White.
pub(crate) fn structure(board: &Board) -> Pair {
    let white = side(board, Color::White);
    let black = side(board, Color::Black);
    Pair { mg: white.mg - black.mg, eg: white.eg - black.eg }
}

fn side(board: &Board, us: Color) -> Pair {
    let mut sum = Pair::default();
    let (ours, theirs) = (board.by_color(us), board.by_color(!us));
    let (pawns, enemy_pawns) = (board.pawns() & ours, board.pawns() & theirs);
    let (Some(king), Some(enemy_king)) = (board.king_of(us), board.king_of(!us)) else {
        return sum;
    };
    let occupied = board.occupied();

    let files = fill(pawns);
    let doubled = pawns & ahead(pawns, us);
    sum.add(doubled.count() as i32, -7, -16);
    let isolated = pawns & !beside(files);
    sum.add(isolated.count() as i32, -9, -10);
    let stoppers = ahead(enemy_pawns, !us);
    let passed = pawns & !stoppers & !beside(stoppers) & !doubled;
    for sq in passed {
        let steps = us.fold_wb(sq.rank() as i32, 7 - sq.rank() as i32) - 1;
        sum.add(steps * steps, 2, 5);
        if let Some(next) = sq.offset(us.fold_wb(8, -8)) {
            let (near, far) = (next.distance(king) as i32, next.distance(enemy_king) as i32);
            sum.add(steps * (far * 2 - near), 0, 2);
            if occupied.contains(next) {
                sum.add(steps * steps, -1, -2);
            }
        }
    }

    let guarded_by_pawns = pawn_attacks(enemy_pawns, !us);
    let free = !(pawns | guarded_by_pawns).with(king);
    let zone = attacks::king_attacks(enemy_king).with(enemy_king);
    let mut danger = 0;
    for (role, usual, mg, eg, menace) in
        [(Role::Knight, 4, 5, 4, 7), (Role::Bishop, 6, 5, 5, 6), (Role::Rook, 6, 3, 5, 8), (Role::Queen, 12, 2, 4, 9)]
    {
        for sq in board.by_role(role) & ours {
            let reach = attacks::attacks(sq, role.of(us), occupied);
            sum.add((reach & free).count() as i32 - usual, mg, eg);
            danger += (reach & zone).count() as i32 * menace;
            if role == Role::Rook && !files.contains(sq) {
                sum.add(1, if fill(enemy_pawns).contains(sq) { 10 } else { 22 }, 8);
            }
        }
    }
    sum.add(1, danger * danger / 32, 0);
    if (board.bishops() & ours).more_than_one() {
        sum.add(1, 28, 45);
    }
    let shield = (ahead(Bitboard::from_square(king), us) | beside(ahead(Bitboard::from_square(king), us))) & pawns;
    let near = Bitboard::from_rank(us.fold_wb(Rank::Second, Rank::Seventh))
        | Bitboard::from_rank(us.fold_wb(Rank::Third, Rank::Sixth));
    sum.add((shield & near).count() as i32, 9, 0);
    sum
}

/// All squares in front of these.
fn ahead(squares: Bitboard, us: Color) -> Bitboard {
    let step = us.fold_wb(8, -8);
    let mut all = squares.shift(step);
    all |= all.shift(step);
    all |= all.shift(2 * step);
    all | all.shift(4 * step)
}

/// The files of these squares.
fn fill(squares: Bitboard) -> Bitboard {
    squares | ahead(squares, Color::White) | ahead(squares, Color::Black)
}

/// The squares left and right of these.
fn beside(squares: Bitboard) -> Bitboard {
    (squares & !Bitboard::from_file(shakmaty::File::A)).shift(-1)
        | (squares & !Bitboard::from_file(shakmaty::File::H)).shift(1)
}

fn pawn_attacks(pawns: Bitboard, us: Color) -> Bitboard {
    beside(pawns.shift(us.fold_wb(8, -8)))
}

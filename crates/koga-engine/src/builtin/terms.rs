//! What a man is worth on its square, in the middlegame and in the endgame.
//!
//! The numbers come from a few formulas over ranks, files and the distance to the centre.

use shakmaty::{Color, Role, Square};

/// What one man on one square adds to a position: its share of the key and, for White, of the score.
#[derive(Clone, Copy)]
pub(crate) struct Term {
    pub key: u64,
    pub mg: i16,
    pub eg: i16,
}

/// The term of a man. Scores are from White's view, so those of black men are negative.
#[inline]
pub(crate) fn term(color: Color, role: Role, sq: Square) -> &'static Term {
    &TERMS[color as usize][role as usize - 1][sq.to_usize()]
}

/// How much of the middlegame a man of this role stands for; see [`FULL_PHASE`].
pub(crate) const fn phase(role: Role) -> i32 {
    match role {
        Role::Knight | Role::Bishop => 1,
        Role::Rook => 2,
        Role::Queen => 4,
        Role::Pawn | Role::King => 0,
    }
}

/// The phase of the initial position.
pub(crate) const FULL_PHASE: i32 = 24;

/// What a man is worth in exchanges, in centipawns.
pub(crate) const fn value(role: Role) -> i32 {
    match role {
        Role::Pawn => 100,
        Role::Knight => 320,
        Role::Bishop => 330,
        Role::Rook => 500,
        Role::Queen => 950,
        Role::King => 10_000,
    }
}

static TERMS: [[[Term; 64]; 6]; 2] = terms();

const fn terms() -> [[[Term; 64]; 6]; 2] {
    let mut terms = [[[Term { key: 0, mg: 0, eg: 0 }; 64]; 6]; 2];
    let mut man = 0;
    while man < 2 * 6 * 64 {
        let (color, role, sq) = (man / 384, man / 64 % 6, man % 64);
        // `Color::Black` is 0; a white man sees the board as it is numbered.
        let seen = if color == Color::White as usize { sq } else { sq ^ 56 };
        let (mg, eg) = on_square(role, (seen / 8) as i16, (seen % 8) as i16);
        let sign = if color == Color::White as usize { 1 } else { -1 };
        terms[color][role][sq] = Term { key: random(man as u64), mg: sign * mg, eg: sign * eg };
        man += 1;
    }
    terms
}

/// The worth of a white man by role (from pawn, 0, to king, 5), rank and file, all counted from 0.
const fn on_square(role: usize, rank: i16, file: i16) -> (i16, i16) {
    // 0 on the edge files or ranks, 3 on the two in the middle.
    let from_side = if file < 4 { file } else { 7 - file };
    let from_end = if rank < 4 { rank } else { 7 - rank };
    let ring = if from_side < from_end { from_side } else { from_end };
    let home = if rank == 0 { 1 } else { 0 };
    match role {
        0 => {
            let steps = if rank > 0 { rank - 1 } else { 0 };
            let centre = if from_side == 3 { 8 * (steps > 0) as i16 - 8 } else { 0 };
            (82 + 2 * steps * steps + centre + from_side * min(steps, 3) * 3, 100 + 5 * steps * steps + 2 * steps)
        }
        1 => (300 + 13 * ring + 3 * min(rank, 5) - 8 * home, 285 + 11 * ring),
        2 => (328 + 5 * ring - 8 * home + 2 * from_side, 308 + 5 * ring),
        3 => (468 + 5 * from_side + 16 * (rank == 6) as i16, 520 + 8 * (rank > 4) as i16),
        4 => (975 + 2 * ring - 4 * home, 930 + 10 * ring),
        _ => {
            let castled = match file {
                0 | 7 => 18,
                1 | 6 => 28,
                2 => 18,
                5 => -4,
                _ => 0,
            };
            (castled * home - 22 * min(rank, 4), 12 * ring - 8 * (from_side == 0) as i16)
        }
    }
}

const fn min(a: i16, b: i16) -> i16 {
    if a < b { a } else { b }
}

/// The `n`th of a fixed series of well-mixed numbers (splitmix64).
pub(crate) const fn random(n: u64) -> u64 {
    let mut z = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

//! Random positions and lines, from a seed or from the bytes of a fuzzer.

use koga::{
    Line,
    shakmaty::{
        Bitboard, Board, CastlingMode, Chess, Color, File, Move, Piece, Position, Rank, Role, Setup, Square,
        uci::UciMove,
    },
};

/// Whatever makes choices.
pub trait Choices {
    /// A number below `n`, which is not 0.
    fn below(&mut self, n: usize) -> usize;

    /// True once in `n` times.
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of several.
    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// A small generator of numbers: xorshift.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// The same seed makes the same choices.
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
}

impl Choices for Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % n as u64) as usize
    }
}

/// The choices of a fuzzer: its bytes, then always 0.
#[derive(Debug, Clone)]
pub struct Bytes<'b>(pub &'b [u8]);

impl Choices for Bytes<'_> {
    fn below(&mut self, n: usize) -> usize {
        let mut chosen = 0;
        let mut range = 1;
        while range < n {
            let Some((first, rest)) = self.0.split_first() else {
                break;
            };
            chosen = chosen * 256 + usize::from(*first);
            range *= 256;
            self.0 = rest;
        }
        chosen % n
    }
}

/// A start: the usual one, one of Chess960, men scattered over the board, pawns about to promote, many queens.
pub fn start(choices: &mut impl Choices) -> Chess {
    const ALL: &[Role] = &Role::ALL;
    const LATE: &[Role] = &[Role::Pawn, Role::Pawn, Role::Pawn, Role::Rook, Role::Knight];
    const QUEENS: &[Role] = &[Role::Queen, Role::Queen, Role::Queen, Role::Rook];
    let (men, roles, advance) = match choices.below(10) {
        0 | 1 => return Chess::default(),
        2 | 3 => return chess960(choices.below(960)),
        4 => (26, ALL, 1..=6),
        5 => (16, ALL, 1..=6),
        6 => (12, LATE, 1..=6),
        7 => (16, LATE, 4..=6),
        8 => (14, QUEENS, 1..=6),
        _ => (6, ALL, 1..=6),
    };
    for _ in 0..30 {
        let pos = scattered(choices, men, roles, &advance);
        if let Some(pos) = pos.filter(|pos| !pos.legal_moves().is_empty()) {
            return pos;
        }
    }
    Chess::default()
}

/// Kings and up to so many men on random squares, pawns as far up as `advance` says (1: where they start); `None` if that
/// is no position.
fn scattered(
    choices: &mut impl Choices,
    men: usize,
    roles: &[Role],
    advance: &std::ops::RangeInclusive<usize>,
) -> Option<Chess> {
    let mut board = Board::empty();
    let square = |index: usize| Square::new(index as u32);
    let kings = [choices.below(64), choices.below(64)];
    if kings[0] == kings[1] {
        return None;
    }
    for (color, index) in Color::ALL.into_iter().zip(kings) {
        board.set_piece_at(square(index), Role::King.of(color));
    }
    for _ in 0..men / 2 + choices.below(men / 2) + 1 {
        let role = *choices.pick(roles);
        let color = *choices.pick(&Color::ALL);
        let mut sq = square(choices.below(64));
        if role == Role::Pawn {
            let steps = advance.start() + choices.below(advance.end() - advance.start() + 1);
            let rank = Rank::new(color.fold_wb(steps, 7 - steps) as u32);
            sq = Square::from_coords(sq.file(), rank);
        } else if *advance.start() > 1 && choices.one_in(2) {
            // Where the pawns of the other side promote.
            sq = Square::from_coords(sq.file(), color.fold_wb(Rank::First, Rank::Eighth));
        }
        if board.piece_at(sq).is_none() && has_room(&board, Piece { color, role }) {
            board.set_piece_at(sq, Piece { color, role });
        }
    }
    let turn = *choices.pick(&Color::ALL);
    let position = |turn| {
        let setup = Setup { board: board.clone(), turn, ..Setup::empty() };
        let pos = setup.position::<Chess>(CastlingMode::Standard);
        pos.or_else(|err| err.ignore_impossible_check()).ok()
    };
    position(turn).or_else(|| position(!turn))
}

/// Whether a game can have one more such man: what is more than at the start was a pawn.
fn has_room(board: &Board, piece: Piece) -> bool {
    let mut counts = board.material_side(piece.color);
    counts[piece.role] += 1;
    let extra = |role: Role, at_start: u8| counts[role].saturating_sub(at_start);
    let promoted = extra(Role::Knight, 2) + extra(Role::Bishop, 2) + extra(Role::Rook, 2) + extra(Role::Queen, 1);
    counts.pawn + promoted <= 8
}

/// A start position of Chess960 by its number.
pub fn chess960(number: usize) -> Chess {
    let mut files: Vec<Option<Role>> = vec![None; 8];
    let (number, bishop) = (number / 4, number % 4);
    files[bishop * 2 + 1] = Some(Role::Bishop);
    let (number, bishop) = (number / 4, number % 4);
    files[bishop * 2] = Some(Role::Bishop);
    let (number, queen) = (number / 6, number % 6);
    let free = |files: &[Option<Role>], nth: usize| {
        let mut free = (0..8).filter(|file| files[*file].is_none());
        free.nth(nth).expect("a free file")
    };
    let file = free(&files, queen);
    files[file] = Some(Role::Queen);
    let mut knights = (0..5).flat_map(|a| (a..4).map(move |b| (a, b)));
    let (first, second) = knights.nth(number % 10).expect("ten ways");
    for nth in [first, second] {
        let file = free(&files, nth);
        files[file] = Some(Role::Knight);
    }
    for role in [Role::Rook, Role::King, Role::Rook] {
        let file = free(&files, 0);
        files[file] = Some(role);
    }
    let mut setup = Setup::initial();
    setup.castling_rights = Bitboard::EMPTY;
    for (file, role) in files.into_iter().flatten().enumerate() {
        for color in Color::ALL {
            let rank = color.fold_wb(Rank::First, Rank::Eighth);
            let sq = Square::from_coords(File::new(file as u32), rank);
            setup.board.set_piece_at(sq, role.of(color));
            if role == Role::Rook {
                setup.castling_rights.add(sq);
            }
        }
    }
    setup.position(CastlingMode::Chess960).expect("a start position of Chess960")
}

/// Plays up to `plies` moves: captures, promotions, checks and what leads to en passant more often than by chance.
pub fn play(choices: &mut impl Choices, pos: &mut Chess, plies: usize) -> Vec<Move> {
    let mut moves = Vec::new();
    for _ in 0..plies {
        let Some(m) = choose(choices, pos) else { break };
        pos.play_unchecked(m);
        moves.push(m);
    }
    moves
}

fn choose(choices: &mut impl Choices, pos: &Chess) -> Option<Move> {
    let legal = pos.legal_moves();
    if legal.is_empty() {
        return None;
    }
    let lively = |m: &Move| m.is_capture() || m.is_promotion() || m.is_castle();
    let checks = |m: &Move| {
        let mut after = pos.clone();
        after.play_unchecked(*m);
        after.is_check()
    };
    let steps_twice = |m: &Move| match *m {
        Move::Normal { role: Role::Pawn, from, to, .. } => from.distance(to) == 2,
        _ => m.is_en_passant(),
    };
    let en_passant = |m: &Move| m.is_en_passant();
    let preferred: Vec<Move> = match choices.below(6) {
        // Rare, so played half of the time that it can be.
        0..3 if legal.iter().any(en_passant) => legal.iter().copied().filter(en_passant).collect(),
        0 | 1 => legal.iter().copied().filter(lively).collect(),
        2 => legal.iter().copied().filter(checks).collect(),
        3 => legal.iter().copied().filter(steps_twice).collect(),
        _ => Vec::new(),
    };
    let from = if preferred.is_empty() { &legal[..] } else { &preferred[..] };
    Some(*choices.pick(from))
}

/// A random line of up to `longest` plies from a random position, sometimes with the enemy's move before it.
pub fn line(choices: &mut impl Choices, longest: usize) -> Line {
    loop {
        let mut root = start(choices);
        let lead = if choices.one_in(2) { choices.below(40) } else { 0 };
        let opening = play(choices, &mut root, lead);
        if root.legal_moves().is_empty() {
            // Mate or stalemate: a line needs a move, so back to a start, which has some.
            root = Chess::default();
        }
        let setup = opening.last().copied().filter(|_| choices.one_in(2) && root.fullmoves().get() > 1);
        let plies = choices.below(longest) + 1;
        let mut pos = root.clone();
        let moves = play(choices, &mut pos, plies);
        if !moves.is_empty() {
            return from_moves(root, setup, moves);
        }
    }
}

/// The line of those legal moves.
pub fn from_moves(root: Chess, setup: Option<Move>, moves: Vec<Move>) -> Line {
    // A castling king that takes its rook: what every mode understands.
    let tokens: Vec<String> =
        moves.iter().map(|m| UciMove::from_move(*m, CastlingMode::Chess960).to_string()).collect();
    let line = Line::from_root(root, setup, tokens.iter().map(String::as_str)).expect("the moves are legal");
    assert_eq!(line.moves, moves, "every move reads back as it was");
    line
}

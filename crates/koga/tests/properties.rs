//! What holds of every line and every text, tried on random ones.
//!
//! Seeds are fixed; `KOGA_TEST_SEED` sets another, `KOGA_TEST_EFFORT` makes the tests longer.

mod support;

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    time::{Duration, Instant},
};

use koga::{
    Line,
    parse::{ParseError, moves_of, parse_fen, parse_move, san},
    shakmaty::{CastlingMode, Chess, Move, Position, Role, uci::UciMove},
};
use support::{
    effort, fen, puzzles,
    random::{self, Choices, Rng},
    seed, truths,
};

/// Checks the line, and says which one it was where something does not hold.
fn check(line: &Line) -> Duration {
    let start = Instant::now();
    if let Err(failure) = catch_unwind(AssertUnwindSafe(|| truths::check(line))) {
        let mode = line.root().castles().mode();
        let moves: Vec<String> = line.moves.iter().map(|m| UciMove::from_move(*m, mode).to_string()).collect();
        eprintln!("in the line {} from {} (setup {:?})", moves.join(" "), fen(line.root()), line.setup);
        resume_unwind(failure);
    }
    start.elapsed()
}

fn check_random_lines(seed: u64, lines: usize, longest: usize) {
    let mut rng = Rng::new(seed);
    let slowest = (0..lines).map(|_| check(&random::line(&mut rng, longest))).max();
    eprintln!("{lines} lines of up to {longest} plies; the slowest took {slowest:?}");
}

#[test]
fn every_report_on_a_single_move_holds_what_reports_promise() {
    check_random_lines(seed() + 10, 2500 * effort(), 1);
}

#[test]
fn every_report_on_a_short_line_holds_what_reports_promise() {
    check_random_lines(seed() + 11, 1500 * effort(), 7);
}

#[test]
fn every_report_on_a_line_of_sixty_plies_holds_what_reports_promise() {
    check_random_lines(seed() + 12, 150 * effort(), 60);
}

#[test]
fn every_report_on_a_puzzle_holds_what_reports_promise() {
    let puzzles = puzzles::every((32 / effort()).max(1)).unwrap_or_default();
    let slowest = puzzles.iter().map(|puzzle| check(&puzzle.line())).max();
    eprintln!("{} puzzles; the slowest took {slowest:?}", puzzles.len());
}

/// Positions all along random games.
fn positions(seed: u64, count: usize) -> Vec<Chess> {
    let mut rng = Rng::new(seed);
    let mut positions = Vec::new();
    while positions.len() < count {
        positions.extend(random::line(&mut rng, 12).positions);
    }
    positions
}

#[test]
fn a_printed_position_reads_back_as_it_was() {
    for pos in positions(seed() + 20, 4000 * effort()) {
        let read = parse_fen(&fen(&pos)).unwrap_or_else(|err| panic!("{err} in {}", fen(&pos)));
        assert_eq!(fen(&read), fen(&pos));
        assert_eq!(read.board(), pos.board());
        assert_eq!(read.castles().castling_rights(), pos.castles().castling_rights(), "{}", fen(&pos));
        assert_eq!(read.legal_moves(), pos.legal_moves(), "{}", fen(&pos));
    }
}

/// The ways to write a move that people use.
fn spellings(pos: &Chess, m: Move) -> Vec<String> {
    let san = san(pos, m);
    let bare = san.trim_end_matches(['+', '#']).to_owned();
    let mut spellings = vec![
        format!("12.{san}"),
        format!("12...{san}"),
        format!("…{san}"),
        format!("{san}!?"),
        format!("{bare}??"),
        format!("{bare}+!"),
        format!("{bare}□"),
        UciMove::from_move(m, CastlingMode::Chess960).to_string(),
        bare.replace('x', "×"),
        bare.replace('x', ":"),
    ];
    let (filled, hollow) = (['♚', '♛', '♜', '♝', '♞'], ['♔', '♕', '♖', '♗', '♘']);
    for figurines in [filled, hollow] {
        let figurine = |c| "KQRBN".find(c).map_or(c, |index| figurines[index]);
        spellings.push(san.chars().map(figurine).collect());
    }
    if m.is_castle() {
        for zero in [bare.replace('O', "0"), bare.replace('O', "o"), bare.replace("O-", "0").replace('O', "0")] {
            spellings.push(zero.clone());
            spellings.push(format!("3.{zero}+!"));
        }
        if pos.castles().mode() == CastlingMode::Standard {
            spellings.push(UciMove::from_move(m, CastlingMode::Standard).to_string());
        }
    } else {
        let from = m.from().expect("every move comes from somewhere");
        let letter = if m.role() == Role::Pawn { String::new() } else { m.role().upper_char().to_string() };
        let promoted = m.promotion().map_or(String::new(), |role| format!("={}", role.upper_char()));
        let dash = if m.is_capture() { 'x' } else { '-' };
        spellings.push(format!("{letter}{from}{dash}{}{promoted}", m.to()));
        if !m.is_capture() {
            spellings.push(format!("{letter}{from}{}{promoted}", m.to()));
        }
    }
    if m.is_en_passant() {
        spellings.extend([format!("{bare}e.p."), format!("{bare}ep"), format!("{bare}e.p.!")]);
    }
    if let Some(role) = m.promotion() {
        let letter = role.upper_char();
        let pawn = bare.trim_end_matches(letter).trim_end_matches('=');
        spellings.extend([format!("{pawn}{letter}"), format!("{pawn}({letter})")]);
    }
    spellings.push(san);
    spellings
}

#[test]
fn every_spelling_of_a_legal_move_reads_as_that_move() {
    for pos in positions(seed() + 21, 600 * effort()) {
        for m in pos.legal_moves() {
            for spelling in spellings(&pos, m) {
                assert_eq!(parse_move(&pos, &spelling), Ok(m), "{spelling} in {}", fen(&pos));
            }
        }
    }
}

#[test]
fn castling_without_dashes_and_an_en_passant_that_stands_apart_read_in_a_line() {
    let moves: Vec<&str> = moves_of("5. 00 000 6... exd6 e.p. 7.00! e8Q").collect();
    assert_eq!(moves, ["00", "000", "exd6", "00!", "e8Q"]);
    let line =
        Line::parse("4k3/P2p4/8/4P3/8/8/8/4K2R b K - 0 1", moves_of("1... d5 2. exd6 e.p. Kd8 3. 00 Kc8 4. a8(Q)#"));
    assert_eq!(line.expect("a line").len(), 6);
}

#[test]
fn a_line_reads_back_from_its_text_with_move_numbers() {
    let mut rng = Rng::new(seed() + 22);
    for _ in 0..200 * effort() {
        let line = random::line(&mut rng, 40);
        let text = koga::render::text::moves(&line);
        let read = Line::parse(&fen(line.root()), moves_of(&text)).unwrap_or_else(|err| panic!("{err} in {text}"));
        assert_eq!(read.moves, line.moves);
        let spaced = text.replace('.', ". ");
        let read = Line::parse(&fen(line.root()), moves_of(&spaced)).unwrap_or_else(|err| panic!("{err} in {spaced}"));
        assert_eq!(read.moves, line.moves);
    }
}

#[test]
fn a_bad_move_is_named_with_its_ply_and_as_it_was_written() {
    let mut rng = Rng::new(seed() + 23);
    for _ in 0..300 * effort() {
        let line = random::line(&mut rng, 20);
        let mut tokens: Vec<String> = (1..=line.len()).filter_map(|ply| line.ply(ply)).map(|ply| ply.san()).collect();
        let at = rng.below(tokens.len());
        let bad = *rng.pick(&["xyzzy", "Zf3", "e9", "--", "0000", "Kxa9", "♔", "+", "P@e4", "—"]);
        tokens[at] = bad.to_owned();
        let err = Line::parse(&fen(line.root()), tokens.iter().map(String::as_str)).expect_err(bad);
        let ParseError::Move { ply, token, .. } = &err else { panic!("{err:?}") };
        assert_eq!((*ply, token.as_str()), (at + 1, bad));
        assert!(err.to_string().contains(&format!("ply {}: \"{bad}\"", at + 1)), "{err}");
    }
}

/// The text with a few characters changed, left out, doubled or swapped.
fn mutated(rng: &mut Rng, text: &str) -> String {
    const ODD: &[char] = &[
        '0', '1', '8', '9', '/', ' ', '-', 'K', 'k', 'P', 'x', '=', '+', '#', '.', '…', '♔', '\u{0}', 'é', '@', '[',
        '_', '~', '\t', '\n', 'Q', 'b', 'w', '\u{301}', '🂡', '(', ')', ':', '×', 'O', 'o', 'e', 'p',
    ];
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..rng.below(4) + 1 {
        let at = rng.below(chars.len() + 1);
        match rng.below(4) {
            0 => chars.insert(at, *rng.pick(ODD)),
            1 if at < chars.len() => chars[at] = *rng.pick(ODD),
            2 if at < chars.len() => drop(chars.remove(at)),
            _ if at + 1 < chars.len() => chars.swap(at, at + 1),
            _ => {}
        }
    }
    chars.into_iter().collect()
}

/// Reads the text in every way; whatever can be read is legal.
fn read(pos: &Chess, text: &str) {
    if let Ok(read) = parse_fen(text) {
        let printed = fen(&read);
        let again = parse_fen(&printed).unwrap_or_else(|err| panic!("{err}: {printed:?}, read from {text:?}"));
        assert_eq!(fen(&again), printed);
    }
    if let Ok(m) = parse_move(pos, text) {
        assert!(pos.is_legal(m), "{text:?} in {}", fen(pos));
    }
    match Line::from_root(pos.clone(), None, moves_of(text)) {
        Ok(line) => assert_eq!(line.positions.len(), line.moves.len() + 1),
        Err(err) => assert!(!err.to_string().is_empty()),
    }
    if let Err(err) = Line::parse_with_setup(text, text, [text]) {
        assert!(!err.to_string().is_empty());
    }
}

#[test]
fn random_bytes_are_refused_or_read_without_a_panic() {
    let mut rng = Rng::new(seed() + 30);
    for _ in 0..20_000 * effort() {
        let length = rng.below(60);
        let ascii = rng.one_in(2);
        let bytes: Vec<u8> = (0..length).map(|_| rng.below(if ascii { 128 } else { 256 }) as u8).collect();
        read(&Chess::default(), &String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn mutated_positions_are_refused_or_read_without_a_panic() {
    let mut rng = Rng::new(seed() + 31);
    for pos in positions(seed() + 32, 1500 * effort()) {
        for _ in 0..5 {
            let text = mutated(&mut rng, &fen(&pos));
            read(&pos, &text);
        }
    }
}

#[test]
fn mutated_moves_are_refused_or_read_without_a_panic() {
    let mut rng = Rng::new(seed() + 33);
    for pos in positions(seed() + 34, 800 * effort()) {
        let legal = pos.legal_moves();
        if legal.is_empty() {
            continue;
        }
        for _ in 0..10 {
            let m = *rng.pick(&legal);
            let spellings = spellings(&pos, m);
            let spelling = rng.pick(&spellings).clone();
            let text = mutated(&mut rng, &spelling);
            read(&pos, &text);
        }
    }
}

//! Any bytes as a position, a move and a line: refused or read, never a panic; what is read is legal and prints back.

#![no_main]

use koga::{
    Line,
    parse::{moves_of, parse_fen, parse_move},
    shakmaty::{EnPassantMode, Position, fen::Fen},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // The first line of the text is a FEN, the second one moves.
    let text = String::from_utf8_lossy(data);
    let (fen, moves) = text.split_once('\n').unwrap_or((&text, &text));
    if let Ok(pos) = parse_fen(fen) {
        let printed = Fen::from_position(&pos, EnPassantMode::Legal).to_string();
        let again = parse_fen(&printed).expect("a printed position is one");
        assert_eq!(Fen::from_position(&again, EnPassantMode::Legal).to_string(), printed);
        for token in moves_of(moves) {
            match parse_move(&pos, token) {
                Ok(m) => assert!(pos.is_legal(m)),
                Err(err) => assert!(!err.to_string().is_empty()),
            }
        }
    }
    match Line::parse(fen, moves_of(moves)) {
        Ok(line) => assert_eq!(line.positions.len(), line.moves.len() + 1),
        Err(err) => assert!(!err.to_string().is_empty()),
    }
    let _ = Line::parse_with_setup(fen, moves, moves_of(moves));
});

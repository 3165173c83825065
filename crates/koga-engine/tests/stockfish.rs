//! The UCI client with a real engine: Debian's Stockfish, if it is installed.

use std::{
    io::Write,
    thread,
    time::{Duration, Instant},
};

use koga_engine::{Engine, EngineError, Limits, Score, Uci, UciOptions};
use shakmaty::{CastlingMode, Chess, Position, fen::Fen};

fn stockfish() -> Option<Uci> {
    let options = UciOptions { threads: Some(1), hash: Some(16), ..UciOptions::default() };
    match Uci::start("stockfish", &options) {
        Ok(uci) => Some(uci),
        Err(EngineError::NotFound { .. }) => {
            // Past the test harness, which swallows what passing tests print.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: no real UCI engine was tested, since stockfish is not installed (apt-get install stockfish)"
            );
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn position(fen: &str, mode: CastlingMode) -> Chess {
    fen.parse::<Fen>().unwrap().into_position(mode).unwrap()
}

#[test]
fn mates_and_several_lines() {
    let Some(mut engine) = stockfish() else {
        return;
    };
    assert!(engine.name().starts_with("Stockfish"));
    let pos = position("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", CastlingMode::Standard);
    let lines = engine.analyse(&pos, &Limits::depth(10).with_lines(3)).unwrap();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0].score, Score::Mate(1));
    assert!(lines.windows(2).all(|pair| pair[0].score >= pair[1].score && pair[0].moves[0] != pair[1].moves[0]));
    let again = engine.analyse(&pos, &Limits::depth(8)).unwrap();
    assert_eq!(again.len(), 1);
}

#[test]
fn equal_node_limits_give_equal_lines() {
    let Some(mut engine) = stockfish() else {
        return;
    };
    let ask = |engine: &mut Uci| engine.analyse(&Chess::new(), &Limits::nodes(20_000)).unwrap();
    let first = ask(&mut engine);
    assert_eq!(first, ask(&mut engine));
    assert!(first[0].moves.len() > 1);
}

#[test]
fn root_moves_and_games_are_sent() {
    let Some(mut engine) = stockfish() else {
        return;
    };
    let pos = Chess::new();
    let m = pos.legal_moves().into_iter().find(|m| m.to_string() == "a2-a3").unwrap();
    let lines = engine.analyse(&pos, &Limits::depth(6).with_root_moves([m])).unwrap();
    assert_eq!(lines[0].moves[0], m);
    let lines = engine.analyse_after(&pos, &[m], &Limits::depth(6)).unwrap();
    assert!(pos.play(m).unwrap().is_legal(lines[0].moves[0]));
}

#[test]
fn chess960_castling_goes_there_and_back() {
    let Some(mut engine) = stockfish() else {
        return;
    };
    let pos = position("4k3/8/8/8/8/8/8/RK6 w A - 0 1", CastlingMode::Chess960);
    let castle = pos.legal_moves().into_iter().find(|m| m.is_castle()).unwrap();
    let lines = engine.analyse(&pos, &Limits::depth(6).with_root_moves([castle])).unwrap();
    assert_eq!(lines[0].moves[0], castle);
    let standard = position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", CastlingMode::Standard);
    let castle = standard.legal_moves().into_iter().find(|m| m.is_castle()).unwrap();
    let lines = engine.analyse(&standard, &Limits::depth(6).with_root_moves([castle])).unwrap();
    assert_eq!(lines[0].moves[0], castle);
}

#[test]
fn an_endless_search_is_stopped() {
    let Some(mut engine) = stockfish() else {
        return;
    };
    let handle = engine.stop_handle();
    let stopper = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        handle.stop();
        Instant::now()
    });
    let lines = engine.analyse(&Chess::new(), &Limits { nodes: None, ..Limits::default() }).unwrap();
    assert!(stopper.join().unwrap().elapsed() < Duration::from_secs(5));
    assert_eq!(lines.len(), 1);
}

#[test]
fn mated_and_stalemated_sides_get_no_line() {
    let Some(mut engine) = stockfish() else {
        return;
    };
    let pos = position("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", CastlingMode::Standard);
    assert_eq!(engine.analyse(&pos, &Limits::depth(5)), Ok(Vec::new()));
}

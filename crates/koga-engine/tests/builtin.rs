//! The built-in engine: what it must get right whatever its strength.

use std::{
    thread,
    time::{Duration, Instant},
};

use koga_engine::{BuiltIn, Engine, EngineError, Limits, PvLine, Score};
use shakmaty::{CastlingMode, Chess, Move, Position, PositionError, fen::Fen, uci::UciMove};

fn position(fen: &str) -> Chess {
    let fen: Fen = fen.parse().unwrap();
    let pos = fen.into_position(CastlingMode::Chess960);
    pos.or_else(PositionError::ignore_too_much_material).map_err(|_| "a bad position").unwrap()
}

fn best(fen: &str, nodes: u64) -> PvLine {
    analyse(&position(fen), &Limits::nodes(nodes)).remove(0)
}

fn analyse(pos: &Chess, limits: &Limits) -> Vec<PvLine> {
    let lines = BuiltIn::new().analyse(pos, limits).unwrap();
    lines.iter().for_each(|line| check(pos, line));
    lines
}

/// A line must be legal, and one that mates must end with the mate it tells of.
fn check(pos: &Chess, line: &PvLine) {
    let mut end = pos.clone();
    for m in &line.moves {
        end = end.play(*m).unwrap_or_else(|_| panic!("{m} of {line:?} is illegal"));
    }
    assert!(!line.moves.is_empty());
    if let Score::Mate(n) = line.score {
        assert!(end.is_checkmate(), "{line:?} does not mate");
        assert_eq!(line.moves.len() as i32, if n > 0 { 2 * n - 1 } else { -2 * n });
    }
}

fn play(pos: &Chess, moves: &[&str]) -> (Vec<Move>, Chess) {
    let (mut pos, mut played) = (pos.clone(), Vec::new());
    for text in moves {
        let m = text.parse::<UciMove>().unwrap().to_move(&pos).unwrap();
        played.push(m);
        pos.play_unchecked(m);
    }
    (played, pos)
}

/// Whether the side to move mates within `n` moves, by trying everything.
fn mates_within(pos: &Chess, n: i32) -> bool {
    n > 0
        && pos.legal_moves().into_iter().any(|m| {
            let mut after = pos.clone();
            after.play_unchecked(m);
            let replies = after.legal_moves();
            match replies.is_empty() {
                true => after.is_check(),
                false => n > 1 && is_mated_within(&after, n - 1),
            }
        })
}

fn is_mated_within(pos: &Chess, n: i32) -> bool {
    pos.legal_moves().into_iter().all(|m| {
        let mut after = pos.clone();
        after.play_unchecked(m);
        mates_within(&after, n)
    })
}

#[test]
fn mates_are_found_with_their_exact_length() {
    for (fen, n) in [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", 1),
        ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", 1),
        ("3k4/1P1B4/3K4/p7/P1p4P/8/8/2q5 w - - 0 86", 1),
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
        ("6k1/pp4p1/2p5/2bp4/8/P5Pb/1P3rrP/2BRRN1K b - - 0 1", 2),
        ("7k/8/b5Bp/2p1p3/3b4/6P1/PP5P/3R3K b - - 0 39", 2),
        ("8/3N3k/p6p/P2p4/3Pb1R1/7K/1r5P/8 w - - 4 42", 2),
        ("8/8/8/8/8/4k3/4q3/7K b - - 0 1", 2),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3),
        ("7k/8/6Kp/1p6/7p/5rP1/P3r3/3R4 w - - 0 38", 3),
        ("8/P4p2/5P1k/2p1R2p/4BRP1/7K/1r1r4/8 b - - 0 45", 3),
        ("6k1/r4pp1/1R2p1p1/6P1/2p2r2/2P5/2R5/6K1 w - - 0 42", 3),
        ("R7/6pk/p7/2p5/6K1/P1rp3N/8/8 w - - 0 51", 4),
        ("8/7R/p5p1/8/P4b2/3R2kP/4r1P1/7K b - - 11 33", 4),
        ("r7/P7/8/3p2p1/R2Pk3/5pPK/5P1P/8 b - - 1 44", 4),
    ] {
        let pos = position(fen);
        let line = best(fen, 200_000);
        assert_eq!(line.score, Score::Mate(n), "{fen}: {line:?}");
        assert!(mates_within(&pos, n.min(3)) == (n <= 3) && !mates_within(&pos, n - 1), "{fen}");
        // The other side sees it coming.
        if n > 1 {
            let after = pos.play(line.moves[0]).unwrap();
            let answer = analyse(&after, &Limits::nodes(200_000)).remove(0);
            assert_eq!(answer.score, Score::Mate(1 - n), "{fen}: {answer:?}");
        }
    }
}

#[test]
fn a_winning_side_avoids_stalemate_and_a_losing_side_seeks_it() {
    // The queen to g6 or f7 would leave Black without a move.
    let line = best("7k/8/5K2/8/8/8/8/6Q1 w - - 0 1", 50_000);
    assert!(matches!(line.score, Score::Mate(n) if n > 0), "{line:?}");
    // Without the rook White would have no move, so it is offered again and again.
    let line = best("6R1/8/8/8/8/7k/5q2/7K w - - 0 1", 50_000);
    assert_eq!(line.score, Score::Cp(0), "{line:?}");
    let line = best("5k2/5P2/4K3/8/8/8/8/8 w - - 0 1", 50_000);
    assert_eq!(line.score, Score::Cp(0));
}

#[test]
fn a_lost_side_draws_by_repetition() {
    // White is about to be mated but can check on d8 and g5 for ever.
    let line = best("6k1/5p1p/8/8/7Q/1q6/rr6/7K w - - 0 1", 100_000);
    assert_eq!(line.score, Score::Cp(0), "{line:?}");
}

#[test]
fn a_third_occurrence_in_the_game_is_a_draw() {
    // Black, a rook down, can bring about the first position for the third time.
    let start = position("k7/7p/8/8/8/8/1R6/K7 w - - 0 1");
    let (played, pos) = play(&start, &["b2c2", "a8b8", "c2b2", "b8a8", "b2c2", "a8b8", "c2b2"]);
    let back = pos.legal_moves().into_iter().find(|m| m.to_string() == "Kb8-a8").unwrap();
    let limits = Limits::nodes(20_000).with_root_moves([back]);
    let mut engine = BuiltIn::new();
    let after_the_game = engine.analyse_after(&start, &played, &limits).unwrap();
    assert_eq!(after_the_game[0].score, Score::Cp(0));
    let out_of_nowhere = engine.analyse(&pos, &limits).unwrap();
    assert!(out_of_nowhere[0].score < Score::Cp(-300), "{out_of_nowhere:?}");
}

#[test]
fn the_fifty_move_rule_draws_unless_a_move_mates() {
    let won = "7k/8/5K2/8/8/8/8/R7 w - - 0 80";
    assert!(best(won, 20_000).score > Score::Cp(300));
    let line = best("k7/8/8/3K4/8/8/8/7R w - - 98 80", 20_000);
    assert_eq!(line.score, Score::Cp(0), "{line:?}");
    // The hundredth ply mates, which counts.
    let line = best("7k/8/6K1/8/8/8/8/R7 w - - 99 80", 20_000);
    assert_eq!(line.score, Score::Mate(1));
    // A pawn move starts the count anew.
    let line = best("7k/8/5K2/8/8/8/P7/R7 w - - 97 80", 50_000);
    assert!(line.score > Score::Cp(300), "{line:?}");
}

#[test]
fn bare_boards_are_drawn() {
    assert_eq!(best("8/8/4k3/8/8/3KB3/8/8 w - - 0 1", 5_000).score, Score::Cp(0));
    // Taking the last rook leaves too little to mate.
    assert_eq!(best("8/8/8/8/8/2k5/1r6/K1B5 w - - 0 1", 5_000).score, Score::Cp(0));
}

#[test]
fn several_lines_are_ordered_and_start_differently() {
    for fen in [
        "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
        "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1",
        "8/8/8/8/8/4k3/4q3/7K b - - 0 1",
    ] {
        let pos = position(fen);
        for nodes in [1, 10, 300, 20_000] {
            let lines = analyse(&pos, &Limits::nodes(nodes).with_lines(4));
            assert_eq!(lines.len(), 4);
            for pair in lines.windows(2) {
                assert!(pair[0].score >= pair[1].score, "{lines:?}");
            }
            for (index, line) in lines.iter().enumerate() {
                assert!(lines[..index].iter().all(|other| other.moves[0] != line.moves[0]));
            }
        }
        let all = analyse(&pos, &Limits::nodes(20_000).with_lines(500));
        assert_eq!(all.len(), pos.legal_moves().len());
    }
}

#[test]
fn the_first_of_several_lines_is_the_best_line() {
    let pos = position("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1");
    let lines = analyse(&pos, &Limits::nodes(100_000).with_lines(3));
    assert_eq!(lines[0].score, Score::Mate(2));
    assert!(lines[1].score < lines[0].score);
}

#[test]
fn only_the_root_moves_given_are_considered() {
    let pos = position("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1");
    let wanted: Vec<Move> =
        pos.legal_moves().into_iter().filter(|m| ["Ke1-e2", "Ra1-a2"].contains(&m.to_string().as_str())).collect();
    let lines = analyse(&pos, &Limits::nodes(5_000).with_root_moves(wanted.clone()).with_lines(9));
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| wanted.contains(&line.moves[0])));
}

#[test]
fn illegal_questions_are_errors() {
    let pos = Chess::new();
    let m = Move::EnPassant { from: shakmaty::Square::E5, to: shakmaty::Square::D6 };
    let mut engine = BuiltIn::new();
    let error = engine.analyse(&pos, &Limits::default().with_root_moves([m])).unwrap_err();
    assert_eq!(error, EngineError::IllegalRootMove { m });
    let error = engine.analyse_after(&pos, &[m], &Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "ply 1: e5xd6 is illegal");
}

#[test]
fn equal_node_limits_give_equal_lines() {
    let fens = [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    ];
    let ask = move |engine: &mut BuiltIn, lines: usize| -> Vec<Vec<PvLine>> {
        let limits = Limits::nodes(20_000).with_lines(lines);
        fens.iter().map(|fen| engine.analyse(&position(fen), &limits).unwrap()).collect()
    };
    let mut engine = BuiltIn::new();
    let first = (ask(&mut engine, 1), ask(&mut engine, 3));
    assert_eq!(first, (ask(&mut engine, 1), ask(&mut engine, 3)));
    let elsewhere = thread::spawn(move || {
        let mut engine = BuiltIn::new();
        // A big search before must not leave a trace.
        engine.analyse(&Chess::new(), &Limits::nodes(150_000)).unwrap();
        let second = ask(&mut engine, 3);
        (ask(&mut engine, 1), second)
    });
    assert_eq!(first, elsewhere.join().unwrap());
}

#[test]
fn the_node_limit_is_kept() {
    for nodes in [1, 2, 50, 777, 20_000] {
        let lines = analyse(&Chess::new(), &Limits::nodes(nodes));
        assert!(lines[0].nodes <= nodes, "{} of {nodes}", lines[0].nodes);
    }
}

/// Whether it is so at least once in a few tries: the machine may be busy with other things.
fn soon(mut attempt: impl FnMut() -> bool) -> bool {
    (0..30).any(|_| attempt())
}

#[test]
fn a_search_stops_at_once() {
    let mut engine = BuiltIn::new();
    let pos = Chess::new();
    let stops_soon = soon(|| {
        let handle = engine.stop_handle();
        handle.reset();
        let stopper = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            handle.stop();
            Instant::now()
        });
        let endless = Limits { nodes: None, ..Limits::default() };
        let lines = engine.analyse(&pos, &endless).unwrap();
        check(&pos, &lines[0]);
        stopper.join().unwrap().elapsed() < Duration::from_millis(30)
    });
    assert!(stops_soon);
}

#[test]
fn an_engine_stays_stopped_until_told_otherwise() {
    let mut engine = BuiltIn::new();
    engine.stop_handle().stop();
    let lines = engine.analyse(&Chess::new(), &Limits::depth(30)).unwrap();
    check(&Chess::new(), &lines[0]);
    assert!(lines[0].depth < 30);
    engine.stop_handle().reset();
    assert_eq!(engine.analyse(&Chess::new(), &Limits::depth(4)).unwrap()[0].depth, 4);
}

#[test]
fn a_time_limit_is_kept() {
    assert!(soon(|| {
        let began = Instant::now();
        let lines = analyse(&Chess::new(), &Limits::time(Duration::from_millis(60)));
        assert!(began.elapsed() >= Duration::from_millis(59));
        assert!(lines[0].depth > 1);
        began.elapsed() < Duration::from_millis(90)
    }));
}

#[test]
fn lines_are_legal_in_random_positions() {
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut engine = BuiltIn::new();
    for game in 0..300 {
        let (mut pos, mut played) = (Chess::new(), Vec::new());
        for _ in 0..game % 120 {
            let legal = pos.legal_moves();
            if legal.is_empty() {
                break;
            }
            let m = legal[random(legal.len())];
            played.push(m);
            pos.play_unchecked(m);
        }
        let limits = Limits::nodes(2_000).with_lines(1 + game % 3);
        let lines = engine.analyse_after(&Chess::new(), &played, &limits).unwrap();
        assert_eq!(lines.len(), pos.legal_moves().len().min(1 + game % 3));
        for line in &lines {
            check(&pos, line);
        }
    }
}

#[test]
fn the_line_is_as_long_as_the_search_is_deep() {
    for fen in [
        "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    ] {
        let line = best(fen, 50_000);
        assert!(line.depth >= 6 && line.moves.len() + 1 >= line.depth as usize, "{line:?}");
    }
}

#[test]
fn lines_do_not_walk_in_circles() {
    for fen in ["8/8/4k3/3p4/3P4/4K3/8/8 w - - 0 1", "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"] {
        let line = best(fen, 50_000);
        let mut pos = position(fen);
        let mut seen = vec![pos.clone()];
        for (index, m) in line.moves.iter().enumerate() {
            pos.play_unchecked(*m);
            assert!(!seen.contains(&pos) || index + 1 == line.moves.len(), "{line:?}");
            seen.push(pos.clone());
        }
    }
}

#[test]
fn one_legal_move_is_a_line_and_none_is_no_line() {
    let only = position("k7/8/8/8/8/8/1r6/K7 w - - 0 1");
    assert_eq!(only.legal_moves().len(), 1);
    let lines = analyse(&only, &Limits::nodes(5_000).with_lines(3));
    assert_eq!((lines.len(), lines[0].moves[0].to_string()), (1, "Ka1xb2".to_owned()));
    for fen in ["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"] {
        assert_eq!(analyse(&position(fen), &Limits::nodes(5_000)), []);
    }
}

#[test]
fn chess960_castling_is_played() {
    // The king goes from f1 to g1, the rook from h1 to f1.
    let pos = position("4k3/8/8/8/8/8/PPP1P1P1/5K1R w H - 0 1");
    let castle = pos.legal_moves().into_iter().find(|m| m.is_castle()).unwrap();
    let lines = analyse(&pos, &Limits::nodes(5_000).with_root_moves([castle]));
    assert_eq!(lines[0].moves[0], castle);
    for number in [0, 17, 518, 959] {
        let board = shakmaty::Board::chess960(number);
        let setup = shakmaty::Setup { castling_rights: board.rooks(), board, ..shakmaty::Setup::initial() };
        let pos: Chess = setup.position(CastlingMode::Chess960).unwrap();
        analyse(&pos, &Limits::nodes(10_000).with_lines(2));
    }
}

#[test]
fn many_queens_do_no_harm() {
    let pos = position("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1");
    assert_eq!(analyse(&pos, &Limits::nodes(20_000))[0].score, Score::Mate(1));
    let pos = position("qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1");
    analyse(&pos, &Limits::nodes(20_000));
}

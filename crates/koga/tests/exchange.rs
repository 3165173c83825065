//! Static exchange evaluation against a slow reference that plays the captures out with legal moves.

mod support;

use std::sync::OnceLock;

use koga::{
    attacks::Men,
    exchange::move_value,
    material::Points,
    parse::{parse_fen, parse_move},
    shakmaty::{Chess, Color, Position, Square},
};
use support::{
    Complaints, effort, fen, puzzles,
    random::{self, Rng},
    seed, slow,
};

/// Positions all along random games.
fn random_positions() -> &'static [Chess] {
    static POSITIONS: OnceLock<Vec<Chess>> = OnceLock::new();
    POSITIONS.get_or_init(|| {
        let mut rng = Rng::new(seed());
        let mut positions = Vec::new();
        while positions.len() < 20_000 * effort() {
            positions.extend(random::line(&mut rng, 30).positions);
        }
        positions
    })
}

/// Positions all along real puzzles; none where the puzzles are not at hand.
fn puzzle_positions() -> &'static [Chess] {
    static POSITIONS: OnceLock<Vec<Chess>> = OnceLock::new();
    POSITIONS.get_or_init(|| {
        let step = (8 / effort()).max(1);
        let puzzles = puzzles::every(step).unwrap_or_default();
        puzzles.iter().flat_map(|puzzle| puzzle.line().positions).collect()
    })
}

/// Calls on every position with either side to move, where that can be.
fn both_turns(positions: &[Chess], mut call: impl FnMut(&Chess, &Chess, Color)) -> usize {
    let mut seen = 0;
    for given in positions {
        for turn in Color::ALL {
            if let Some(pos) = slow::with_turn(given, turn) {
                call(given, &pos, turn);
                seen += 1;
            }
        }
    }
    seen
}

/// Compares the exchange on every square where something can be taken.
fn compare_exchanges(positions: &[Chess]) {
    let mut complaints = Complaints::default();
    let seen = both_turns(positions, |given, pos, turn| {
        let men = Men::of(given);
        for sq in given.board().by_color(!turn) & !given.board().kings() {
            let slow = slow::exchange(pos, sq);
            complaints.compare(men.exchange(sq, turn), slow, || format!("{sq} in {}", fen(pos)));
        }
    });
    eprintln!("exchanges compared in {seen} positions");
    complaints.settle();
}

/// Compares what each capture of a man where it stands is worth.
fn compare_captures(positions: &[Chess]) {
    let mut complaints = Complaints::default();
    both_turns(positions, |given, pos, turn| {
        let men = Men::of(given);
        for sq in given.board().by_color(!turn) {
            for m in slow::captures_on(pos, sq) {
                let from = m.from().expect("a capture comes from somewhere");
                let slow = slow::move_value(pos, m);
                complaints.compare(men.capture_value(from, sq, turn), slow, || format!("{m:?} in {}", fen(pos)));
            }
        }
    });
    complaints.settle();
}

/// Compares what every legal move is worth on the square it goes to.
fn compare_moves(positions: &[Chess]) {
    let mut complaints = Complaints::default();
    for pos in positions {
        for m in pos.legal_moves() {
            complaints.compare(move_value(pos, m), slow::move_value(pos, m), || format!("{m:?} in {}", fen(pos)));
        }
    }
    complaints.settle();
}

#[test]
fn exchanges_in_puzzles_are_worth_what_playing_them_out_wins() {
    compare_exchanges(puzzle_positions());
}

#[test]
fn exchanges_in_random_positions_are_worth_what_playing_them_out_wins() {
    compare_exchanges(random_positions());
}

#[test]
fn captures_in_puzzles_are_worth_what_playing_them_out_wins() {
    compare_captures(puzzle_positions());
}

#[test]
fn captures_in_random_positions_are_worth_what_playing_them_out_wins() {
    compare_captures(random_positions());
}

#[test]
fn moves_in_puzzles_are_worth_what_is_left_after_the_answer() {
    let positions: Vec<Chess> = puzzle_positions().iter().step_by(4).cloned().collect();
    compare_moves(&positions);
}

#[test]
fn moves_in_random_positions_are_worth_what_is_left_after_the_answer() {
    let positions: Vec<Chess> = random_positions().iter().step_by(2).cloned().collect();
    compare_moves(&positions);
}

#[test]
fn random_positions_hold_what_exchanges_are_hard_about() {
    let positions = random_positions();
    let count = |what: &str, held: &dyn Fn(&Chess) -> bool| {
        let count = positions.iter().filter(|pos| held(pos)).count();
        assert!(count > 50, "only {count} of {} positions have {what}", positions.len());
    };
    let any = |pos: &Chess, held: fn(&koga::shakmaty::Move) -> bool| pos.legal_moves().iter().any(held);
    count("checks", &|pos| pos.is_check());
    count("en passant", &|pos| any(pos, |m| m.is_en_passant()));
    count("promoting captures", &|pos| any(pos, |m| m.is_capture() && m.is_promotion()));
    count("castling", &|pos| any(pos, |m| m.is_castle()));
    count("many queens", &|pos| pos.board().queens().count() > 4);
}

/// What taking on the square is worth to the side to move, and that both ways to work it out say so.
#[track_caller]
fn assert_exchange(fen: &str, sq: Square, expected: Points) {
    let pos = parse_fen(fen).expect("a position");
    assert_eq!(Men::of(&pos).exchange(sq, pos.turn()), expected, "{sq} in {fen}");
    assert_eq!(slow::exchange(&pos, sq), expected, "{sq} played out in {fen}");
}

/// What the move is worth on its square, and that both ways to work it out say so.
#[track_caller]
fn assert_move(fen: &str, san: &str, expected: Points) {
    let pos = parse_fen(fen).expect("a position");
    let m = parse_move(&pos, san).expect("a legal move");
    assert_eq!(move_value(&pos, m), expected, "{san} in {fen}");
    assert_eq!(slow::move_value(&pos, m), expected, "{san} played out in {fen}");
}

#[test]
fn an_undefended_man_is_won() {
    assert_exchange("4k3/8/8/3n4/8/8/8/3RK3 w - - 0 1", Square::D5, 3);
}

#[test]
fn a_rook_behind_a_rook_joins_in() {
    // Two rooks against two guards: the knight falls, a rook for a rook, and the last one stands.
    assert_exchange("3rk3/3r4/8/3n4/8/8/3R4/3RK3 w - - 0 1", Square::D5, 0);
    assert_exchange("4k3/3r4/8/3n4/8/8/3R4/3RK3 w - - 0 1", Square::D5, 3);
}

#[test]
fn a_queen_behind_a_rook_joins_in() {
    assert_exchange("4k3/3r4/8/3n4/8/8/3R4/3QK3 w - - 0 1", Square::D5, 3);
}

#[test]
fn a_bishop_behind_a_pawn_joins_in() {
    // exd5, exd5, Bxd5: a pawn won, since the bishop stood behind the pawn.
    assert_exchange("4k3/8/4p3/3p4/4P3/8/6B1/4K3 w - - 0 1", Square::D5, 1);
    assert_exchange("4k3/8/4p3/3p4/4P3/8/8/4K3 w - - 0 1", Square::D5, 0);
}

#[test]
fn a_rook_joins_in_through_the_enemy_rook_that_takes_back() {
    // Nxd4 Rxd4 Rxd4: White's rook recaptures through Black's.
    assert_exchange("4k3/8/8/8/3p4/3r1N2/8/3RK3 w - - 0 1", Square::D4, 1);
    // Without it the knight would be lost for the pawn.
    assert_exchange("4k3/8/8/8/3p4/3r1N2/8/4K3 w - - 0 1", Square::D4, 0);
}

#[test]
fn a_pinned_guard_does_not_take_back() {
    assert_exchange("4k3/4n3/8/3p4/4P3/8/8/4RK2 w - - 0 1", Square::D5, 1);
    assert_exchange("5k2/2n5/8/3p4/4P3/8/8/4RK2 w - - 0 1", Square::D5, 0);
}

#[test]
fn a_guard_is_free_again_when_its_pinner_takes() {
    // The rook on d3 pins the knight on d6, but takes on e3 itself: the knight's pin is over, and so the other rook takes.
    assert_exchange("3k4/8/3n4/8/4p3/3R4/8/4K1R1 w - - 0 1", Square::E4, 0);
}

#[test]
fn of_two_rooks_the_one_that_pins_nothing_takes() {
    // The rook on g3 holds the pawn on g2, so the one on f8 takes and stays.
    assert_exchange("5rk1/8/8/8/8/5Pr1/6P1/6K1 b - - 0 1", Square::F3, 1);
    let puzzle = "5rk1/2q3pp/2p1p1b1/p1p1P3/P1Pp4/1P3Pr1/1R1Q2P1/B3R1K1 b - - 0 28";
    assert_exchange(puzzle, Square::F3, 1);
}

#[test]
fn of_a_knight_and_a_bishop_the_better_one_takes() {
    let puzzle = "rn3r1k/ppp2qp1/2b1Nb1B/7Q/3P4/2N5/PPP3PP/R5K1 w - - 0 15";
    assert_exchange(puzzle, Square::G7, 1);
}

#[test]
fn a_king_takes_only_what_is_not_guarded() {
    assert_exchange("8/8/8/3k4/4p3/5K2/8/8 w - - 0 1", Square::E4, 0);
    assert_exchange("3k4/8/8/8/4p3/5K2/8/8 w - - 0 1", Square::E4, 1);
}

#[test]
fn a_capture_that_promotes_counts_the_queen() {
    assert_move("3r3k/4P3/8/8/8/8/8/4K3 w - - 0 1", "exd8=Q+", 13);
    assert_move("3rk3/4P3/8/8/8/8/8/4K3 w - - 0 1", "exd8=Q+", 4);
    assert_move("3rk3/4P3/8/8/8/8/8/4K3 w - - 0 1", "exd8=N", 4);
    assert_exchange("3rk3/4P3/8/8/8/8/8/4K3 w - - 0 1", Square::D8, 4);
}

#[test]
fn a_pawn_taken_en_passant_is_won_and_leaves_its_square() {
    assert_move("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "exd6", 1);
    // Black's pawn takes back.
    assert_move("4k3/2p5/8/3pP3/8/8/8/4K3 w - d6 0 1", "exd6", 0);
    // The rook on d1 sees d6 once the pawn on d5 is gone, and guards it.
    assert_move("4k3/2p5/8/3pP3/8/8/8/3RK3 w - d6 0 1", "exd6", 1);
    // The rook on d4 sees d6 only now that d5 is empty.
    assert_move("4k3/8/8/3pP3/3r4/8/8/4K3 w - d6 0 1", "exd6", 0);
}

#[test]
fn a_man_that_goes_where_it_can_be_taken_is_lost() {
    assert_move("4k3/2p5/8/8/5N2/8/8/4K3 w - - 0 1", "Nd5", 0);
    assert_move("4k3/2p5/8/8/2N5/8/8/4K3 w - - 0 1", "Nd6+", -3);
    assert_move("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "O-O", 0);
}

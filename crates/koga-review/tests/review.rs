//! What is said of games, and what is not.

use std::sync::atomic::{AtomicBool, Ordering};

use koga::{Tactic, shakmaty::Color};
use koga_engine::{BuiltIn, Limits, Score};
use koga_review::{
    Answer, Class, Moment, Players, Review, Settings,
    batch::{Batch, Reviewed, Searches},
    pgn::{RawGame, Split, read},
    render, review,
};

fn settings(nodes: u64) -> Settings {
    Settings { limits: Limits::nodes(nodes), ..Settings::default() }
}

fn reviewed(text: &str, settings: &Settings) -> Review {
    let (game, _) = read(&RawGame { number: 1, bytes: text.as_bytes().to_vec(), ..RawGame::default() });
    review(game.expect("readable"), settings, &mut BuiltIn::new()).expect("the built-in engine does not fail")
}

fn labels(review: &Review) -> Vec<(usize, Class, Tactic)> {
    review.moments.iter().map(|moment| (moment.index + 1, moment.class, moment.finding().tactic)).collect()
}

fn from(fen: &str, moves: &str) -> String {
    format!("[FEN \"{fen}\"]\n[SetUp \"1\"]\n\n{moves} *\n")
}

#[test]
fn a_fork_that_was_not_played_is_missed() {
    let review = reviewed(&from("r3k3/5ppp/8/3N4/8/8/5PPP/4K3 w - - 0 1", "1. Kd2 Kd7"), &settings(5_000));
    assert_eq!(labels(&review)[0], (1, Class::Missed, Tactic::Fork), "{:?}", labels(&review));
    assert_eq!(review.moments[0].player(), Color::White);
    assert_eq!(review.counts[0].total(Class::Missed), 1);
}

#[test]
fn a_fork_that_was_played_is_found_and_its_harvest_said_once() {
    let review = reviewed(&from("r3k3/5ppp/8/3N4/8/8/5PPP/4K3 w - - 0 1", "1. Nc7+ Kd7 2. Nxa8 Kc6"), &settings(5_000));
    assert_eq!(labels(&review), [(1, Class::Found, Tactic::Fork)]);
}

#[test]
fn what_a_move_allows_and_the_enemy_finds_is_said_once() {
    // The rook steps into a fork.
    let text = from("3rk3/5ppp/8/3N4/8/8/5PPP/3RK3 b - - 0 1", "1... Ra8 2. Nc7+ Kd8 3. Nxa8");
    let review = reviewed(&text, &settings(5_000));
    let allowed: Vec<&Moment> = review.moments.iter().collect();
    assert_eq!(allowed.len(), 1, "{:?}", labels(&review));
    assert_eq!((allowed[0].class, allowed[0].finding().tactic), (Class::Allowed, Tactic::Fork));
    assert_eq!(allowed[0].answer, Some(Answer::Found));
    assert_eq!(allowed[0].player(), Color::Black);
    assert_eq!(review.counts[0].total(Class::Found), 1, "the table counts both");
    assert_eq!(review.counts[1].total(Class::Allowed), 1);
}

#[test]
fn what_a_move_allows_and_the_enemy_misses_is_said_once() {
    let text = from("3rk3/5ppp/8/3N4/8/8/5PPP/3RK3 b - - 0 1", "1... Ra8 2. Nb4 Ra4");
    let review = reviewed(&text, &settings(5_000));
    let of_fork: Vec<_> = review.moments.iter().filter(|moment| moment.finding().tactic == Tactic::Fork).collect();
    assert_eq!(of_fork.len(), 1, "{:?}", labels(&review));
    assert_eq!(of_fork[0].answer, Some(Answer::Missed));
    assert_eq!(review.counts[0].total(Class::Missed), 1);
}

#[test]
fn a_threat_that_was_there_is_overlooked_and_not_allowed() {
    // The back rank is weak before the move and after it.
    let text = from("3r2k1/5ppp/8/8/8/8/P4PPP/1R4K1 w - - 0 1", "1. Rb4 Rd1#");
    let review = reviewed(&from("3r2k1/5ppp/8/8/8/7P/P4PP1/1R4K1 b - - 0 1", "1... g6 2. a4 Rd2"), &settings(3_000));
    assert!(review.counts.iter().all(|counts| counts.total(Class::Allowed) == 0));
    let review = reviewed(&text, &settings(3_000));
    assert_eq!(labels(&review), [(1, Class::Allowed, Tactic::BackRankMate)]);
    assert!(!review.moments[0].threat, "the rook guarded the back rank before it left");
    let text = from("6k1/5ppp/8/3r4/8/8/P4PPP/6K1 w - - 0 1", "1. a4 Rd1#");
    let review = reviewed(&text, &settings(3_000));
    assert_eq!(labels(&review), [(1, Class::Allowed, Tactic::BackRankMate)]);
    assert!(review.moments[0].threat);
    assert_eq!(review.counts[0].total(Class::Allowed), 0);
    assert_eq!(review.counts[1].total(Class::Found), 1);
}

#[test]
fn quiet_and_forced_moves_get_silence() {
    let review = reviewed(
        "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O *",
        &settings(3_000),
    );
    assert_eq!(labels(&review), []);
    assert!(render::text::game(&finished(&review), false).contains("Nothing to speak of."));
    // Black has one move.
    let review = reviewed(&from("7k/8/8/8/8/6q1/8/K5R1 b - - 0 1", "1... Qxg1+ 2. Kb2 Kg7"), &settings(2_000));
    assert!(review.moves.iter().all(|judged| judged.mark.is_none()), "{:?}", review.moves);
}

#[test]
fn exchanges_are_not_labels() {
    let review =
        reviewed("1. e4 d5 2. exd5 Qxd5 3. Nc3 Qa5 4. d4 c6 5. Nf3 Bg4 6. Be2 Bxf3 7. Bxf3 Nf6 *", &settings(3_000));
    assert_eq!(labels(&review), []);
}

#[test]
fn a_position_that_comes_back_is_no_blunder() {
    // White shuffles with a won game; the third time would be a draw, the second is not.
    let text = from("7k/8/5K2/6Q1/8/8/8/8 w - - 0 1", "1. Kf5 Kh7 2. Kf6 Kh8 3. Kf5 Kh7 4. Kf6 Kh8");
    let review = reviewed(&text, &settings(3_000));
    assert!(review.moves.iter().all(|judged| judged.mark.is_none()), "{:?}", review.moves);
}

#[test]
fn the_end_of_the_game_has_a_score() {
    let review = reviewed("1. f3 e5 2. g4 Qh4# 0-1", &settings(2_000));
    assert_eq!(review.moves[3].score, Score::Mate(1));
    assert_eq!(review.moves[2].mark.map(|mark| mark.glyph()), Some("??"));
    assert_eq!(labels(&review), [(3, Class::Allowed, Tactic::Checkmate)]);
    let stalemate = reviewed(&from("k7/8/1Q6/8/8/8/8/7K b - - 0 1", ""), &settings(100));
    assert!(stalemate.moves.is_empty());
}

#[test]
fn one_player_may_be_asked_for() {
    let text = "[White \"Ada\"]\n[Black \"Bob\"]\n\n1. f3 e5 2. g4 Qh4# 0-1";
    let of = |players: Players| reviewed(text, &Settings { players, ..settings(2_000) });
    assert_eq!(of(Players::Side(Color::White)).moments.len(), 1);
    assert_eq!(of(Players::Named("ADA".into())).moments.len(), 1);
    assert_eq!(of(Players::Named("nobody".into())).moments.len(), 0);
    let black = of(Players::Named("bob".into()));
    assert_eq!(
        labels(&black),
        [(4, Class::Found, Tactic::Checkmate)],
        "his own, since nobody spoke of what was allowed"
    );
}

fn finished(review: &Review) -> Reviewed {
    Reviewed { raw: RawGame { number: 1, ..RawGame::default() }, review: Some(review.clone()), troubles: Vec::new() }
}

const SEVERAL: &str = "1. e4 e5 2. Qh5 Nf6 3. Qxe5+ Be7 4. Nc3 Nc6 5. Qg3 d6 6. Qxg7 Rg8 0-1\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n\
    [Variant \"Horde\"]\n\n1. e4 *\n\n[Event \"x\"]\n\n1. e4 e5 2. Ke4 *\n\n[Event \"y\"]\n\n*\n\n[Event \"z\"]\n\n1. d4 d5 2. c4 Qd6 3. c5 Qe6 4. Nc3 Na6 *\n";

fn batch(text: &str, threads: usize, interrupted: &AtomicBool, mut sink: impl FnMut(&Reviewed)) -> u64 {
    let searches = Searches::default();
    let settings = settings(800);
    Batch { settings: &settings, threads, interrupted, searches: &searches }
        .run(
            Split::new(text.as_bytes()),
            || Ok(Box::new(BuiltIn::new())),
            |reviewed| {
                sink(&reviewed);
                Ok(())
            },
        )
        .expect("nothing fails");
    let (asked, done) = (searches.asked.into_inner(), searches.done.into_inner());
    assert!(done == asked || interrupted.load(Ordering::Relaxed), "{done} searches of {asked}");
    done
}

#[test]
fn what_comes_out_does_not_depend_on_the_threads() {
    let of = |threads: usize| {
        let mut out = String::new();
        let positions = batch(SEVERAL, threads, &AtomicBool::new(false), |reviewed| {
            out += &render::text::game(reviewed, false);
            out += &serde_json::to_string(&render::json::game(reviewed)).unwrap();
            out += &reviewed.review.as_ref().map_or_else(String::new, render::pgn::game);
        });
        (out, positions)
    };
    let one = of(1);
    assert!(one.0.contains("Game 6: "));
    assert!(one.0.contains("Game 3: not reviewed."));
    for threads in [2, 3, 8] {
        assert_eq!(of(threads), one, "{threads} threads");
    }
}

#[test]
fn an_interruption_finishes_the_game_in_hand() {
    let many = SEVERAL.repeat(20);
    let interrupted = AtomicBool::new(false);
    let mut games = 0;
    batch(&many, 2, &interrupted, |_| {
        games += 1;
        if games == 2 {
            interrupted.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
    assert!((2..=3).contains(&games), "{games}");
}

#[test]
fn the_json_is_typed_and_holds_only_what_matters() {
    let review = reviewed("1. f3 e5 2. g4 Qh4# 0-1", &settings(2_000));
    let json = serde_json::to_value(render::json::game(&finished(&review))).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["moments"].as_array().map(Vec::len), Some(1));
    let moment = &json["moments"][0];
    assert_eq!((moment["class"].as_str(), moment["answer"].as_str()), (Some("allowed"), Some("found")));
    assert_eq!(moment["finding"]["tactic"], "checkmate");
    assert_eq!(moment["score"]["mate"], 1);
    assert_eq!(moment["uci"][0], "d8h4");
    assert_eq!(json["counts"]["black"]["found"]["checkmate"], 1);
    assert_eq!(json["marks"][0]["mark"], "??");
    assert_eq!(json["errors"].as_array().map(Vec::len), Some(0));
}

//! The program where the engine takes part: `koga explain` without a line, and `koga review`.

mod support;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;
use support::Folder;

const FORK: &str = "r3k3/5ppp/8/3N4/8/8/5PPP/4K3 w - - 0 1";

fn koga() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_koga"));
    command.env_remove("KOGA_ENGINE");
    command
}

fn run(args: &[&str]) -> Output {
    koga().args(args).output().expect("the program runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn fed(args: &[&str], input: &str) -> Output {
    let mut child = koga()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it listens");
    child.wait_with_output().expect("it ends")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn the_engine_finds_the_line_of_a_bare_position() {
    let output = run(&["explain", FORK, "--nodes", "5000"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("The knight on c7 forks the king on e8 and the rook on a8."), "{said}");
    assert!(said.contains("Score: +"), "{said}");
}

#[test]
fn a_worse_move_is_compared_with_the_better_one() {
    let said = stdout(&run(&["explain", FORK, "Kd2", "--nodes", "5000"]));
    let (before, after) = said.split_once("Clearly better:").expect(&said);
    assert!(before.contains("1.Kd2"), "{said}");
    assert!(after.contains("1.Nc7+") && after.contains("forks the king on e8"), "{said}");
    let best = stdout(&run(&["explain", FORK, "Nc7+", "--nodes", "5000"]));
    assert!(!best.contains("Clearly better:"), "{best}");
}

#[test]
fn what_a_move_allows_is_said() {
    let said = stdout(&run(&["explain", "3rk3/5ppp/8/3N4/8/8/5PPP/3RK3 b - - 0 1", "Ra8", "--nodes", "5000"]));
    assert!(
        said.contains("What the move allows:\n  The knight on c7 forks the king on e8 and the rook on a8."),
        "{said}"
    );
}

#[test]
fn what_looks_like_a_recapture_is_no_headline() {
    // White is a bishop down and takes one back; the score says that nothing is won.
    let fen = "r2qk2r/pp1n1pp1/2p1pn1p/3p1b2/2PP3B/P1b1PN1P/1P3PP1/R2QKB1R w KQkq - 0 12";
    let said = stdout(&run(&["explain", fen]));
    assert!(said.contains("\n\nNo tactic to speak of.\n") && said.contains("hanging capture, 12.bxc3"), "{said}");
    // A bishop up afterwards: that one was hanging.
    let said = stdout(&run(&["explain", "4k3/8/8/8/8/2b5/1P6/4K3 w - - 0 1", "--nodes", "5000"]));
    assert!(said.contains("The pawn takes the bishop on c3") && !said.contains("No tactic to speak of."), "{said}");
}

#[test]
fn what_a_blunder_takes_is_no_headline() {
    // The queen takes a knight, and a check by the bishop uncovers the queen behind it.
    let fen = "r2q1rk1/pp3ppp/3b4/2pn4/8/2B2N2/PP3PPP/R2QR1K1 w - - 0 19";
    let said = stdout(&run(&["explain", fen, "Qxd5", "--nodes", "50000"]));
    let (played, allowed) = said.split_once("What the move allows:").expect(&said);
    assert!(played.contains("\n\nNo tactic to speak of.\n") && played.contains("hanging capture, 19.Qxd5"), "{said}");
    assert!(allowed.contains("Black wins the queen for the bishop with Qxd5."), "{said}");
}

#[test]
fn a_player_whom_no_game_has_is_said_and_nobody_else_spoken_of() {
    let pgn = "[White \"Ada\u{1b}[31m\"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n";
    let output = fed(&["review", "-", "--nodes", "1000", "--player", "Zed"], pgn);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no game has a player \"Zed\""), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("Nothing to speak of.") && !said.contains("Ke7") && !said.contains('\u{1b}'), "{said}");
}

#[test]
fn json_has_a_score_only_where_an_engine_answered() {
    let json = |args: &[&str]| -> Vec<Value> {
        stdout(&run(args)).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let given = json(&["explain", FORK, "--line", "Nc7+ Kd8 Nxa8", "--format", "json"]);
    assert!(given[0].get("score").is_none() && given[0].get("part").is_none());
    let found = json(&["explain", FORK, "--format", "json", "--nodes", "5000"]);
    assert_eq!(found.len(), 1);
    assert!(found[0]["score"]["cp"].as_i64() > Some(0), "{}", found[0]["score"]);
    assert_eq!((found[0]["version"].as_i64(), found[0]["line"][0].as_str()), (Some(1), Some("Nc7+")));
    let compared = json(&["explain", FORK, "Kd2", "--format", "json", "--nodes", "5000"]);
    let parts: Vec<_> = compared.iter().map(|report| report["part"].as_str().unwrap_or_default()).collect();
    assert_eq!((parts.first(), parts.last()), (Some(&"move"), Some(&"better")), "{parts:?}");
    let several = json(&["explain", FORK, "--multipv", "3", "--format", "json", "--nodes", "5000"]);
    assert_eq!(several.len(), 3);
    let mate = json(&["explain", "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "--format", "json", "--depth", "4"]);
    assert_eq!(mate[0]["score"]["mate"], 1);
}

#[test]
fn requests_with_moves_are_answered_without_the_engine_and_others_with_it() {
    let requests = format!(
        "{{\"id\":1,\"fen\":\"{FORK}\",\"moves\":[\"d5c7\",\"e8d8\",\"c7a8\"]}}\n{{\"id\":2,\"fen\":\"{FORK}\"}}\n\
         {{\"id\":3,\"fen\":\"{FORK}\",\"moves\":[]}}\n{{\"id\":4,\"fen\":\"7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\"}}\n\
         {{\"id\":5,\"fen\":\"r7/3k1ppp/8/3N4/8/8/5PPP/4K3 b - - 0 1\",\"setup\":\"d7e8\"}}\n"
    );
    let output = fed(&["explain", "--jsonl", "--nodes", "5000"], &requests);
    assert_eq!(output.status.code(), Some(1));
    let answers: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(answers.iter().map(|answer| answer["id"].as_i64().unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(answers[0].get("score").is_none());
    assert!(answers[1]["score"]["cp"].is_i64());
    assert_eq!(answers[1]["findings"][0]["tactic"], "fork");
    assert_eq!(answers[2]["error"]["kind"], "request");
    assert_eq!(answers[3]["error"]["message"], "there is no move in the position: it is stalemate");
    assert_eq!(answers[4]["line"][0], "Nc7+");
}

#[test]
fn bad_input_is_pointed_at() {
    let output = run(&["explain", FORK, "Nf9"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("\"Nf9\" is not a move in SAN or UCI"), "{}", stderr(&output));
    let output = run(&["explain", FORK, "--engine", "no-such-engine-anywhere"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no-such-engine-anywhere"), "{}", stderr(&output));
    assert_eq!(run(&["explain", FORK, "--nodes", "0"]).status.code(), Some(2));
    assert_eq!(run(&["review"]).status.code(), Some(2));
    let output = run(&["review", "no/such/file.pgn"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("koga: no/such/file.pgn: "), "{}", stderr(&output));
}

const GAMES: &str = "[Event \"one\"]\n[White \"Ada\"]\n[Black \"Bob\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n\
    [Event \"two\"]\n\n1. e4 e5 2. Ke3 d5 *\n\n[Event \"three\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n\n\
    [Event \"four\"]\n[White \"Cy\"]\n[Black \"Ada\"]\n\n1. e4 e5 2. Qh5 Nf6 3. Qxe5+ Be7 *\n";

#[test]
fn a_review_tells_the_critical_moments_and_passes_bad_games_through() {
    let folder = Folder::new();
    let (games, out) = (folder.path("games.pgn"), folder.path("out.pgn"));
    fs::write(&games, GAMES).unwrap();
    let output = run(&["review", text(&games), "-o", text(&out), "--nodes", "1000"]);
    assert_eq!(output.status.code(), Some(1), "a game is bad");
    let said = stdout(&output);
    assert!(said.contains("Game 1: Ada – Bob, 0-1 (one)\n\n2.g4??  White allows mate at once, 2...Qh4#."), "{said}");
    assert!(said.contains("The queen on h4 mates the king on e1."), "{said}");
    assert!(said.contains("Black found it."), "{said}");
    assert!(said.contains("Game 3: not reviewed."), "{said}");
    let errors = stderr(&output);
    let name = games.display();
    assert!(
        errors.contains(&format!("koga: {name}: game 2: move 2.: \"Ke3\" is not legal here (white to move)\n")),
        "{errors}"
    );
    assert!(errors.contains(&format!("koga: {name}: game 3: \"Atomic\" is a variant")), "{errors}");
    let annotated = fs::read_to_string(&out).unwrap();
    assert!(annotated.contains("2. g4 $4 {"), "{annotated}");
    assert!(annotated.contains("[Variant \"Atomic\"]\n\n1. e4 *\n"), "{annotated}");
    assert_eq!(annotated.matches("[Event ").count(), 4);
    assert_eq!(folder.names().len(), 2, "nothing is left beside the two files");
}

#[test]
fn formats_players_and_threads() {
    let folder = Folder::new();
    let games = folder.path("games.pgn");
    fs::write(&games, GAMES).unwrap();
    let of = |more: &[&str]| stdout(&run(&[&["review", text(&games), "--nodes", "1000"], more].concat()));
    for format in ["text", "pgn", "json"] {
        let one = of(&["--format", format, "--threads", "1"]);
        assert_eq!(of(&["--format", format, "--threads", "2"]), one);
        assert!(!one.is_empty());
    }
    let json: Vec<Value> =
        of(&["--format", "json"]).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(json.len(), 4);
    assert_eq!(json[0]["moments"][0]["class"], "allowed");
    assert_eq!(json[1]["errors"][0]["token"], "Ke3");
    assert!(!of(&["--player", "black"]).contains("White allows"));
    assert!(of(&["--player", "ada"]).contains("White allows mate"));
    let out = folder.path("out.json");
    let nothing = of(&["-o", text(&out), "--format", "json"]);
    assert_eq!(nothing, "");
    assert_eq!(fs::read_to_string(&out).unwrap().lines().count(), 4);
    let piped = fed(&["review", "-", "--nodes", "500", "--format", "json"], "1. e4 e5 *\n");
    assert!(piped.status.success());
    assert_eq!(stdout(&piped).lines().count(), 1);
}

#[test]
fn a_file_without_games_is_an_error() {
    let folder = Folder::new();
    let games = folder.path("games.pgn");
    fs::write(&games, "\u{feff}\r\n\r\n").unwrap();
    let output = run(&["review", text(&games)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("there is no game in it"), "{}", stderr(&output));
}

#[test]
#[cfg(unix)]
fn an_interruption_leaves_a_readable_file() {
    let folder = Folder::new();
    let (games, out) = (folder.path("games.pgn"), folder.path("out.pgn"));
    fs::write(&games, format!("{}\n", GAMES.split("[Event \"two\"]").next().unwrap()).repeat(3000)).unwrap();
    let mut child = koga()
        .args(["review", text(&games), "-o", text(&out), "--nodes", "3000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    // Once it tells of a game it is well under way.
    let mut told = BufReader::new(child.stdout.take().expect("piped"));
    told.read_line(&mut String::new()).expect("it tells of the first game");
    assert!(!out.exists(), "the file appears only once it is complete");
    let start = Instant::now();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    told.read_to_end(&mut Vec::new()).expect("it is listened to");
    let output = child.wait_with_output().expect("it ends");
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("interrupted after"), "{}", stderr(&output));
    let annotated = fs::read_to_string(&out).expect("the file is there");
    assert!(annotated.ends_with("0-1\n\n"), "it ends with a whole game");
}

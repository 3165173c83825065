//! The program as a user meets it: exit statuses, messages for bad input, and `--jsonl`.

mod support;

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    process::{Child, Command, Output, Stdio},
    thread,
};

use serde_json::{Value, json};
use support::text;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const FORK: &str = "r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1";

fn koga(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_koga"));
    command.args(args).env_remove("NO_COLOR").env("COLUMNS", "100");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(args: &[&str]) -> Output {
    koga(args).output().expect("the program runs")
}

/// Runs the program and expects a failed request: status 1, nothing printed, a message with all of the parts.
#[track_caller]
fn assert_refused(args: &[&str], parts: &[&str]) {
    let output = run(args);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {message}");
    assert!(output.stdout.is_empty(), "{args:?}: {}", text(&output.stdout));
    assert!(message.starts_with("koga: "), "{message}");
    for part in parts {
        assert!(message.contains(part), "{args:?}: \"{part}\" is missing in: {message}");
    }
    assert!(!message.contains("panicked"), "{message}");
}

#[track_caller]
fn assert_fen_refused(fen: &str, parts: &[&str]) {
    assert_refused(&["explain", fen, "e4"], &[&["fen: "], parts].concat());
}

#[test]
fn fields_of_a_fen_may_stand_apart_as_they_like() {
    let apart = FORK.replace(' ', "\t ");
    assert_eq!(run(&["explain", &apart, "Nc7+"]).stdout, run(&["explain", FORK, "Nc7+"]).stdout);
}

#[test]
fn what_commands_a_terminal_is_not_printed() {
    let output = run(&["explain", "x\u{1b}[31m w", "e4"]);
    assert!(!text(&output.stderr).contains('\u{1b}'), "{}", text(&output.stderr));
}

#[test]
fn a_move_is_explained_with_status_0() {
    let output = run(&["explain", FORK, "Nc7+"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("forks"), "{}", text(&output.stdout));
    for format in ["text", "json", "svg"] {
        assert_eq!(run(&["explain", FORK, "Nc7+", "--format", format]).status.code(), Some(0), "{format}");
    }
    assert_eq!(run(&["explain", FORK, "--line", "1. Nc7+ Kd8 2. Nxa8", "--why-not", "pin"]).status.code(), Some(0));
    assert_eq!(run(&["tactics"]).status.code(), Some(0));
    assert_eq!(run(&["tactics", "fork"]).status.code(), Some(0));
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    for format in ["text", "json", "svg"] {
        let args = ["explain", FORK, "--line", "Nc7+ Kd8 Nxa8", "--format", format];
        assert_eq!(run(&args).stdout, run(&args).stdout, "{format}");
    }
}

#[test]
fn wrong_usage_has_status_2() {
    let wrong: &[&[&str]] = &[
        &[],
        &["explain"],
        &["explain", FORK, "--multipv", "0"],
        &["review"],
        &["review", "games.pgn", "--format", "svg"],
        &["review", "games.pgn", "--threads", "0"],
        &["explian", FORK, "Nc7+"],
        &["explain", FORK, "Nc7+", "Kd8"],
        &["explain", FORK, "Nc7+", "--format", "pdf"],
        &["explain", FORK, "Nc7+", "--setup"],
        &["explain", FORK, "Nc7+", "--why-not", "spoon"],
        &["explain", FORK, "Nc7+", "--why-not", "fork", "--format", "json"],
        &["explain", FORK, "Nc7+", "--colour", "never"],
        &["explain", FORK, "Nc7+", "--color", "sometimes"],
        &["explain", "--jsonl", FORK],
        &["explain", "--jsonl", "--format", "json"],
        &["tactics", "spoon"],
    ];
    for args in wrong {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn help_and_version_have_status_0() {
    for args in [&["--help"][..], &["--version"], &["explain", "--help"], &["help", "explain"]] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(!output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn a_missing_king_is_named() {
    assert_fen_refused("8/8/8/8/8/8/4P3/4K3 w - - 0 1", &["Black has no king", "\"8/8/8/8/8/8/4P3/4K3\""]);
    assert_fen_refused("4k3/8/8/8/8/8/4P3/8 w - - 0 1", &["White has no king"]);
}

#[test]
fn a_second_king_is_named() {
    assert_fen_refused("4k3/8/8/8/8/8/4P3/K3K3 w - - 0 1", &["White has more than one king"]);
}

#[test]
fn an_empty_board_is_named() {
    assert_fen_refused("8/8/8/8/8/8/8/8 w - - 0 1", &["the board is empty"]);
}

#[test]
fn a_pawn_on_the_last_rank_is_named() {
    assert_fen_refused("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", &["a pawn stands on the first or last rank"]);
    assert_fen_refused("4k3/8/8/8/8/8/8/p3K3 w - - 0 1", &["a pawn stands on the first or last rank"]);
}

#[test]
fn the_wrong_side_in_check_is_named() {
    assert_fen_refused("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", &["Black is in check, but it is not Black's move", "\"w\""]);
}

#[test]
fn garbage_is_no_position() {
    for garbage in ["garbage", "♔♔♔", "1. e4 e5", "rnbqkbnr", "{\"fen\": 1}", "\u{0}"] {
        if garbage != "\u{0}" {
            assert_fen_refused(garbage, &["the board needs eight ranks"]);
        }
    }
    assert_fen_refused("", &["the position is empty"]);
    assert_fen_refused("   ", &["the position is empty"]);
}

#[test]
fn ranks_of_the_wrong_length_are_named() {
    for board in [
        "rnbqkbnr/ppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
        "rnbqkbnr/ppppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
        "rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR",
        "rnbqkbnr/pppppppp/8/8/8/PPPPPPPP/RNBQKBNR",
        "rnbqkbnr/pppppppp/8/8/8/8/8/PPPPPPPP/RNBQKBNR",
        "rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
    ] {
        let quoted = format!("\"{board}\"");
        assert_fen_refused(&format!("{board} w KQkq - 0 1"), &["eight ranks of eight squares", &quoted, "^^^"]);
    }
}

#[test]
fn each_wrong_field_is_named() {
    let board = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    assert_fen_refused(board, &["the side to move is missing"]);
    assert_fen_refused(&format!("{board} x KQkq - 0 1"), &["the side to move must be w or b", "\"x\""]);
    assert_fen_refused(&format!("{board} w KQxy - 0 1"), &["castling", "\"KQxy\""]);
    assert_fen_refused(&format!("{board} w KQkq e9 0 1"), &["en passant", "\"e9\""]);
    assert_fen_refused(&format!("{board} w KQkq - -5 1"), &["halfmove clock", "\"-5\""]);
    assert_fen_refused(&format!("{board} w KQkq - 0 x"), &["move number", "\"x\""]);
    assert_fen_refused(&format!("{board} w KQkq - 0 1 and more"), &["more fields than a FEN has", "\"and\""]);
}

#[test]
fn an_illegal_move_is_named_with_its_ply_and_who_is_to_move() {
    assert_refused(&["explain", START, "e5"], &["ply 1: \"e5\" is not legal here (white to move)"]);
    assert_refused(&["explain", START, "e2e5"], &["ply 1: \"e2e5\" is not legal here (white to move)"]);
    let args = ["explain", START, "--line", "e4 e5 Nf3 Nf3 Bb5"];
    assert_refused(&args, &["ply 4: \"Nf3\" is not legal here (black to move)", "e4 e5 Nf3 Nf3 Bb5", "^^^"]);
}

#[test]
fn the_caret_stands_under_the_token_at_fault() {
    let output = run(&["explain", START, "--line", "e4 e5 Nf3 Nf3 Bb5"]);
    let lines: Vec<&str> = text(&output.stderr).lines().collect();
    assert_eq!(lines[1..], ["  e4 e5 Nf3 Nf3 Bb5", "            ^^^"]);
}

#[test]
fn an_ambiguous_move_is_named_with_what_it_could_be() {
    let fen = "4k3/8/8/8/8/8/8/N1N1K3 w - - 0 1";
    assert_refused(&["explain", fen, "Nb3"], &["ply 1: \"Nb3\" is ambiguous", "a1b3", "c1b3"]);
}

#[test]
fn a_token_that_is_no_move_is_named() {
    for token in ["Nf33", "hello", "e9", "--", "♔", "Z0", "P@e4", "0000", "draw"] {
        let quoted = format!("ply 3: \"{token}\" is not a move in SAN or UCI");
        assert_refused(&["explain", START, "--line", &format!("e4 e5 {token} Nc6")], &[&quoted]);
    }
}

#[test]
fn a_move_after_mate_or_stalemate_is_named() {
    let mate = "1. f3 e5 2. g4 Qh4# 3. a3";
    assert_refused(&["explain", START, "--line", mate], &["ply 5: \"a3\" comes after the end of the game"]);
    let stalemate = "7k/5Q2/8/8/8/8/8/4K3 b - - 0 1";
    assert_refused(&["explain", stalemate, "Kg8"], &["ply 1: \"Kg8\" comes after the end of the game"]);
}

#[test]
fn an_empty_line_is_named() {
    assert_refused(&["explain", START, "--line", ""], &["the line is empty"]);
    assert_refused(&["explain", START, "--line", " 1. … "], &["the line is empty"]);
    assert_refused(&["explain", START, ""], &["the line is empty"]);
    assert_refused(&["explain", START, "--setup", "--line", "e4"], &["the line is empty"]);
    assert_refused(&["explain", START, "--setup", "--line", ""], &["the line is empty"]);
}

#[test]
fn a_wrong_setup_move_is_named() {
    assert_refused(&["explain", START, "--setup", "--line", "e5 e4"], &["setup move: \"e5\" is not legal"]);
    assert_refused(&["explain", START, "--setup", "--line", "e4 e4"], &["ply 1: \"e4\" is not legal", "^^"]);
}

#[test]
fn a_move_that_the_line_does_not_begin_with_is_named() {
    assert_refused(&["explain", START, "d4", "--line", "e4 e5"], &["does not begin with the move \"d4\""]);
    assert_refused(&["explain", START, "d5", "--line", "e4 e5"], &["\"d5\" is not legal"]);
}

/// Feeds `--jsonl` and collects what it answers.
fn jsonl(input: &[u8]) -> (Option<i32>, Vec<Value>) {
    let mut child = start_jsonl();
    let mut stdin = child.stdin.take().expect("standard input");
    let input = input.to_vec();
    let writer = thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends").expect("the program reads everything");
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    let stdout = text(&output.stdout);
    assert!(stdout.is_empty() || stdout.ends_with('\n'));
    let answers = stdout.lines().map(|line| serde_json::from_str(line).expect("an answer is JSON")).collect();
    (output.status.code(), answers)
}

fn start_jsonl() -> Child {
    koga(&["explain", "--jsonl"]).stdin(Stdio::piped()).spawn().expect("the program runs")
}

/// The one answer to a request that fails.
#[track_caller]
fn failure(request: impl AsRef<[u8]>) -> Value {
    let (status, mut answers) = jsonl(request.as_ref());
    assert_eq!(status, Some(1));
    assert_eq!(answers.len(), 1, "{answers:?}");
    let answer = answers.remove(0);
    let error = answer["error"].as_object().unwrap_or_else(|| panic!("an error: {answer}"));
    let fields: Vec<&str> = error.keys().map(String::as_str).collect();
    assert_eq!(fields, ["kind", "message", "ply", "token"]);
    assert_eq!(answer.as_object().map(|answer| answer.len()), Some(2), "only id and error: {answer}");
    assert!(!error["message"].as_str().unwrap_or_default().is_empty());
    answer
}

#[test]
fn answers_keep_the_order_and_the_ids_of_requests() {
    let ids = [json!(1), json!("two"), json!(null), json!([3, {"x": 1.5}]), json!({"n": 4}), json!(true), json!(-5.25)];
    let mut input = String::new();
    for (index, id) in ids.iter().enumerate() {
        let moves = if index % 2 == 0 { json!(["Nc7+", "Kd8", "Nxa8"]) } else { json!(["Nc9"]) };
        input += &format!("{}\n", json!({"id": id, "fen": FORK, "moves": moves}));
    }
    input += &format!("{}\n", json!({"fen": FORK, "moves": ["d5c7"]}));
    let (status, answers) = jsonl(input.as_bytes());
    assert_eq!(status, Some(1), "some failed");
    let answered: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    let expected: Vec<&Value> = ids.iter().chain([&Value::Null]).collect();
    assert_eq!(answered, expected);
    for (index, answer) in answers.iter().enumerate().take(ids.len()) {
        assert_eq!(answer.get("error").is_some(), index % 2 == 1, "{answer}");
    }
    assert!(answers.iter().all(|answer| answer.get("id").is_some()), "null ids are written");
    assert_eq!(answers[0]["won"], 5);
}

#[test]
fn requests_that_all_succeed_have_status_0() {
    let request = json!({"id": 7, "fen": FORK, "moves": ["d5c7", "e8d8", "c7a8"]}).to_string();
    let setup = json!({"fen": START, "setup": "e2e4", "moves": ["e7e5"]}).to_string();
    let (status, answers) = jsonl(format!("{request}\n{setup}\n").as_bytes());
    assert_eq!(status, Some(0));
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["findings"][0]["tactic"], "fork");
    assert_eq!(answers[1]["pov"], "black");
    assert_eq!(jsonl(b""), (Some(0), Vec::new()));
}

#[test]
fn an_answer_is_what_format_json_prints() {
    let (_, answers) = jsonl(json!({"fen": FORK, "moves": ["Nc7+", "Kd8", "Nxa8"]}).to_string().as_bytes());
    let printed = run(&["explain", FORK, "--line", "Nc7+ Kd8 Nxa8", "--format", "json"]);
    let printed: Value = serde_json::from_slice(&printed.stdout).expect("a report is JSON");
    assert_eq!(answers, [printed]);
}

#[test]
fn a_wrong_position_is_an_error_of_kind_fen() {
    let answer = failure(json!({"id": 1, "fen": "8/8/8/8/8/8/8/K7 w - - 0 1", "moves": ["e4"]}).to_string());
    assert_eq!(answer["error"]["kind"], "fen");
    assert_eq!((&answer["error"]["ply"], &answer["error"]["token"]), (&Value::Null, &json!("8/8/8/8/8/8/8/K7")));
    assert_eq!(failure(json!({"fen": "", "moves": ["e4"]}).to_string())["error"]["kind"], "fen");
}

#[test]
fn a_wrong_move_is_an_error_of_kind_move_with_ply_and_token() {
    for (moves, ply, token) in
        [(json!(["e2e5"]), 1, "e2e5"), (json!(["e4", "e5", "Zf3"]), 3, "Zf3"), (json!([""]), 1, "")]
    {
        let error = failure(json!({"id": 1, "fen": START, "moves": moves}).to_string())["error"].clone();
        assert_eq!((&error["kind"], &error["ply"], &error["token"]), (&json!("move"), &json!(ply), &json!(token)));
    }
    let error = failure(json!({"fen": START, "setup": "e2e5", "moves": ["e4"]}).to_string())["error"].clone();
    assert_eq!((&error["kind"], &error["ply"], &error["token"]), (&json!("move"), &json!(0), &json!("e2e5")));
}

#[test]
fn what_is_no_request_is_an_error_of_kind_request() {
    let no_requests = [
        "{",
        "null",
        "[]",
        "7",
        "\"fen\"",
        "{}",
        "nonsense",
        "{\"fen\": 1, \"moves\": []}",
        "{\"fen\": \"x\", \"moves\": \"e4\"}",
        "{\"fen\": \"x\", \"moves\": [1]}",
        "{\"moves\": [\"e4\"]}",
        "{\"fen\": \"x\", \"moves\": []} {}",
    ];
    for request in no_requests {
        let answer = failure(request);
        assert_eq!(answer["error"]["kind"], "request", "{request}");
        assert_eq!(answer["id"], Value::Null, "{request}");
    }
    let empty = failure(json!({"id": 3, "fen": START, "moves": []}).to_string());
    assert_eq!((&empty["id"], &empty["error"]["kind"]), (&json!(3), &json!("request")));
}

#[test]
fn the_id_of_a_request_that_is_wrong_otherwise_is_kept() {
    for request in ["{\"id\": \"a\"}", "{\"id\": \"a\", \"fen\": 1, \"moves\": []}", "{\"moves\": 5, \"id\": \"a\"}"] {
        assert_eq!(failure(request)["id"], "a", "{request}");
    }
}

#[test]
fn bytes_that_are_no_text_fail_alone() {
    let good = json!({"id": 1, "fen": FORK, "moves": ["Nc7+"]}).to_string();
    let mut input = good.clone().into_bytes();
    input.extend(b"\n{\"id\": 2, \"fen\": \"\xff\xfe\"}\n\xc3\n\x00\x01\n");
    input.extend(good.as_bytes());
    let (status, answers) = jsonl(&input);
    assert_eq!(status, Some(1));
    let kinds: Vec<&Value> = answers.iter().map(|answer| &answer["error"]["kind"]).collect();
    assert_eq!(kinds, [&Value::Null, &json!("request"), &json!("request"), &json!("request"), &Value::Null]);
    assert!(answers[1]["error"]["message"].as_str().is_some_and(|message| message.contains("UTF-8")));
}

#[test]
fn a_line_of_two_megabytes_fails_alone() {
    let good = json!({"id": 1, "fen": FORK, "moves": ["Nc7+"]}).to_string();
    let long = json!({"id": 2, "fen": "x".repeat(2 << 20), "moves": ["Nc7+"]}).to_string();
    let (status, answers) = jsonl(format!("{good}\n{long}\n{good}\n").as_bytes());
    assert_eq!(status, Some(1));
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[1]["error"]["kind"], "request");
    assert!(answers[1].to_string().len() < 1000, "the answer to a long line is short");
    assert_eq!(answers[0], answers[2]);
}

#[test]
fn a_message_about_a_long_token_is_answered() {
    let token = "é".repeat(100_000);
    let answer = failure(json!({"id": 1, "fen": START, "moves": [token]}).to_string());
    assert_eq!(answer["error"]["kind"], "move");
    assert_refused(&["explain", START, &"é".repeat(10_000)], &["ply 1"]);
    assert_refused(&["explain", &"é".repeat(10_000), "e4"], &["fen: "]);
}

#[test]
fn empty_lines_are_passed_over_and_line_ends_do_not_matter() {
    let good = json!({"id": 1, "fen": FORK, "moves": ["Nc7+"]}).to_string();
    let (status, expected) = jsonl(format!("{good}\n{good}\n").as_bytes());
    assert_eq!(status, Some(0));
    for input in [
        format!("{good}\n{good}"),
        format!("{good}\r\n{good}\r\n"),
        format!("\n\n{good}\n  \n\r\n{good}\n\n"),
        format!("  {good}  \n\t{good}"),
    ] {
        assert_eq!(jsonl(input.as_bytes()), (Some(0), expected.clone()), "{input:?}");
    }
}

#[test]
fn escapes_and_repeated_or_unknown_fields_do_no_harm() {
    let escaped = FORK.replace('/', "\\/").replace('N', "\\u004e");
    let request =
        format!("{{\"id\": \"\\u00e9\", \"fen\": \"{escaped}\", \"moves\": [\"\\u004ec7+\"], \"more\": [1, 2]}}");
    let (status, answers) = jsonl(request.as_bytes());
    assert_eq!(status, Some(0), "{answers:?}");
    assert_eq!(answers[0]["id"], "é");
    assert_eq!(failure("{\"id\": 1, \"id\": 2, \"fen\": \"x\", \"moves\": []}")["error"]["kind"], "request");
}

#[test]
fn an_answer_comes_before_the_next_request_is_sent() {
    let mut child = start_jsonl();
    let mut stdin = child.stdin.take().expect("standard input");
    let mut answers = BufReader::new(child.stdout.take().expect("standard output"));
    for id in 0..3 {
        writeln!(stdin, "{}", json!({"id": id, "fen": FORK, "moves": ["Nc7+"]})).expect("the program reads");
        stdin.flush().expect("the program reads");
        let mut answer = String::new();
        answers.read_line(&mut answer).expect("the program answers");
        let answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
        assert_eq!(answer["id"], id);
    }
    drop(stdin);
    assert_eq!(child.wait().expect("the program ends").code(), Some(0));
}

#[test]
fn a_reader_that_leaves_ends_the_program_quietly() {
    let request = json!({"id": 1, "fen": FORK, "moves": ["Nc7+", "Kd8", "Nxa8"]}).to_string();
    let mut child = start_jsonl();
    let mut stdin = child.stdin.take().expect("standard input");
    let writer = thread::spawn(move || {
        // Ends when the program has gone.
        for _ in 0..100_000 {
            if writeln!(stdin, "{request}").is_err() {
                return true;
            }
        }
        false
    });
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("standard output"));
    stdout.read_line(&mut first).expect("the program answers");
    drop(stdout);
    assert!(writer.join().expect("the writer ends"), "the program ends before its input does");
    let mut message = String::new();
    child.stderr.take().expect("standard error").read_to_string(&mut message).expect("standard error is read");
    assert_eq!(message, "");
    assert_eq!(child.wait().expect("the program ends").code(), Some(0));
}

#[test]
fn memory_does_not_grow_with_the_input() {
    // Only where the system says how much a process uses.
    let used = |child: &Child| -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
        let peak = status.lines().find(|line| line.starts_with("VmHWM"))?;
        peak.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    let request = json!({"id": 1, "fen": FORK, "moves": ["Nc7+", "Kd8", "Nxa8"]}).to_string() + "\n";
    let mut child = start_jsonl();
    let mut stdin = child.stdin.take().expect("standard input");
    let mut answers = BufReader::new(child.stdout.take().expect("standard output"));
    let mut answer = String::new();
    let mut ask = |times: usize| {
        for _ in 0..times {
            stdin.write_all(request.repeat(40).as_bytes()).expect("the program reads");
            for _ in 0..40 {
                answer.clear();
                answers.read_line(&mut answer).expect("the program answers");
            }
        }
    };
    ask(25);
    let Some(early) = used(&child) else {
        let _ = writeln!(io::stderr(), "skipped: this system does not say how much memory a process uses");
        child.kill().expect("the program is stopped");
        child.wait().expect("the program ends");
        return;
    };
    ask(250);
    let late = used(&child).expect("the program still runs");
    assert!(late < early + 1024, "{early} kB after 1,000 requests, {late} kB after 11,000");
    drop(stdin);
    assert_eq!(child.wait().expect("the program ends").code(), Some(0));
}

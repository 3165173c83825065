//! `koga tag` as a program: kinds of input, formats, bad rows, interruptions.

mod support;

use std::{
    ffi::OsStr,
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use koga::{
    Tactic,
    shakmaty::{CastlingMode, uci::UciMove},
};
use koga_cli::corpus;
use support::{Folder, succeeded, text};

fn koga<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_koga"));
    command.arg("tag").args(args).stdin(Stdio::null());
    command
}

fn tag<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Output {
    koga(args).output().unwrap()
}

/// Runs with that on standard input.
fn tag_stdin<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>, input: &[u8]) -> Output {
    let mut child = koga(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    output
}

/// Two puzzles: a fork by a knight, and a mate on the back rank.
const PUZZLES: &str = "\
PuzzleId,FEN,Moves,Rating,Themes
fork1,r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1,h7g6 d5c7 e8d8 c7a8,1500,fork short
mate1,4r1k1/5ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1,e8a8 d1d8 a8d8,900,endgame
";

/// Rows in the layout of the Lichess file: the puzzles of the corpus, over and over.
fn puzzles(rows: usize) -> Vec<u8> {
    let cases = Tactic::ALL.into_iter().flat_map(|tactic| corpus::cases(tactic).unwrap());
    let puzzles = cases.filter_map(|case| {
        let (id, setup) = (case.source.strip_prefix("lichess ")?.to_owned(), case.setup.clone()?);
        let line = case.line().unwrap();
        let plies = (1..=line.len()).filter_map(|number| line.ply(number));
        let moves: Vec<String> =
            plies.map(|ply| UciMove::from_move(ply.m, CastlingMode::Standard).to_string()).collect();
        let moves = format!("{setup} {}", moves.join(" "));
        Some(format!("{id},{},{moves},1500,75,95,1000,middlegame,https://lichess.org/{id},\n", case.fen))
    });
    let puzzles: Vec<String> = puzzles.collect();
    let header = "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags\n";
    let rows = puzzles.iter().cycle().take(rows).map(String::as_str);
    [header].into_iter().chain(rows).collect::<String>().into_bytes()
}

#[test]
fn csv_keeps_the_columns_and_adds_two() {
    let folder = Folder::new();
    let input = folder.write("in.csv", PUZZLES);
    let output = tag([&input]);
    let rows: Vec<&str> = succeeded(&output).lines().collect();
    assert_eq!(rows.len(), 3);
    for (row, given) in rows.iter().zip(PUZZLES.lines()) {
        assert!(row.starts_with(&format!("{given},")), "{row}");
    }
    assert_eq!(rows[0], "PuzzleId,FEN,Moves,Rating,Themes,KogaThemes,KogaFindings");
    let added = rows[1].strip_prefix(PUZZLES.lines().nth(1).unwrap()).unwrap();
    let findings = added.strip_prefix(",fork,\"").unwrap().strip_suffix('"').unwrap().replace("\"\"", "\"");
    let findings: serde_json::Value = serde_json::from_str(&findings).unwrap();
    assert_eq!(
        findings,
        serde_json::json!([{ "tactic": "fork", "role": "motif", "ply": 1, "kind": null, "piece": "c7",
            "targets": ["a8", "e8"], "squares": {}, "prize": 5, "won": 5 }])
    );
}

#[test]
fn columns_come_in_any_order_and_quoted() {
    let input = "note,moves,fen\n\"a, \"\"b\"\"\nc\",h7g6 d5c7,\"r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1\"\n";
    let output = tag_stdin(["-"], input.as_bytes());
    let found = succeeded(&output);
    assert!(found.starts_with("note,moves,fen,KogaThemes,KogaFindings\n"));
    assert!(found.contains("\"a, \"\"b\"\"\nc\",h7g6 d5c7,\"r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1\",fork,\"[{"), "{found}");
}

#[test]
fn without_a_header_the_lichess_order_is_taken() {
    let rows = PUZZLES.split_once('\n').unwrap().1;
    let output = tag_stdin(["-"], rows.as_bytes());
    let found = succeeded(&output);
    assert!(found.starts_with("PuzzleId,FEN,Moves,Rating,RatingDeviation,KogaThemes,KogaFindings\nfork1,"), "{found}");
    assert_eq!(found.lines().count(), 3);
}

#[test]
fn compression_is_told_by_content() {
    let folder = Folder::new();
    let plain = tag_stdin(["-"], PUZZLES.as_bytes());
    let whole = succeeded(&plain);
    let zstd = zstd::encode_all(PUZZLES.as_bytes(), 3).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(PUZZLES.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    for packed in [zstd, gzip] {
        assert_eq!(succeeded(&tag_stdin(["-"], &packed)), whole);
        assert_eq!(succeeded(&tag([&folder.write("misleading.csv", &packed)])), whole);
        let torn = tag_stdin(["-"], &packed[..packed.len() - 9]);
        assert_eq!(torn.status.code(), Some(1));
        assert!(text(&torn.stderr).contains("cannot read the input"), "{}", text(&torn.stderr));
    }
    // Packed in pieces, as some packers do.
    let (a, b) = PUZZLES.split_at(90);
    let pieces = [zstd::encode_all(a.as_bytes(), 3).unwrap(), zstd::encode_all(b.as_bytes(), 3).unwrap()].concat();
    assert_eq!(succeeded(&tag_stdin(["-"], &pieces)), whole);
}

const REQUESTS: &str = r#"{"id": 7, "fen": "r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1", "moves": ["Nc7+", "Kd8", "Nxa8"]}

{"id": "x", "fen": "r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1", "setup": "h7g6", "moves": ["d5c7"]}
"#;

#[test]
fn requests_are_answered_as_explain_answers_them() {
    let output = tag_stdin(["-", "--format", "jsonl"], REQUESTS.as_bytes());
    let mut child = Command::new(env!("CARGO_BIN_EXE_koga"))
        .args(["explain", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(REQUESTS.as_bytes()).unwrap();
    let explained = child.wait_with_output().unwrap();
    assert_eq!(succeeded(&output), text(&explained.stdout));
    let csv = tag_stdin(["-"], REQUESTS.as_bytes());
    let rows: Vec<&str> = succeeded(&csv).lines().collect();
    assert_eq!(rows[0], "id,fen,setup,moves,KogaThemes,KogaFindings");
    assert!(rows[1].starts_with("7,r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1,,Nc7+ Kd8 Nxa8,fork,\"[{"), "{}", rows[1]);
    assert!(rows[2].starts_with("x,r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1,h7g6,d5c7,fork,\"[{"), "{}", rows[2]);
}

#[test]
fn puzzles_as_json_lines_are_reports_with_their_id() {
    let output = tag_stdin(["-", "--format", "jsonl"], PUZZLES.as_bytes());
    let reports: Vec<serde_json::Value> =
        succeeded(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reports[0]["id"], "fork1");
    assert_eq!(reports[0]["findings"][0]["move"], "Nc7+");
    assert!(reports[0]["findings"][0]["text"].as_str().unwrap().contains("forks"));
    assert_eq!(reports[1]["id"], "mate1");
}

#[test]
fn of_an_evaluation_the_first_line_of_the_deepest_is_taken() {
    let shallow = r#"{"pvs":[{"cp":5,"line":"e1d1"}],"knodes":9,"depth":20}"#;
    let deep = r#"{"pvs":[{"cp":500,"line":"d5c7 e8d8 c7a8"},{"cp":5,"line":"e1e2"}],"knodes":99,"depth":30}"#;
    let also = r#"{"pvs":[{"mate":3,"line":"e1d2"}],"knodes":999,"depth":30}"#;
    let input = format!("{{\"fen\":\"r3k3/8/8/3N4/8/8/8/4K3 w - -\",\"evals\":[{shallow},{deep},{also}]}}\n");
    let output = tag_stdin(["-"], input.as_bytes());
    let rows: Vec<&str> = succeeded(&output).lines().collect();
    assert_eq!(rows[0], "fen,moves,cp,mate,depth,knodes,KogaThemes,KogaFindings");
    assert!(rows[1].starts_with("r3k3/8/8/3N4/8/8/8/4K3 w - -,d5c7 e8d8 c7a8,500,,30,99,fork,\"[{"), "{}", rows[1]);
}

#[test]
fn bad_rows_are_told_with_line_column_and_reason() {
    let good = "a,r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1,h7g6 d5c7";
    let mut input = format!("PuzzleId,FEN,Moves\n{good}\n").into_bytes();
    let fen = "r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1";
    for bad in [
        format!("b,{fen}"),
        format!("c,{fen},h7g6 d5c7,more"),
        format!("d,{fen},h7g6 d5d6"),
        format!("e,{fen},"),
        "f,,h7g6 d5c7".to_owned(),
        "g,8/8/8 w - -,h7g6 d5c7".to_owned(),
        format!("h,{fen},h7g6"),
        String::new(),
        format!("i,\"{fen},h7g6 d5c7"),
    ] {
        input.extend_from_slice(bad.as_bytes());
        input.extend_from_slice(b"\r\n");
    }
    input.extend_from_slice(b"j,\xFF\xFE,h7g6 d5c7\n");
    input.extend_from_slice(good.as_bytes());
    let folder = Folder::new();
    let file = folder.write("in.csv", &input);
    let list = folder.path("bad.txt");
    let output = tag([file.as_os_str(), "--errors".as_ref(), list.as_os_str()]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout).lines().count(), 3);
    assert_eq!(text(&output.stderr), format!("koga: 2 rows tagged, 10 bad, listed in {}\n", list.display()));
    let list = fs::read_to_string(list).unwrap();
    let list: Vec<&str> = list.lines().collect();
    assert_eq!(list.len(), 10);
    for (found, wanted) in list.iter().zip([
        "line 3, column 3 (Moves): is missing: the row has 2 columns instead of 3",
        "line 4, column 4: is one too many: the row has 4 columns instead of 3",
        "line 5, column 3 (Moves): ply 1: \"d5d6\" is not legal",
        "line 6, column 3 (Moves): is empty",
        "line 7, column 2 (FEN): is empty",
        "line 8, column 2 (FEN): fen: ",
        "line 9, column 3 (Moves): only the move before the puzzle",
        "line 10: the line is empty",
        "line 11, column 2 (FEN): the quotes do not close",
        "line 12, column 2 (FEN): not UTF-8 from byte 3",
    ]) {
        assert!(found.starts_with(wanted), "{found}\n{wanted}");
    }
}

#[test]
fn bad_objects_are_told_too() {
    let input = r#"{"id": 1, "fen": "r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1", "moves": ["Nc7+"]}
{"id": 2, "moves": ["Nc7+"]}
{"id": 3, "fen": "r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1", "moves": ["Nc7+", "Ke7", "Nc6"]}
nonsense
{"fen": "r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1", "evals": []}
"#;
    let output = tag_stdin(["-", "--format", "jsonl"], input.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout).lines().count(), 1);
    let told = text(&output.stderr);
    for wanted in [
        "line 2, column 2 (fen): is missing",
        "line 3, column 4 (moves): ply 3: \"Nc6\"",
        "line 4: not a request",
        "line 5: an evaluation",
    ] {
        assert!(told.contains(wanted), "{told}");
    }
}

#[test]
fn the_first_twenty_bad_rows_are_shown_and_all_are_counted() {
    let input = format!("FEN,Moves\n{}", "x,y\n".repeat(50));
    let output = tag_stdin(["-"], input.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let told: Vec<&str> = text(&output.stderr).lines().collect();
    assert_eq!(told.len(), 21);
    assert!(told[19].starts_with("koga: line 21, column 1 (FEN)"), "{}", told[19]);
    assert_eq!(told[20], "koga: 0 rows tagged, 50 bad");
}

#[test]
fn what_is_no_input_is_refused() {
    for (input, wanted) in [("", "is empty"), ("\n \n", "is empty"), ("hello\nworld\n", "has neither a header")] {
        let output = tag_stdin(["-"], input.as_bytes());
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(wanted), "{}", text(&output.stderr));
    }
    let tagged = succeeded(&tag_stdin(["-"], PUZZLES.as_bytes())).to_owned();
    let again = tag_stdin(["-"], tagged.as_bytes());
    assert!(text(&again.stderr).contains("it was tagged before"), "{}", text(&again.stderr));
    assert_eq!(tag(["no such file"]).status.code(), Some(1));
    assert_eq!(succeeded(&tag_stdin(["-"], b"FEN,Moves\n")), "FEN,Moves,KogaThemes,KogaFindings\n");
}

#[test]
fn usage_errors_have_status_2() {
    let folder = Folder::new();
    let input = folder.write("in.csv", PUZZLES);
    let input = input.to_str().unwrap();
    let out = folder.path("out");
    let out = out.to_str().unwrap();
    for args in [
        vec![input, "--threads", "0"],
        vec![input, "-o", out],
        vec![input, "-o", input],
        vec![input, "--resume"],
        vec![input, "-o", "-", "--resume"],
        vec![input, "--format", "xml"],
        vec![input, "--errors", input],
        vec![input, "--max-errors", "-1"],
        vec![input, "more"],
    ] {
        let output = tag(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).starts_with("error: "), "{args:?}: {}", text(&output.stderr));
    }
    assert_eq!(fs::read_to_string(input).unwrap(), PUZZLES);
    assert_eq!(folder.names(), ["in.csv"]);
}

#[test]
fn the_format_is_told_by_the_name_and_nothing_is_left_beside_it() {
    let folder = Folder::new();
    let input = folder.write("in.csv", PUZZLES);
    for (name, start) in [("a.csv", "PuzzleId,"), ("a.jsonl", "{\"version\":"), ("a.parquet", "PAR1")] {
        let output = tag([input.as_os_str(), "-o".as_ref(), folder.path(name).as_os_str()]);
        assert_eq!(succeeded(&output), "");
        assert!(fs::read(folder.path(name)).unwrap().starts_with(start.as_bytes()), "{name}");
    }
    assert_eq!(folder.names(), ["a.csv", "a.jsonl", "a.parquet", "in.csv"]);
}

#[test]
fn threads_change_nothing() {
    let mut input = puzzles(20_000);
    // Some bad rows and some quotes among them.
    let middle = input.len() / 2 + input[input.len() / 2..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    input.splice(middle..middle, b"bad\n,,\n\"x\ny\",\n".iter().copied());
    let folder = Folder::new();
    let file = folder.write("in.csv", &input);
    for format in ["csv", "jsonl", "parquet"] {
        let outputs: Vec<Output> = ["1", "2", "7"]
            .iter()
            .map(|threads| {
                tag([file.as_os_str(), "--format".as_ref(), format.as_ref(), "--threads".as_ref(), threads.as_ref()])
            })
            .collect();
        assert_eq!(outputs[0].status.code(), Some(1));
        for other in &outputs[1..] {
            assert!(other.stdout == outputs[0].stdout, "{format}");
            assert_eq!(other.stderr, outputs[0].stderr);
        }
        if format != "parquet" {
            let rows = outputs[0].stdout.iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(rows, 20_000 + usize::from(format == "csv"));
        }
    }
}

/// Starts a run on a pipe, and feeds it until a note says that rows are written.
fn feed_until_noted(folder: &Folder, name: &str, input: &[u8]) -> (Child, std::process::ChildStdin) {
    let out = folder.path(name);
    let state = folder.path(&format!("{name}.partial.state"));
    let mut child = koga(["-".as_ref(), "-o".as_ref(), out.as_os_str()])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let has_rows = || {
        let state = fs::read(&state).unwrap_or_default();
        let line = state.split(|byte| *byte == b'\n').next().unwrap_or_default();
        serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|state| state["rows"].as_u64() > Some(0))
    };
    let most = input.len() * 9 / 10;
    for piece in input[..most].chunks(1 << 16) {
        stdin.write_all(piece).unwrap();
        if has_rows() {
            return (child, stdin);
        }
        thread::sleep(Duration::from_millis(15));
    }
    // All but the end is with the program now, which waits for the rest: it need not note anything more.
    let begun = Instant::now();
    while !has_rows() && begun.elapsed() < Duration::from_secs(20) {
        stdin.write_all(b"\n").unwrap();
        thread::sleep(Duration::from_millis(10));
    }
    assert!(has_rows(), "no rows were noted");
    (child, stdin)
}

fn resume(folder: &Folder, name: &str, input: &Path) -> Output {
    let out = folder.path(name);
    koga(["-".as_ref(), "-o".as_ref(), out.as_os_str(), "--resume".as_ref()])
        .stdin(fs::File::open(input).unwrap())
        .output()
        .unwrap()
}

#[test]
fn a_killed_run_is_gone_on_with_to_the_same_bytes() {
    for name in ["out.csv", "out.jsonl", "out.parquet"] {
        let input = puzzles(if name == "out.parquet" { 80_000 } else { 40_000 });
        let folder = Folder::new();
        let file = folder.write("in", zstd::encode_all(input.as_slice(), 1).unwrap());
        let whole = folder.path(&format!("whole-{name}"));
        assert_eq!(succeeded(&tag([file.as_os_str(), "-o".as_ref(), whole.as_os_str()])), "");
        let (mut child, stdin) = feed_until_noted(&folder, name, &input);
        child.kill().unwrap();
        child.wait().unwrap();
        drop(stdin);
        let left =
            [format!("{name}.partial"), format!("{name}.partial.state"), "in".to_owned(), format!("whole-{name}")];
        let mut left = left.to_vec();
        left.sort();
        assert_eq!(folder.names(), left);
        let output = resume(&folder, name, &file);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stderr).starts_with("koga: going on behind "), "{}", text(&output.stderr));
        assert!(fs::read(folder.path(name)).unwrap() == fs::read(&whole).unwrap(), "{name}");
        assert_eq!(folder.names().len(), 3);
    }
}

#[test]
fn an_interrupted_run_ends_in_order_and_is_gone_on_with_to_the_same_bytes() {
    for name in ["out.csv", "out.parquet"] {
        let input = puzzles(if name == "out.parquet" { 80_000 } else { 40_000 });
        let folder = Folder::new();
        let file = folder.write("in.csv", &input);
        let whole = folder.path(&format!("whole-{name}"));
        assert_eq!(succeeded(&tag([file.as_os_str(), "-o".as_ref(), whole.as_os_str()])), "");
        let (mut child, stdin) = feed_until_noted(&folder, name, &input);
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        // As in a shell, the other end of the pipe is interrupted as well.
        drop(stdin);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let mut told = String::new();
        child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        assert!(told.contains("koga: interrupted after ") && told.contains("--resume"), "{told}");
        assert!(!folder.path(name).exists());
        let output = resume(&folder, name, &file);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(fs::read(folder.path(name)).unwrap() == fs::read(&whole).unwrap(), "{name}");
    }
}

#[test]
fn too_many_bad_rows_stop_the_run_which_can_be_gone_on_with() {
    let good = puzzles(12_000);
    let middle = good.len() / 2 + good[good.len() / 2..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let input = [&good[..middle], b"bad1\nbad2\nbad3\n", &good[middle..]].concat();
    let folder = Folder::new();
    let file = folder.write("in.csv", &input);
    let (out, list) = (folder.path("out.csv"), folder.path("bad.txt"));
    let run = |out: &Path, list: &Path, more: &[&str]| {
        let args = [file.as_os_str(), "-o".as_ref(), out.as_os_str(), "--errors".as_ref(), list.as_os_str()];
        tag(args.into_iter().chain(more.iter().map(OsStr::new)))
    };
    let (whole, whole_list) = (folder.path("whole.csv"), folder.path("whole.txt"));
    assert_eq!(run(&whole, &whole_list, &["--max-errors", "3"]).status.code(), Some(1));
    let stopped = run(&out, &list, &["--max-errors", "1"]);
    assert_eq!(stopped.status.code(), Some(1));
    assert!(text(&stopped.stderr).contains("too many bad rows"), "{}", text(&stopped.stderr));
    assert!(!out.exists());
    assert_eq!(fs::read_to_string(&list).unwrap().lines().count(), 2);

    // Nothing may have changed but the number of threads and of bad rows allowed.
    let other = folder.path("other.txt");
    let changed = run(&out, &other, &["--resume"]);
    assert!(text(&changed.stderr).contains("--errors names another file"), "{}", text(&changed.stderr));
    let changed = run(&out, &list, &["--resume", "--format", "jsonl"]);
    assert!(text(&changed.stderr).contains("it writes another format"), "{}", text(&changed.stderr));
    fs::write(&file, [&input[..], b"more\n"].concat()).unwrap();
    let changed = run(&out, &list, &["--resume"]);
    assert!(text(&changed.stderr).contains("the input has another size"), "{}", text(&changed.stderr));
    let mut edited = input.clone();
    let at = edited.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    edited[at] = b'X';
    fs::write(&file, &edited).unwrap();
    let changed = run(&out, &list, &["--resume"]);
    assert!(text(&changed.stderr).contains("the input is not the one"), "{}", text(&changed.stderr));
    assert_eq!(changed.status.code(), Some(1));
    fs::write(&file, &input).unwrap();
    let damaged = fs::read(folder.path("out.csv.partial")).unwrap();
    fs::write(folder.path("out.csv.partial"), &damaged[1..]).unwrap();
    let changed = run(&out, &list, &["--resume"]);
    assert!(text(&changed.stderr).contains("is damaged"), "{}", text(&changed.stderr));
    fs::write(folder.path("out.csv.partial"), &damaged).unwrap();

    let output = run(&out, &list, &["--resume", "--threads", "1"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(fs::read(&out).unwrap() == fs::read(&whole).unwrap());
    assert_eq!(fs::read_to_string(&list).unwrap(), fs::read_to_string(&whole_list).unwrap());
}

#[test]
fn on_a_stream_the_rows_before_one_bad_row_too_many_are_written() {
    let row = PUZZLES.lines().nth(1).unwrap();
    let input = format!("PuzzleId,FEN,Moves,Rating,Themes\n{row}\nbad\n{row}\nbad\n{row}\n");
    let output = tag_stdin(["-", "--max-errors", "1"], input.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout).lines().count(), 3);
    let told = text(&output.stderr);
    assert!(told.contains("line 5,") && told.contains("too many bad rows: stopped after 2 rows"), "{told}");
}

#[test]
fn without_an_interrupted_run_resume_starts_from_the_beginning() {
    let folder = Folder::new();
    let input = folder.write("in.csv", PUZZLES);
    let out = folder.path("out.csv");
    let output = tag([input.as_os_str(), "-o".as_ref(), out.as_os_str(), "--resume".as_ref()]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "koga: nothing to go on with: starting from the beginning\n");
    assert_eq!(fs::read_to_string(out).unwrap().lines().count(), 3);
}

#[test]
fn two_runs_do_not_write_the_same_file() {
    let folder = Folder::new();
    let out = folder.path("out.csv");
    let mut first = koga(["-".as_ref(), "-o".as_ref(), out.as_os_str()]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = first.stdin.take().unwrap();
    stdin.write_all(PUZZLES.as_bytes()).unwrap();
    let input = folder.write("in.csv", PUZZLES);
    // The first run takes its place once it has seen what the input is: at its end, here.
    stdin.write_all(PUZZLES.split_once('\n').unwrap().1.repeat(2000).as_bytes()).unwrap();
    let begun = Instant::now();
    while !folder.path("out.csv.partial.state").exists() && begun.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(5));
    }
    let second = tag([input.as_os_str(), "-o".as_ref(), out.as_os_str()]);
    assert_eq!(second.status.code(), Some(1));
    assert!(text(&second.stderr).contains("is being written by another run"), "{}", text(&second.stderr));
    drop(stdin);
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert_eq!(fs::read_to_string(out).unwrap().lines().count(), 4003);
}

#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let rows = PUZZLES.split_once('\n').unwrap().1;
    let folder = Folder::new();
    let input = folder.write("in.csv", format!("{PUZZLES}{}", rows.repeat(5000)));
    let mut child = koga([&input]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut start = [0; 8];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    assert_eq!(&start, b"PuzzleId");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn a_full_disk_is_an_error() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        let _ = writeln!(io::stderr(), "skipped: there is no /dev/full");
        return;
    }
    let folder = Folder::new();
    let input = folder.write("in.csv", PUZZLES);
    let to_file = tag([input.as_os_str(), "-o".as_ref(), full.as_os_str(), "--format".as_ref(), "csv".as_ref()]);
    let to_stdout = koga([&input]).stdout(fs::File::create(full).unwrap()).output().unwrap();
    for output in [to_file, to_stdout] {
        assert_eq!(output.status.code(), Some(1));
        let told = text(&output.stderr);
        assert!(told.starts_with("koga: cannot write ") && told.contains("No space left on device"), "{told}");
    }
}

/// A file system of a few megabytes; gone when the test is over.
struct Tiny(PathBuf);

impl Drop for Tiny {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn on_a_disk_that_fills_up_the_rows_so_far_are_kept() {
    let input = puzzles(20_000);
    let folder = Folder::new();
    let disk = folder.path("disk");
    fs::create_dir(&disk).unwrap();
    let mount = |options: &str| {
        let output = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&disk).output();
        output.is_ok_and(|output| output.status.success())
    };
    if !mount("size=2m") {
        let _ = writeln!(io::stderr(), "skipped: a small file system cannot be mounted here");
        return;
    }
    let _tiny = Tiny(disk.clone());
    let input = folder.write("in.csv", input);
    let (out, whole) = (disk.join("out.csv"), folder.path("whole.csv"));
    let full = tag([input.as_os_str(), "-o".as_ref(), out.as_os_str()]);
    assert_eq!(full.status.code(), Some(1));
    let told = text(&full.stderr);
    assert!(told.contains("No space left on device") && told.contains("--resume"), "{told}");
    assert!(!out.exists());
    assert!(mount("remount,size=80m"));
    let resumed = tag([input.as_os_str(), "-o".as_ref(), out.as_os_str(), "--resume".as_ref()]);
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    let told = text(&resumed.stderr);
    assert!(told.starts_with("koga: going on behind ") && !told.contains("behind 0 rows"), "{told}");
    assert_eq!(succeeded(&tag([input.as_os_str(), "-o".as_ref(), whole.as_os_str()])), "");
    assert!(fs::read(&out).unwrap() == fs::read(&whole).unwrap());
}

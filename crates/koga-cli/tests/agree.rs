//! `koga agree` as a program: the table, the kinds of disagreement, the page, bad rows.

mod support;

use std::{
    ffi::OsStr,
    fs,
    io::{self, Write},
    path::Path,
    process::{Command, Output, Stdio},
};

use support::{Folder, succeeded, text};

fn agree<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_koga"));
    command.arg("agree").args(args).stdin(Stdio::null()).output().unwrap()
}

/// The numbers of a theme's row: both, Koga only, label only.
#[track_caller]
fn row(out: &str, theme: &str) -> [u64; 3] {
    let line = out.lines().find(|line| line.split_whitespace().next() == Some(theme)).unwrap();
    let numbers: Vec<u64> = line.split_whitespace().skip(1).take(3).map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

/// A fork and its label; the same without; a move that is no fork, with the label.
const PUZZLES: &str = "\
PuzzleId,FEN,Moves,Themes
aaaaa,r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1,h7g6 d5c7 e8d8 c7a8,fork short
bbbbb,r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1,h7g8 d5c7 e8d8 c7a8,short forked
ccccc,4k3/7b/8/8/8/8/8/R3K3 b - - 0 1,h7g6 a1a2,fork
";

#[test]
fn labels_are_counted_against_findings() {
    let folder = Folder::new();
    let input = folder.write("puzzles.csv", PUZZLES);
    let output = agree([&input]);
    let out = succeeded(&output);
    assert!(out.starts_with("3 puzzles\n"), "{out}");
    assert_eq!(row(out, "fork"), [1, 1, 1]);
    assert_eq!(row(out, "pin"), [0, 0, 0]);
    assert!(out.lines().any(|line| line.starts_with("fork ") && line.ends_with("50.0 %  50.0 %")), "{out}");
    assert!(
        out.contains("fork, label only: 1\n       1  no shape\n            ccccc  4k3/8/6b1/8/8/8/8/R3K3 w - - 1 2\n")
    );
    assert!(out.contains("       1  motif, the line pays, not the last move\n            bbbbb  "), "{out}");
    assert!(out.contains("Koga: fork, motif: The knight on c7 forks the king on e8 and the rook on a8."), "{out}");
}

#[test]
fn the_rule_that_made_a_disagreement_is_named() {
    let folder = Folder::new();
    // Mate ends the line; the pin stood before.
    let rows = "\
PuzzleId,FEN,Moves,Themes
mates,5k2/p5pp/P2P1p2/3Q4/1r4b1/5N2/1r2qPPP/R2R2K1 w - - 5 30,d6d7 e2f2 g1h1 f2g2,fork
stood,6k1/p4pp1/1p5p/3np3/P1B5/2P1P1P1/3r1PKP/2R5 w - - 2 26,e3e4 d5e3 g2f3 e3c4,pin
";
    let output = agree([&folder.write("puzzles.csv", rows)]);
    let out = succeeded(&output);
    assert!(out.contains("       1  superseded by checkmate (R3)\n"), "{out}");
    assert!(out.contains("       1  only enabling\n"), "{out}");
}

#[test]
fn hanging_pieces_are_compared_with_motifs_only() {
    let folder = Folder::new();
    // The rook falls on our second move only.
    let puzzle = "7k/8/8/8/8/r7/8/2Q4K b - - 0 1,h8h7 h1g2 h7h8 c1a3";
    let rows = format!("PuzzleId,FEN,Moves,Themes\nlater,{puzzle},hangingPiece\nnever,{puzzle},\n");
    let output = agree([&folder.write("puzzles.csv", rows)]);
    let out = succeeded(&output);
    assert!(out.contains("first move only, where it is a motif"), "{out}");
    assert_eq!(row(out, "hangingPiece"), [0, 0, 1]);
}

#[test]
fn the_page_holds_boards_and_loads_nothing() {
    let folder = Folder::new();
    let input = folder.write("puzzles.csv", PUZZLES.replace("bbbbb", "<b&b>"));
    let page = folder.path("report.html");
    succeeded(&agree([OsStr::new("--html"), page.as_os_str(), input.as_os_str()]));
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
    assert_eq!(html.matches("<img ").count(), 2);
    assert_eq!(html.matches("src=\"data:image/svg+xml,%3Csvg").count(), 2);
    assert!(html.contains("&lt;b&amp;b&gt;") && !html.contains("<b&b>"));
    assert!(html.contains("prefers-color-scheme: dark"));
    for outside in ["src=\"http", "href=\"http", "<script", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(!folder.path("report.html.partial").exists());
}

#[test]
fn the_sample_is_as_large_as_asked_for_and_no_matter_of_chance() {
    let folder = Folder::new();
    let mut rows = "PuzzleId,FEN,Moves,Themes\n".to_owned();
    for number in 0..40 {
        let row = "r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 ";
        rows += &format!("n{number},{row}{},h7g6 d5c7 e8d8 c7a8,\n", number + 1);
    }
    let input = folder.write("puzzles.csv", &rows);
    let with = |sample: &str, threads: &str, input: &Path| {
        let args = [OsStr::new("--sample"), sample.as_ref(), "--threads".as_ref(), threads.as_ref(), input.as_ref()];
        succeeded(&agree(args)).to_owned()
    };
    let four = with("4", "1", &input);
    assert_eq!(four.matches("Koga: fork").count(), 4);
    assert_eq!(four, with("4", "3", &input));
    assert_eq!(with("0", "1", &input).matches("Koga: fork").count(), 0);
    // The order of the rows does not matter either.
    let mut lines: Vec<&str> = rows.lines().collect();
    lines[1..].reverse();
    assert_eq!(four, with("4", "1", &folder.write("turned.csv", lines.join("\n"))));
}

#[test]
fn compressed_input_is_told_by_its_content() {
    let folder = Folder::new();
    let plain = agree([folder.write("puzzles.csv", PUZZLES)]);
    let packed = agree([folder.write("puzzles", zstd::encode_all(PUZZLES.as_bytes(), 1).unwrap())]);
    assert_eq!(succeeded(&plain), succeeded(&packed));
    let mut child = Command::new(env!("CARGO_BIN_EXE_koga"))
        .arg("agree")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(PUZZLES.as_bytes()).unwrap();
    assert_eq!(succeeded(&plain), succeeded(&child.wait_with_output().unwrap()));
}

#[test]
fn bad_rows_are_told_and_the_rest_goes_on() {
    let folder = Folder::new();
    let mut rows = PUZZLES.to_owned();
    for _ in 0..25 {
        rows += "ddddd,8/8/8/8/8/8/8/8 w - - 0 1,e2e4 e7e5,fork\n";
    }
    let output = agree([folder.write("puzzles.csv", rows)]);
    assert_eq!(output.status.code(), Some(1));
    let errors: Vec<&str> = text(&output.stderr).lines().collect();
    assert_eq!(errors.len(), 21, "{errors:?}");
    assert!(errors[0].starts_with("koga: line 5, column 2 (FEN): "), "{errors:?}");
    assert_eq!(errors[20], "koga: 3 puzzles, 25 bad rows left out");
    assert_eq!(row(text(&output.stdout), "fork"), [1, 1, 1]);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = Folder::new();
    let refused = |rows: &str, message: &str| {
        let output = agree([folder.write("input", rows)]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(text(&output.stdout), "");
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    };
    refused("FEN,Moves\nr3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1,h7g6 d5c7\n", "has no column Themes");
    refused("{\"fen\":\"r3k3/7b/8/3N4/8/8/8/4K3 w - - 0 1\",\"moves\":[\"Nc7+\"]}\n", "is no puzzle file");
    refused("", "is empty");
    assert_eq!(agree([folder.path("missing")]).status.code(), Some(1));
}

#[test]
fn usage_errors_are_told_apart() {
    let folder = Folder::new();
    let input = folder.write("puzzles.csv", PUZZLES);
    let twice = agree([input.as_os_str(), "--html".as_ref(), input.as_os_str()]);
    assert_eq!(twice.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&input).unwrap(), PUZZLES);
    assert_eq!(agree(["--sample", "many"]).status.code(), Some(2));
    let nowhere = folder.path("no/report.html");
    let output = agree([input.as_os_str(), "--html".as_ref(), nowhere.as_os_str()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot write"), "{}", text(&output.stderr));
}

#[test]
fn the_puzzles_at_hand_agree_as_far_as_told() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/puzzles.csv.zst");
    if !path.exists() {
        let _ = writeln!(io::stderr(), "skipped: {} is not there: real puzzles are not compared", path.display());
        return;
    }
    let output = agree([OsStr::new("--sample"), "1".as_ref(), path.as_os_str()]);
    let out = succeeded(&output);
    assert_eq!(row(out, "doubleCheck")[1..], [0, 0]);
    assert_eq!(row(out, "mate")[1..], [0, 0]);
    for theme in ["fork", "discoveredAttack", "discoveredCheck", "xRayAttack"] {
        let [both, extra, missing] = row(out, theme);
        assert!(both > extra && both > 4 * missing, "{theme}: {both} {extra} {missing}");
    }
}

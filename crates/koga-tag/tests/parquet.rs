//! Parquet files, read back: row by row with a reader that knows nothing of Arrow, and with pyarrow where it is.

use std::{
    fs,
    io::{self, Cursor, Write},
    path::PathBuf,
    process::Command,
    sync::atomic::AtomicBool,
};

use koga_tag::{Format, Input, Options, Silent, Target, run};
use parquet::{
    basic::Compression,
    file::reader::{FileReader, SerializedFileReader},
    record::{ListAccessor, Row, RowAccessor},
};

const PUZZLES: &str = "\
PuzzleId,FEN,Moves,Rating,Themes,extra
fork1,r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1,h7g6 d5c7 e8d8 c7a8,1500,fork short,\"a,b\"
bad01,r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1,h7g6 d5c7,many,,
quiet,4k3/8/8/8/8/8/8/4K3 b - - 0 1,e8e7 e1e2,,,
";

fn tag(name: &str, input: impl Into<Vec<u8>>) -> (PathBuf, u64) {
    let path = std::env::temp_dir().join(format!("koga-tag-{}-{name}.parquet", std::process::id()));
    let input = Input { name: name.to_owned(), reader: Box::new(Cursor::new(input.into())), size: None };
    let target = Target::File(path.clone());
    let summary = run(input, target, &Options::new(Format::Parquet), &Silent, &AtomicBool::new(false)).unwrap();
    (path, summary.bad)
}

#[test]
fn columns_are_typed_and_nested() {
    let (path, bad) = tag("typed", PUZZLES);
    let reader = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(bad, 1);
    let metadata = reader.metadata();
    assert_eq!(metadata.file_metadata().num_rows(), 2);
    assert!(matches!(metadata.row_group(0).column(0).compression(), Compression::ZSTD(_)));
    let rows: Vec<Row> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let [fork, quiet] = rows.as_slice() else { panic!("{} rows", rows.len()) };
    let names: Vec<&str> = fork.get_column_iter().map(|(name, _)| name.as_str()).collect();
    let own = ["KogaThemes", "KogaHeadline", "KogaWon", "KogaFindings", "KogaSuperseded"];
    assert_eq!(names, [&["PuzzleId", "FEN", "Moves", "Rating", "Themes", "extra"][..], &own].concat());
    assert_eq!(fork.get_string(0).unwrap(), "fork1");
    assert_eq!(fork.get_int(3).unwrap(), 1500);
    assert_eq!(fork.get_list(4).unwrap().len(), 2);
    assert_eq!(fork.get_string(5).unwrap(), "a,b");
    assert_eq!(fork.get_int(7).unwrap(), 0);
    assert_eq!(fork.get_int(8).unwrap(), 5);
    assert_eq!(
        fork.get_list(9).unwrap().get_group(0).unwrap().to_string(),
        "{tactic: \"fork\", role: \"motif\", kind: null, ply: 1, piece: \"c7\", targets: [\"a8\", \"e8\"], squares: {}, \
         prize: 5, won: 5}"
    );
    assert!(quiet.get_int(3).is_err() && quiet.get_int(7).is_err(), "empty numbers are null");
    assert_eq!(quiet.get_list(9).unwrap().len(), 0);
    fs::remove_file(path).unwrap();
}

#[test]
fn pyarrow_reads_several_row_groups() {
    if !Command::new("python3").args(["-c", "import pyarrow"]).output().is_ok_and(|output| output.status.success()) {
        let _ = writeln!(io::stderr(), "skipped: python3 has no pyarrow");
        return;
    }
    let row = "fork1,r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1,h7g6 d5c7 e8d8 c7a8\n";
    let (path, _) = tag("pyarrow", format!("PuzzleId,FEN,Moves\n{}", row.repeat(80_000)));
    let script = "\
import sys, pyarrow.parquet as pq
file = pq.ParquetFile(sys.argv[1])
assert file.metadata.num_row_groups > 1, file.metadata
rows = file.read().to_pylist()
assert len(rows) == 80_000
assert all(row['KogaThemes'] == ['fork'] and row['KogaFindings'][0]['targets'] == ['a8', 'e8'] for row in rows)
";
    let output = Command::new("python3").args(["-c", script]).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::remove_file(path).unwrap();
}

#[test]
fn a_file_without_rows_is_a_file() {
    let (path, bad) = tag("empty", "FEN,Moves\nx,y\n");
    let reader = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
    assert_eq!((bad, reader.metadata().num_row_groups()), (1, 0));
    assert_eq!(reader.metadata().file_metadata().schema().get_fields().len(), 7);
    fs::remove_file(path).unwrap();
}

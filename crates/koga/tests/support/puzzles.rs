//! The puzzles of `../shared/data`, where they are at hand.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
    path::Path,
};

use koga::Line;

/// Where the puzzles lie in a working copy that has its data beside it.
const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/puzzles.csv.zst");

/// A row of the file.
#[derive(Debug, Clone)]
pub struct Puzzle {
    /// The position before the enemy's move.
    pub fen: String,
    /// The enemy's move, then the solution.
    pub moves: String,
}

impl Puzzle {
    /// The line of the puzzle.
    pub fn line(&self) -> Line {
        let mut moves = self.moves.split(' ');
        let setup = moves.next().expect("a puzzle begins with the enemy's move");
        Line::parse_with_setup(&self.fen, setup, moves).expect("puzzles are legal")
    }
}

/// Every `step`-th puzzle; `None`, said loudly, where the file is not at hand.
pub fn every(step: usize) -> Option<Vec<Puzzle>> {
    let path = Path::new(PATH);
    let Ok(file) = File::open(path) else {
        let _ = writeln!(io::stderr(), "skipped: no puzzles at {}; only random positions are used", path.display());
        return None;
    };
    let reader = BufReader::new(zstd::Decoder::new(file).expect("the puzzles are compressed"));
    let rows = reader.lines().skip(1).step_by(step).map(|row| {
        let row = row.expect("the puzzles are text");
        let mut fields = row.split(',').skip(1).map(str::to_owned);
        let mut field = || fields.next().expect("a puzzle has a FEN and moves");
        Puzzle { fen: field(), moves: field() }
    });
    Some(rows.collect())
}

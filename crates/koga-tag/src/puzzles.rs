//! Puzzles read and analyzed, for whoever wants to do something else with them than write them.

use std::num::NonZeroUsize;

use koga::{Line, Report};

use crate::{
    BadRow, Error, Input, Watch,
    csv::Row,
    input::{Blocks, Kind, Layout},
    pipeline::{self, Next},
    tagger::each_puzzle,
};

/// Bytes of input that are worked on at a time.
const BLOCK_SIZE: usize = 1 << 18;

/// A row of a puzzle file, and what Koga makes of it.
#[derive(Debug)]
pub struct Puzzle<'a> {
    /// Its line.
    pub line: &'a Line,
    /// What Koga says of it.
    pub report: &'a Report,
    layout: &'a Layout,
    row: &'a Row<'a>,
}

impl Puzzle<'_> {
    /// What the row has in the column of that name, upper and lower case alike.
    pub fn field(&self, name: &str) -> Option<&str> {
        column(self.layout, name).map(|n| self.row.get(n))
    }
}

fn column(layout: &Layout, name: &str) -> Option<usize> {
    layout.columns.iter().position(|column| column.trim().eq_ignore_ascii_case(name))
}

/// Reads a puzzle file with a column of that name, plain or compressed, as [`crate::run`] does. Each block of rows is worked
/// into a `T` of its own: `each` takes up the puzzles one after the other, `merge` the finished blocks in the order of the
/// input. How many puzzles there were, and how many bad rows, each of which `watch` was told.
///
/// ```
/// use std::{io::Cursor, num::NonZeroUsize};
/// use koga_tag::{Input, Silent, puzzles};
/// let rows = "FEN,Moves,Themes\nr3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1,h7g6 d5c7 e8d8 c7a8,fork short\n";
/// let input = Input { name: "puzzles".into(), reader: Box::new(Cursor::new(rows)), size: None };
/// let mut labels = Vec::new();
/// let each = |all: &mut Vec<String>, puzzle: &puzzles::Puzzle| {
///     assert_eq!(puzzle.line.len(), 3);
///     all.extend(puzzle.field("Themes").map(str::to_owned));
/// };
/// puzzles::read(input, "Themes", NonZeroUsize::MIN, &Silent, each, |block| labels.extend(block))?;
/// assert_eq!(labels, ["fork short"]);
/// # Ok::<_, koga_tag::Error>(())
/// ```
///
/// # Errors
///
/// Where the input cannot be read, is no puzzle file, or has no such column; a bad row is none.
pub fn read<T: Default + Send>(
    input: Input,
    name: &str,
    threads: NonZeroUsize,
    watch: &dyn Watch,
    each: impl Fn(&mut T, &Puzzle) + Sync,
    mut merge: impl FnMut(T) + Send,
) -> Result<(u64, u64), Error> {
    let what = input.name.clone();
    let (mut blocks, layout) = Blocks::open(input, BLOCK_SIZE)?;
    if !matches!(layout.kind, Kind::Puzzles { .. }) {
        return Err(Error::Layout(format!("{what} is no puzzle file: rows of CSV are needed, with a column {name}")));
    }
    if column(&layout, name).is_none() {
        return Err(Error::Layout(format!("{what} has no column {name}")));
    }
    let taken = blocks.taken();
    let (mut rows, mut bad) = (0, 0);
    let layout = &layout;
    let worker = || {
        |block| {
            let mut made = T::default();
            let take = |row: &Row, line: &Line, report: &Report| each(&mut made, &Puzzle { line, report, layout, row });
            let (rows, bad) = each_puzzle(layout, &block, take);
            Ok((made, rows, bad))
        }
    };
    let write = |(made, new, refused): (T, u64, Vec<BadRow>)| {
        merge(made);
        rows += new;
        bad += refused.len() as u64;
        refused.iter().for_each(|row| watch.bad_row(row));
        watch.progress(rows, taken.load(std::sync::atomic::Ordering::Relaxed));
        Ok(Next::Go)
    };
    pipeline::run(threads.get(), || blocks.next(), worker, write)?;
    Ok((rows, bad))
}

//! From a block of rows to the bytes that are written for it.

use std::{
    borrow::Cow,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use koga::{Line, Report, analyze, parse::ParseError, render};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    Error, Format,
    csv::{self, Record, Row, record},
    findings,
    input::{Block, Kind, LONGEST_ROW, Layout, Object, Place},
    names::themes,
    table::{Group, Table},
};

/// A row that could not be tagged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// The number of its line, counted from 1.
    pub line: u64,
    /// The number of the column at fault, counted from 1; 0 where it is the whole row.
    pub column: usize,
    /// The column's name; empty where it has none.
    pub name: String,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BadRow { line, column, name, reason } = self;
        match (column, name.as_str()) {
            (0, _) => write!(f, "line {line}: {reason}"),
            (_, "") => write!(f, "line {line}, column {column}: {reason}"),
            _ => write!(f, "line {line}, column {column} ({name}): {reason}"),
        }
    }
}

/// What became of a block.
#[derive(Debug, Default)]
pub(crate) struct Tagged {
    /// What is written for it.
    pub(crate) bytes: Vec<u8>,
    /// For Parquet: what the footer says of those bytes.
    pub(crate) group: Option<Group>,
    /// Rows tagged.
    pub(crate) rows: u64,
    /// Rows that could not be, each with how many bytes and rows are written before it.
    pub(crate) bad: Vec<(BadRow, usize, u64)>,
    /// Where the input goes on.
    pub(crate) end: Place,
    /// Whether the input seemed to end with it.
    pub(crate) is_last: bool,
}

/// Tags blocks, one after the other.
pub(crate) struct Tagger<'p> {
    layout: &'p Layout,
    format: Format,
    table: Option<Table>,
    /// As large as the last block's output.
    room: usize,
}

/// What is wrong with a row: the column, counted from 0, if it is one column's fault, and the reason.
type Fault = (Option<usize>, String);

/// Where rows go, by format.
enum Sink<'t> {
    Csv(Vec<u8>),
    Jsonl(Vec<u8>),
    Parquet(&'t mut Table),
    /// Puzzles only: whoever asked for them takes them.
    Each(&'t mut dyn FnMut(&Row, &Line, &Report)),
}

impl<'p> Tagger<'p> {
    pub(crate) fn new(layout: &'p Layout, format: Format) -> Tagger<'p> {
        let table = (format == Format::Parquet).then(|| Table::new(&layout.columns));
        Tagger { layout, format, table, room: 0 }
    }

    /// Tags a block.
    pub(crate) fn tag(&mut self, block: &Block) -> Result<Tagged, Error> {
        let mut tagged = Tagged { end: block.end, is_last: block.is_last, ..Tagged::default() };
        let mut sink = match (self.format, self.table.as_mut()) {
            (Format::Parquet, Some(table)) => Sink::Parquet(table),
            (Format::Jsonl, _) => Sink::Jsonl(Vec::with_capacity(self.room)),
            _ => Sink::Csv(Vec::with_capacity(self.room)),
        };
        tag_block(self.layout, block, &mut sink, &mut tagged);
        match sink {
            Sink::Csv(bytes) | Sink::Jsonl(bytes) => {
                self.room = bytes.len() + bytes.len() / 8;
                tagged.bytes = bytes;
            }
            Sink::Parquet(table) => (tagged.bytes, tagged.group) = table.encode()?,
            Sink::Each(_) => {}
        }
        Ok(tagged)
    }
}

/// Names the tactics of a block's puzzles, one after the other, and hands each on: its fields, its line, its report. How many
/// there were, and the rows that are none.
pub(crate) fn each_puzzle(
    layout: &Layout,
    block: &Block,
    mut take: impl FnMut(&Row, &Line, &Report),
) -> (u64, Vec<BadRow>) {
    let mut tagged = Tagged::default();
    tag_block(layout, block, &mut Sink::Each(&mut take), &mut tagged);
    (tagged.rows, tagged.bad.into_iter().map(|(row, ..)| row).collect())
}

/// Tags the rows of a block.
fn tag_block(layout: &Layout, block: &Block, sink: &mut Sink, tagged: &mut Tagged) {
    match std::str::from_utf8(&block.bytes) {
        Ok(text) => tag_rows(layout, text, block.line, sink, tagged),
        Err(_) => {
            // Somewhere in the block are bytes that are no text: which row is theirs?
            let mut line = block.line;
            for row in rows(&block.bytes, layout) {
                match std::str::from_utf8(row) {
                    Ok(text) => tag_rows(layout, text, line, sink, tagged),
                    Err(err) => {
                        let before = &row[..err.valid_up_to()];
                        let column = matches!(layout.kind, Kind::Puzzles { .. })
                            .then(|| memchr::memchr_iter(b',', before).count());
                        let reason = format!("not UTF-8 from byte {} of the line on", before.len() + 1);
                        refuse(layout, line, (column, reason), sink, tagged);
                    }
                }
                line += memchr::memchr_iter(b'\n', row).count() as u64;
            }
        }
    }
}

/// The rows of a block with their line ends.
fn rows<'b>(bytes: &'b [u8], layout: &Layout) -> impl Iterator<Item = &'b [u8]> + use<'b> {
    let is_csv = matches!(layout.kind, Kind::Puzzles { .. });
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let end = match is_csv {
            true => record(rest, true)?.end,
            false if rest.is_empty() => return None,
            false => memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1),
        };
        let row;
        (row, rest) = rest.split_at(end);
        Some(row)
    })
}

/// Tags the rows of a text.
fn tag_rows(layout: &Layout, text: &str, line: u64, sink: &mut Sink, tagged: &mut Tagged) {
    let mut line = line;
    let mut rest = text;
    let mut fields = Row::default();
    while !rest.is_empty() {
        let Record { end, quoted, broken } = match layout.kind {
            Kind::Puzzles { .. } => record(rest.as_bytes(), true),
            _ => memchr::memchr(b'\n', rest.as_bytes()).map(|at| Record { end: at + 1, quoted: false, broken: None }),
        }
        .unwrap_or(Record { end: rest.len(), quoted: false, broken: None });
        let (whole, after) = rest.split_at(end);
        rest = after;
        let row = whole.strip_suffix('\n').unwrap_or(whole);
        let row = row.strip_suffix('\r').unwrap_or(row);
        let result = if row.len() > LONGEST_ROW {
            Err((None, format!("the row is longer than {LONGEST_ROW} bytes")))
        } else if let Some(column) = broken {
            Err((Some(column), "the quotes do not close".to_owned()))
        } else {
            match layout.kind {
                Kind::Puzzles { id, fen, moves } => {
                    fields.split(row, quoted);
                    puzzle(layout, row, [fen, moves], id, &fields, sink)
                }
                _ if row.trim_ascii().is_empty() => {
                    line += 1;
                    continue;
                }
                Kind::Requests => request(row, sink),
                Kind::Evaluations => evaluation(row, sink),
            }
        };
        match result {
            Ok(()) => tagged.rows += 1,
            Err(fault) => refuse(layout, line, fault, sink, tagged),
        }
        line += if quoted { memchr::memchr_iter(b'\n', whole.as_bytes()).count() as u64 } else { 1 };
    }
}

fn refuse(layout: &Layout, line: u64, (column, reason): Fault, sink: &Sink, tagged: &mut Tagged) {
    let name = column.and_then(|n| layout.columns.get(n)).cloned().unwrap_or_default();
    let row = BadRow { line, column: column.map_or(0, |n| n + 1), name, reason };
    let written = match sink {
        Sink::Csv(bytes) | Sink::Jsonl(bytes) => bytes.len(),
        Sink::Parquet(_) | Sink::Each(_) => 0,
    };
    tagged.bad.push((row, written, tagged.rows));
}

/// A row of puzzles.
fn puzzle(
    layout: &Layout,
    row: &str,
    [fen, moves]: [usize; 2],
    id: Option<usize>,
    fields: &Row,
    sink: &mut Sink,
) -> Result<(), Fault> {
    let wanted = layout.columns.len();
    if row.is_empty() {
        return Err((None, "the line is empty".to_owned()));
    }
    if fields.len() != wanted {
        let column = fields.len().min(wanted);
        let verb = if fields.len() < wanted { "is missing" } else { "is one too many" };
        return Err((Some(column), format!("{verb}: the row has {} columns instead of {wanted}", fields.len())));
    }
    for n in [fen, moves] {
        if fields.get(n).trim_ascii().is_empty() {
            return Err((Some(n), "is empty".to_owned()));
        }
    }
    let mut tokens = fields.get(moves).split_ascii_whitespace();
    let setup = tokens.next().unwrap_or_default();
    let line = Line::parse_with_setup(fields.get(fen), setup, tokens).map_err(|err| match err {
        ParseError::Fen { .. } => (Some(fen), err.to_string()),
        ParseError::EmptyLine => (Some(moves), "only the move before the puzzle, none that solves it".to_owned()),
        ParseError::Move { .. } | ParseError::TooLong => (Some(moves), err.to_string()),
    })?;
    let report = report(&line)?;
    match sink {
        Sink::Csv(out) => {
            out.extend_from_slice(row.as_bytes());
            out.push(b',');
            finish_csv(out, &report);
        }
        Sink::Jsonl(out) => finish_json(out, &line, &report, id.map(|n| fields.get(n))),
        Sink::Parquet(table) => table.push(fields, &line, &report).map_err(|(n, reason)| (Some(n), reason))?,
        Sink::Each(take) => take(fields, &line, &report),
    }
    Ok(())
}

/// The columns of [`crate::input::REQUEST`].
const FEN: usize = 1;
const SETUP: usize = 2;
const MOVES: usize = 3;

/// A request as `koga explain --jsonl` takes it.
fn request(row: &str, sink: &mut Sink) -> Result<(), Fault> {
    let object = object(row)?;
    if object.evals.is_some() {
        return Err((None, "an evaluation among requests".to_owned()));
    }
    let fen = object.fen.ok_or_else(|| (Some(FEN), "is missing".to_owned()))?;
    let moves = object.moves.ok_or_else(|| (Some(MOVES), "is missing".to_owned()))?;
    let tokens = moves.iter().map(AsRef::as_ref);
    let line = match &object.setup {
        Some(setup) => Line::parse_with_setup(&fen, setup, tokens),
        None => Line::parse(&fen, tokens),
    };
    let line = line.map_err(|err| {
        let column = match err {
            ParseError::Fen { .. } => FEN,
            ParseError::Move { ply: 0, .. } => SETUP,
            ParseError::Move { .. } | ParseError::EmptyLine | ParseError::TooLong => MOVES,
        };
        (Some(column), err.to_string())
    })?;
    write(&line, object.id, sink, || {
        let id = object.id.map_or(Cow::Borrowed(""), id_text);
        vec![id, fen.clone(), object.setup.clone().unwrap_or_default(), Cow::Owned(moves.join(" "))]
    })
}

/// An object of the Lichess evaluation file: the deepest evaluation's first line is the line.
fn evaluation(row: &str, sink: &mut Sink) -> Result<(), Fault> {
    let object = object(row)?;
    let evals = object.evals.ok_or_else(|| (None, "no evaluation: the field evals is missing".to_owned()))?;
    let fen = object.fen.ok_or_else(|| (Some(0), "is missing".to_owned()))?;
    let empty = || (Some(1), "no evaluation has a line".to_owned());
    // Of the equally deep ones the first.
    let deepest = evals.iter().rev().max_by_key(|evaluation| evaluation.depth).ok_or_else(empty)?;
    let variation = deepest.pvs.first().ok_or_else(empty)?;
    let line = Line::parse(&fen, variation.line.split_ascii_whitespace()).map_err(|err| {
        let column = if matches!(err, ParseError::Fen { .. }) { 0 } else { 1 };
        (Some(column), err.to_string())
    })?;
    let number = |number: Option<i64>| Cow::Owned(number.map_or_else(String::new, |number| number.to_string()));
    write(&line, object.id, sink, || {
        vec![
            fen.clone(),
            Cow::Borrowed(variation.line.as_ref()),
            number(variation.cp.map(i64::from)),
            number(variation.mate.map(i64::from)),
            number(Some(i64::from(deepest.depth))),
            number(deepest.knodes),
        ]
    })
}

fn object(row: &str) -> Result<Object<'_>, Fault> {
    serde_json::from_str(row).map_err(|err| {
        let text = err.to_string();
        let text = text.split(" at line ").next().unwrap_or_default();
        (None, format!("not a request and not an evaluation: {text} at byte {}", err.column()))
    })
}

/// A string without its quotes; anything else as it is written.
fn id_text(id: &RawValue) -> Cow<'_, str> {
    match serde_json::from_str::<String>(id.get()) {
        Ok(text) => Cow::Owned(text),
        Err(_) => Cow::Borrowed(id.get()),
    }
}

/// Names the tactics. A mistake in a rule costs its row, not the run.
fn report(line: &Line) -> Result<Report, Fault> {
    catch_unwind(AssertUnwindSafe(|| analyze(line)))
        .map_err(|_| (None, "Koga failed on this row; please report it".to_owned()))
}

/// Writes a line's row: JSON lines hold the report and its id alone, the others the `fields` before it.
fn write<'f>(
    line: &Line,
    id: Option<&RawValue>,
    sink: &mut Sink,
    fields: impl FnOnce() -> Vec<Cow<'f, str>>,
) -> Result<(), Fault> {
    let report = report(line)?;
    match sink {
        Sink::Jsonl(out) => finish_json(out, line, &report, id),
        Sink::Parquet(table) => {
            table.push(&Row::of(fields()), line, &report).map_err(|(n, reason)| (Some(n), reason))?;
        }
        Sink::Csv(out) => {
            for field in fields() {
                csv::write_field(out, &field);
                out.push(b',');
            }
            finish_csv(out, &report);
        }
        Sink::Each(_) => unreachable!("only puzzles are handed on"),
    }
    Ok(())
}

/// The columns that Koga adds.
fn finish_csv(out: &mut Vec<u8>, report: &Report) {
    for (n, theme) in themes(report).enumerate() {
        out.extend_from_slice(if n == 0 { b"" } else { b" " });
        out.extend_from_slice(theme.as_bytes());
    }
    out.push(b',');
    findings::write_field(out, &report.findings);
    out.push(b'\n');
}

fn finish_json(out: &mut Vec<u8>, line: &Line, report: &Report, id: impl Serialize) {
    serde_json::to_writer(&mut *out, &render::json::report(line, report, id))
        .expect("a report has nothing that JSON cannot hold");
    out.push(b'\n');
}

//! What is read: told by its content, decompressed, and cut into blocks of whole rows.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Cursor, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    Error,
    csv::{Row, record},
};

/// A longer row is a bad row: no position and line need as much.
pub const LONGEST_ROW: usize = 1 << 20;

/// Something to read from.
pub struct Input {
    /// What messages call it.
    pub name: String,
    /// Its bytes.
    pub reader: Box<dyn Read + Send>,
    /// Its length in bytes, where that is known.
    pub size: Option<u64>,
}

impl Input {
    /// A file.
    ///
    /// # Errors
    ///
    /// Where it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Input> {
        let file = File::open(path)?;
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let size = meta.is_file().then_some(meta.len());
        Ok(Input { name: path.display().to_string(), reader: Box::new(file), size })
    }

    /// Standard input.
    pub fn stdin() -> Input {
        Input { name: "standard input".to_owned(), reader: Box::new(io::stdin()), size: None }
    }
}

/// What the rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Puzzles as CSV: where the columns are that matter.
    Puzzles { id: Option<usize>, fen: usize, moves: usize },
    /// Requests of `koga explain --jsonl`.
    Requests,
    /// Evaluations of positions as Lichess publishes them.
    Evaluations,
}

/// The rows' kind and columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) kind: Kind,
    pub(crate) columns: Vec<String>,
}

/// The columns of the Lichess puzzle file, in its order.
const LICHESS: [&str; 10] = [
    "PuzzleId",
    "FEN",
    "Moves",
    "Rating",
    "RatingDeviation",
    "Popularity",
    "NbPlays",
    "Themes",
    "GameUrl",
    "OpeningTags",
];

/// Columns of requests, as they are written.
pub(crate) const REQUEST: [&str; 4] = ["id", "fen", "setup", "moves"];
/// Columns of evaluations, as they are written.
pub(crate) const EVALUATION: [&str; 6] = ["fen", "moves", "cp", "mate", "depth", "knodes"];

/// Where the input has been read to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Bytes after decompression.
    pub(crate) offset: u64,
    /// Lines.
    pub(crate) line: u64,
    /// The checksum of those bytes.
    pub(crate) crc: u32,
}

/// Whole rows, and where they stand.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) bytes: Vec<u8>,
    /// The number of its first line, counted from 1.
    pub(crate) line: u64,
    /// Where the input goes on behind it.
    pub(crate) end: Place,
    /// Whether the input ends with it, as far as could be seen: a pipe ends, too, where what feeds it is interrupted.
    pub(crate) is_last: bool,
}

/// Cuts the input into blocks.
pub(crate) struct Blocks {
    source: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
    buffer: Vec<u8>,
    /// Whether the source is exhausted; the buffer may hold rows still.
    at_end: bool,
    /// Whether the rest of a line that is too long is to be passed over.
    skips: bool,
    is_csv: bool,
    place: Place,
    size: usize,
}

impl Blocks {
    /// Tells what the input is, reads its header if it has one, and stands before the first row. Blocks are as large as
    /// `size` bytes allow.
    pub(crate) fn open(input: Input, size: usize) -> Result<(Blocks, Layout), Error> {
        let Input { name, reader, .. } = input;
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Counted { inner: reader, taken: Arc::clone(&taken) };
        let source = decompressed(counted).map_err(Error::Read)?;
        let mut blocks = Blocks {
            source,
            taken,
            buffer: Vec::new(),
            at_end: false,
            skips: false,
            is_csv: true,
            place: Place::default(),
            size,
        };
        blocks.fill(size)?;
        if blocks.buffer.starts_with(b"\xEF\xBB\xBF") {
            blocks.consume(3);
        }
        let Some(first) = blocks.buffer.iter().copied().find(|byte| !byte.is_ascii_whitespace()) else {
            return Err(Error::Layout(format!("{name} is empty")));
        };
        let layout = if first == b'{' {
            blocks.is_csv = false;
            json_layout(&blocks.buffer)
        } else {
            blocks.csv_layout(&name)?
        };
        Ok((blocks, layout))
    }

    /// Bytes taken from the input, before decompression.
    pub(crate) fn taken(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.taken)
    }

    /// Where the next block begins.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Passes over what an interrupted run has read already.
    pub(crate) fn skip_to(&mut self, target: Place) -> Result<(), Error> {
        let changed = || Error::Resume("the input is not the one that the interrupted run read".to_owned());
        while self.place.offset < target.offset {
            if self.buffer.is_empty() {
                self.fill(self.size)?;
            }
            if self.buffer.is_empty() {
                return Err(changed());
            }
            let left = usize::try_from(target.offset - self.place.offset).unwrap_or(usize::MAX);
            self.consume(left.min(self.buffer.len()));
        }
        if self.place == target { Ok(()) } else { Err(changed()) }
    }

    /// The next block; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Block>, Error> {
        while self.skips {
            self.fill(self.size)?;
            let end = memchr::memchr(b'\n', &self.buffer);
            self.skips = end.is_none() && !self.at_end;
            self.consume(end.map_or(self.buffer.len(), |end| end + 1));
        }
        let mut wanted = self.size;
        let cut = loop {
            self.fill(wanted)?;
            if self.buffer.is_empty() {
                return Ok(None);
            }
            match self.last_end() {
                0 if self.at_end => return Ok(None), // Nothing but empty lines.
                0 if self.buffer.len() > LONGEST_ROW => {
                    self.skips = self.buffer.last() != Some(&b'\n');
                    break self.buffer.len();
                }
                0 => wanted = (2 * self.buffer.len()).max(self.size),
                cut => break cut,
            }
        };
        let line = self.place.line + 1;
        self.advance(cut);
        let rest = self.buffer[cut..].to_vec();
        self.buffer.truncate(cut);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        Ok(Some(Block { bytes, line, end: self.place, is_last: self.at_end }))
    }

    /// How much of the buffer is whole rows, without the empty lines behind them.
    fn last_end(&self) -> usize {
        let bytes = self.buffer.as_slice();
        let mut end = if self.is_csv && memchr::memchr(b'"', bytes).is_some() {
            let mut end = 0;
            while let Some(record) = record(&bytes[end..], self.at_end) {
                end += record.end;
            }
            end
        } else if self.at_end {
            bytes.len()
        } else {
            memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1)
        };
        let is_empty_line = |end: usize| {
            let line = bytes[..end].strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
            line.is_some_and(|line| line.is_empty() || line.ends_with(b"\n")).then(|| line.map_or(0, <[u8]>::len))
        };
        while let Some(shorter) = is_empty_line(end) {
            end = shorter;
        }
        end
    }

    /// Reads until the buffer holds `wanted` bytes or the source is exhausted: however the source delivers, blocks
    /// are cut in the same places.
    fn fill(&mut self, wanted: usize) -> Result<(), Error> {
        let missing = wanted.saturating_sub(self.buffer.len());
        if missing > 0 && !self.at_end {
            self.buffer.reserve_exact(missing);
            let read = self.source.by_ref().take(missing as u64).read_to_end(&mut self.buffer);
            self.at_end = read.map_err(Error::Read)? < missing;
        }
        Ok(())
    }

    fn consume(&mut self, count: usize) {
        self.advance(count);
        self.buffer.drain(..count);
    }

    /// Counts the first bytes of the buffer as read.
    fn advance(&mut self, count: usize) {
        let bytes = &self.buffer[..count];
        let mut crc = crc32fast::Hasher::new_with_initial(self.place.crc);
        crc.update(bytes);
        self.place = Place {
            offset: self.place.offset + count as u64,
            line: self.place.line + memchr::memchr_iter(b'\n', bytes).count() as u64,
            crc: crc.finalize(),
        };
    }

    /// The columns by the header or, without one, in the order of the Lichess file.
    fn csv_layout(&mut self, name: &str) -> Result<Layout, Error> {
        let refuse = || {
            let message = "has neither a header naming the columns FEN and Moves, nor rows in the order of the Lichess puzzle \
                           file (PuzzleId, FEN, Moves, ...), nor JSON objects";
            Error::Layout(format!("{name} {message}"))
        };
        // Empty lines before the first row say nothing.
        let blank = self.buffer.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.consume(blank);
        let first = record(&self.buffer, true).filter(|first| first.broken.is_none()).ok_or_else(refuse)?;
        let text = std::str::from_utf8(&self.buffer[..first.end]).map_err(|_| refuse())?;
        let mut fields = Row::default();
        fields.split(text.trim_end_matches(['\r', '\n']), true);
        let position = |wanted: &str| fields.iter().position(|field| field.trim().eq_ignore_ascii_case(wanted));
        if let (Some(fen), Some(moves)) = (position("FEN"), position("Moves")) {
            let id = position("PuzzleId");
            let columns = fields.iter().map(str::to_owned).collect();
            self.consume(first.end);
            return Ok(Layout { kind: Kind::Puzzles { id, fen, moves }, columns });
        }
        if fields.len() < 3 || fields.get(1).split('/').count() != 8 {
            return Err(refuse());
        }
        let columns = (0..fields.len())
            .map(|n| LICHESS.get(n).map_or_else(|| format!("Column{}", n + 1), |name| name.to_string()))
            .collect();
        Ok(Layout { kind: Kind::Puzzles { id: Some(0), fen: 1, moves: 2 }, columns })
    }
}

/// An object of either kind.
#[derive(Debug, Deserialize)]
pub(crate) struct Object<'a> {
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) fen: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) setup: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) moves: Option<Vec<Cow<'a, str>>>,
    #[serde(borrow, default)]
    pub(crate) evals: Option<Vec<Evaluation<'a>>>,
}

/// One evaluation of a position.
#[derive(Debug, Deserialize)]
pub(crate) struct Evaluation<'a> {
    #[serde(borrow)]
    pub(crate) pvs: Vec<Variation<'a>>,
    #[serde(default)]
    pub(crate) knodes: Option<i64>,
    pub(crate) depth: i32,
}

/// One of its variations.
#[derive(Debug, Deserialize)]
pub(crate) struct Variation<'a> {
    #[serde(default)]
    pub(crate) cp: Option<i32>,
    #[serde(default)]
    pub(crate) mate: Option<i32>,
    #[serde(borrow)]
    pub(crate) line: Cow<'a, str>,
}

/// Requests or evaluations, by the first object that says which.
fn json_layout(bytes: &[u8]) -> Layout {
    let is_evaluation = |line: &[u8]| {
        let object: Object = serde_json::from_slice(line).ok()?;
        (object.moves.is_some() || object.evals.is_some()).then_some(object.evals.is_some())
    };
    let (kind, columns): (Kind, &[&str]) =
        match bytes.split(|byte| *byte == b'\n').find_map(is_evaluation).unwrap_or_else(|| {
            // A first object longer than what was read.
            memchr::memmem::find(bytes, b"\"evals\"").is_some()
        }) {
            true => (Kind::Evaluations, &EVALUATION),
            false => (Kind::Requests, &REQUEST),
        };
    Layout { kind, columns: columns.iter().map(|name| name.to_string()).collect() }
}

/// Counts what is read.
struct Counted {
    inner: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.taken.fetch_add(count as u64, Relaxed);
        Ok(count)
    }
}

/// The bytes without compression, which is told by the first four of them.
fn decompressed(mut raw: Counted) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::with_capacity(4);
    raw.by_ref().take(4).read_to_end(&mut magic)?;
    let is_zstd = matches!(*magic, [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18]);
    let is_gzip = magic.starts_with(&[0x1F, 0x8B]);
    let whole = Cursor::new(magic).chain(raw);
    Ok(if is_zstd {
        Box::new(zstd::stream::read::Decoder::new(whole)?)
    } else if is_gzip {
        Box::new(flate2::bufread::MultiGzDecoder::new(io::BufReader::with_capacity(1 << 17, whole)))
    } else {
        Box::new(whole)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(bytes: &[u8], size: usize) -> Result<(Blocks, Layout), Error> {
        let reader = Box::new(Cursor::new(bytes.to_vec()));
        Blocks::open(Input { name: "it".to_owned(), reader, size: None }, size)
    }

    fn blocks(bytes: &[u8], size: usize) -> Vec<(u64, String)> {
        let (mut blocks, _) = open(bytes, size).unwrap();
        let mut all = Vec::new();
        while let Some(block) = blocks.next().unwrap() {
            all.push((block.line, String::from_utf8(block.bytes).unwrap()));
        }
        all
    }

    #[test]
    fn blocks_are_whole_rows_with_their_line_numbers() {
        let found = blocks(b"FEN,Moves\naaaa,b\ncccc,d\neeee,f", 16);
        let all: Vec<(u64, &str)> = found.iter().map(|(line, text)| (*line, text.as_str())).collect();
        assert_eq!(all, [(2, "aaaa,b\ncccc,d\n"), (4, "eeee,f")]);
    }

    #[test]
    fn a_quoted_line_break_does_not_end_a_row() {
        let found = blocks(b"FEN,Moves\na,\"b\nb\"\nc,d\n", 10);
        let all: Vec<(u64, &str)> = found.iter().map(|(line, text)| (*line, text.as_str())).collect();
        assert_eq!(all, [(2, "a,\"b\nb\"\n"), (4, "c,d\n")]);
    }

    #[test]
    fn empty_lines_at_the_end_are_no_rows() {
        let found = blocks(b"FEN,Moves\na,b\n\nc,d\n\r\n\n\n", 10);
        let text: String = found.into_iter().map(|(_, text)| text).collect();
        assert_eq!(text, "a,b\n\nc,d\n");
    }

    #[test]
    fn a_row_without_end_is_cut_and_the_rest_goes_on() {
        let mut bytes = b"FEN,Moves\n".to_vec();
        bytes.resize(3 * LONGEST_ROW, b'x');
        bytes.extend_from_slice(b"\na,b\n");
        let found = blocks(&bytes, 1000);
        assert_eq!(found.len(), 2);
        assert!(found[0].1.len() > LONGEST_ROW);
        assert_eq!(found[1], (3, "a,b\n".to_owned()));
    }

    #[test]
    fn a_quote_without_end_costs_its_line_only() {
        let mut bytes = b"FEN,Moves\na,\"b\n".to_vec();
        while bytes.len() < 2 * LONGEST_ROW {
            bytes.extend_from_slice(b"c,d\n");
        }
        let rows: usize = blocks(&bytes, 1 << 18).iter().map(|(_, text)| text.lines().count()).sum();
        assert_eq!(rows, bytes.iter().filter(|byte| **byte == b'\n').count() - 1);
    }

    #[test]
    fn columns_are_told_by_name_or_by_the_lichess_order() {
        let (_, layout) = open(b"\xEF\xBB\xBFextra, moves ,\"fen\"\n", 100).unwrap();
        assert_eq!(layout.kind, Kind::Puzzles { id: None, fen: 2, moves: 1 });
        let (_, layout) = open(b"00001,8/8/8/8/8/8/8/8 w - -,e2e4,1,2,3,4,5,6,7,8\n", 100).unwrap();
        assert_eq!(layout.kind, Kind::Puzzles { id: Some(0), fen: 1, moves: 2 });
        assert_eq!(layout.columns[9..], ["OpeningTags", "Column11"]);
        assert!(matches!(open(b"hello\nworld\n", 100), Err(Error::Layout(_))));
        assert!(matches!(open(b" \n\n", 100), Err(Error::Layout(_))));
    }

    #[test]
    fn objects_are_told_by_their_fields() {
        assert_eq!(open(b"{}\n{\"fen\":\"\",\"evals\":[]}", 100).unwrap().1.kind, Kind::Evaluations);
        assert_eq!(open(b"\n{\"fen\":\"\",\"moves\":[]}", 100).unwrap().1.kind, Kind::Requests);
    }

    #[test]
    fn skipping_checks_what_it_skips() {
        let text = b"FEN,Moves\naaaaa,b\nccccc,d\n";
        let place = {
            let (mut blocks, _) = open(text, 10).unwrap();
            blocks.next().unwrap().unwrap().end
        };
        let (mut blocks, _) = open(text, 10).unwrap();
        blocks.skip_to(place).unwrap();
        assert_eq!(blocks.next().unwrap().unwrap().bytes, b"ccccc,d\n");
        let (mut other, _) = open(b"FEN,Moves\naaaaa,x\nccccc,d\n", 10).unwrap();
        assert!(matches!(other.skip_to(place), Err(Error::Resume(_))));
    }
}

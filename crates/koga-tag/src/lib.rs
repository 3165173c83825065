//! Tags millions of chess lines: reads puzzles, requests or evaluations, names the tactics of each, and writes them as
//! CSV, JSON lines or Parquet.
//!
//! ```
//! use std::{io::Cursor, sync::atomic::AtomicBool};
//! use koga_tag::{Format, Input, Options, Silent, Target, run};
//! # use std::{io, sync::{Arc, Mutex}};
//! # #[derive(Clone, Default)] struct Shared(Arc<Mutex<Vec<u8>>>);
//! # impl io::Write for Shared {
//! #     fn write(&mut self, bytes: &[u8]) -> io::Result<usize> { self.0.lock().unwrap().write(bytes) }
//! #     fn flush(&mut self) -> io::Result<()> { Ok(()) }
//! # }
//! # let out = Shared::default();
//! let puzzles = "FEN,Moves\nr3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1,h7g6 d5c7 e8d8 c7a8\n";
//! let input = Input { name: "puzzles".into(), reader: Box::new(Cursor::new(puzzles)), size: None };
//! let target = Target::Stream(Box::new(out.clone()), "memory".into());
//! let summary = run(input, target, &Options::new(Format::Csv), &Silent, &AtomicBool::new(false))?;
//! assert_eq!((summary.rows, summary.bad), (1, 0));
//! # let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
//! assert!(text.lines().nth(1).unwrap().contains(",fork,"));
//! # Ok::<_, koga_tag::Error>(())
//! ```
//!
//! The same input gives the same bytes, whatever the number of threads, interrupted or not.

#![forbid(unsafe_code)]

mod csv;
mod findings;
mod input;
mod names;
mod output;
mod pipeline;
pub mod puzzles;
mod table;
mod tagger;

use std::{
    fmt, io,
    io::Write,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use crate::{input::Blocks, output::Output, pipeline::Next, tagger::Tagger};
pub use crate::{
    input::{Input, LONGEST_ROW},
    names::{theme, themes},
    tagger::BadRow,
};

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The input's columns, then `KogaThemes` and `KogaFindings`.
    Csv,
    /// One report a line, as `koga explain --jsonl` writes it.
    Jsonl,
    /// Typed nested columns.
    Parquet,
}

impl Format {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Jsonl => "jsonl",
            Format::Parquet => "parquet",
        }
    }

    /// By the ending of a file's name.
    ///
    /// ```
    /// use koga_tag::Format;
    /// assert_eq!(Format::of_path("tags.parquet".as_ref()), Some(Format::Parquet));
    /// assert_eq!(Format::of_path("tags".as_ref()), None);
    /// ```
    pub fn of_path(path: &Path) -> Option<Format> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "csv" => Some(Format::Csv),
            "jsonl" | "ndjson" => Some(Format::Jsonl),
            "parquet" | "pq" => Some(Format::Parquet),
            _ => None,
        }
    }

    /// Bytes of input that are tagged at a time: what threads hand each other, and what becomes a row group.
    const fn block_size(self) -> usize {
        match self {
            Format::Csv | Format::Jsonl => 1 << 18,
            Format::Parquet => 1 << 22,
        }
    }
}

/// Where it is written.
pub enum Target {
    /// A stream, and what messages call it.
    Stream(Box<dyn Write + Send>, String),
    /// A file. Until it is whole it stands beside its place, as `NAME.partial`.
    File(PathBuf),
}

/// How it is done.
#[derive(Debug, Clone)]
pub struct Options {
    /// What is written.
    pub format: Format,
    /// Threads, this one included.
    pub threads: NonZeroUsize,
    /// Go on with what an interrupted run left, if it left something.
    pub resume: bool,
    /// The file that bad rows are listed in.
    pub errors: Option<PathBuf>,
    /// Stop where there are more bad rows than this.
    pub max_errors: Option<u64>,
}

impl Options {
    /// One thread, from the beginning, however many rows are bad.
    pub const fn new(format: Format) -> Options {
        Options { format, threads: NonZeroUsize::MIN, resume: false, errors: None, max_errors: None }
    }
}

/// Is told how a run goes.
pub trait Watch: Sync {
    /// So many rows are written, and so many bytes of the input are read.
    fn progress(&self, rows: u64, bytes: u64) {
        let _ = (rows, bytes);
    }

    /// A row could not be tagged.
    fn bad_row(&self, row: &BadRow) {
        let _ = row;
    }

    /// The run begins where another was interrupted, behind so many rows; or, asked to, found nothing to go on with.
    fn resumed(&self, rows: Option<u64>) {
        let _ = rows;
    }
}

/// Does not care.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Watch for Silent {}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All rows were read, and the target is whole.
    Whole,
    /// It was told to stop.
    Stopped,
    /// There were more bad rows than allowed.
    TooManyBad,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Rows tagged, those of the interrupted run included.
    pub rows: u64,
    /// Rows that could not be.
    pub bad: u64,
    /// How it ended.
    pub end: End,
    /// What holds the rows so far, if the target is a file and not whole.
    pub partial: Option<PathBuf>,
}

/// What ends a run.
#[derive(Debug)]
pub enum Error {
    /// The input could not be read or decompressed.
    Read(io::Error),
    /// It is nothing that can be tagged.
    Layout(String),
    /// The target could not be written.
    Write {
        /// What could not be written.
        what: String,
        /// Why.
        source: io::Error,
    },
    /// The interrupted run cannot be gone on with.
    Resume(String),
    /// Another run is writing the file.
    Busy(PathBuf),
    /// The rows could not be made a Parquet file.
    Parquet(parquet::errors::ParquetError),
}

impl Error {
    fn write(what: impl fmt::Display, source: io::Error) -> Error {
        Error::Write { what: what.to_string(), source }
    }

    /// Whether whoever read the output does not read any more.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read(err) => write!(f, "cannot read the input: {err}"),
            Error::Layout(message) => f.write_str(message),
            Error::Write { what, source } => write!(f, "cannot write {what}: {source}"),
            Error::Resume(reason) => write!(f, "cannot go on with the interrupted run: {reason}"),
            Error::Busy(path) => write!(f, "{} is being written by another run", path.display()),
            Error::Parquet(err) => write!(f, "cannot make a Parquet file: {err}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<parquet::errors::ParquetError> for Error {
    fn from(err: parquet::errors::ParquetError) -> Error {
        Error::Parquet(err)
    }
}

/// Within this time of the end of a pipe the signal that ended it has come.
const GRACE: Duration = Duration::from_millis(100);

/// Tags an input, until its end or until `stop` is set.
///
/// # Errors
///
/// [`Error`]; a bad row is none. Where the target is a file, what was written until then is kept for a run with
/// [`Options::resume`].
pub fn run(
    input: Input,
    target: Target,
    options: &Options,
    watch: &dyn Watch,
    stop: &AtomicBool,
) -> Result<Summary, Error> {
    let size = input.size;
    let (mut blocks, layout) = Blocks::open(input, options.format.block_size())?;
    if let Some(name) = layout.columns.iter().find(|name| name.starts_with("Koga")) {
        return Err(Error::Layout(format!("the input has a column {name} already: it was tagged before")));
    }
    let taken = blocks.taken();
    let (mut output, begun) = Output::open(target, options, &layout, size)?;
    match begun {
        Some(place) => blocks.skip_to(place)?,
        None => output.starts_at(blocks.place())?,
    }
    if options.resume {
        watch.resumed(begun.map(|_| output.rows));
    }
    let read = || if stop.load(Relaxed) { Ok(None) } else { blocks.next() };
    let worker = || {
        let mut tagger = Tagger::new(&layout, options.format);
        move |block| tagger.tag(&block)
    };
    let write = |tagged| {
        if stop.load(Relaxed) {
            return Ok(Next::Stop);
        }
        let next = output.take(tagged, &mut |row| watch.bad_row(row))?;
        watch.progress(output.rows, taken.load(Relaxed));
        Ok(next)
    };
    let result = pipeline::run(options.threads.get(), read, worker, write);
    if size.is_none() {
        // Ctrl-C ends what feeds a pipe, too: its end may be seen before the signal, and is not the input's then.
        thread::sleep(GRACE);
    }
    let stopped = stop.load(Relaxed);
    if result.is_err() || output.over || stopped {
        // The run's own failure is the one to tell.
        let noted = output.note();
        result?;
        noted?;
        let end = if output.over { End::TooManyBad } else { End::Stopped };
        return Ok(Summary { rows: output.rows, bad: output.bad, end, partial: output.kept() });
    }
    output.finish()?;
    Ok(Summary { rows: output.rows, bad: output.bad, end: End::Whole, partial: None })
}

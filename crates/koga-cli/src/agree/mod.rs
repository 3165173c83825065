//! `koga agree`: what Koga finds against what a puzzle file's labels say.

pub mod tally;

mod html;
mod text;

use std::{
    ffi::OsString,
    fs,
    io::{self, IsTerminal, Write},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
};

use clap::{Command, error::ErrorKind};
use koga_tag::{Error, Input, puzzles};

use self::tally::Tally;
use crate::tag::{Bar, is_same};

/// The column of the labels.
const LABELS: &str = "Themes";

/// What is to be compared, and how it is shown.
///
/// INPUT is a file in the shape of the Lichess puzzle file (CSV, columns in any order; plain, zstd or gzip) with a column
/// Themes. Each theme that has a counterpart among the tactics is counted: where both say it, only Koga, only the label.
/// The disagreements are grouped by the rule that made them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to read; `-` or nothing is standard input.
    #[arg(default_value = "-", hide_default_value = true)]
    input: PathBuf,
    /// Also write the report as a page with boards.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Examples of each kind of disagreement. Which ones does not depend on chance.
    #[arg(long, value_name = "N", default_value_t = 3)]
    sample: usize,
    /// Threads; as many as there are processors if not given. The result is the same.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// What came of it.
struct Measured {
    /// The input.
    name: String,
    rows: u64,
    bad: u64,
    tally: Tally,
}

/// Runs the command. `command` is the whole program's, for usage errors.
pub fn run(args: Args, command: &mut Command) -> ExitCode {
    if let Err((kind, message)) = check(&args) {
        match command.find_subcommand_mut("agree") {
            Some(agree) => agree.error(kind, message).exit(),
            None => return ExitCode::from(2),
        }
    }
    match agree(&args) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("koga: {message}");
            ExitCode::FAILURE
        }
    }
}

fn is_stdin(args: &Args) -> bool {
    args.input == Path::new("-")
}

fn check(args: &Args) -> Result<(), (ErrorKind, String)> {
    if is_stdin(args) && io::stdin().is_terminal() {
        return Err((ErrorKind::MissingRequiredArgument, "name an INPUT, or send one to standard input".to_owned()));
    }
    if args.html.as_ref().is_some_and(|html| !is_stdin(args) && is_same(html, &args.input)) {
        return Err((ErrorKind::ArgumentConflict, "INPUT and --html must be different files".to_owned()));
    }
    Ok(())
}

fn agree(args: &Args) -> Result<ExitCode, String> {
    let cannot = |what: &Path, err: io::Error| format!("cannot read {}: {err}", what.display());
    let input = match is_stdin(args) {
        true => Input::stdin(),
        false => Input::open(&args.input).map_err(|err| cannot(&args.input, err))?,
    };
    let name = match args.input.file_name() {
        Some(file) if !is_stdin(args) => file.to_string_lossy().into_owned(),
        _ => input.name.clone(),
    };
    let threads = args.threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let bar = Bar::new(input.size, false);
    let mut tally = Tally::default();
    let each = |part: &mut Tally, puzzle: &puzzles::Puzzle| part.add(puzzle, args.sample);
    let read = puzzles::read(input, LABELS, threads, &bar, each, |part| tally.merge(part, args.sample));
    bar.finish();
    let (rows, bad) = read.map_err(|err: Error| err.to_string())?;
    let measured = Measured { name, rows, bad, tally };
    if bad > 0 {
        eprintln!("koga: {}", text::counted(&measured));
    }
    if let Some(html) = &args.html {
        write_whole(html, &html::report(&measured)).map_err(|err| format!("cannot write {}: {err}", html.display()))?;
    }
    let mut out = io::stdout().lock();
    match out.write_all(text::report(&measured).as_bytes()).and_then(|()| out.flush()) {
        Err(err) if err.kind() != io::ErrorKind::BrokenPipe => Err(format!("cannot write standard output: {err}")),
        _ => Ok(ExitCode::from(u8::from(bad > 0))),
    }
}

/// Writes a file beside its place and moves it there when it is whole.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    // A link stays one: what it leads to is written.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if path.exists() && !path.is_file() {
        return fs::write(path, text);
    }
    let mut beside = path.clone().into_os_string();
    beside.push(OsString::from(".partial"));
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

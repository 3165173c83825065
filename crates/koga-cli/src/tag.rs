//! `koga tag`: millions of lines tagged, with a progress bar, and in order when it is interrupted.

use std::{
    fs,
    io::{self, IsTerminal},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use clap::{Command, ValueEnum, error::ErrorKind};
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use koga_tag::{BadRow, End, Error, Input, Options, Target, Watch};

use crate::INTERRUPTED_STATUS;

/// So many bad rows are shown where no file is named for them.
const SHOWN: u64 = 20;

/// After Ctrl-C the rows at hand are finished. If that takes longer, because the input does not come, it is left undone.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is to be tagged, and how.
///
/// INPUT is told by its content, not by its name: the Lichess puzzle file (CSV, columns in any order, with or without a
/// header), requests as `koga explain --jsonl` takes them, or the Lichess evaluation file; plain, zstd or gzip.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to read; `-` or nothing is standard input.
    #[arg(default_value = "-", hide_default_value = true)]
    input: PathBuf,
    /// What to write; standard output if not given. It appears when it is whole; until then there is OUT.partial.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// What to write it as; told by the ending of OUT, csv on standard output.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Threads; as many as there are processors if not given. The result is the same.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Go on with what an interrupted run left beside OUT.
    #[arg(long, requires = "output")]
    resume: bool,
    /// List the bad rows in FILE instead of showing the first 20.
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    /// Stop if more than N rows are bad; OUT is not made then.
    #[arg(long, value_name = "N")]
    max_errors: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The input's columns, then KogaThemes and KogaFindings.
    Csv,
    /// One report a line, as `koga explain --jsonl` writes it.
    Jsonl,
    /// Typed nested columns for data tools.
    Parquet,
}

/// Runs the command. `command` is the whole program's, for usage errors.
pub fn run(args: Args, command: &mut Command) -> ExitCode {
    let plan = match plan(&args) {
        Ok(plan) => plan,
        Err((kind, message)) => match command.find_subcommand_mut("tag") {
            Some(tag) => tag.error(kind, message).exit(),
            None => return ExitCode::from(2),
        },
    };
    match tag(&args, plan) {
        Ok(code) => code,
        Err(err) if err.is_closed_pipe() => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("koga: {err}");
            if let Some(output) = args.output.as_deref().filter(|output| left_partial(output, &err)) {
                eprintln!("koga: {}", hint(&partial(output)));
            }
            ExitCode::FAILURE
        }
    }
}

struct Plan {
    options: Options,
    target: Target,
    stdin: bool,
}

/// What the arguments mean; or why they mean nothing.
fn plan(args: &Args) -> Result<Plan, (ErrorKind, String)> {
    let stdin = args.input == Path::new("-");
    if stdin && io::stdin().is_terminal() {
        return Err((ErrorKind::MissingRequiredArgument, "name an INPUT, or send one to standard input".to_owned()));
    }
    let output = args.output.as_deref().filter(|output| *output != Path::new("-"));
    if args.resume && output.is_none() {
        return Err((ErrorKind::ArgumentConflict, "--resume needs a file as --output".to_owned()));
    }
    let format = match (args.format, output) {
        (Some(format), _) => format.into(),
        (None, None) => koga_tag::Format::Csv,
        (None, Some(output)) => koga_tag::Format::of_path(output).ok_or_else(|| {
            let message = format!(
                "the name {} does not tell the format: let it end in .csv, .jsonl or .parquet, or give --format",
                output.display()
            );
            (ErrorKind::MissingRequiredArgument, message)
        })?,
    };
    if output.is_none() && format == koga_tag::Format::Parquet && io::stdout().is_terminal() {
        return Err((ErrorKind::ArgumentConflict, "Parquet is nothing for a terminal: give --output".to_owned()));
    }
    let files = [Some(args.input.as_path()).filter(|_| !stdin), output, args.errors.as_deref()];
    for (n, file) in files.iter().enumerate() {
        let same = |other: &&Option<&Path>| file.is_some_and(|file| other.is_some_and(|other| is_same(file, other)));
        if files[..n].iter().any(|other| same(&other)) {
            let message = "INPUT, --output and --errors must be different files".to_owned();
            return Err((ErrorKind::ArgumentConflict, message));
        }
    }
    let threads = args.threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    Ok(Plan {
        options: Options {
            format,
            threads,
            resume: args.resume,
            errors: args.errors.clone(),
            max_errors: args.max_errors,
        },
        target: match output {
            Some(output) => Target::File(output.to_owned()),
            None => Target::Stream(Box::new(io::stdout()), "standard output".to_owned()),
        },
        stdin,
    })
}

fn tag(args: &Args, plan: Plan) -> Result<ExitCode, Error> {
    let input = if plan.stdin {
        Input::stdin()
    } else {
        match Input::open(&args.input) {
            Ok(input) => input,
            Err(err) => {
                eprintln!("koga: cannot read {}: {err}", args.input.display());
                return Ok(ExitCode::FAILURE);
            }
        }
    };
    let stop = Arc::new(AtomicBool::new(false));
    watch_for_interrupts(Arc::clone(&stop));
    let bar = Bar::new(input.size, args.errors.is_some());
    let summary = koga_tag::run(input, plan.target, &plan.options, &bar, &stop);
    bar.finish();
    let summary = summary?;
    let rows = |count: u64| format!("{} {}", HumanCount(count), if count == 1 { "row" } else { "rows" });
    if summary.bad > 0 {
        let place = args.errors.as_ref().map(|file| format!(", listed in {}", file.display())).unwrap_or_default();
        eprintln!("koga: {} tagged, {} bad{place}", rows(summary.rows), HumanCount(summary.bad));
    }
    let kept = |why: &str| {
        eprintln!("koga: {why} after {}", rows(summary.rows));
        if let Some(partial) = &summary.partial {
            eprintln!("koga: {}", hint(partial));
        }
    };
    Ok(match summary.end {
        End::Whole => ExitCode::from(u8::from(summary.bad > 0)),
        End::Stopped => {
            kept("interrupted");
            ExitCode::from(INTERRUPTED_STATUS)
        }
        End::TooManyBad => {
            kept("too many bad rows: stopped");
            ExitCode::FAILURE
        }
    })
}

/// Ctrl-C, and the signals that ask a program to end, make it end in order; the second one at once.
fn watch_for_interrupts(stop: Arc<AtomicBool>) {
    let watched = ctrlc::set_handler(move || {
        if stop.swap(true, Relaxed) {
            std::process::exit(INTERRUPTED_STATUS.into());
        }
        thread::spawn(|| {
            thread::sleep(PATIENCE);
            std::process::exit(INTERRUPTED_STATUS.into());
        });
    });
    // Without a handler Ctrl-C ends the program at once, and --resume takes up the last note.
    drop(watched);
}

/// What to do about an unfinished file.
fn hint(partial: &Path) -> String {
    format!("the rows so far are kept in {}: the same command with --resume goes on from there", partial.display())
}

fn partial(output: &Path) -> PathBuf {
    let output = fs::canonicalize(output).unwrap_or_else(|_| output.to_owned());
    let mut name = output.into_os_string();
    name.push(".partial");
    PathBuf::from(name)
}

/// Whether an error leaves rows worth going on from.
fn left_partial(output: &Path, err: &Error) -> bool {
    matches!(err, Error::Read(_) | Error::Write { .. }) && partial(output).exists()
}

/// Whether both name one file.
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b && a.is_file(),
        _ => a == b,
    }
}

impl From<Format> for koga_tag::Format {
    fn from(format: Format) -> koga_tag::Format {
        match format {
            Format::Csv => koga_tag::Format::Csv,
            Format::Jsonl => koga_tag::Format::Jsonl,
            Format::Parquet => koga_tag::Format::Parquet,
        }
    }
}

/// Shows how far the run is, where standard error is a terminal, and the first bad rows.
pub(crate) struct Bar {
    bar: ProgressBar,
    begun: Instant,
    /// Rows that an interrupted run had tagged.
    before: AtomicU64,
    shown: AtomicU64,
    lists_errors: bool,
}

impl Bar {
    pub(crate) fn new(size: Option<u64>, lists_errors: bool) -> Bar {
        // Hidden by indicatif itself where standard error is no terminal.
        let bar = match size {
            Some(size) => ProgressBar::new(size).with_style(style("{bar:30} {percent:>3} % {msg}, {eta} left")),
            None => ProgressBar::new_spinner().with_style(style("{spinner} {msg}, {bytes} read")),
        };
        let (before, shown) = (AtomicU64::new(0), AtomicU64::new(0));
        Bar { bar, begun: Instant::now(), before, shown, lists_errors }
    }

    /// Clears the line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is well formed")
}

impl Watch for Bar {
    fn progress(&self, rows: u64, bytes: u64) {
        if self.bar.is_hidden() {
            return;
        }
        let new = rows - self.before.load(Relaxed);
        let rate = (new as f64 / self.begun.elapsed().as_secs_f64().max(0.001)) as u64;
        self.bar.set_message(format!("{} rows, {} a second", HumanCount(rows), HumanCount(rate)));
        self.bar.set_position(bytes);
    }

    fn bad_row(&self, row: &BadRow) {
        if !self.lists_errors && self.shown.fetch_add(1, Relaxed) < SHOWN {
            self.bar.suspend(|| eprintln!("koga: {row}"));
        }
    }

    fn resumed(&self, rows: Option<u64>) {
        self.bar.suspend(|| match rows {
            Some(rows) => eprintln!("koga: going on behind {} rows", HumanCount(rows)),
            None => eprintln!("koga: nothing to go on with: starting from the beginning"),
        });
        self.before.store(rows.unwrap_or(0), Relaxed);
        // The time left is reckoned from here.
        self.bar.reset_eta();
    }
}

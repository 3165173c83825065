//! `koga review`: games in, tactics found, missed and allowed out.

use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter, IsTerminal, Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use koga::{render::text::printable, shakmaty::Color};
use koga_review::{
    Counts, DEFAULT_NODES, Players, Settings,
    batch::{Batch, BatchError, Reviewed, Searches},
    pgn::{self, Split},
    render,
};

use crate::engine::EngineArgs;

/// What to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The critical moments with boards, and a table.
    Text,
    /// The annotated games.
    Pgn,
    /// One object a game.
    Json,
}

/// What the command line asks for.
#[derive(Debug, Clone, clap::Args)]
pub struct ReviewArgs {
    /// The games; `-` reads them from standard input.
    #[arg(value_name = "GAMES.PGN")]
    pub file: PathBuf,
    /// Write to this file, which appears once it is complete: the annotated games, while the text goes to standard output; or,
    /// where a --format is given, that format and nothing else.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Speak of one player only.
    #[arg(long, value_name = "NAME|white|black", value_parser = players)]
    pub player: Option<Players>,
    /// What to write: text to standard output unless something else is said.
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Searches at a time; one for each core if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub threads: Option<u16>,
    /// The engine.
    #[command(flatten)]
    pub engine: EngineArgs,
}

/// The players of that name, or of that side.
pub(crate) fn players(name: &str) -> Result<Players, String> {
    match name.trim() {
        "" => Err("the name is empty".to_owned()),
        name if name.eq_ignore_ascii_case("white") => Ok(Players::Side(Color::White)),
        name if name.eq_ignore_ascii_case("black") => Ok(Players::Side(Color::Black)),
        name => Ok(Players::Named(name.to_owned())),
    }
}

/// How a review ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// All was well.
    Done,
    /// Some games could not be read in full.
    Trouble,
    /// The user interrupted it.
    Interrupted,
}

/// Reviews the games of a file.
///
/// # Errors
///
/// A message for the user, or a failure to write to `out`.
pub fn run(args: &ReviewArgs, colored: bool, interrupted: &AtomicBool, out: &mut dyn Write) -> Result<Ending, Failure> {
    let name = if args.file == Path::new("-") { "standard input".to_owned() } else { args.file.display().to_string() };
    let failed = |err: io::Error| Failure::Message(format!("{name}: {err}"));
    let (input, length): (Box<dyn Read>, Option<u64>) = if args.file == Path::new("-") {
        (Box::new(io::stdin().lock()), None)
    } else {
        let file = File::open(&args.file).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Failure::Message(format!("{name}: is a directory")));
        }
        (Box::new(file), metadata.is_file().then_some(metadata.len()))
    };
    let mut target = args.output.as_deref().map(Target::create).transpose()?;
    let to_file = args.output.as_ref().map(|_| args.format.unwrap_or(Format::Pgn));
    let to_out = match (&args.output, args.format) {
        (Some(_), Some(_)) => None,
        (_, format) => Some(format.unwrap_or(Format::Text)),
    };
    let settings =
        Settings { limits: args.engine.limits(DEFAULT_NODES), players: args.player.clone().unwrap_or_default() };
    let threads = args.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let searches = Searches::default();
    let progress = Progress::new(length, &searches.done);
    let (mut games, mut troubled) = (0u64, false);
    let mut totals: [Counts; 2] = Default::default();
    // Whether anybody of that name played.
    let mut known = !matches!(settings.players, Players::Named(_));
    let sink = |reviewed: Reviewed| {
        for trouble in &reviewed.troubles {
            troubled = true;
            let message = format!("koga: {name}: game {}: {trouble}", reviewed.raw.number);
            progress.message(&printable(&message));
        }
        if let (Some(format), Some(target)) = (to_file, &mut target) {
            target.write(&rendered(&reviewed, format, false, games))?;
        }
        if let Some(format) = to_out {
            let text = rendered(&reviewed, format, colored, games);
            progress.hidden(|| out.write_all(text.as_bytes()).and_then(|()| out.flush()))?;
        }
        games += 1;
        if let Some(review) = &reviewed.review {
            known |= review.sides.white || review.sides.black;
            for (total, counts) in totals.iter_mut().zip(&review.counts) {
                total.add_all(counts);
            }
        }
        progress.game(games, reviewed.raw.end);
        Ok(())
    };
    let batch = Batch { settings: &settings, threads, interrupted, searches: &searches };
    let split = Split::new(BufReader::with_capacity(1 << 16, input));
    let watched = AtomicBool::new(true);
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| progress.watch(&watched));
        let ended = batch.run(split, || args.engine.open(), sink);
        watched.store(false, Ordering::Relaxed);
        ended
    });
    progress.finish();
    let stopped = interrupted.load(Ordering::Relaxed);
    if games > 1 && to_out == Some(Format::Text) {
        out.write_all(summary(&totals, games).as_bytes())?;
    }
    // What was reviewed before a failure is worth keeping.
    if let Some(target) = target {
        target.finish()?;
    }
    match ended {
        Err(BatchError::Io(err)) if err.kind() == io::ErrorKind::BrokenPipe => return Err(Failure::Io(err)),
        Err(err) => return Err(Failure::Message(format!("{name}: after {games} games: {err}"))),
        Ok(()) if stopped => {
            eprintln!("koga: interrupted after {games} game{}", if games == 1 { "" } else { "s" });
            return Ok(Ending::Interrupted);
        }
        Ok(()) => {}
    }
    if games == 0 {
        return Err(Failure::Message(format!("{name}: there is no game in it")));
    }
    if let (Players::Named(player), false) = (&settings.players, known) {
        eprintln!("koga: {name}: no game has a player {player:?}");
        return Ok(Ending::Trouble);
    }
    Ok(if troubled { Ending::Trouble } else { Ending::Done })
}

/// Why a review failed.
#[derive(Debug)]
pub enum Failure {
    /// A message for the user.
    Message(String),
    /// Writing failed.
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(err: io::Error) -> Failure {
        Failure::Io(err)
    }
}

fn rendered(reviewed: &Reviewed, format: Format, colored: bool, games: u64) -> String {
    match format {
        Format::Text => {
            let before = if games > 0 { "\n" } else { "" };
            before.to_owned() + &render::text::game(reviewed, colored)
        }
        Format::Json => {
            let json =
                serde_json::to_string(&render::json::game(reviewed)).expect("strings and numbers can be written");
            json + "\n"
        }
        Format::Pgn => annotated(reviewed),
    }
}

/// The annotated game; what cannot be read passes through as it is.
pub(crate) fn annotated(reviewed: &Reviewed) -> String {
    match &reviewed.review {
        Some(review) => render::pgn::game(review),
        None => pgn::decode(&reviewed.raw.bytes).trim().replace("\r\n", "\n") + "\n\n",
    }
}

fn summary(totals: &[Counts; 2], games: u64) -> String {
    if totals.iter().all(|counts| counts.of.is_empty()) {
        return String::new();
    }
    format!("\nAll {games} games:\n{}", render::text::counts(&[("White", &totals[0]), ("Black", &totals[1])]))
}

/// A file that is written beside its name and takes it once it is complete.
struct Target {
    path: PathBuf,
    beside: PathBuf,
    file: Option<BufWriter<File>>,
}

impl Target {
    fn create(path: &Path) -> Result<Target, Failure> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let beside = path.with_file_name(name);
        if path.is_dir() {
            return Err(Failure::Message(format!("{}: is a directory", path.display())));
        }
        let file = File::create(&beside).map_err(|err| Failure::Message(format!("{}: {err}", path.display())))?;
        Ok(Target { path: path.to_owned(), beside, file: Some(BufWriter::new(file)) })
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(text.as_bytes()))
    }

    fn finish(mut self) -> Result<(), Failure> {
        let failed = |err: io::Error| Failure::Message(format!("{}: {err}", self.path.display()));
        if let Some(file) = self.file.take() {
            let file = file.into_inner().map_err(|err| failed(err.into_error()))?;
            file.sync_all().map_err(failed)?;
            fs::rename(&self.beside, &self.path).map_err(failed)?;
        }
        Ok(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = fs::remove_file(&self.beside);
        }
    }
}

/// The bar on standard error: games, positions, rate and time left; none where that is no terminal.
struct Progress<'a> {
    bar: ProgressBar,
    positions: &'a AtomicU64,
    games: AtomicU64,
    start: Instant,
}

impl<'a> Progress<'a> {
    fn new(length: Option<u64>, positions: &'a AtomicU64) -> Progress<'a> {
        let shown = io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr_with_hz(5) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(length, target);
        let template = match length {
            Some(_) => "{bar:30} {percent:>3} %  {msg}, {eta} left",
            None => "{spinner} {msg}",
        };
        bar.set_style(ProgressStyle::with_template(template).expect("the template is right"));
        Progress { bar, positions, games: AtomicU64::new(0), start: Instant::now() }
    }

    /// Keeps the bar moving between games.
    fn watch(&self, watched: &AtomicBool) {
        while watched.load(Ordering::Relaxed) {
            if !self.bar.is_hidden() {
                let positions = self.positions.load(Ordering::Relaxed);
                let rate = positions as f64 / self.start.elapsed().as_secs_f64().max(0.001);
                let games = self.games.load(Ordering::Relaxed);
                self.bar.set_message(format!("{games} games, {positions} positions, {rate:.0} a second"));
                self.bar.tick();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn game(&self, games: u64, end: u64) {
        self.games.store(games, Ordering::Relaxed);
        self.bar.set_position(end);
    }

    fn message(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }

    fn hidden<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

//! Says why a chess move is good.

#![forbid(unsafe_code)]

use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

use clap::{CommandFactory, Parser, Subcommand, ValueEnum, error::ErrorKind};
use koga::Tactic;
use koga_cli::{
    INTERRUPTED_STATUS, agree,
    engine::EngineArgs,
    explain::{self, Format, Request},
    jsonl, pages,
    review::{self, Ending, Failure, ReviewArgs},
    serve, site, tag,
};

/// Says why a chess move is good: names the tactics of a position, a move and a line.
#[derive(Parser)]
#[command(name = "koga", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Explain a move: the tactics that it makes, and what the line wins by them.
    Explain(ExplainArgs),
    /// Review games: the tactics that were found, missed and allowed.
    Review {
        #[command(flatten)]
        args: Box<ReviewArgs>,
        /// Colour the boards.
        #[arg(long, value_enum, default_value_t)]
        color: Color,
    },
    /// Print how Koga decides on a tactic, with the positions that it is tested on.
    Tactics {
        /// The tactic, such as `fork`; all are listed where none is given.
        #[arg(value_parser = tactic)]
        name: Option<Tactic>,
        /// Colour the boards.
        #[arg(long, value_enum, default_value_t)]
        color: Color,
    },
    /// Write the reference pages as a site that needs neither a script nor a server.
    Site {
        /// The folder to write; a site of Koga's that stands there is renewed, and what else is in it left alone.
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
        /// The address of the analysis page that positions link to.
        #[arg(long, value_name = "URL", default_value = site::ANALYSIS, value_parser = site::analysis)]
        analysis: String,
    },
    /// Tag millions of puzzles, requests or evaluations.
    Tag(tag::Args),
    /// Compare what Koga finds with the labels of a puzzle file.
    Agree(agree::Args),
    /// Serve the analysis page, the reference pages and a JSON API over HTTP.
    Serve(Box<serve::Args>),
}

#[derive(clap::Args)]
struct ExplainArgs {
    /// The position; put it in quotes.
    #[arg(required_unless_present = "jsonl")]
    fen: Option<String>,
    /// The candidate move, in SAN or UCI; the engine's best if not given.
    #[arg(value_name = "MOVE")]
    candidate: Option<String>,
    /// The whole line, candidate first: "Nf6+ Kf8 Nxh7+"; the engine finds one if not given.
    #[arg(long)]
    line: Option<String>,
    /// The first move of the line is the enemy's, played in FEN before the candidate, as in a Lichess puzzle.
    #[arg(long, requires = "line")]
    setup: bool,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Say what became of one tactic: found, superseded, or refused by which rule.
    #[arg(long, value_name = "TACTIC", value_parser = tactic)]
    why_not: Option<Tactic>,
    /// Colour the board.
    #[arg(long, value_enum, default_value_t)]
    color: Color,
    /// Read requests from standard input, one JSON object a line, and write one report a line.
    #[arg(long, conflicts_with_all = ["fen", "candidate", "line", "setup", "format", "why_not"])]
    jsonl: bool,
    /// Lines that the engine is to find; each becomes a report.
    #[arg(long, value_name = "LINES", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..), conflicts_with_all = ["candidate", "line", "jsonl"])]
    multipv: u8,
    #[command(flatten)]
    engine: EngineArgs,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Color {
    /// If standard output is a terminal and NO_COLOR is not set.
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    fn is_wanted(self) -> bool {
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        }
    }
}

fn main() -> ExitCode {
    let mut out = io::stdout();
    let done = match Cli::parse().command {
        Command::Tag(args) => return tag::run(args, &mut Cli::command()),
        Command::Agree(args) => return agree::run(args, &mut Cli::command()),
        Command::Serve(args) => return serve::run(*args),
        Command::Explain(args) if args.jsonl => {
            jsonl::run(io::stdin().lock(), &mut out, &args.engine).map(|failed| ExitCode::from(u8::from(failed > 0)))
        }
        Command::Explain(args) => explain(args, &mut out),
        Command::Review { args, color } => review(&args, color.is_wanted(), &mut out),
        Command::Site { output, analysis } => match site::write(&output, &analysis) {
            Ok(files) => writeln!(out, "{} files in {}", files, output.display()).map(|()| ExitCode::SUCCESS),
            Err(message) => {
                complain(&message);
                Ok(ExitCode::FAILURE)
            }
        },
        Command::Tactics { name, color } => {
            let text = name.map_or_else(pages::index, |tactic| pages::terminal(tactic, color.is_wanted()));
            out.write_all(text.as_bytes()).map(|()| ExitCode::SUCCESS)
        }
    };
    match done.and_then(|code| out.flush().map(|()| code)) {
        Ok(code) => code,
        Err(err) if err.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(err) => {
            complain(&err.to_string());
            ExitCode::FAILURE
        }
    }
}

fn explain(args: ExplainArgs, out: &mut impl Write) -> io::Result<ExitCode> {
    if args.why_not.is_some() && args.format != Format::Text {
        usage(ErrorKind::ArgumentConflict, "--why-not is printed as text: the JSON report holds all rejections anyway");
    }
    let request = Request {
        fen: args.fen.unwrap_or_default(),
        candidate: args.candidate,
        line: args.line,
        setup: args.setup,
        format: args.format,
        why_not: args.why_not,
        colored: args.color.is_wanted(),
        multipv: args.multipv.into(),
        engine: args.engine,
    };
    match explain::run(&request) {
        Ok(text) => out.write_all(text.as_bytes()).map(|()| ExitCode::SUCCESS),
        Err(message) => {
            complain(&message);
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Writes a message to standard error, if anybody reads it.
fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "koga: {message}");
}

/// Set by the first Ctrl-C; the second ends the program.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

fn review(args: &ReviewArgs, colored: bool, out: &mut impl Write) -> io::Result<ExitCode> {
    let handler = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED_STATUS.into());
        }
    });
    if let Err(err) = handler {
        complain(&format!("an interruption will not be waited for: {err}"));
    }
    match review::run(args, colored, &INTERRUPTED, out) {
        Ok(Ending::Done) => Ok(ExitCode::SUCCESS),
        Ok(Ending::Trouble) => Ok(ExitCode::FAILURE),
        Ok(Ending::Interrupted) => Ok(ExitCode::from(INTERRUPTED_STATUS)),
        Err(Failure::Io(err)) => Err(err),
        Err(Failure::Message(message)) => {
            complain(&message);
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Ends the program with a usage error: exit status 2.
fn usage(kind: ErrorKind, message: &str) -> ! {
    let mut command = Cli::command();
    let explain = command.find_subcommand_mut("explain").map(|explain| explain.error(kind, message));
    match explain {
        Some(err) => err.exit(),
        None => std::process::exit(2),
    }
}

fn tactic(name: &str) -> Result<Tactic, String> {
    Tactic::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Tactic::ALL.iter().map(|tactic| tactic.name()).collect();
        format!("no such tactic; there are {}", names.join(", "))
    })
}

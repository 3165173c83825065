//! Chores of the project: `cargo xtask --help`.

#![forbid(unsafe_code)]

mod census;
mod new_tactic;
mod pages;
mod quiet;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

/// Chores of the project.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Write the reference pages from the sources and the corpus.
    Pages {
        /// Only compare; fail if a page differs.
        #[arg(long)]
        check: bool,
    },
    /// Count the verdicts over a fixed set of puzzles and quiet positions.
    Census {
        /// Only compare with the counts that are checked in.
        #[arg(long)]
        check: bool,
    },
    /// Count the motifs of quiet moves in played games: neither capture nor check, and no capture in the next four plies.
    Quiet {
        /// The games, as PGN.
        games: PathBuf,
        /// Also list every motif.
        #[arg(long)]
        list: bool,
    },
    /// Write pages and census anew.
    Bless,
    /// Begin a tactic: its source and its corpus.
    NewTactic {
        /// Its name, such as `zwischenzug` or `smothered-mate`.
        name: String,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().chore {
        Chore::Pages { check } => pages::run(check),
        Chore::Census { check } => census::run(check),
        Chore::Quiet { games, list } => quiet::run(&games, list),
        Chore::Bless => pages::run(false).and_then(|()| census::run(false)),
        Chore::NewTactic { name } => new_tactic::run(&name),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// Writes a file of the workspace, or compares it.
fn settle(path: &str, text: &str, check: bool) -> Result<(), String> {
    let full = root().join(path);
    if check {
        return match std::fs::read_to_string(&full) {
            Ok(there) if there == text => Ok(()),
            _ => Err(format!("{path} is not what the sources make: run `cargo xtask bless`")),
        };
    }
    if let Some(folder) = full.parent() {
        std::fs::create_dir_all(folder).map_err(|err| format!("{path}: {err}"))?;
    }
    std::fs::write(&full, text).map_err(|err| format!("{path}: {err}"))
}

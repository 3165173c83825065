//! What can go wrong between a question and its lines.

use std::{fmt, time::Duration};

use shakmaty::Move;

/// Why there are no lines. Each message names the engine, if one is to blame, and what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineError {
    /// A move said to have been played is illegal.
    IllegalPlayed {
        /// The ply, counted from 1.
        ply: usize,
        /// The move.
        m: Move,
    },
    /// A move to consider is illegal.
    IllegalRootMove {
        /// The move.
        m: Move,
    },
    /// The position cannot be put to a UCI engine, or an option would not survive as a line of text.
    Unsendable {
        /// The engine.
        engine: String,
        /// What is wrong.
        what: String,
    },
    /// There is no such program.
    NotFound {
        /// The name or path asked for.
        engine: String,
    },
    /// The program could not be started.
    NotStarted {
        /// The engine.
        engine: String,
        /// The reason the system gives.
        reason: String,
    },
    /// The engine ended when it should not have.
    Exited {
        /// The engine.
        engine: String,
        /// What it was asked to do.
        during: &'static str,
        /// How it ended.
        status: String,
    },
    /// The engine did not answer in time.
    TimedOut {
        /// The engine.
        engine: String,
        /// What it was asked to do.
        during: &'static str,
        /// How long it was waited for.
        after: Duration,
    },
    /// The engine wrote without end or without line breaks.
    Flooded {
        /// The engine.
        engine: String,
        /// What it was asked to do.
        during: &'static str,
    },
    /// The engine answered with a move that is not legal.
    IllegalMove {
        /// The engine.
        engine: String,
        /// The move as it wrote it.
        text: String,
    },
    /// The engine ended its search without a line for a position that has legal moves.
    NoLine {
        /// The engine.
        engine: String,
    },
    /// The engine has no such option.
    NoOption {
        /// The engine.
        engine: String,
        /// The name of the option.
        option: String,
    },
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::IllegalPlayed { ply, m } => write!(f, "ply {ply}: {m} is illegal"),
            EngineError::IllegalRootMove { m } => {
                write!(f, "{m} is illegal and cannot be considered")
            }
            EngineError::Unsendable { engine, what } => write!(f, "engine {engine}: {what}"),
            EngineError::NotFound { engine } => write!(f, "engine {engine}: no such program"),
            EngineError::NotStarted { engine, reason } => {
                write!(f, "engine {engine} could not be started: {reason}")
            }
            EngineError::Exited { engine, during, status } => {
                write!(f, "engine {engine} ended during {during} ({status})")
            }
            EngineError::TimedOut { engine, during, after } => {
                write!(f, "engine {engine} gave no answer to {during} within {:.1} s", after.as_secs_f64())
            }
            EngineError::Flooded { engine, during } => {
                write!(f, "engine {engine} wrote without end during {during}")
            }
            EngineError::IllegalMove { engine, text } => {
                write!(f, "engine {engine} answered with the illegal move {text}")
            }
            EngineError::NoLine { engine } => {
                write!(f, "engine {engine} ended its search without a line")
            }
            EngineError::NoOption { engine, option } => {
                write!(f, "engine {engine} has no option {option}")
            }
        }
    }
}

impl std::error::Error for EngineError {}

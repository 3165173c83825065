//! The options by which every command chooses and limits the engine.

use std::time::Duration;

use koga_engine::{Engine, EngineError, Limits, UciOptions};

/// Which engine, and what it may use for a position.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Engine")]
pub struct EngineArgs {
    /// Positions that the engine visits at most, for each position that is looked at.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
    /// Plies that the engine looks ahead at most.
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u32).range(1..))]
    pub depth: Option<u32>,
    /// Seconds for each position at most; answers then differ from run to run.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time: Option<Duration>,
    /// A UCI engine instead of the built-in one.
    #[arg(long, value_name = "NAME|PATH", env = "KOGA_ENGINE")]
    pub engine: Option<String>,
    /// An option for the UCI engine; may be given several times.
    #[arg(long = "engine-option", value_name = "NAME=VALUE", value_parser = option, requires = "engine")]
    pub engine_options: Vec<(String, String)>,
}

impl EngineArgs {
    /// The limits asked for, or else so many nodes.
    pub fn limits(&self, nodes: u64) -> Limits {
        let none = self.nodes.is_none() && self.depth.is_none() && self.time.is_none();
        Limits {
            nodes: if none { Some(nodes) } else { self.nodes },
            depth: self.depth,
            time: self.time,
            lines: 1,
            root_moves: Vec::new(),
        }
    }

    /// Whether the engine is a program of its own.
    pub fn is_external(&self) -> bool {
        self.program().is_some()
    }

    fn program(&self) -> Option<&str> {
        self.engine.as_deref().filter(|name| !name.is_empty())
    }

    /// Opens the engine.
    ///
    /// # Errors
    ///
    /// [`EngineError`] if it is a program that is missing or no UCI engine.
    pub fn open(&self) -> Result<Box<dyn Engine + Send>, EngineError> {
        koga_engine::open(self.program(), &self.uci_options())
    }

    fn uci_options(&self) -> UciOptions {
        UciOptions { others: self.engine_options.clone(), ..UciOptions::default() }
    }
}

/// The longest time that can be asked for: a day.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// A number of seconds, more than none.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() && time <= LONGEST => Ok(time),
        _ => Err(format!("must be more than 0 and at most {}", LONGEST.as_secs())),
    }
}

fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("must be NAME=VALUE")?;
    if name.trim().is_empty() {
        Err("the name is missing".to_owned())
    } else {
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    }
}

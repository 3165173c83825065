//! Finds the main lines of a chess position, with the built-in engine or with any UCI engine, behind one
//! interface: who asks for lines need not know who answers.
//!
//! ```
//! use koga_engine::{Engine, Limits, Score};
//! use shakmaty::{CastlingMode, Chess, fen::Fen};
//!
//! let fen: Fen = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1".parse()?;
//! let pos: Chess = fen.into_position(CastlingMode::Standard)?;
//!
//! let mut engine = koga_engine::open(None, &Default::default())?;
//! let lines = engine.analyse(&pos, &Limits::nodes(10_000))?;
//! assert_eq!(lines[0].score, Score::Mate(1));
//! assert_eq!(lines[0].moves[0].to_string(), "Ra1-a8");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! With node or depth limits the built-in engine gives the same lines on every machine and every run.

#![forbid(unsafe_code)]

pub mod builtin;
mod error;
mod limits;
pub mod uci;

use shakmaty::{Chess, Move};

pub use crate::{
    builtin::BuiltIn,
    error::EngineError,
    limits::{Limits, PvLine, Score, StopHandle},
    uci::{Uci, UciOptions},
};

/// Something that finds the main lines of a position.
pub trait Engine {
    /// What the engine calls itself.
    fn name(&self) -> &str;

    /// The best lines after the moves `played` from `start`, best first, scored for the side to move.
    ///
    /// The moves played decide what counts as a repetition. Every move of every line is legal, first moves
    /// differ, and each line has at least one move; the list is empty only if there is no legal move.
    /// A search that is stopped gives the lines found so far.
    ///
    /// # Errors
    ///
    /// [`EngineError`] if a move played or a root move is illegal, or if an external engine fails.
    fn analyse_after(&mut self, start: &Chess, played: &[Move], limits: &Limits) -> Result<Vec<PvLine>, EngineError>;

    /// The best lines of a position of which nothing earlier is known: see [`Engine::analyse_after`].
    ///
    /// # Errors
    ///
    /// As [`Engine::analyse_after`].
    fn analyse(&mut self, pos: &Chess, limits: &Limits) -> Result<Vec<PvLine>, EngineError> {
        self.analyse_after(pos, &[], limits)
    }

    /// A handle that stops this engine from another thread.
    fn stop_handle(&self) -> StopHandle;
}

/// Opens the engine of that name or path, or the built-in one if none is named.
///
/// # Errors
///
/// [`EngineError`] if the program is missing or does not answer as a UCI engine.
pub fn open(program: Option<&str>, options: &UciOptions) -> Result<Box<dyn Engine + Send>, EngineError> {
    match program {
        None => Ok(Box::new(BuiltIn::new())),
        Some(program) => Ok(Box::new(Uci::start(program, options)?)),
    }
}

/// The positions of a game after each move, the last being the one to analyse, once all is known to be legal.
fn replay(start: &Chess, played: &[Move], limits: &Limits) -> Result<Vec<Chess>, EngineError> {
    use shakmaty::Position;
    let mut positions = vec![start.clone()];
    for (index, m) in played.iter().enumerate() {
        let next = positions[index].clone().play(*m);
        positions.push(next.map_err(|_| EngineError::IllegalPlayed { ply: index + 1, m: *m })?);
    }
    let pos = positions.last().expect("the start is there");
    match limits.root_moves.iter().find(|m| !pos.is_legal(**m)) {
        Some(m) => Err(EngineError::IllegalRootMove { m: *m }),
        None => Ok(positions),
    }
}

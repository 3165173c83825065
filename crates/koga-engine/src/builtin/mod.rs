//! The built-in engine: alpha-beta on shakmaty's rules, the same lines for the same node limit everywhere.

mod eval;
mod movegen;
mod node;
mod order;
mod root;
mod search;
mod see;
mod table;
mod terms;

use shakmaty::{Chess, Move, Position};

use self::table::Table;
use crate::{Engine, EngineError, Limits, PvLine, StopHandle, replay};

/// The score of having mated; mates further on are worth a point less each ply.
const MATE: i32 = 30_000;
/// Scores above this are mates, below its negative being mated.
const MATE_BOUND: i32 = MATE - 1_000;
/// No line is searched further than this from the root.
const MOST_PLIES: usize = 120;

/// The engine that is always there.
///
/// It forgets all between searches, so its answers depend on the question alone.
///
/// ```
/// use koga_engine::{BuiltIn, Engine, Limits};
/// use shakmaty::Chess;
/// let mut engine = BuiltIn::new();
/// let lines = engine.analyse(&Chess::new(), &Limits::nodes(5_000).with_lines(3))?;
/// assert_eq!(lines.len(), 3);
/// assert_eq!(lines, BuiltIn::new().analyse(&Chess::new(), &Limits::nodes(5_000).with_lines(3))?);
/// # Ok::<_, koga_engine::EngineError>(())
/// ```
pub struct BuiltIn {
    table: Table,
    stop: StopHandle,
}

impl BuiltIn {
    /// An engine ready to search.
    pub fn new() -> BuiltIn {
        BuiltIn::with_stop_handle(StopHandle::default())
    }

    /// An engine that a handle of one's own stops.
    pub fn with_stop_handle(stop: StopHandle) -> BuiltIn {
        BuiltIn { table: Table::new(), stop }
    }
}

impl Default for BuiltIn {
    fn default() -> BuiltIn {
        BuiltIn::new()
    }
}

impl Engine for BuiltIn {
    fn name(&self) -> &str {
        "Koga"
    }

    fn analyse_after(&mut self, start: &Chess, played: &[Move], limits: &Limits) -> Result<Vec<PvLine>, EngineError> {
        let positions = replay(start, played, limits)?;
        let (pos, before) = positions.split_last().expect("the start is there");
        let legal = pos.legal_moves();
        let moves: Vec<Move> = match limits.root_moves.as_slice() {
            [] => legal.to_vec(),
            wanted => legal.into_iter().filter(|m| wanted.contains(m)).collect(),
        };
        Ok(root::search(&mut self.table, &self.stop, pos, before, moves, limits))
    }

    fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }
}

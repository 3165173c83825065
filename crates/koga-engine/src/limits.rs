//! What a search may use and what it gives.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use shakmaty::Move;

/// How long to search and for what. The first limit reached ends the search.
///
/// With neither nodes, depth nor time the search goes on until it is stopped or knows all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Positions to visit at most.
    pub nodes: Option<u64>,
    /// Plies to look ahead at most, extensions apart.
    pub depth: Option<u32>,
    /// Time to use at most. Answers then differ from run to run.
    pub time: Option<Duration>,
    /// Lines wanted, each with another first move. 0 counts as 1.
    pub lines: usize,
    /// The first moves to consider; all if empty.
    pub root_moves: Vec<Move>,
}

impl Default for Limits {
    /// One line, 200,000 nodes: a tenth of a second or so with the built-in engine.
    fn default() -> Limits {
        Limits { nodes: Some(200_000), depth: None, time: None, lines: 1, root_moves: Vec::new() }
    }
}

impl Limits {
    /// One line within so many nodes.
    pub fn nodes(nodes: u64) -> Limits {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }

    /// One line so many plies deep, however many nodes that takes.
    pub fn depth(depth: u32) -> Limits {
        Limits { nodes: None, depth: Some(depth), ..Limits::default() }
    }

    /// One line within a time.
    pub fn time(time: Duration) -> Limits {
        Limits { nodes: None, time: Some(time), ..Limits::default() }
    }

    /// These limits with another number of lines.
    #[must_use]
    pub fn with_lines(self, lines: usize) -> Limits {
        Limits { lines, ..self }
    }

    /// These limits for some first moves only.
    #[must_use]
    pub fn with_root_moves(self, root_moves: impl IntoIterator<Item = Move>) -> Limits {
        Limits { root_moves: root_moves.into_iter().collect(), ..self }
    }
}

/// A line of best play as an engine sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PvLine {
    /// The moves, all legal, at least one.
    pub moves: Vec<Move>,
    /// What the line is worth to the side to move at its start.
    pub score: Score,
    /// How many plies the search that gave the line looked ahead.
    pub depth: u32,
    /// Positions visited by then, for all lines together.
    pub nodes: u64,
}

/// The worth of a line to the side to move at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a pawn.
    Cp(i32),
    /// Mate in so many moves, counting the first; negative if it is the side to move that gets mated. 0 is
    /// the position of a side already mated, which no line starts from.
    Mate(i32),
}

impl Score {
    /// The number that orders scores: quick mates above slow ones above all centipawns.
    fn rank(self) -> i32 {
        const MATE: i32 = 1_000_000_000;
        match self {
            Score::Cp(cp) => cp,
            Score::Mate(n) if n > 0 => MATE - n,
            Score::Mate(n) => -MATE - n,
        }
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Score) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Score) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Score {
    /// In pawns with a sign, or `#3` and `#-3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Score::Cp(cp) => {
                let sign = if *cp < 0 { '-' } else { '+' };
                write!(f, "{sign}{}.{:02}", cp.unsigned_abs() / 100, cp.unsigned_abs() % 100)
            }
            Score::Mate(n) => write!(f, "#{n}"),
        }
    }
}

/// Stops an engine from another thread or a signal handler. Clones stop the same engine.
///
/// Once stopped, the engine answers every question at once with what little it has, until
/// [`StopHandle::reset`].
#[derive(Debug, Clone, Default)]
pub struct StopHandle {
    flag: Arc<AtomicBool>,
}

impl StopHandle {
    /// A handle around a flag of one's own; many engines may share it.
    pub fn from_flag(flag: Arc<AtomicBool>) -> StopHandle {
        StopHandle { flag }
    }

    /// Stops the search under way and all later ones.
    pub fn stop(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Lets later searches run again.
    pub fn reset(&self) {
        self.flag.store(false, Ordering::Relaxed);
    }

    /// Whether the engine is stopped.
    pub fn is_stopped(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

//! Koga says why a chess move is good: from a position, a move and the line that follows it names the tactics at
//! work, each with its role, squares and prize.
//!
//! ```
//! use koga::{Line, Tactic, analyze};
//! let line = Line::parse("r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1", ["Nc7+"])?;
//! let report = analyze(&line);
//! let headline = &report.findings[report.headline.unwrap()];
//! assert_eq!(headline.tactic, Tactic::Fork);
//! assert_eq!(headline.prize, Some(5));
//! # Ok::<_, koga::parse::ParseError>(())
//! ```
//!
//! Nothing fails after [`Line::parse`], nothing is read or written, and the same line gives the same report.

#![forbid(unsafe_code)]

pub mod arbiter;
pub mod attacks;
pub mod exchange;
pub mod explain;
pub mod line;
pub mod material;
pub mod mobility;
pub mod parse;
pub mod pins;
pub mod render;
pub mod survey;
pub mod tactic;
pub mod tactics;
mod words;

pub use shakmaty;

pub use crate::{
    arbiter::{Report, Superseded},
    line::Line,
    tactic::{Finding, FindingRole, Kind, Mark, Rejection, Rule, Tactic},
};

/// Names the tactics of a line and weighs them against each other.
pub fn analyze(line: &Line) -> Report {
    arbiter::arbitrate(line, tactics::detect(line))
}

//! The tactics, a file each, and the table that detection, pages and tests go through.

mod back_rank_mate;
mod checkmate;
mod discovered_attack;
mod discovered_check;
mod double_attack;
mod double_check;
mod fork;
mod hanging_capture;
mod pin;
mod pinned_defender;
mod removing_the_defender;
mod sacrifice;
mod skewer;
mod trapped_piece;
mod x_ray;

use shakmaty::Position;

use crate::{
    line::Line,
    survey::Survey,
    tactic::{Detections, Rule, Tactic},
    words::Words,
};

/// How one tactic is found and described.
#[derive(Debug)]
pub struct Definition {
    /// The tactic.
    pub tactic: Tactic,
    /// The rules by which its shape is refused.
    pub rules: &'static [Rule],
    /// Its source, which begins with the definition in words.
    source: &'static str,
    detect: fn(&Survey, &mut Detections),
    pub(crate) explain: fn(&Words) -> String,
}

macro_rules! definition {
    ($tactic:ident, $module:ident) => {
        Definition {
            tactic: Tactic::$tactic,
            rules: $module::RULES,
            source: include_str!(concat!(stringify!($module), ".rs")),
            detect: $module::detect,
            explain: $module::explain,
        }
    };
}

/// Every tactic, in the order of [`Tactic::ALL`].
pub static DEFINITIONS: [Definition; 15] = [
    definition!(Fork, fork),
    definition!(DoubleAttack, double_attack),
    definition!(DiscoveredAttack, discovered_attack),
    definition!(DiscoveredCheck, discovered_check),
    definition!(DoubleCheck, double_check),
    definition!(Pin, pin),
    definition!(XRay, x_ray),
    definition!(PinnedDefender, pinned_defender),
    definition!(TrappedPiece, trapped_piece),
    definition!(HangingCapture, hanging_capture),
    definition!(RemovingTheDefender, removing_the_defender),
    definition!(Sacrifice, sacrifice),
    definition!(BackRankMate, back_rank_mate),
    definition!(Checkmate, checkmate),
    definition!(Skewer, skewer),
];

impl Definition {
    /// The definition of a tactic.
    pub fn of(tactic: Tactic) -> &'static Definition {
        &DEFINITIONS[tactic as usize]
    }

    /// How Koga decides, in Markdown: the text that opens the tactic's source.
    pub fn text(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    }
}

/// Applies every rule to every one of our plies.
pub fn detect(line: &Line) -> Detections {
    let mut out = Detections::default();
    for ply in line.our_plies() {
        // Whatever the board shows, stalemate is a draw: nothing is won by it.
        if ply.number == line.len() && ply.after.is_stalemate() {
            break;
        }
        let survey = Survey::new(line, ply);
        for definition in &DEFINITIONS {
            (definition.detect)(&survey, &mut out);
        }
    }
    out
}

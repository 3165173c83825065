//! The reference pages: how Koga decides, and every position that it is tested on.

use koga::Tactic;

/// The list of tactics.
pub fn index() -> String {
    Tactic::ALL.iter().map(|tactic| format!("{tactic}\n")).collect()
}

/// A page for the terminal.
pub fn terminal(_tactic: Tactic, _colored: bool) -> String {
    String::new()
}

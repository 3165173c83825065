//! The report for a terminal.

use std::fmt::Write;

use koga_tag::theme;

use super::{
    Measured,
    tally::{Entry, Side, THEMES, UNLABELLED},
};

/// What the numbers are, for whoever reads them.
pub(super) const NOTE: &str = "Agreement is a measurement, not the truth: labels come from a program, too. Koga says a theme \
                               where a finding is a motif or a follow-up; hangingPiece, whose label looks at the first move only, where it is a motif.";

/// The table and the disagreements.
pub(super) fn report(measured: &Measured) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}\n\n{}", counted(measured), wrapped(NOTE));
    let _ = writeln!(
        out,
        "{:<18}{:>9}{:>11}{:>12}{:>11}{:>8}",
        "theme", "both", "Koga only", "label only", "precision", "recall"
    );
    for (theme, entry) in THEMES.iter().zip(&measured.tally.entries) {
        let [precision, recall] = rates(entry);
        let [extra, missing] = [Side::KogaOnly, Side::LabelOnly].map(|side| entry.only(side));
        let _ = writeln!(out, "{:<18}{:>9}{extra:>11}{missing:>12}{precision:>11}{recall:>8}", theme.name, entry.both);
    }
    let _ = writeln!(out, "\n{}", unlabelled(measured));
    for (theme, entry) in THEMES.iter().zip(&measured.tally.entries) {
        for side in Side::ALL.into_iter().filter(|side| entry.only(*side) > 0) {
            let _ = writeln!(out, "\n{}, {}: {}", theme.name, side.title(), entry.only(side));
            for (why, group) in entry.by_size(side) {
                let _ = writeln!(out, "{:>8}  {why}", group.count);
                for example in &group.examples {
                    let id = if example.id == example.fen { String::new() } else { format!("{}  ", example.id) };
                    let _ = writeln!(out, "            {id}{}", example.fen);
                    let _ = writeln!(out, "              {}", example.moves);
                    let _ = writeln!(out, "              Koga: {}", example.says);
                }
            }
        }
    }
    out
}

/// How much was read.
pub(super) fn counted(measured: &Measured) -> String {
    let plural = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let bad = match measured.bad {
        0 => String::new(),
        bad => format!(", {} left out", plural(bad, "bad row")),
    };
    format!("{}{bad}", plural(measured.rows, "puzzle"))
}

/// What no label can be compared with.
pub(super) fn unlabelled(measured: &Measured) -> String {
    let counts = UNLABELLED.iter().zip(measured.tally.unlabelled);
    let counts: Vec<String> = counts.map(|(tactic, count)| format!("{} {count}", theme(*tactic))).collect();
    format!("Without a label to compare with: {}", counts.join(", "))
}

/// Precision and recall in per cent.
pub(super) fn rates(entry: &Entry) -> [String; 2] {
    [Side::KogaOnly, Side::LabelOnly].map(|side| match entry.both + entry.only(side) {
        0 => "-".to_owned(),
        all => format!("{:.1} %", 100.0 * entry.both as f64 / all as f64),
    })
}

fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in text.split(' ') {
        if width + word.len() >= 80 {
            out.push('\n');
            width = 0;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += word.len();
    }
    out + "\n"
}

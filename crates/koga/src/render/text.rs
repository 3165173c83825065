//! The report for a terminal.

use std::fmt::Write;

use shakmaty::Position;

use super::svg::diagram;
use crate::{Finding, FindingRole, Line, Report, Superseded, Tactic, explain, words};

/// A board, the line and the headline; then every other finding under its role, and what was superseded, and why.
pub fn report(line: &Line, report: &Report, colored: bool) -> String {
    let mut out = diagram(line, report).text(colored);
    out.push('\n');
    let _ = writeln!(out, "{}", moves(line));
    out.push('\n');
    match report.headline.map(|index| &report.findings[index]) {
        Some(headline) => {
            let name = words::capitalized(explain::title(headline.tactic));
            let how = match headline.role {
                FindingRole::Motif if headline.ply > 1 => "prepared by the sacrifice, with",
                FindingRole::Motif => "made by",
                _ => "later, with",
            };
            let place = place(line, headline.ply);
            let _ = writeln!(out, "{name}, {how} {place}{}\n{}", stake(headline), explain::finding(line, headline));
        }
        None => {
            let _ = writeln!(out, "No tactic to speak of.");
        }
    }
    if let Some(sum) = explain::line_won(line).filter(|_| line.len() > 1) {
        let _ = writeln!(out, "{sum}");
    }
    for (role, title) in [
        (FindingRole::Motif, "Also made or prepared by the move"),
        (FindingRole::FollowUp, "Later in the line"),
        (FindingRole::Enabling, "Already there, or supporting"),
    ] {
        let others = report.findings.iter().enumerate();
        let others = others.filter(|(index, finding)| finding.role == role && Some(*index) != report.headline);
        let others = others.filter(|(_, finding)| !is_said_already(report, finding));
        section(&mut out, title, others.map(|(_, finding)| entry(line, finding)));
    }
    let superseded = |lost: &Superseded| format!("{}: {}", at(line, &lost.finding), explain::reason(lost));
    section(&mut out, "Superseded", report.superseded.iter().map(superseded));
    out
}

/// Whether a discovered check is said by the discovered attack on the king that it is.
fn is_said_already(report: &Report, finding: &Finding) -> bool {
    let is_attack = |other: &Finding| {
        other.tactic == Tactic::DiscoveredAttack && other.ply == finding.ply && other.targets == finding.targets
    };
    finding.tactic == Tactic::DiscoveredCheck && report.findings.iter().any(is_attack)
}

/// What became of one tactic in the line.
pub fn why_not(line: &Line, report: &Report, tactic: Tactic) -> String {
    let mut out = String::new();
    for finding in report.findings.iter().filter(|finding| finding.tactic == tactic) {
        let _ =
            writeln!(out, "Found, {}: {}: {}", finding.role.name(), at(line, finding), explain::finding(line, finding));
    }
    for lost in report.superseded.iter().filter(|lost| lost.finding.tactic == tactic) {
        let _ = writeln!(out, "Superseded, {}: {}", at(line, &lost.finding), explain::superseded(line, lost));
    }
    for rejection in report.rejections.iter().filter(|rejection| rejection.tactic == tactic) {
        let place = place(line, rejection.ply);
        let _ = writeln!(out, "Refused by {}: {place}: {}", rejection.rule.id, explain::rejection(line, rejection));
    }
    if out.is_empty() {
        let _ = writeln!(
            out,
            "Nothing in this line has the shape of {} {}.",
            if tactic == Tactic::XRay { "an" } else { "a" },
            explain::title(tactic)
        );
    }
    out
}

/// Text from elsewhere as a terminal may show it: without the characters that command it.
///
/// ```
/// assert_eq!(koga::render::text::printable("Anna\u{1b}[31m"), "Anna\u{fffd}[31m");
/// ```
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn section(out: &mut String, title: &str, entries: impl Iterator<Item = String>) {
    for (index, entry) in entries.enumerate() {
        if index == 0 {
            let _ = writeln!(out, "\n{title}:");
        }
        let _ = writeln!(out, "  {entry}");
    }
}

fn entry(line: &Line, finding: &Finding) -> String {
    format!("{}{}: {}", at(line, finding), stake(finding), explain::finding(line, finding))
}

/// " [wins 5 points]" or " [5 points at stake]"; nothing where the points say nothing.
fn stake(finding: &Finding) -> String {
    match (finding.won, finding.prize) {
        (Some(won), _) if won > 0 => format!(" [wins {}]", words::points(won)),
        (None, Some(prize)) if prize > 0 => format!(" [{} at stake]", words::points(prize)),
        _ => String::new(),
    }
}

/// "fork, 12.Nf6+".
fn at(line: &Line, finding: &Finding) -> String {
    format!("{}, {}", explain::title(finding.tactic), place(line, finding.ply))
}

/// "12.Nf6+" or "12...Nf6+".
fn place(line: &Line, ply: usize) -> String {
    line.ply(ply).map_or_else(String::new, |ply| {
        let pos = ply.before;
        let dots = pos.turn().fold_wb(".", "...");
        format!("{}{dots}{}", pos.fullmoves(), ply.san())
    })
}

/// The line with move numbers.
pub fn moves(line: &Line) -> String {
    let mut out = String::new();
    for number in 1..=line.len() {
        let Some(ply) = line.ply(number) else { break };
        let white = ply.before.turn().is_white();
        if number > 1 {
            out.push(' ');
        }
        if number == 1 || white {
            out.push_str(&place(line, number));
        } else {
            out.push_str(&ply.san());
        }
    }
    out
}

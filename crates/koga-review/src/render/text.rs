//! The review for a terminal.

use std::fmt::Write;

use koga::{
    Tactic, explain,
    render::{
        svg,
        text::{moves, printable},
    },
    shakmaty::{Color, Position},
};

use super::{
    pgn::better,
    words::{answer, deed, numbered, of_white, score, side},
};
use crate::{Class, Counts, Moment, Review, batch::Reviewed, win::Mark};

/// A game: its critical moments with boards, other mistakes in a line each, and a table of tactics.
pub fn game(reviewed: &Reviewed, colored: bool) -> String {
    let Some(review) = &reviewed.review else {
        return format!("Game {}: not reviewed.\n", reviewed.raw.number);
    };
    let mut out = format!("Game {}: {}\n", reviewed.raw.number, title(review));
    let mut said = false;
    for index in 0..review.moves.len() {
        for moment in review.moments.iter().filter(|moment| moment.index == index) {
            out.push('\n');
            out += &self::moment(review, moment, colored);
            said = true;
        }
    }
    let others = other_mistakes(review);
    if !others.is_empty() {
        let _ = writeln!(out, "\n{}:", if said { "Other mistakes" } else { "Mistakes" });
        others.iter().for_each(|other| out += &format!("  {other}\n"));
    }
    if review.moments.is_empty() && others.is_empty() {
        out += "\nNothing to speak of.\n";
    }
    if review.counts.iter().any(|counts| !counts.of.is_empty()) {
        out.push('\n');
        out += &table(review);
    }
    out
}

/// "A – B, 1-0 (Event, 2025.05.01)".
fn title(review: &Review) -> String {
    let game = &review.game;
    let tag = |name: &str| game.tag(name).map(str::trim).filter(|value| !value.is_empty() && !value.starts_with('?'));
    let players = format!("{} – {}", tag("White").unwrap_or("White"), tag("Black").unwrap_or("Black"));
    let place: Vec<&str> = ["Event", "Date"].into_iter().filter_map(tag).collect();
    let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
    printable(&format!("{players}, {}{place}", game.result))
}

fn moment(review: &Review, moment: &Moment, colored: bool) -> String {
    let index = moment.index;
    let judged = &review.moves[index];
    let position = &review.subject.positions[index];
    let turn = position.turn();
    let played = numbered(position, review.game.moves[index].m);
    let mark = judged.mark.map_or("", |mark| mark.glyph());
    let mut out = format!("{played}{mark}  {} {}.\n", side(turn), deed(moment));
    out += &svg::of_finding(&moment.line, moment.finding()).text(colored);
    let _ = writeln!(out, "{}", explain::finding(&moment.line, moment.finding()));
    let _ = writeln!(out, "Line: {}", moves(&moment.line));
    let mut last = Vec::new();
    if moment.class != Class::Found {
        let (best, now) = (of_white(judged.best_score, turn), of_white(judged.score, turn));
        last.push(format!("From {} to {}.", score(best), score(now)));
    }
    last.extend(answer(review, moment));
    if moment.class == Class::Allowed
        && let Some(line) = better(review, index, judged)
    {
        last.push(format!("Better was {}.", numbered(position, line.moves[0])));
    }
    if !last.is_empty() {
        let _ = writeln!(out, "{}", last.join(" "));
    }
    out
}

/// Mistakes and blunders that no label speaks of.
fn other_mistakes(review: &Review) -> Vec<String> {
    let spoken_of = |index: usize| {
        review.moments.iter().any(|moment| {
            moment.index == index
                || (moment.class == Class::Allowed && moment.index + 1 == index && moment.answer.is_some())
        })
    };
    let mistake = |(index, judged): (usize, &crate::MoveReview)| {
        let position = &review.subject.positions[index];
        let turn = position.turn();
        let mark = judged.mark.filter(|mark| *mark >= Mark::Mistake)?;
        if spoken_of(index) || !review.sides.get(turn) {
            return None;
        }
        let line = better(review, index, judged)?;
        let (best, now) = (of_white(judged.best_score, turn), of_white(judged.score, turn));
        Some(format!(
            "{}{}  from {} to {}; better was {}",
            numbered(position, review.game.moves[index].m),
            mark.glyph(),
            score(best),
            score(now),
            moves(&line)
        ))
    };
    review.moves.iter().enumerate().filter_map(mistake).collect()
}

fn table(review: &Review) -> String {
    let sides: Vec<(Color, &Counts)> =
        Color::ALL.into_iter().zip(&review.counts).filter(|(color, _)| *review.sides.get(*color)).collect();
    let named: Vec<(&str, &Counts)> = sides.iter().map(|(color, counts)| (side(*color), *counts)).collect();
    counts(&named)
}

/// A table of tactics found, missed and allowed, by kind.
pub fn counts(players: &[(&str, &Counts)]) -> String {
    const CLASSES: [Class; 3] = [Class::Found, Class::Missed, Class::Allowed];
    let kinds: Vec<Tactic> = Tactic::ALL
        .into_iter()
        .filter(|tactic| players.iter().any(|(_, counts)| counts.of.keys().any(|(_, other)| other == tactic)))
        .collect();
    let first = kinds.iter().map(|kind| explain::title(*kind).len()).max().unwrap_or(0).max(3);
    let width = 3 * 9;
    let mut out = " ".repeat(first);
    for (name, _) in players {
        let _ = write!(out, "  {name:^width$}");
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out += &" ".repeat(first);
    for _ in players {
        out += "  ";
        CLASSES.iter().for_each(|class| out += &format!("{:>9}", class.name()));
    }
    out.push('\n');
    let mut row = |title: &str, count: &dyn Fn(&Counts, Class) -> u32| {
        let _ = write!(out, "{title:<first$}");
        for (_, counts) in players {
            out += "  ";
            for class in CLASSES {
                let n = count(counts, class);
                let n = if n == 0 { "·".to_owned() } else { n.to_string() };
                out += &format!("{n:>9}");
            }
        }
        out.push('\n');
    };
    for kind in kinds {
        row(explain::title(kind), &|counts, class| counts.of.get(&(class, kind)).copied().unwrap_or(0));
    }
    row("all", &Counts::total);
    out
}

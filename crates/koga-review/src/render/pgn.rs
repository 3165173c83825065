//! The annotated game.
//!
//! Words, marks and arrows stand where the board shows what they speak of: those of a tactic that was missed in the variation
//! that has it, those of one that was allowed after the enemy's move.

use koga::{Finding, Line, Tactic, explain, parse::san, render::svg, shakmaty::Position};

use super::words::{answer, deed, eval, of_white, side};
use crate::{
    Answer, Class, Moment, Review,
    examine::MoveReview,
    pgn::{Game, Item, Writer},
    win::Mark,
};

/// Plies of a variation that has no tactic to show.
const SHORT: usize = 5;

/// The annotated game as PGN.
pub fn game(review: &Review) -> String {
    Writer::game(&annotated(review))
}

/// The game with the review's marks, comments and variations added to its own.
pub fn annotated(review: &Review) -> Game {
    let mut game = review.game.clone();
    if game.tag("Annotator").is_none() {
        game.tags.push(("Annotator".to_owned(), format!("Koga {}", env!("CARGO_PKG_VERSION"))));
    }
    for index in 0..game.moves.len() {
        annotate(review, index, &mut game.moves[index].after);
    }
    game
}

fn annotate(review: &Review, index: usize, after: &mut Vec<Item>) {
    let judged = &review.moves[index];
    let turn = review.subject.positions[index].turn();
    let spoken = *review.sides.get(turn);
    let of = |index: usize| review.moments.iter().filter(move |moment| moment.index == index);
    let mut comment = Vec::new();
    let has = |after: &[Item], command: &str| {
        after.iter().any(|item| matches!(item, Item::Comment(text) if text.contains(command)))
    };
    if !has(after, "[%eval ") {
        let over = review.subject.positions[index + 1].is_checkmate();
        let score = of_white(judged.score, turn);
        if !over {
            comment.push(format!("[%eval {}]", eval(score)));
        }
    }
    let mut variations = Vec::new();
    for moment in of(index) {
        match moment.class {
            Class::Found => {
                comment.extend(on_board(moment, 1));
                comment.push(format!("{} {}. {}", side(turn), deed(moment), sentence(moment)));
            }
            Class::Missed => {
                comment.push(format!("{} {}.", side(turn), deed(moment)));
                variations.push(variation(&moment.line, Some((moment.finding(), sentence(moment)))));
            }
            Class::Allowed => {
                comment.extend(reply_arrow(moment));
                comment.push(format!("{} {}. {}", side(turn), deed(moment), sentence(moment)));
                comment.extend(answer(review, moment));
                if review.game.moves.len() == index + 1 {
                    comment.push(format!("The line: {}.", koga::render::text::moves(&moment.line)));
                }
            }
        }
    }
    // What the move before allowed: shown where it is played, or as a variation where it is not.
    for moment in index.checked_sub(1).into_iter().flat_map(of).filter(|moment| moment.class == Class::Allowed) {
        if moment.answer == Some(Answer::Found) {
            comment.extend(on_board(moment, 1));
        } else {
            variations.push(variation(&moment.line, Some((moment.finding(), String::new()))));
        }
    }
    let wants_better =
        spoken && judged.mark >= Some(Mark::Mistake) && !of(index).any(|moment| moment.class == Class::Missed);
    if wants_better && let Some(line) = better(review, index, judged) {
        variations.push(variation(&line, None));
    }
    if let Some(mark) = judged.mark.filter(|_| spoken)
        && !after.iter().any(|item| matches!(item, Item::Nag(1..=6)))
    {
        after.insert(0, Item::Nag(mark.nag()));
    }
    add_comment(after, &comment.join(" "));
    for variation in variations {
        let item = Item::Variation(variation);
        if !after.contains(&item) {
            after.push(item);
        }
    }
}

/// Adds words to the move's own comment, which comes before its variations.
fn add_comment(after: &mut Vec<Item>, words: &str) {
    if words.is_empty() {
        return;
    }
    let first_variation = after.iter().position(|item| matches!(item, Item::Variation(_))).unwrap_or(after.len());
    let own = after[..first_variation].iter_mut().rev().find_map(|item| match item {
        Item::Comment(text) => Some(text),
        _ => None,
    });
    match own {
        Some(text) if text.contains(words) => {}
        Some(text) => {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(words);
        }
        None => after.insert(first_variation, Item::Comment(words.to_owned())),
    }
}

/// The best line in place of a move, where the move is not the best.
pub(super) fn better(review: &Review, index: usize, judged: &MoveReview) -> Option<Line> {
    let root = &review.subject.positions[index];
    let line = Line::of_moves(root.clone(), None, judged.best.iter().take(SHORT).copied())?;
    (line.moves[0] != review.game.moves[index].m).then_some(line)
}

/// A line as a variation, with the marks and words of its tactic after the move that makes it.
fn variation(line: &Line, tactic: Option<(&Finding, String)>) -> Vec<Item> {
    let mut items = Vec::new();
    for (index, m) in line.moves.iter().enumerate() {
        items.push(Item::Move(san(&line.positions[index], *m)));
        if let Some((finding, words)) = tactic.as_ref().filter(|(finding, _)| finding.ply == index + 1) {
            let text: Vec<String> = marks(line, finding).into_iter().chain(Some(words.clone())).collect();
            items.push(Item::Comment(text.join(" ").trim().to_owned()));
        }
    }
    items
}

fn sentence(moment: &Moment) -> String {
    explain::finding(&moment.line, moment.finding())
}

/// The marks of a tactic that stands on the ply that was just played.
fn on_board(moment: &Moment, ply: usize) -> Vec<String> {
    if moment.finding().ply == ply { marks(&moment.line, moment.finding()) } else { Vec::new() }
}

/// Squares and arrows of a finding: the acting piece green, what it acts on red, whatever else takes part blue.
fn marks(line: &Line, finding: &Finding) -> Vec<String> {
    use koga::render::diagram::Highlight as On;
    let diagram = svg::of_finding(line, finding);
    let color = |mark: On| match mark {
        On::Acting => Some('G'),
        On::Target => Some('R'),
        On::Support => Some('B'),
        On::Move => None,
    };
    let mut squares: Vec<String> =
        diagram.squares.iter().filter_map(|(sq, mark)| Some(format!("{}{sq}", color(*mark)?))).collect();
    squares.dedup();
    let arrows: Vec<String> = diagram
        .arrows
        .iter()
        .filter_map(|arrow| {
            let color = if arrow.mark == On::Target { 'R' } else { 'B' };
            (arrow.from != arrow.to).then(|| format!("{color}{}{}", arrow.from, arrow.to))
        })
        .collect();
    commands(&squares, &arrows)
}

/// The enemy's move that was allowed, as a yellow arrow on the board before it, with its targets in red if they stand there.
fn reply_arrow(moment: &Moment) -> Vec<String> {
    let m = moment.line.moves[0];
    let Some((from, to)) = koga::line::moved(m)[0] else { return Vec::new() };
    let finding = moment.finding();
    let stands = |sq: &koga::shakmaty::Square| {
        moment.line.root().board().color_at(*sq) == Some(moment.player()) && moment.line.origin(*sq, finding.ply) == *sq
    };
    let targets = if finding.tactic == Tactic::Checkmate { Vec::new() } else { finding.targets.to_vec() };
    let squares: Vec<String> = targets.iter().filter(|sq| stands(sq)).map(|sq| format!("R{sq}")).collect();
    commands(&squares, &[format!("Y{from}{to}")])
}

fn commands(squares: &[String], arrows: &[String]) -> Vec<String> {
    [("csl", squares), ("cal", arrows)]
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(name, list)| format!("[%{name} {}]", list.join(",")))
        .collect()
}

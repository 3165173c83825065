//! The review as JSON: one object a game, version 1.

use std::collections::BTreeMap;

use koga::{
    render::json::{JsonFinding, report},
    shakmaty::{EnPassantMode, Move, Position, fen::Fen},
};
use koga_engine::Score;
use serde::Serialize;

use super::words::of_white;
use crate::{Answer, Class, Counts, Moment, Review, batch::Reviewed, pgn::Trouble, win::percent};

/// The version of the shape.
pub const VERSION: u32 = 1;

/// A game as it is written.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Game"))]
pub struct JsonGame {
    /// [`VERSION`].
    pub version: u32,
    /// The number of the game in its file.
    pub game: usize,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// The position that it starts from.
    pub start: Option<String>,
    /// Its moves in SAN.
    pub moves: Vec<String>,
    /// How it ended.
    pub result: Option<String>,
    /// Moves with a mark, and what was better.
    pub marks: Vec<JsonMark>,
    /// Tactics found, missed and allowed.
    pub moments: Vec<JsonMoment>,
    /// Enemy tactics that were there already and that a move overlooked; their class is `allowed`, but they are not counted.
    pub threats: Vec<JsonMoment>,
    /// How many of each, by side, class and tactic.
    pub counts: BTreeMap<&'static str, BTreeMap<&'static str, BTreeMap<&'static str, u32>>>,
    /// What is wrong with the game.
    pub errors: Vec<JsonTrouble>,
}

/// A move that costs something, as it is written.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Mark"))]
pub struct JsonMark {
    /// The ply, counted from 1.
    pub ply: usize,
    /// Who moved: `white` or `black`.
    pub player: &'static str,
    /// The move in SAN.
    #[serde(rename = "move")]
    pub san: String,
    /// `?!`, `?` or `??`.
    pub mark: &'static str,
    /// The score of the move, from White's side.
    pub score: JsonScore,
    /// The score of the best move, from White's side.
    pub best_score: JsonScore,
    /// The winning percentage of the side that moved, had it played the best move, and after its move.
    pub win: [f64; 2],
    /// The best line in SAN.
    pub best: Vec<String>,
}

/// A tactic found, missed or allowed, as it is written.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Moment"))]
pub struct JsonMoment {
    /// The ply of the move, counted from 1.
    pub ply: usize,
    /// Whose label it is: `white` or `black`.
    pub player: &'static str,
    /// The move in SAN.
    #[serde(rename = "move")]
    pub san: String,
    /// `found`, `missed` or `allowed`.
    pub class: &'static str,
    /// For what was allowed: whether the enemy's next move `found` or `missed` it.
    pub answer: Option<&'static str>,
    /// The position that the line starts from.
    pub fen: String,
    /// The line in SAN.
    pub line: Vec<String>,
    /// The line in UCI.
    pub uci: Vec<String>,
    /// The engine's score of the line for the side whose tactic it is.
    pub score: JsonScore,
    /// The tactic, as in the report of `koga explain`; its plies are those of the line.
    pub finding: JsonFinding,
}

/// `{"cp": 31}` or `{"mate": -3}`.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Score"))]
#[serde(rename_all = "lowercase")]
pub enum JsonScore {
    /// Hundredths of a pawn.
    Cp(i32),
    /// Mate in so many moves; negative for the side that gets mated.
    Mate(i32),
}

/// What is wrong with a game, as it is written.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Trouble"))]
pub struct JsonTrouble {
    /// The move, `12.` or `12...`.
    #[serde(rename = "move")]
    pub place: Option<String>,
    /// The text at fault.
    pub token: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl From<Score> for JsonScore {
    fn from(score: Score) -> JsonScore {
        match score {
            Score::Cp(cp) => JsonScore::Cp(cp),
            Score::Mate(n) => JsonScore::Mate(n),
        }
    }
}

/// A game, ready to be written.
pub fn game(reviewed: &Reviewed) -> JsonGame {
    let review = reviewed.review.as_ref();
    JsonGame {
        version: VERSION,
        game: reviewed.raw.number,
        tags: review.map_or_else(BTreeMap::new, |review| review.game.tags.iter().cloned().collect()),
        start: review.map(|review| fen(&review.game.start)),
        moves: review.map_or_else(Vec::new, |review| (0..review.moves.len()).map(|index| san(review, index)).collect()),
        result: review.map(|review| review.game.result.clone()),
        marks: review.map_or_else(Vec::new, marks),
        moments: moments(review, false),
        threats: moments(review, true),
        counts: review.map_or_else(BTreeMap::new, |review| {
            ["white", "black"]
                .into_iter()
                .zip(&review.counts)
                .map(|(side, counts)| (side, self::counts(counts)))
                .collect()
        }),
        errors: reviewed.troubles.iter().map(trouble).collect(),
    }
}

fn marks(review: &Review) -> Vec<JsonMark> {
    let marked = |(index, judged): (usize, &crate::MoveReview)| {
        let position = &review.subject.positions[index];
        let turn = position.turn();
        let mark = judged.mark.filter(|_| *review.sides.get(turn))?;
        Some(JsonMark {
            ply: index + 1,
            player: turn.fold_wb("white", "black"),
            san: san(review, index),
            mark: mark.glyph(),
            score: of_white(judged.score, turn).into(),
            best_score: of_white(judged.best_score, turn).into(),
            win: [rounded(percent(judged.best_score)), rounded(percent(judged.score))],
            best: sans(position.clone(), &judged.best),
        })
    };
    review.moves.iter().enumerate().filter_map(marked).collect()
}

fn moments(review: Option<&Review>, threats: bool) -> Vec<JsonMoment> {
    let all = review.into_iter().flat_map(|review| review.moments.iter().map(move |moment| (review, moment)));
    all.filter(|(_, moment)| moment.threat == threats).map(|(review, moment)| self::moment(review, moment)).collect()
}

fn moment(review: &Review, moment: &Moment) -> JsonMoment {
    let mut report = report(&moment.line, &moment.report, ());
    JsonMoment {
        ply: moment.index + 1,
        player: moment.player().fold_wb("white", "black"),
        san: san(review, moment.index),
        class: moment.class.name(),
        answer: match moment.answer {
            Some(Answer::Found) => Some("found"),
            Some(Answer::Missed) => Some("missed"),
            _ => None,
        },
        fen: report.fen,
        line: report.line,
        uci: report.uci,
        score: moment.score.into(),
        finding: report.findings.swap_remove(moment.finding),
    }
}

fn counts(counts: &Counts) -> BTreeMap<&'static str, BTreeMap<&'static str, u32>> {
    let of = |class: Class| {
        let of_class = counts.of.iter().filter(move |((c, _), _)| *c == class);
        (class.name(), of_class.map(|((_, tactic), n)| (tactic.name(), *n)).collect())
    };
    [Class::Found, Class::Missed, Class::Allowed].into_iter().map(of).collect()
}

fn trouble(trouble: &Trouble) -> JsonTrouble {
    JsonTrouble { place: trouble.place.clone(), token: trouble.token.clone(), message: trouble.message.clone() }
}

fn san(review: &Review, index: usize) -> String {
    koga::parse::san(&review.subject.positions[index], review.game.moves[index].m)
}

fn sans(mut pos: koga::shakmaty::Chess, moves: &[Move]) -> Vec<String> {
    let mut out = Vec::new();
    for m in moves {
        out.push(koga::parse::san(&pos, *m));
        pos.play_unchecked(*m);
    }
    out
}

fn fen(pos: &koga::shakmaty::Chess) -> String {
    Fen::from_position(pos, EnPassantMode::Legal).to_string()
}

/// One digit after the point is as much as a percentage can mean.
fn rounded(percent: f64) -> f64 {
    (percent * 10.0).round() / 10.0
}

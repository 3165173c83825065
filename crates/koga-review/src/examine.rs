//! One game examined: which positions to search, and what comes of the answers.
//!
//! An examination asks for searches in rounds, and whoever runs it answers them in any order, on any number of threads:
//!
//! 1. every position of the game;
//! 2. with more nodes, the positions around moves that seem to cost something; and, where a move played seems to be a
//!    tactic, what there was beside it;
//! 3. where a tactic was allowed, whether it was there already before.

use std::{collections::BTreeMap, sync::Arc};

use koga::{
    mobility::passed,
    shakmaty::{ByColor, Chess, Move, Position},
};
use koga_engine::{Engine, EngineError, Limits, PvLine, Score};

use crate::{
    moment::{Counts, Moment, Players, allowed_candidate, found_candidate, moments},
    pgn::Game,
    win::{Mark, before_move, chances},
};

/// What a review is made with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What the engine may use for a position.
    pub limits: Limits,
    /// Whose moves are spoken of.
    pub players: Players,
}

/// Positions visited for each position of a game where nothing else is asked for: a game of 40 moves then takes some
/// seconds.
pub const DEFAULT_NODES: u64 = 50_000;

/// How much more the engine may use where a move seems to cost something.
const DEEPER: u32 = 3;

/// Moves that seem to cost this much are looked at again.
const SUSPICIOUS: f64 = 0.07;

impl Default for Settings {
    fn default() -> Settings {
        Settings { limits: Limits::nodes(DEFAULT_NODES), players: Players::Both }
    }
}

/// A search that an examination needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// The position before the move of that index.
    Base(usize),
    /// The same with more nodes.
    Deep(usize),
    /// The same without the move played.
    Beside(usize),
    /// The position before the move of that index if its side passed, the enemy playing that move.
    Passed(usize, Move),
}

/// What an examination does next.
#[derive(Debug)]
pub enum Step {
    /// It needs these searches: none of an empty list.
    Search(Vec<Query>),
    /// It is done.
    Done(Box<Review>),
}

/// What searches need to know of a game.
#[derive(Debug)]
pub struct Subject {
    /// The moves.
    pub line: Vec<Move>,
    /// The start and the position after each move.
    pub positions: Vec<Chess>,
}

/// A game under examination.
#[derive(Debug)]
pub struct Examination {
    subject: Arc<Subject>,
    pub(crate) game: Game,
    players: Players,
    round: usize,
    base: Vec<Option<PvLine>>,
    deep: BTreeMap<usize, PvLine>,
    beside: BTreeMap<usize, PvLine>,
    passed: BTreeMap<usize, PvLine>,
}

/// A game with what there is to say of it.
#[derive(Debug, Clone)]
pub struct Review {
    /// The game.
    pub game: Game,
    /// Its start and the position after each move, and its moves.
    pub subject: Arc<Subject>,
    /// Every move, judged.
    pub moves: Vec<MoveReview>,
    /// What is worth saying, by move.
    pub moments: Vec<Moment>,
    /// How many tactics each side found, missed and allowed: White, Black.
    pub counts: [Counts; 2],
    /// Which sides are spoken of.
    pub sides: ByColor<bool>,
}

/// A move of a game, judged.
#[derive(Debug, Clone)]
pub struct MoveReview {
    /// Its score from the side that made it.
    pub score: Score,
    /// The score of the best move.
    pub best_score: Score,
    /// The best line in its place; empty only where the engine had none.
    pub best: Vec<Move>,
    /// What the move costs of the winning chances, from 0 to 2.
    pub loss: f64,
    /// Its mark.
    pub mark: Option<Mark>,
}

/// Reviews a game with one engine, one search after the other.
///
/// # Errors
///
/// [`EngineError`] if an external engine fails.
pub fn review(game: Game, settings: &Settings, engine: &mut dyn Engine) -> Result<Review, EngineError> {
    let mut examination = Examination::new(game, settings);
    loop {
        match examination.step() {
            Step::Done(review) => return Ok(*review),
            Step::Search(queries) => {
                for query in queries {
                    let found = examination.subject.search(&query, &settings.limits, engine)?;
                    examination.answer(query, found);
                }
            }
        }
    }
}

impl Examination {
    /// A game to be examined.
    pub fn new(game: Game, settings: &Settings) -> Examination {
        let positions = game.positions();
        Examination {
            players: settings.players.clone(),
            round: 0,
            base: vec![None; positions.len()],
            deep: BTreeMap::new(),
            beside: BTreeMap::new(),
            passed: BTreeMap::new(),
            subject: Arc::new(Subject { line: game.line(), positions }),
            game,
        }
    }

    /// What searches need to know.
    pub fn subject(&self) -> Arc<Subject> {
        self.subject.clone()
    }

    /// Takes the answer to a query.
    pub fn answer(&mut self, query: Query, found: Option<PvLine>) {
        match (query, found) {
            (Query::Base(index), found) => self.base[index] = found,
            (Query::Deep(index), Some(found)) => drop(self.deep.insert(index, found)),
            (Query::Beside(index), Some(found)) => drop(self.beside.insert(index, found)),
            (Query::Passed(index, _), Some(found)) => drop(self.passed.insert(index, found)),
            (_, None) => {}
        }
    }

    /// Goes on to the next round, all queries of the one before having been answered.
    pub fn step(&mut self) -> Step {
        self.round += 1;
        match self.round {
            1 => Step::Search(
                (0..self.subject.positions.len())
                    .filter(|index| !self.subject.positions[*index].legal_moves().is_empty())
                    .map(Query::Base)
                    .collect(),
            ),
            2 => Step::Search(self.closer_looks()),
            3 => Step::Search(self.threats()),
            _ => Step::Done(Box::new(self.finish())),
        }
    }

    fn closer_looks(&self) -> Vec<Query> {
        let mut queries = Vec::new();
        for index in 0..self.subject.line.len() {
            let judged = self.judge(index);
            if judged.loss >= SUSPICIOUS {
                for index in [index, index + 1] {
                    if self.base[index].is_some() && queries.last() != Some(&Query::Deep(index)) {
                        queries.push(Query::Deep(index));
                    }
                }
            } else if self.is_spoken_of(index) && found_candidate(self, index, &judged).is_some() {
                queries.push(Query::Beside(index));
            }
        }
        queries
    }

    fn threats(&self) -> Vec<Query> {
        (0..self.subject.line.len())
            .filter_map(|index| {
                let candidate = allowed_candidate(self, index, &self.judge(index))?;
                let before = passed(&self.subject.positions[index])?;
                let m = candidate.line.moves[0];
                before.is_legal(m).then_some(Query::Passed(index, m))
            })
            .collect()
    }

    fn finish(&self) -> Review {
        let judged: Vec<MoveReview> = (0..self.subject.line.len()).map(|index| self.judge(index)).collect();
        let (moments, counts) = moments(self, &judged);
        Review {
            moments,
            counts,
            moves: judged,
            sides: self.players.sides(&self.game),
            subject: self.subject.clone(),
            game: self.game.clone(),
        }
    }

    /// Whether the side that makes that move is spoken of.
    pub(crate) fn is_spoken_of(&self, index: usize) -> bool {
        self.players.includes(&self.game, self.subject.positions[index].turn())
    }

    /// The position before the move of that index.
    pub(crate) fn position(&self, index: usize) -> &Chess {
        &self.subject.positions[index]
    }

    /// The best that is known of the position before the move of that index; nothing where the game is over.
    pub(crate) fn known(&self, index: usize) -> Option<&PvLine> {
        self.deep.get(&index).or(self.base[index].as_ref())
    }

    /// What there was beside the move played.
    pub(crate) fn beside(&self, index: usize) -> Option<&PvLine> {
        self.beside.get(&index)
    }

    /// The enemy's line if the side to move had passed.
    pub(crate) fn passed(&self, index: usize) -> Option<&PvLine> {
        self.passed.get(&index)
    }

    /// The move played and the best line after it.
    pub(crate) fn played(&self, index: usize) -> Vec<Move> {
        let after = self.known(index + 1).map_or(&[][..], |found| &found.moves);
        std::iter::once(self.subject.line[index]).chain(after.iter().copied()).collect()
    }

    /// The moves of the game from that index on.
    pub(crate) fn game_from(&self, index: usize) -> &[Move] {
        &self.subject.line[index..]
    }

    /// The move before the one of that index.
    pub(crate) fn move_before(&self, index: usize) -> Option<Move> {
        index.checked_sub(1).map(|index| self.subject.line[index])
    }

    /// The score of a position for its side to move.
    pub(crate) fn score(&self, index: usize) -> Score {
        match self.known(index) {
            Some(found) => found.score,
            None if self.subject.positions[index].is_checkmate() => Score::Mate(0),
            None => Score::Cp(0),
        }
    }

    fn judge(&self, index: usize) -> MoveReview {
        let best = self.known(index);
        let mut score = before_move(self.score(index + 1));
        let best_score = best.map_or(score, |best| best.score);
        let is_best = best.is_some_and(|best| best.moves.first() == Some(&self.subject.line[index]));
        let forced = self.subject.positions[index].legal_moves().len() == 1;
        // Drawn by repetition or the fifty-move rule: the next search need not see what this one saw.
        if is_best && !matches!(score, Score::Mate(_)) && self.known(index + 1).is_none() {
            score = best_score;
        }
        let loss = if is_best || forced { 0.0 } else { (chances(best_score) - chances(score)).max(0.0) };
        MoveReview {
            score,
            best_score: best_score.max(score),
            best: best.map_or_else(Vec::new, |best| best.moves.clone()),
            loss,
            mark: Mark::of_loss(loss),
        }
    }
}

impl Subject {
    /// Runs one search of an examination; nothing is found where the game is over.
    ///
    /// # Errors
    ///
    /// [`EngineError`] if an external engine fails.
    pub fn search(
        &self,
        query: &Query,
        limits: &Limits,
        engine: &mut dyn Engine,
    ) -> Result<Option<PvLine>, EngineError> {
        let limits = Limits { lines: 1, root_moves: Vec::new(), ..limits.clone() };
        // Without the moves before: for a search a position that comes back is a draw, in a game it may come back once more.
        let mut of = |index: usize, limits: &Limits| engine.analyse(&self.positions[index], limits);
        let found = match query {
            Query::Base(index) => of(*index, &limits)?,
            Query::Deep(index) => of(*index, &deeper(&limits))?,
            Query::Beside(index) => {
                let others = self.positions[*index].legal_moves().into_iter().filter(|m| *m != self.line[*index]);
                of(*index, &limits.with_root_moves(others))?
            }
            Query::Passed(index, m) => match passed(&self.positions[*index]) {
                Some(pos) => engine.analyse(&pos, &limits.with_root_moves([*m]))?,
                None => Vec::new(),
            },
        };
        Ok(found.into_iter().next())
    }
}

fn deeper(limits: &Limits) -> Limits {
    Limits {
        nodes: limits.nodes.map(|nodes| nodes.saturating_mul(DEEPER.into())),
        time: limits.time.map(|time| time * DEEPER),
        depth: limits.depth.map(|depth| depth + 2),
        ..limits.clone()
    }
}

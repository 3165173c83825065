//! What is worth saying of a game: tactics found, missed and allowed.

use std::collections::BTreeMap;

use koga::{
    Finding, FindingRole, Line, Report, Tactic, analyze,
    material::Points,
    shakmaty::{ByColor, Chess, Color, Move, Position, Square},
};
use koga_engine::Score;

use crate::{
    examine::{Examination, MoveReview},
    pgn::Game,
    win::{Mark, before_move, chances},
};

/// Plies of an engine's line that are looked at: what it says of later ones is too often an accident of where it stopped.
const LONGEST_LINE: usize = 8;

/// A line may claim so much more material than the engine's score, in points, before the two disagree.
const CLEAR_MARGIN: i32 = 2;

/// Scores from here on decide the game: how much more than won it is does not matter.
const DECIDED: i32 = 900;

/// A line that wins less than this is not worth a label.
const WORTH_SAYING: Points = 2;

/// A move that costs more than this was not found but stumbled on.
const SOUND: f64 = 0.05;

/// Whose moves are spoken of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Players {
    /// Everybody's.
    #[default]
    Both,
    /// One side's.
    Side(Color),
    /// Those of the player whose tag is so, whatever the case.
    Named(String),
}

impl Players {
    /// Which sides are spoken of in a game.
    pub fn sides(&self, game: &Game) -> ByColor<bool> {
        ByColor { black: self.includes(game, Color::Black), white: self.includes(game, Color::White) }
    }

    /// Whether a side is spoken of.
    pub fn includes(&self, game: &Game, color: Color) -> bool {
        match self {
            Players::Both => true,
            Players::Side(side) => *side == color,
            Players::Named(name) => game
                .tag(color.fold_wb("White", "Black"))
                .is_some_and(|player| player.trim().to_lowercase() == name.trim().to_lowercase()),
        }
    }
}

/// What became of a tactic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The move played uses it.
    Found,
    /// The best move uses it, the move played does not, and that costs something.
    Missed,
    /// The move played makes it possible for the enemy.
    Allowed,
}

impl Class {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Found => "found",
            Class::Missed => "missed",
            Class::Allowed => "allowed",
        }
    }
}

/// What the enemy made of a tactic that was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The next move uses it.
    Found,
    /// The next move passes it by, and that costs something.
    Missed,
    /// Neither: another move was about as good, or the game ended.
    Other,
}

/// A label: a tactic that was found, missed or allowed by a move.
#[derive(Debug, Clone)]
pub struct Moment {
    /// The move, as an index into the game's.
    pub index: usize,
    /// What became of the tactic.
    pub class: Class,
    /// The line that has it: from the position before the move, or after it for what was allowed.
    pub line: Line,
    /// What Koga has to say of the line.
    pub report: Report,
    /// The tactic, as an index into the report's findings.
    pub finding: usize,
    /// The engine's score of the line for the side whose tactic it is.
    pub score: Score,
    /// What the enemy made of it, for what was allowed.
    pub answer: Option<Answer>,
    /// Whether what was allowed was there already before the move, which overlooked it: not counted as allowed.
    pub threat: bool,
}

impl Moment {
    /// The tactic.
    pub fn finding(&self) -> &Finding {
        &self.report.findings[self.finding]
    }

    /// Whose label it is: the side that found, missed or allowed it.
    pub fn player(&self) -> Color {
        match self.class {
            Class::Allowed => !self.line.pov(),
            _ => self.line.pov(),
        }
    }
}

/// Tactics of one side, by what became of them and by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many of each.
    pub of: BTreeMap<(Class, Tactic), u32>,
}

impl Counts {
    fn add(&mut self, class: Class, tactic: Tactic) {
        *self.of.entry((class, tactic)).or_default() += 1;
    }

    /// How many of a class.
    pub fn total(&self, class: Class) -> u32 {
        self.of.iter().filter(|((c, _), _)| *c == class).map(|(_, n)| n).sum()
    }

    /// Adds the counts of another game.
    pub fn add_all(&mut self, other: &Counts) {
        for (key, n) in &other.of {
            *self.of.entry(*key).or_default() += n;
        }
    }
}

/// A line with its tactic, before it is known whether it is worth saying.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) line: Line,
    report: Report,
    finding: usize,
    score: Score,
}

impl Candidate {
    /// The tactic that a line of that score pays, if the score does not contradict it.
    fn new(root: &Chess, setup: Option<Move>, moves: &[Move], score: Score) -> Option<Candidate> {
        let line = cut(root, setup, moves, score)?;
        let report = analyze(&line);
        let finding = headline(&line, &report)?;
        (!contradicts(&line, score)).then_some(Candidate { line, report, finding, score })
    }

    fn finding(&self) -> &Finding {
        &self.report.findings[self.finding]
    }

    fn tactic(&self) -> Tactic {
        self.finding().tactic
    }

    /// Where the men stood at the root that the tactic acts on.
    fn targets(&self) -> Vec<Square> {
        targets(&self.line, self.finding())
    }

    /// What the line wins; a mate more than anything.
    fn gain(&self) -> Points {
        gain(&self.line)
    }

    /// Whether the tactic itself explains a move of that mark: one for a pawn does only if it is made at once and the move
    /// costs more than that.
    fn explains(&self, mark: Option<Mark>) -> bool {
        let finding = self.finding();
        let least = if finding.role == FindingRole::Motif && mark >= Some(Mark::Mistake) { 1 } else { WORTH_SAYING };
        finding.tactic.is_mate() || (self.gain() >= WORTH_SAYING && finding.won >= Some(least))
    }

    fn says_the_same(&self, other: &Candidate) -> bool {
        self.tactic() == other.tactic()
            && (self.line.moves[0] == other.line.moves[0] || self.targets() == other.targets())
    }

    fn moment(self, index: usize, class: Class, answer: Option<Answer>) -> Moment {
        let Candidate { line, report, finding, score } = self;
        Moment { index, class, line, report, finding, score, answer, threat: false }
    }
}

fn targets(line: &Line, finding: &Finding) -> Vec<Square> {
    finding.targets.iter().map(|sq| line.origin(*sq, finding.ply)).collect()
}

fn gain(line: &Line) -> Points {
    if line.mates { koga::material::KING } else { line.won() }
}

/// The part of an engine's line that is worth looking at: all of a mate, else the first plies. Nothing for no moves.
pub fn cut(root: &Chess, setup: Option<Move>, moves: &[Move], score: Score) -> Option<Line> {
    let most = match score {
        Score::Mate(n) => (2 * n.unsigned_abs() as usize).max(LONGEST_LINE),
        Score::Cp(_) => LONGEST_LINE,
    };
    Line::of_moves(root.clone(), setup, moves.iter().take(most).copied())
}

/// The tactic that a line pays: the headline, or else the weightiest finding that the line cashes in. Sacrifices are only the
/// price of something, and what is on later plies than the third is too far off.
pub fn headline(line: &Line, report: &Report) -> Option<usize> {
    let pays = |index: &usize| {
        let finding = &report.findings[*index];
        if finding.tactic.is_mate() {
            return line.mates;
        }
        finding.role != FindingRole::Enabling
            && finding.tactic != Tactic::Sacrifice
            && finding.ply <= 3
            && finding.won.is_some_and(|won| won > 0)
            && line.won() > 0
    };
    report.headline.filter(pays).or_else(|| (0..report.findings.len()).find(pays))
}

/// Whether a line claims clearly more material than the engine's score can mean.
pub fn contradicts(line: &Line, score: Score) -> bool {
    let Score::Cp(cp) = score else {
        return matches!(score, Score::Mate(n) if n <= 0) && line.won() > 0;
    };
    let claimed = line.balance(0) + line.won();
    line.won() > 0 && cp < DECIDED && cp < 100 * (claimed - CLEAR_MARGIN)
}

/// The tactic that the move played uses, if it may be one worth saying: whether there was as good a move beside it is
/// not asked.
pub(crate) fn found_candidate(examined: &Examination, index: usize, judged: &MoveReview) -> Option<Candidate> {
    let root = examined.position(index);
    if judged.loss > SOUND || root.legal_moves().len() == 1 {
        return None;
    }
    let score = before_move(examined.score(index + 1));
    let candidate = Candidate::new(root, examined.move_before(index), &examined.played(index), score)?;
    let made = candidate.finding().role == FindingRole::Motif && candidate.finding().won >= Some(WORTH_SAYING);
    (made || candidate.tactic().is_mate()).then_some(candidate)
}

/// The enemy's tactic that a move makes possible, if it may be one worth saying: whether it was there before is not asked.
pub(crate) fn allowed_candidate(examined: &Examination, index: usize, judged: &MoveReview) -> Option<Candidate> {
    judged.mark?;
    let found = examined.known(index + 1)?;
    let root = examined.position(index + 1);
    let candidate = Candidate::new(root, Some(examined.game_from(index)[0]), &found.moves, found.score)?;
    candidate.explains(judged.mark).then_some(candidate)
}

/// The tactic of the best move that was not played, if the move played does not win as much all the same.
fn missed_candidate(examined: &Examination, index: usize, judged: &MoveReview) -> Option<Candidate> {
    judged.mark?;
    let best = examined.known(index)?;
    let root = examined.position(index);
    let setup = examined.move_before(index);
    let candidate = Candidate::new(root, setup, &best.moves, best.score)?;
    if !candidate.explains(judged.mark) {
        return None;
    }
    let played = cut(root, setup, &examined.played(index), before_move(examined.score(index + 1)))?;
    if gain(&played) + WORTH_SAYING > candidate.gain() {
        return None;
    }
    let later = analyze(&played).findings.into_iter().any(|finding| {
        finding.tactic == candidate.tactic()
            && finding.won.is_some_and(|won| won > 0)
            && targets(&played, &finding) == candidate.targets()
    });
    (!later).then_some(candidate)
}

/// Whether the enemy threatened the same already before the move.
fn was_there(examined: &Examination, index: usize, candidate: &Candidate) -> bool {
    let Some(threat) = examined.passed(index) else { return false };
    let Some(before) = koga::mobility::passed(examined.position(index)) else { return false };
    Candidate::new(&before, None, &threat.moves, threat.score)
        .is_some_and(|threat| threat.tactic() == candidate.tactic() && threat.gain() >= candidate.gain())
}

/// Labels the moves of a game, each tactic once.
pub(crate) fn moments(examined: &Examination, judged: &[MoveReview]) -> (Vec<Moment>, [Counts; 2]) {
    let mut said = Said::default();
    for (index, judgement) in judged.iter().enumerate() {
        let side = examined.position(index).turn();
        if !examined.is_spoken_of(index) {
            continue;
        }
        if let Some(found) = found(examined, index, judged) {
            said.found(examined, index, side, found);
        }
        let allowed = allowed_candidate(examined, index, judgement);
        // What a move lets happen explains it better than what its best rival would have led up to.
        let missed = missed_candidate(examined, index, judgement)
            .filter(|missed| allowed.is_none() || missed.finding().ply == 1 || missed.tactic().is_mate());
        if let Some(missed) = missed {
            said.missed(index, side, missed);
        }
        if let Some(allowed) = allowed {
            said.allowed(examined, index, allowed, judged);
        }
    }
    (said.moments, said.counts)
}

/// The tactic of the move played, where nothing beside it was about as good. To take what hangs is no find, unless it
/// hangs by the mistake just made.
fn found(examined: &Examination, index: usize, judged: &[MoveReview]) -> Option<Candidate> {
    let candidate = found_candidate(examined, index, &judged[index])?;
    let m = examined.game_from(index)[0];
    let takes_back = examined.move_before(index).is_some_and(|before| before.is_capture() && before.to() == m.to());
    if takes_back && m.is_capture() && !candidate.tactic().is_mate() {
        return None;
    }
    let punishes = index > 0 && judged[index - 1].mark >= Some(Mark::Mistake);
    if candidate.tactic() == Tactic::HangingCapture && !punishes {
        return None;
    }
    let beside = examined.beside(index)?;
    (chances(candidate.score) - chances(beside.score) >= 0.1).then_some(candidate)
}

/// What was said so far.
#[derive(Default)]
struct Said {
    moments: Vec<Moment>,
    counts: [Counts; 2],
    /// Up to which move the game follows a line of that side that was shown: what it does there was said.
    shown: [usize; 2],
    /// The last tactic that each side missed.
    missed: [Option<(usize, Candidate)>; 2],
    /// The last tactic that each side was told it allowed or overlooked.
    labelled: [Option<(usize, Candidate)>; 2],
    /// The tactic that the last move allowed.
    allowed: Option<(usize, Candidate)>,
}

impl Said {
    fn found(&mut self, examined: &Examination, index: usize, side: Color, found: Candidate) {
        let s = slot(side);
        // A mating attack that goes on is the same mate.
        let goes_on =
            found.tactic().is_mate() && index >= 2 && matches!(examined.score(index - 2), Score::Mate(n) if n > 0);
        let was_allowed = self.allowed.as_ref().is_some_and(|(at, allowed)| {
            *at + 1 == index && (allowed.line.moves[0] == found.line.moves[0] || allowed.says_the_same(&found))
        });
        if index < self.shown[s] && !was_allowed || goes_on {
            return;
        }
        self.counts[s].add(Class::Found, found.tactic());
        self.show(examined, index, side, &found.line);
        if !was_allowed {
            self.moments.push(found.moment(index, Class::Found, None));
        }
    }

    fn missed(&mut self, index: usize, side: Color, missed: Candidate) {
        let s = slot(side);
        let again =
            self.missed[s].as_ref().is_some_and(|(at, before)| index - at <= 4 && before.says_the_same(&missed));
        let was_allowed = self
            .allowed
            .as_ref()
            .is_some_and(|(at, allowed)| at + 1 == index && allowed.line.moves[0] == missed.line.moves[0]);
        self.missed[s] = Some((index, missed.clone()));
        if again {
            return;
        }
        self.counts[s].add(Class::Missed, missed.tactic());
        if !was_allowed {
            self.moments.push(missed.moment(index, Class::Missed, None));
        }
    }

    fn allowed(&mut self, examined: &Examination, index: usize, allowed: Candidate, judged: &[MoveReview]) {
        let side = examined.position(index).turn();
        let (mark, next) = (judged[index].mark, judged.get(index + 1));
        let taken = examined.game_from(index + 1).first() == Some(&allowed.line.moves[0]);
        let answer = match next {
            _ if taken => Answer::Found,
            Some(next) if next.mark.is_some() => Answer::Missed,
            _ => Answer::Other,
        };
        let threat = was_there(examined, index, &allowed);
        let longest = if threat { 4 } else { 2 };
        let again = self.labelled[slot(side)]
            .as_ref()
            .is_some_and(|(at, before)| index - at <= longest && before.says_the_same(&allowed));
        self.show(examined, index + 1, !side, &allowed.line);
        self.allowed = Some((index, allowed.clone()));
        // What stays where it was is worth a word only if that costs a lot.
        if again || (threat && mark < Some(Mark::Mistake)) {
            return;
        }
        self.labelled[slot(side)] = Some((index, allowed.clone()));
        if !threat {
            self.counts[slot(side)].add(Class::Allowed, allowed.tactic());
        }
        self.moments.push(Moment { threat, ..allowed.moment(index, Class::Allowed, Some(answer)) });
    }

    /// Remembers how far the game follows a line.
    fn show(&mut self, examined: &Examination, index: usize, side: Color, line: &Line) {
        let same = examined.game_from(index).iter().zip(&line.moves).take_while(|(a, b)| a == b).count();
        let until = &mut self.shown[slot(side)];
        *until = (*until).max(index + same);
    }
}

/// Where a side's things are kept: White's first.
fn slot(side: Color) -> usize {
    side.fold_wb(0, 1)
}

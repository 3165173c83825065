//! From scores to winning chances, and from what a move costs to its mark.
//!
//! The formula and the thresholds are those that Lichess publishes: the winning percentage of a score in centipawns at
//! <https://lichess.org/page/accuracy>, `50 + 50 * (2 / (1 + exp(-0.00368208 * centipawns)) - 1)`, with mates and scores
//! beyond ten pawns counted as ten pawns; and in the source of its server (lila, `modules/tree/src/main/Advice.scala`) drops
//! in winning chances, which go from -1 to 1, of 0.1, 0.2 and 0.3 for inaccuracies, mistakes and blunders.

use koga_engine::Score;

/// What counts as the highest score.
const CEILING: i32 = 1000;

/// Winning chances from -1 (lost) to 1 (won) for the side whose score it is.
///
/// ```
/// use koga_engine::Score;
/// use koga_review::win::chances;
/// assert_eq!(chances(Score::Cp(0)), 0.0);
/// assert!(chances(Score::Mate(-3)) < -0.9);
/// ```
pub fn chances(score: Score) -> f64 {
    let cp = match score {
        Score::Cp(cp) => cp.clamp(-CEILING, CEILING),
        Score::Mate(n) if n > 0 => CEILING,
        Score::Mate(_) => -CEILING,
    };
    2.0 / (1.0 + (-0.00368208 * f64::from(cp)).exp()) - 1.0
}

/// The same as a percentage.
pub fn percent(score: Score) -> f64 {
    50.0 + 50.0 * chances(score)
}

/// What a score is worth to the other side, the same position being looked at.
pub fn negated(score: Score) -> Score {
    match score {
        Score::Cp(cp) => Score::Cp(-cp),
        Score::Mate(n) => Score::Mate(-n),
    }
}

/// The score of a move, given the enemy's score in the position after it.
pub fn before_move(after: Score) -> Score {
    match after {
        Score::Cp(cp) => Score::Cp(-cp),
        Score::Mate(n) if n > 0 => Score::Mate(-n),
        Score::Mate(n) => Score::Mate(1 - n),
    }
}

/// How bad a move is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// `?!`
    Inaccuracy,
    /// `?`
    Mistake,
    /// `??`
    Blunder,
}

impl Mark {
    /// The mark of a move that costs so much of the winning chances.
    ///
    /// ```
    /// use koga_review::win::Mark;
    /// assert_eq!(Mark::of_loss(0.25), Some(Mark::Mistake));
    /// assert_eq!(Mark::of_loss(0.05), None);
    /// ```
    pub fn of_loss(loss: f64) -> Option<Mark> {
        match loss {
            _ if loss >= 0.3 => Some(Mark::Blunder),
            _ if loss >= 0.2 => Some(Mark::Mistake),
            _ if loss >= 0.1 => Some(Mark::Inaccuracy),
            _ => None,
        }
    }

    /// As it is written after a move.
    pub fn glyph(self) -> &'static str {
        match self {
            Mark::Inaccuracy => "?!",
            Mark::Mistake => "?",
            Mark::Blunder => "??",
        }
    }

    /// Its numeric annotation glyph.
    pub fn nag(self) -> u16 {
        match self {
            Mark::Inaccuracy => 6,
            Mark::Mistake => 2,
            Mark::Blunder => 4,
        }
    }
}

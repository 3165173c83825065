//! The words that all renderings share.

use koga::{
    Tactic, explain,
    shakmaty::{Chess, Color, Move, Position},
};

use koga_engine::Score;

use crate::{Answer, Class, Moment, Review};

/// "White" or "Black".
pub(super) fn side(color: Color) -> &'static str {
    color.fold_wb("White", "Black")
}

/// "a fork", "an x-ray": the tactic as an object.
pub(super) fn object(tactic: Tactic) -> String {
    match tactic {
        Tactic::HangingCapture => "a winning capture".to_owned(),
        Tactic::RemovingTheDefender => "the removal of a defender".to_owned(),
        Tactic::TrappedPiece => "a trapped piece".to_owned(),
        Tactic::PinnedDefender => "a capture behind a pinned defender".to_owned(),
        Tactic::Checkmate => "mate".to_owned(),
        tactic => {
            let title = explain::title(tactic);
            let article = if title.starts_with(['a', 'e', 'i', 'o', 'u', 'x']) { "an" } else { "a" };
            format!("{article} {title}")
        }
    }
}

/// "12.Nf6+" or "12...Nf6+".
pub(super) fn numbered(pos: &Chess, m: Move) -> String {
    format!("{}{}{}", pos.fullmoves(), pos.turn().fold_wb(".", "..."), koga::parse::san(pos, m))
}

/// What happened, after "White" or "Black": "misses a fork (20.Nf6+)".
pub(super) fn deed(moment: &Moment) -> String {
    let verb = match moment.class {
        Class::Found => "finds",
        Class::Missed => "misses",
        Class::Allowed if moment.threat => "overlooks the threat of",
        Class::Allowed => "allows",
    };
    let finding = moment.finding();
    let object = match moment.score {
        Score::Mate(n) if finding.tactic.is_mate() && n > 0 => {
            let kind = if finding.tactic == Tactic::BackRankMate { "a back-rank mate" } else { "mate" };
            if n == 1 { format!("{kind} at once") } else { format!("{kind} in {n}") }
        }
        _ => object(finding.tactic),
    };
    let first = numbered(moment.line.root(), moment.line.moves[0]);
    // A tactic on a later ply is only prepared by the move.
    match (moment.class, finding.ply) {
        (Class::Found, _) => format!("{verb} {object}"),
        (_, 1) => format!("{verb} {object}, {first}"),
        _ => format!("{verb} {object} that begins with {first}"),
    }
}

/// What the enemy made of what was allowed.
pub(super) fn answer(review: &Review, moment: &Moment) -> Option<String> {
    let enemy = side(!moment.player());
    let next = review.game.moves.get(moment.index + 1);
    let position = &review.subject.positions[moment.index + 1];
    match (moment.answer?, next) {
        (Answer::Found, _) => Some(format!("{enemy} found it.")),
        (Answer::Missed, Some(next)) => {
            let mark = review.moves[moment.index + 1].mark.map_or("", |mark| mark.glyph());
            Some(format!("{enemy} missed it with {}{mark}.", numbered(position, next.m)))
        }
        _ => None,
    }
}

/// The score from White's side, as PGN comments have it: "0.31", "#-3".
pub(super) fn eval(score: Score) -> String {
    match score {
        Score::Cp(cp) => {
            format!("{}{}.{:02}", if cp < 0 { "-" } else { "" }, cp.unsigned_abs() / 100, cp.unsigned_abs() % 100)
        }
        Score::Mate(n) => format!("#{n}"),
    }
}

/// A score for readers, from White's side: "+0.31", "mate in 3 for Black".
pub(super) fn score(score: Score) -> String {
    match score {
        Score::Mate(0) => "mate".to_owned(),
        Score::Mate(n) => format!("mate in {} for {}", n.unsigned_abs(), side(Color::from_white(n > 0))),
        Score::Cp(_) => score.to_string(),
    }
}

/// A score from White's side.
pub(super) fn of_white(score: Score, side: Color) -> Score {
    match side {
        Color::White => score,
        Color::Black => crate::win::negated(score),
    }
}

//! The building blocks of sentences. Whatever they say is read off the board.

use shakmaty::{Bitboard, Board, Color, File, Position, Role, Square, attacks::ray};

use crate::{
    Finding, Line,
    material::{Points, value},
    mobility::sure_gain,
    survey::{CashIn, Survey},
};

/// A finding with the board that its sentence speaks of: the one after its ply.
pub(crate) struct Words<'l> {
    pub(crate) finding: &'l Finding,
    pub(crate) survey: Survey<'l>,
}

impl<'l> Words<'l> {
    pub(crate) fn new(line: &'l Line, finding: &'l Finding) -> Words<'l> {
        let ply = line.ply(finding.ply).expect("a finding stands on a ply of its line");
        Words { finding, survey: Survey::new(line, ply) }
    }

    /// "White": the side whose tactic it is.
    pub(crate) fn us(&self) -> &'static str {
        side(self.survey.us)
    }

    /// "Black": the side that suffers it.
    pub(crate) fn them(&self) -> &'static str {
        side(self.survey.them)
    }

    /// "the knight on f6".
    pub(crate) fn man(&self, sq: Square) -> String {
        man(self.survey.board, sq)
    }

    /// "the king on g8 and the pawns on e5 and h7", the most valuable first.
    pub(crate) fn men(&self, squares: impl IntoIterator<Item = Square>) -> String {
        let mut squares: Vec<Square> = squares.into_iter().collect();
        squares.sort_by_key(|sq| (-self.survey.value(*sq), self.survey.board.role_at(*sq)));
        let role = |sq: &Square| self.survey.board.role_at(*sq);
        let groups = squares.chunk_by(|a, b| role(a) == role(b)).map(|group| match (group, role(&group[0])) {
            ([_, _, ..], Some(role)) => {
                let squares: Vec<String> = group.iter().map(Square::to_string).collect();
                format!("the {}s on {}", name(role), list(&squares))
            }
            _ => self.man(group[0]),
        });
        list(&groups.collect::<Vec<_>>())
    }

    /// What comes of the targets, as a sentence with a space before it; nothing where there is nothing to say.
    pub(crate) fn outcome(&self, targets: Bitboard) -> String {
        let s = &self.survey;
        match s.cash_in(targets) {
            CashIn::Won { number, won } => {
                let ply = s.line.ply(number).expect("the ply exists");
                format!(" {} wins {} with {}.", self.us(), self.spoils(number, won), ply.san())
            }
            CashIn::Taken => String::new(),
            CashIn::PassedOver if s.line.mates => " The line goes on to mate.".to_owned(),
            CashIn::PassedOver if s.falls_later(targets) => String::new(),
            CashIn::PassedOver => " The line does not cash it in.".to_owned(),
            CashIn::Open if s.reply.is_none() => match sure_gain(s.after) {
                0 => String::new(),
                sure => format!(
                    " Whatever {} answers, {} has a capture that wins at least {}.",
                    self.them(),
                    self.us(),
                    worth(sure)
                ),
            },
            CashIn::Open => String::new(),
        }
    }
}

impl Words<'_> {
    /// "the queen", "the queen for the knight", or what that capture wins in points.
    fn spoils(&self, number: usize, won: Points) -> String {
        let s = &self.survey;
        let plies = || (s.ply + 1..=s.line.settled(number)).filter_map(|number| s.line.ply(number));
        let mut lost: Vec<Role> =
            plies().filter(|ply| ply.number % 2 == 0).filter_map(|ply| Some(ply.captured()?.1)).collect();
        if s.line.settled(number) == s.line.len() && s.line.settled_balance(number) < s.line.balance(s.line.len()) {
            lost.extend(s.line.end().board().role_at(s.line.moves[s.line.len() - 1].to()));
        }
        let promotes = plies().any(|ply| ply.m.is_promotion());
        let taken = s.line.ply(number).and_then(|ply| ply.captured()).map(|(_, role)| role);
        match (taken, &lost[..]) {
            (Some(taken), []) if !promotes && value(taken) == won => format!("the {}", name(taken)),
            (Some(taken), [given]) if !promotes && value(taken) > value(*given) => {
                format!("the {} for the {}", name(taken), name(*given))
            }
            _ => worth(won),
        }
    }
}

/// "White" or "Black".
pub(crate) fn side(color: Color) -> &'static str {
    color.fold_wb("White", "Black")
}

/// "knight".
pub(crate) fn name(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}

/// "the knight on f6"; "f6" where nothing stands.
pub(crate) fn man(board: &Board, sq: Square) -> String {
    board.role_at(sq).map_or_else(|| sq.to_string(), |role| format!("the {} on {sq}", name(role)))
}

/// "a, b and c".
pub(crate) fn list(items: &[String]) -> String {
    joined(items, "and")
}

/// "a, b or c".
pub(crate) fn alternatives(items: &[String]) -> String {
    joined(items, "or")
}

fn joined(items: &[String], word: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [front @ .., last] => format!("{} {word} {last}", front.join(", ")),
    }
}

/// "a rook's worth of material", "7 points of material".
pub(crate) fn worth(won: Points) -> String {
    match won {
        1 => "a pawn's worth of material".to_owned(),
        3 => "a piece's worth of material".to_owned(),
        5 => "a rook's worth of material".to_owned(),
        9 => "a queen's worth of material".to_owned(),
        won => format!("{} of material", points(won)),
    }
}

/// "1 point", "5 points".
pub(crate) fn points(points: Points) -> String {
    format!("{points} point{}", if points == 1 { "" } else { "s" })
}

/// "the e-file", "the 7th rank", "the diagonal a1–h8".
pub(crate) fn line_name(a: Square, b: Square) -> String {
    if a.file() == b.file() {
        return format!("the {}-file", a.file().char());
    }
    if a.rank() == b.rank() {
        let ordinal = match a.rank().char() {
            '1' => "1st",
            '2' => "2nd",
            '3' => "3rd",
            rank => return format!("the {rank}th rank"),
        };
        return format!("the {ordinal} rank");
    }
    let whole = ray(a, b);
    let end = |file: &dyn Fn(&Square) -> i32| whole.into_iter().min_by_key(|sq| file(sq)).unwrap_or(a);
    let left = end(&|sq| sq.file() as i32);
    let right = end(&|sq| File::H as i32 - sq.file() as i32);
    format!("the diagonal {left}–{right}")
}

/// The first letter made a capital.
pub(crate) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

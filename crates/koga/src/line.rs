//! A root position and the line played from it.

use shakmaty::{CastlingSide, Chess, Color, Move, Position, Role, Square};

use crate::{
    attacks::Men,
    material::{Points, balance},
    parse::{self, ParseError},
};

/// A position, a candidate move and what follows it: the input of every rule.
///
/// Plies count from 1; the candidate's side (`pov`) plays the odd ones. Every move is legal.
///
/// ```
/// use koga::Line;
/// let line = Line::parse("r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1", ["Nc7+", "Kd8", "Nxa8"])?;
/// assert_eq!(line.len(), 3);
/// assert_eq!(line.won(), 5);
/// # Ok::<_, koga::parse::ParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Line {
    /// The root, then the position after each ply: one more than there are moves.
    pub positions: Vec<Chess>,
    /// The moves: the candidate first.
    pub moves: Vec<Move>,
    /// The enemy's move that led to the root, where it is known.
    pub setup: Option<Move>,
    /// Whether it ends in mate given by us.
    pub mates: bool,
}

/// One ply of a line.
#[derive(Debug, Clone, Copy)]
pub struct Ply<'l> {
    /// Its number, counted from 1.
    pub number: usize,
    /// The position it is played in.
    pub before: &'l Chess,
    /// The move.
    pub m: Move,
    /// The position it leads to.
    pub after: &'l Chess,
}

impl Line {
    /// Reads a FEN and moves in SAN or UCI.
    ///
    /// # Errors
    ///
    /// [`ParseError`] naming the field of the FEN, or the ply and the token.
    pub fn parse<'a>(fen: &str, moves: impl IntoIterator<Item = &'a str>) -> Result<Line, ParseError> {
        Line::from_root(parse::parse_fen(fen)?, None, moves)
    }

    /// Reads a FEN, the enemy's move played in it before the root, and the moves from there on: the
    /// shape of a Lichess puzzle.
    ///
    /// # Errors
    ///
    /// As [`Line::parse`]; the setup move is ply 0.
    pub fn parse_with_setup<'a>(
        fen: &str,
        setup: &str,
        moves: impl IntoIterator<Item = &'a str>,
    ) -> Result<Line, ParseError> {
        let mut pos = parse::parse_fen(fen)?;
        let m = parse::parse_move(&pos, setup).map_err(|reason| ParseError::Move {
            ply: 0,
            token: setup.to_owned(),
            reason,
        })?;
        pos.play_unchecked(m);
        Line::from_root(pos, Some(m), moves)
    }

    /// A line of moves in SAN or UCI from a position at hand.
    ///
    /// # Errors
    ///
    /// [`ParseError::Move`] for the first move that cannot be played, [`ParseError::EmptyLine`] for none.
    pub fn from_root<'a>(
        root: Chess,
        setup: Option<Move>,
        moves: impl IntoIterator<Item = &'a str>,
    ) -> Result<Line, ParseError> {
        let mut line = Line { positions: Vec::with_capacity(8), moves: Vec::with_capacity(8), setup, mates: false };
        let mut pos = root;
        for token in moves {
            if line.moves.len() == parse::LONGEST_LINE {
                return Err(ParseError::TooLong);
            }
            let m = parse::parse_move(&pos, token).map_err(|reason| ParseError::Move {
                ply: line.moves.len() + 1,
                token: token.to_owned(),
                reason,
            })?;
            line.positions.push(pos.clone());
            line.moves.push(m);
            pos.play_unchecked(m);
        }
        line.mates = line.len() % 2 == 1 && pos.is_checkmate();
        line.positions.push(pos);
        if line.moves.is_empty() { Err(ParseError::EmptyLine) } else { Ok(line) }
    }

    /// A line of moves at hand, each legal where it is played; `None` for no moves.
    pub fn of_moves(root: Chess, setup: Option<Move>, moves: impl IntoIterator<Item = Move>) -> Option<Line> {
        let mut line = Line { positions: vec![root], moves: Vec::new(), setup, mates: false };
        for m in moves {
            let mut next = line.end().clone();
            next.play_unchecked(m);
            line.positions.push(next);
            line.moves.push(m);
        }
        line.mates = line.len() % 2 == 1 && line.end().is_checkmate();
        (!line.moves.is_empty()).then_some(line)
    }

    /// The number of plies, at least 1.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.moves.len()
    }

    /// The position that the candidate is played in.
    pub fn root(&self) -> &Chess {
        &self.positions[0]
    }

    /// The position after the last ply.
    pub fn end(&self) -> &Chess {
        &self.positions[self.moves.len()]
    }

    /// The side whose line this is.
    pub fn pov(&self) -> Color {
        self.root().turn()
    }

    /// The ply of that number, counted from 1.
    pub fn ply(&self, number: usize) -> Option<Ply<'_>> {
        let m = *self.moves.get(number.checked_sub(1)?)?;
        Some(Ply { number, before: &self.positions[number - 1], m, after: &self.positions[number] })
    }

    /// Our plies: 1, 3, 5 …
    pub fn our_plies(&self) -> impl Iterator<Item = Ply<'_>> {
        (1..=self.len()).step_by(2).filter_map(|number| self.ply(number))
    }

    /// Our material minus theirs after the ply of that number (0: at the root).
    pub fn balance(&self, ply: usize) -> Points {
        balance(self.positions[ply].board(), self.pov())
    }

    /// The last of the captures on one square that begin with that ply.
    pub fn settled(&self, ply: usize) -> usize {
        let sq = self.moves[ply - 1].to();
        let goes_on = |m: &&Move| m.to() == sq && m.is_capture();
        ply + self.moves[ply..].iter().take_while(goes_on).count()
    }

    /// The balance once the captures on the square of that ply are over: those that the line shows and, where
    /// it ends with one of them, what can be taken back at once.
    pub fn settled_balance(&self, ply: usize) -> Points {
        let last = self.settled(ply);
        let balance = self.balance(last);
        if last < self.len() || self.moves[last - 1].is_castle() {
            return balance;
        }
        let end = self.end();
        let back = Men::of(end).exchange(self.moves[last - 1].to(), end.turn());
        if end.turn() == self.pov() { balance + back } else { balance - back }
    }

    /// Material won by the line: the balance at its end against the root, less what can be taken back at once on
    /// the last square.
    pub fn won(&self) -> Points {
        self.settled_balance(self.len()) - self.balance(0)
    }

    /// Where the man that stands on `sq` after ply `since` stood at the root: what a piece is told by,
    /// since it keeps it wherever it goes.
    pub fn origin(&self, sq: Square, since: usize) -> Square {
        (1..=since).rev().fold(sq, |sq, number| {
            let m = self.moves[number - 1];
            moved(m).into_iter().flatten().find(|(_, to)| *to == sq).map_or(sq, |(from, _)| from)
        })
    }
}

impl Ply<'_> {
    /// The move in SAN, with its check or mate sign.
    pub fn san(&self) -> String {
        parse::san(self.before, self.m)
    }

    /// The man taken by the move, and where it stood (en passant: not where the move goes).
    pub fn captured(&self) -> Option<(Square, Role)> {
        captured(self.m)
    }
}

/// The men that a move moves, from where to where: two for castling.
pub fn moved(m: Move) -> [Option<(Square, Square)>; 2] {
    match m {
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king < rook);
            let color = Color::from_white(king.rank() == shakmaty::Rank::First);
            [Some((king, side.king_to(color))), Some((rook, side.rook_to(color)))]
        }
        _ => [m.from().map(|from| (from, m.to())), None],
    }
}

/// The man taken by the move, and where it stood.
pub fn captured(m: Move) -> Option<(Square, Role)> {
    match m {
        Move::EnPassant { from, to } => Some((Square::from_coords(to.file(), from.rank()), Role::Pawn)),
        Move::Normal { capture: Some(role), to, .. } => Some((to, role)),
        _ => None,
    }
}

//! What every rule asks about one of our plies, worked out once.

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, Board, Chess, Color, Move, Position, Role, Square, attacks::between};

use crate::{
    attacks::Men,
    exchange::move_value,
    line::{Line, Ply, captured, moved},
    material::{Points, value},
};

/// A slider of ours and an enemy piece that it attacks since a move opened its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discovery {
    /// The slider.
    pub slider: Square,
    /// What it attacks now.
    pub target: Square,
}

/// What a line does with targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CashIn {
    /// We take one of them, and it pays.
    Won {
        /// The number of the ply.
        number: usize,
        /// What it brings: more than 0.
        won: Points,
    },
    /// We take one, and the line gains nothing by it.
    Taken,
    /// We could have taken one with profit, and did not.
    PassedOver,
    /// The line ends before we could take one with profit.
    Open,
}

/// One of our plies, and the facts of the position after it.
#[derive(Debug, Clone)]
pub struct Survey<'l> {
    /// The whole line.
    pub line: &'l Line,
    /// The number of the ply: odd.
    pub ply: usize,
    /// The move.
    pub m: Move,
    /// The position before it.
    pub before: &'l Chess,
    /// The position after it.
    pub after: &'l Chess,
    /// The board after it.
    pub board: &'l Board,
    /// The men before it; a check on us counts as answered, since the move answers it.
    pub past: Men<'l>,
    /// The men after it, the enemy to move.
    pub men: Men<'l>,
    /// The men after it as if it were our move again: a check has been answered.
    pub again: Men<'l>,
    /// Our colour.
    pub us: Color,
    /// Their colour.
    pub them: Color,
    /// Their men after it.
    pub theirs: Bitboard,
    /// Where the moved piece came from. Of a castling move this is the rook.
    pub from: Square,
    /// Where the moved piece stands now.
    pub to: Square,
    /// What the moved piece is now: a promoted pawn is what it became.
    pub role: Role,
    /// What the move took, and where.
    pub captured: Option<(Square, Role)>,
    /// Their king.
    pub king: Square,
    /// Our pieces that give check.
    pub checkers: Bitboard,
    /// The line's answer to the move.
    pub reply: Option<Move>,
    /// Lines that the move opened onto enemy pieces. Castling opens none.
    pub discoveries: ArrayVec<Discovery, 8>,
}

impl<'l> Survey<'l> {
    /// Looks at one of our plies.
    pub fn new(line: &'l Line, ply: Ply<'l>) -> Survey<'l> {
        let Ply { number, before, m, after } = ply;
        let board = after.board();
        let us = before.turn();
        let (from, to) = match moved(m) {
            [_, Some(rook)] => rook,
            [Some(piece), None] => piece,
            [None, None] => unreachable!("no drops in chess"),
        };
        let king = board.king_of(!us).expect("a king in every position");
        let checkers = after.checkers();
        let men = Men::of(after);
        let mut survey = Survey {
            line,
            ply: number,
            m,
            before,
            after,
            board,
            past: Men { answered: before.checkers(), ..Men::of(before) },
            men,
            again: Men { answered: checkers, ..men },
            us,
            them: !us,
            theirs: board.by_color(!us),
            from,
            to,
            role: board.role_at(to).expect("the moved piece stands where it went"),
            captured: captured(m),
            king,
            checkers,
            reply: line.moves.get(number).copied(),
            discoveries: ArrayVec::new(),
        };
        survey.discoveries = survey.discover();
        survey
    }

    /// Squares attacked from a square after the move.
    pub fn attacks(&self, from: Square) -> Bitboard {
        self.men.attacks(from)
    }

    /// The worth of what stands on a square; 0 for nothing.
    pub fn value(&self, sq: Square) -> Points {
        self.board.role_at(sq).map_or(0, value)
    }

    /// Whether our piece on `from`, which attacks `to`, could take there if it were our move.
    pub fn can_capture(&self, from: Square, to: Square) -> bool {
        self.again.is_legal_capture(from, to, self.us)
    }

    /// Enemy men that could take back after our piece on `capturer` took on `sq`.
    pub fn guards(&self, sq: Square, capturer: Square) -> Bitboard {
        self.again.defenders(sq, capturer, self.them)
    }

    /// What we would win on a square if it were our move.
    pub fn exchange(&self, sq: Square) -> Points {
        self.again.exchange(sq, self.us)
    }

    /// What we would have won on a square before the move.
    pub fn exchange_before(&self, sq: Square) -> Points {
        self.past.exchange(sq, self.us)
    }

    /// What the enemy, to move, wins by taking our piece on a square.
    pub fn loss(&self, sq: Square) -> Points {
        self.men.exchange(sq, self.them)
    }

    /// What the moved piece attacks now and did not attack from where it came.
    pub fn newly_attacked(&self) -> Bitboard {
        self.attacks(self.to) & self.theirs & !self.past.attacks(self.from)
    }

    /// Where the enemy piece stands that takes the moved piece on the next ply of the line.
    pub fn refuter(&self) -> Option<Square> {
        let reply = self.reply?;
        captured(reply).filter(|(sq, _)| *sq == self.to).and(reply.from())
    }

    /// Whether the moved piece survives the reply: the line's next ply does not take it or, where the line ends,
    /// taking it wins nothing.
    pub fn survives(&self) -> bool {
        match self.reply {
            Some(_) => self.refuter().is_none(),
            None => self.loss(self.to) <= 0 && !self.falls_en_passant(),
        }
    }

    /// Whether the moved piece is a pawn that the enemy takes in passing with profit.
    fn falls_en_passant(&self) -> bool {
        let double_step = self.role == Role::Pawn && self.from.distance(self.to) == 2;
        double_step && self.after.en_passant_moves().iter().any(|m| move_value(self.after, *m) > 0)
    }

    /// Whether the move mates.
    pub fn is_mate(&self) -> bool {
        self.reply.is_none() && self.line.mates
    }

    /// Whether the move takes back on the square where the enemy has just taken.
    pub fn is_recapture(&self) -> bool {
        self.captured.is_some() && self.previous().is_some_and(|m| m.is_capture() && m.to() == self.m.to())
    }

    /// The worth of what the enemy's last move took, as far as that move is known.
    pub fn just_lost(&self) -> Points {
        self.previous().and_then(captured).map_or(0, |(_, role)| value(role))
    }

    /// The enemy's move before this one, where it is known.
    fn previous(&self) -> Option<Move> {
        match self.ply {
            1 => self.line.setup,
            ply => Some(self.line.moves[ply - 2]),
        }
    }

    /// What becomes of the men standing on `targets` after this ply. A target counts as taken where it stands, and
    /// where it went if we take it on our very next move.
    pub fn cash_in(&self, targets: Bitboard) -> CashIn {
        let mut standing = targets;
        let mut went: Option<Square> = None;
        let (mut could, mut took) = (false, false);
        for number in self.ply + 1..=self.line.len() {
            let m = self.line.moves[number - 1];
            let taken = captured(m).map(|(sq, _)| sq);
            if number % 2 == 1 {
                if taken.is_some_and(|sq| standing.contains(sq) || went == Some(sq)) {
                    match self.net(number) {
                        won if won > 0 => return CashIn::Won { number, won },
                        _ => took = true,
                    }
                }
                let before = Men::of(&self.line.positions[number - 1]);
                let pays = |sq| before.exchange(sq, self.us) > 0;
                could = could || standing.into_iter().any(pays);
                went = None;
            }
            for (from, to) in moved(m).into_iter().flatten() {
                if standing.contains(from) && number == self.ply + 1 {
                    went = Some(to);
                }
                standing.discard(from);
            }
            if let Some(sq) = taken {
                standing.discard(sq);
            }
        }
        match (took, could) {
            (true, _) => CashIn::Taken,
            (false, true) => CashIn::PassedOver,
            (false, false) => CashIn::Open,
        }
    }

    /// Whether the line takes one of the men standing on `targets` after all, wherever it went.
    pub fn falls_later(&self, targets: Bitboard) -> bool {
        let origins: Bitboard = targets.into_iter().map(|sq| self.line.origin(sq, self.ply)).collect();
        let is_one = |(ply, sq): (usize, Square)| origins.contains(self.line.origin(sq, ply));
        let ours = self.line.our_plies().filter(|ply| ply.number > self.ply);
        ours.filter_map(|ply| Some((ply.number - 1, ply.captured()?.0))).any(is_one)
    }

    /// What the line shows won of the men standing on `targets`; 0 if one of them was taken for nothing or could have been taken
    /// with profit and was not; `None` if the line ends before that.
    pub fn payoff(&self, targets: Bitboard) -> Option<Points> {
        match self.cash_in(targets) {
            CashIn::Won { won, .. } => Some(won),
            CashIn::Taken | CashIn::PassedOver => Some(0),
            CashIn::Open => None,
        }
    }

    /// What the captures on the square of that ply bring, less what was lost on the way: against the board before this ply,
    /// so that a man given up for the one that it took costs nothing.
    fn net(&self, number: usize) -> Points {
        let before = self.line.balance(number - 1);
        let start = self.line.balance(self.ply).min(self.line.balance(self.ply - 1));
        let lost_between = (start - before).max(0);
        self.line.settled_balance(number) - before - lost_between
    }

    fn discover(&self) -> ArrayVec<Discovery, 8> {
        let mut found = ArrayVec::new();
        if self.m.is_castle() {
            return found;
        }
        let mut emptied = Bitboard::from_square(self.from);
        if let Some((sq, _)) = self.captured {
            emptied.add(sq);
        }
        emptied &= !self.men.occupied;
        let was = Men { occupied: self.past.occupied, ..self.men };
        let seers = emptied.into_iter().fold(Bitboard::EMPTY, |all, sq| all | self.men.attackers(sq, self.us))
            & self.men.sliders(self.us);
        for slider in seers.without(self.to) {
            let opened = self.attacks(slider) & self.theirs & !was.attacks(slider);
            for target in opened {
                if (between(slider, target) & emptied).any() && !found.is_full() {
                    found.push(Discovery { slider, target });
                }
            }
        }
        found
    }
}

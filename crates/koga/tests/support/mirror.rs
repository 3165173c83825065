//! Lines in the mirror, and reports to compare with theirs.

use koga::{
    Finding, Line, Report, Tactic,
    shakmaty::{Bitboard, Chess, EnPassantMode, Move, Position, Square},
};

use super::random::from_moves;

/// How a line is turned: its report must turn with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mirror {
    /// As it is.
    None,
    /// Colours swapped, board upside down.
    Colors,
    /// Left and right swapped; only where nobody may castle.
    Files,
}

impl Mirror {
    /// The square in the mirror.
    pub fn square(self, sq: Square) -> Square {
        match self {
            Mirror::None => sq,
            Mirror::Colors => sq.flip_vertical(),
            Mirror::Files => sq.flip_horizontal(),
        }
    }

    /// Squares in the mirror.
    pub fn squares(self, squares: Bitboard) -> Bitboard {
        squares.into_iter().map(|sq| self.square(sq)).collect()
    }

    /// The move in the mirror.
    pub fn m(self, m: Move) -> Move {
        let square = |sq| self.square(sq);
        match m {
            Move::Normal { role, from, capture, to, promotion } => {
                Move::Normal { role, from: square(from), capture, to: square(to), promotion }
            }
            Move::EnPassant { from, to } => Move::EnPassant { from: square(from), to: square(to) },
            Move::Castle { king, rook } => Move::Castle { king: square(king), rook: square(rook) },
            Move::Put { role, to } => Move::Put { role, to: square(to) },
        }
    }

    /// The position in the mirror; `None` if it has none, since somebody may castle.
    pub fn position(self, pos: &Chess) -> Option<Chess> {
        let mut setup = pos.to_setup(EnPassantMode::Legal);
        match self {
            Mirror::None => {}
            Mirror::Colors => setup.mirror(),
            Mirror::Files if pos.castles().any() => return None,
            Mirror::Files => {
                setup.board.flip_horizontal();
                setup.ep_square = setup.ep_square.map(Square::flip_horizontal);
            }
        }
        let mirrored = setup
            .position::<Chess>(pos.castles().mode())
            .or_else(|err| err.ignore_impossible_check())
            .expect("the mirror image of a position is one");
        Some(mirrored)
    }

    /// The line in the mirror; `None` if it has none.
    pub fn line(self, line: &Line) -> Option<Line> {
        let root = self.position(line.root())?;
        let moves = line.moves.iter().map(|m| self.m(*m)).collect();
        let line = from_moves(root, line.setup.map(|m| self.m(m)), moves);
        for number in 1..=line.len() {
            let m = line.moves[number - 1];
            assert!(line.positions[number - 1].is_legal(m), "a legal move has a legal mirror image");
        }
        Some(line)
    }
}

/// A report as sets, seen in a mirror: equal if the same is said.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    /// The headline's tactic.
    pub headline: Option<Tactic>,
    /// What stands.
    pub findings: Vec<String>,
    /// What lost.
    pub superseded: Vec<String>,
    /// What was refused.
    pub rejections: Vec<String>,
}

impl Said {
    /// What the report says, its squares seen in the mirror.
    pub fn of(report: &Report, mirror: Mirror) -> Said {
        let sorted = |mut entries: Vec<String>| {
            entries.sort();
            entries
        };
        let superseded = report
            .superseded
            .iter()
            .map(|lost| format!("{} by {} ({})", finding(&lost.finding, mirror), lost.by, lost.rule.id));
        let rejections = report.rejections.iter().map(|rejection| {
            format!(
                "{} ply {} {} {}",
                rejection.tactic,
                rejection.ply,
                rejection.rule.id,
                set(mirror.squares(rejection.squares))
            )
        });
        Said {
            headline: report.headline.map(|index| report.findings[index].tactic),
            findings: sorted(report.findings.iter().map(|found| finding(found, mirror)).collect()),
            superseded: sorted(superseded.collect()),
            rejections: sorted(rejections.collect()),
        }
    }
}

fn finding(finding: &Finding, mirror: Mirror) -> String {
    let mut targets: Vec<Square> = finding.targets.iter().map(|sq| mirror.square(*sq)).collect();
    if finding.tactic != Tactic::Pin {
        // Of a pin the order says which is which.
        targets.sort();
    }
    let head = format!("{} {} {:?} ply {}", finding.tactic, finding.role.name(), finding.kind, finding.ply);
    let mut squares: Vec<String> = finding
        .squares
        .iter()
        .map(|(mark, squares)| format!("{}: {}", mark.name(), set(mirror.squares(*squares))))
        .collect();
    squares.sort();
    let piece = mirror.square(finding.piece);
    format!("{head} {piece} -> {targets:?} {squares:?} prize {:?} won {:?}", finding.prize, finding.won)
}

fn set(squares: Bitboard) -> String {
    squares.into_iter().map(|sq| sq.to_string()).collect::<Vec<_>>().join(" ")
}

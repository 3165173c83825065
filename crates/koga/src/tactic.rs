//! What is found: tactics, their parts in a line, and what was refused.

use std::fmt;

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, Square};

use crate::material::Points;

/// The tactics that Koga tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tactic {
    /// One piece attacks two or more at once.
    Fork,
    /// Two threats at once that no more specific tactic describes.
    DoubleAttack,
    /// A move opens the line of a slider onto a target.
    DiscoveredAttack,
    /// A discovered attack on the king.
    DiscoveredCheck,
    /// Two pieces give check at once.
    DoubleCheck,
    /// A piece cannot leave a line without giving up what stands behind it.
    Pin,
    /// A slider acts through an enemy piece.
    XRay,
    /// A capture that may not be answered, since every defender is pinned.
    PinnedDefender,
    /// An attacked piece that loses wherever it goes.
    TrappedPiece,
    /// The capture of a piece that is not sufficiently defended.
    HangingCapture,
    /// The capture of a defender, so that what it defended falls.
    RemovingTheDefender,
    /// Material given on purpose.
    Sacrifice,
    /// Mate along the king's first rank with its own men in the way.
    BackRankMate,
    /// Any other mate.
    Checkmate,
    /// A piece that has to leave a line, and a man behind it that falls.
    Skewer,
}

/// What a finding has to do with the candidate move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FindingRole {
    /// The candidate makes it.
    Motif,
    /// It first appears on a later one of our plies.
    FollowUp,
    /// It was on the board before the candidate, or is only supporting geometry.
    Enabling,
}

/// The variety of a tactic that comes in several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A pin to the king.
    Absolute,
    /// A pin to a more valuable piece.
    Relative,
    /// An x-ray recapture through the square that the enemy capturer left.
    Exchange,
    /// An x-rayed exchange after which a piece behind the square gives or completes mate.
    SupportMate,
    /// A piece defended through the very piece that attacks it.
    Defence,
    /// An enemy piece alone between two of our sliders of the same kind.
    Sandwich,
}

/// Why a square beside the acting piece and the targets matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// An enemy piece that the tactic acts through.
    Shield,
    /// A piece that guards, or guarded, a target.
    Defender,
    /// The enemy piece that refutes the tactic.
    Refuter,
    /// Where the piece went that opened the line.
    Mover,
    /// Our piece that carries out the second threat.
    Attacker,
    /// Where mate is threatened.
    Mate,
}

/// A rule of the definitions, by its number: `F3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The number.
    pub id: &'static str,
    /// What it says of a shape that it refuses, as a sentence.
    pub text: &'static str,
}

/// Squares in an order that matters.
pub type Targets = ArrayVec<Square, 18>;

/// A tactic found in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which tactic.
    pub tactic: Tactic,
    /// Its part in the line.
    pub role: FindingRole,
    /// Its variety, where it has several.
    pub kind: Option<Kind>,
    /// The ply on which it stands, counted from 1; always one of ours.
    pub ply: usize,
    /// Where the acting piece stands after that ply.
    pub piece: Square,
    /// What it acts on.
    pub targets: Targets,
    /// Other squares that matter.
    pub squares: ArrayVec<(Mark, Bitboard), 2>,
    /// Points at stake; `None` where it is the king.
    pub prize: Option<Points>,
    /// Points that the line shows it winning; 0 where our next move could have cashed it in and the line went
    /// elsewhere, `None` where the line ends before it could.
    pub won: Option<Points>,
}

/// A shape that was there and that a rule refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The tactic that it would have been.
    pub tactic: Tactic,
    /// The ply, counted from 1.
    pub ply: usize,
    /// The rule that refused it.
    pub rule: Rule,
    /// The squares of the shape.
    pub squares: Bitboard,
}

/// Everything that the rules found in a line, before rivals are weighed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detections {
    /// What was found.
    pub findings: Vec<Finding>,
    /// What was refused.
    pub rejections: Vec<Rejection>,
}

impl Tactic {
    /// Every tactic.
    pub const ALL: [Tactic; 15] = [
        Tactic::Fork,
        Tactic::DoubleAttack,
        Tactic::DiscoveredAttack,
        Tactic::DiscoveredCheck,
        Tactic::DoubleCheck,
        Tactic::Pin,
        Tactic::XRay,
        Tactic::PinnedDefender,
        Tactic::TrappedPiece,
        Tactic::HangingCapture,
        Tactic::RemovingTheDefender,
        Tactic::Sacrifice,
        Tactic::BackRankMate,
        Tactic::Checkmate,
        Tactic::Skewer,
    ];

    /// Its name in reports and on the command line: `discovered-attack`.
    pub const fn name(self) -> &'static str {
        match self {
            Tactic::Fork => "fork",
            Tactic::DoubleAttack => "double-attack",
            Tactic::DiscoveredAttack => "discovered-attack",
            Tactic::DiscoveredCheck => "discovered-check",
            Tactic::DoubleCheck => "double-check",
            Tactic::Pin => "pin",
            Tactic::XRay => "x-ray",
            Tactic::PinnedDefender => "pinned-defender",
            Tactic::TrappedPiece => "trapped-piece",
            Tactic::HangingCapture => "hanging-capture",
            Tactic::RemovingTheDefender => "removing-the-defender",
            Tactic::Sacrifice => "sacrifice",
            Tactic::BackRankMate => "back-rank-mate",
            Tactic::Checkmate => "checkmate",
            Tactic::Skewer => "skewer",
        }
    }

    /// The tactic of that name.
    ///
    /// ```
    /// use koga::Tactic;
    /// assert_eq!(Tactic::from_name("x-ray"), Some(Tactic::XRay));
    /// ```
    pub fn from_name(name: &str) -> Option<Tactic> {
        Tactic::ALL.into_iter().find(|tactic| tactic.name() == name)
    }

    /// Whether it ends the game.
    pub const fn is_mate(self) -> bool {
        matches!(self, Tactic::BackRankMate | Tactic::Checkmate)
    }
}

impl FindingRole {
    /// Its name in reports: `follow-up`.
    pub const fn name(self) -> &'static str {
        match self {
            FindingRole::Motif => "motif",
            FindingRole::Enabling => "enabling",
            FindingRole::FollowUp => "follow-up",
        }
    }

    /// The role of what one of our plies makes: motif on the candidate, follow-up later.
    pub const fn made_on(ply: usize) -> FindingRole {
        if ply == 1 { FindingRole::Motif } else { FindingRole::FollowUp }
    }
}

impl Kind {
    /// Its name in reports: `support-mate`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Absolute => "absolute",
            Kind::Relative => "relative",
            Kind::Exchange => "exchange",
            Kind::SupportMate => "support-mate",
            Kind::Defence => "defence",
            Kind::Sandwich => "sandwich",
        }
    }
}

impl Mark {
    /// Its name in reports: `shield`.
    pub const fn name(self) -> &'static str {
        match self {
            Mark::Shield => "shield",
            Mark::Defender => "defender",
            Mark::Refuter => "refuter",
            Mark::Mover => "mover",
            Mark::Attacker => "attacker",
            Mark::Mate => "mate",
        }
    }
}

impl fmt::Display for Tactic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Finding {
    /// A finding made on that ply by the piece on that square, with nothing else known yet.
    pub fn new(tactic: Tactic, ply: usize, piece: Square) -> Finding {
        Finding {
            tactic,
            role: FindingRole::made_on(ply),
            kind: None,
            ply,
            piece,
            targets: Targets::new(),
            squares: ArrayVec::new(),
            prize: Some(0),
            won: None,
        }
    }

    /// The squares marked so.
    pub fn marked(&self, mark: Mark) -> Bitboard {
        self.squares.iter().filter(|(m, _)| *m == mark).fold(Bitboard::EMPTY, |all, (_, squares)| all | *squares)
    }

    /// Marks squares; an empty set leaves no mark.
    pub fn mark(&mut self, mark: Mark, squares: Bitboard) {
        if squares.any() {
            self.squares.push((mark, squares));
        }
    }

    /// What it is weighed by against rivals: what the line shows it winning, else what is at stake.
    pub fn weight(&self) -> Points {
        match self.won {
            Some(won) if won > 0 => won,
            _ => self.prize.unwrap_or(crate::material::KING),
        }
    }
}

impl Detections {
    /// Records that a rule refused a shape.
    pub fn reject(&mut self, tactic: Tactic, ply: usize, rule: Rule, squares: Bitboard) {
        self.rejections.push(Rejection { tactic, ply, rule, squares });
    }
}

//! The positions that Koga must get right: `corpus/*.toml`, one file a tactic.

use std::fmt;

use koga::{
    Kind, Line, Report, Tactic, analyze,
    parse::{self, ParseError},
};
use serde::Deserialize;

/// The cases of one tactic.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corpus {
    /// Plain ones first, near misses last.
    #[serde(rename = "case")]
    pub cases: Vec<Case>,
}

/// A position, a line, and what must be said of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name within the file.
    pub id: String,
    /// A sentence that a player would say.
    pub title: String,
    /// The position: the root or, with `setup`, the one before the enemy's move.
    pub fen: String,
    /// The enemy's move before the root, in UCI.
    #[serde(default)]
    pub setup: Option<String>,
    /// The line in SAN, the candidate first.
    pub line: String,
    /// What must be found.
    #[serde(default)]
    pub expect: Vec<Expected>,
    /// Tactics that must not be found, unless as enabling.
    #[serde(default)]
    pub absent: Vec<String>,
    /// Rules that must have refused something.
    #[serde(default)]
    pub rejected: Vec<String>,
    /// Tactics that must have lost against another.
    #[serde(default)]
    pub superseded: Vec<String>,
    /// What must be named first; "none" for nothing.
    #[serde(default)]
    pub headline: Option<String>,
    /// Where the position comes from: `composed`, `lichess 00abc`, a game.
    pub source: String,
    /// The rating of a puzzle.
    #[serde(default)]
    pub rating: Option<u32>,
    /// Why the verdict is what it is.
    #[serde(default)]
    pub why: String,
}

/// A finding that must be there.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The tactic.
    pub tactic: String,
    /// Its role.
    pub role: String,
    /// Its ply.
    pub ply: usize,
    /// The acting piece.
    #[serde(default)]
    pub piece: Option<String>,
    /// Exactly these targets, in any order.
    #[serde(default)]
    pub targets: Vec<String>,
    /// None of these among the targets.
    #[serde(default)]
    pub not_targets: Vec<String>,
    /// The variety.
    #[serde(default)]
    pub kind: Option<String>,
    /// The points at stake.
    #[serde(default)]
    pub prize: Option<i32>,
    /// The points that the line shows won.
    #[serde(default)]
    pub won: Option<i32>,
}

/// Every tactic with the text of its corpus file.
pub const FILES: [(Tactic, &str); 15] = [
    (Tactic::Fork, include_str!("../../../corpus/fork.toml")),
    (Tactic::DoubleAttack, include_str!("../../../corpus/double-attack.toml")),
    (Tactic::DiscoveredAttack, include_str!("../../../corpus/discovered-attack.toml")),
    (Tactic::DiscoveredCheck, include_str!("../../../corpus/discovered-check.toml")),
    (Tactic::DoubleCheck, include_str!("../../../corpus/double-check.toml")),
    (Tactic::Pin, include_str!("../../../corpus/pin.toml")),
    (Tactic::XRay, include_str!("../../../corpus/x-ray.toml")),
    (Tactic::PinnedDefender, include_str!("../../../corpus/pinned-defender.toml")),
    (Tactic::TrappedPiece, include_str!("../../../corpus/trapped-piece.toml")),
    (Tactic::HangingCapture, include_str!("../../../corpus/hanging-capture.toml")),
    (Tactic::RemovingTheDefender, include_str!("../../../corpus/removing-the-defender.toml")),
    (Tactic::Sacrifice, include_str!("../../../corpus/sacrifice.toml")),
    (Tactic::BackRankMate, include_str!("../../../corpus/back-rank-mate.toml")),
    (Tactic::Checkmate, include_str!("../../../corpus/checkmate.toml")),
    (Tactic::Skewer, include_str!("../../../corpus/skewer.toml")),
];

/// The cases of a tactic.
///
/// # Errors
///
/// Where the file is not well-formed.
pub fn cases(tactic: Tactic) -> Result<Vec<Case>, toml::de::Error> {
    let (_, text) = FILES[tactic as usize];
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    toml::from_str::<Corpus>(text).map(|corpus| corpus.cases)
}

/// How a case is turned before it is run: the verdict must turn with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mirror {
    /// As given.
    None,
    /// Colours swapped, board upside down.
    Colors,
    /// Left and right swapped; only where nobody may castle.
    Files,
}

impl Mirror {
    /// The square in the mirror.
    pub fn square(self, sq: &str) -> String {
        let flip = |c: char, range: std::ops::RangeInclusive<char>| {
            let (low, high) = (*range.start() as u8, *range.end() as u8);
            if range.contains(&c) { char::from(low + high - c as u8) } else { c }
        };
        let chars = sq.chars().enumerate().map(|(i, c)| match self {
            Mirror::Colors => flip(c, '1'..='8'),
            // The fifth letter of a move is what a pawn becomes.
            Mirror::Files if i < 4 => flip(c, 'a'..='h'),
            _ => c,
        });
        chars.collect()
    }

    /// The FEN in the mirror.
    pub fn fen(self, fen: &str) -> String {
        let mut fields: Vec<String> = fen.split_ascii_whitespace().map(str::to_owned).collect();
        let swap_case = |text: &str| -> String {
            text.chars()
                .map(|c| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() })
                .collect()
        };
        match self {
            Mirror::None => {}
            Mirror::Colors => {
                let ranks: Vec<String> = fields[0].split('/').rev().map(swap_case).collect();
                fields[0] = ranks.join("/");
                fields[1] = if fields[1] == "w" { "b" } else { "w" }.to_owned();
                fields[2] = swap_case(&fields[2]);
            }
            Mirror::Files => {
                let ranks: Vec<String> = fields[0].split('/').map(|rank| rank.chars().rev().collect()).collect();
                fields[0] = ranks.join("/");
            }
        }
        if let Some(ep) = fields.get_mut(3) {
            *ep = self.square(ep);
        }
        fields.join(" ")
    }
}

impl Case {
    /// The line of the case.
    ///
    /// # Errors
    ///
    /// Where the position or a move is wrong.
    pub fn line(&self) -> Result<Line, ParseError> {
        let moves = parse::moves_of(&self.line);
        match &self.setup {
            Some(setup) => Line::parse_with_setup(&self.fen, setup, moves),
            None => Line::parse(&self.fen, moves),
        }
    }

    /// The line of the case in a mirror.
    ///
    /// # Errors
    ///
    /// As [`Case::line`].
    pub fn mirrored(&self, mirror: Mirror) -> Result<Line, ParseError> {
        let line = self.line()?;
        let mode = koga::shakmaty::Position::castles(line.root()).mode();
        let uci = |m| mirror.square(&koga::shakmaty::uci::UciMove::from_move(m, mode).to_string());
        let moves: Vec<String> = line.moves.iter().map(|m| uci(*m)).collect();
        let fen = mirror.fen(&self.fen);
        let moves = moves.iter().map(String::as_str);
        match &self.setup {
            Some(setup) => Line::parse_with_setup(&fen, &mirror.square(setup), moves),
            None => Line::parse(&fen, moves),
        }
    }

    /// Whether the case shows its file's tactic, rather than a near miss of it.
    pub fn shows(&self, tactic: Tactic) -> bool {
        self.expect.iter().any(|expected| expected.tactic == tactic.name() && expected.role != "enabling")
    }

    /// Whether files may be mirrored: nobody may castle.
    pub fn is_file_mirrorable(&self) -> bool {
        self.fen.split_ascii_whitespace().nth(2).is_none_or(|rights| rights == "-")
    }

    /// Runs the case in a mirror.
    ///
    /// # Errors
    ///
    /// What came out wrong, with everything that was reported.
    pub fn check(&self, mirror: Mirror) -> Result<(), String> {
        let line = self.mirrored(mirror).map_err(|err| err.to_string())?;
        let report = analyze(&line);
        let wrong: Vec<String> = self.complaints(&report, mirror);
        if wrong.is_empty() { Ok(()) } else { Err(format!("{}\n{}", wrong.join("\n"), Shown(&report))) }
    }

    fn complaints(&self, report: &Report, mirror: Mirror) -> Vec<String> {
        let mut wrong = Vec::new();
        let named = |name: &str| Tactic::from_name(name).ok_or(format!("no tactic is called {name}"));
        for expected in &self.expect {
            if let Err(err) = named(&expected.tactic) {
                wrong.push(err);
            }
            if !report.findings.iter().any(|finding| expected.fits(finding, mirror)) {
                wrong.push(format!("missing: {expected:?}"));
            }
        }
        for name in &self.absent {
            wrong.extend(named(name).err());
            let there = report
                .findings
                .iter()
                .find(|finding| finding.tactic.name() == name && finding.role != koga::FindingRole::Enabling);
            wrong.extend(there.map(|finding| format!("should be absent: {name} on ply {}", finding.ply)));
        }
        for name in &self.superseded {
            if !report.superseded.iter().any(|lost| lost.finding.tactic.name() == name) {
                wrong.push(format!("not superseded: {name}"));
            }
        }
        for rule in &self.rejected {
            if !report.rejections.iter().any(|rejection| rejection.rule.id == rule) {
                wrong.push(format!("no rejection by {rule}"));
            }
        }
        if let Some(wanted) = &self.headline {
            let headline = report.headline.map_or("none", |index| report.findings[index].tactic.name());
            if headline != wanted {
                wrong.push(format!("headline is {headline}, not {wanted}"));
            }
        }
        wrong
    }
}

impl Expected {
    fn fits(&self, finding: &koga::Finding, mirror: Mirror) -> bool {
        let mirrored = |squares: &[String]| -> Vec<String> {
            let mut squares: Vec<String> = squares.iter().map(|sq| mirror.square(sq)).collect();
            squares.sort();
            squares
        };
        let mut targets: Vec<String> = finding.targets.iter().map(|sq| sq.to_string()).collect();
        targets.sort();
        finding.tactic.name() == self.tactic
            && finding.role.name() == self.role
            && finding.ply == self.ply
            && self.piece.as_ref().is_none_or(|piece| mirror.square(piece) == finding.piece.to_string())
            && (self.targets.is_empty() || mirrored(&self.targets) == targets)
            && mirrored(&self.not_targets).iter().all(|sq| !targets.contains(sq))
            && self.kind.as_deref().is_none_or(|kind| finding.kind.map(Kind::name) == Some(kind))
            && self.prize.is_none_or(|prize| finding.prize == Some(prize))
            && self.won.is_none_or(|won| finding.won == Some(won))
    }
}

/// A report in short, for a failed test.
struct Shown<'r>(&'r Report);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let squares =
            |squares: &[koga::shakmaty::Square]| squares.iter().map(|sq| sq.to_string()).collect::<Vec<_>>().join(" ");
        writeln!(f, "reported:")?;
        for finding in &self.0.findings {
            let kind = finding.kind.map_or("", Kind::name);
            writeln!(
                f,
                "  {} {kind} {} ply {} {} -> {}, prize {:?}, won {:?}",
                finding.tactic,
                finding.role.name(),
                finding.ply,
                finding.piece,
                squares(&finding.targets),
                finding.prize,
                finding.won
            )?;
        }
        for lost in &self.0.superseded {
            writeln!(f, "  superseded: {} by {} ({})", lost.finding.tactic, lost.by, lost.rule.id)?;
        }
        for rejection in &self.0.rejections {
            writeln!(f, "  rejected: {} on ply {} by {}", rejection.tactic, rejection.ply, rejection.rule.id)?;
        }
        Ok(())
    }
}

//! What is counted: puzzles by theme, and disagreements by the rule that made them, each with a few examples.

use std::collections::BTreeMap;

use koga::{
    Finding, FindingRole, Line, Report, Tactic, explain,
    render::{self, diagram::Diagram, svg},
    shakmaty::{EnPassantMode, fen::Fen},
};
use koga_tag::puzzles::Puzzle;

/// A theme of the Lichess puzzle file that has a counterpart among the tactics.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
    /// Its name in the column Themes.
    pub name: &'static str,
    /// The tactics that mean it.
    pub tactics: &'static [Tactic],
    /// Whether the label looks at the first move only, so that later findings say nothing about it.
    pub first_move: bool,
}

const fn theme(name: &'static str, tactics: &'static [Tactic]) -> Theme {
    Theme { name, tactics, first_move: false }
}

/// The themes that are compared.
pub const THEMES: [Theme; 13] = [
    theme("fork", &[Tactic::Fork]),
    theme("pin", &[Tactic::Pin]),
    theme("discoveredAttack", &[Tactic::DiscoveredAttack]),
    theme("discoveredCheck", &[Tactic::DiscoveredCheck]),
    theme("doubleCheck", &[Tactic::DoubleCheck]),
    theme("skewer", &[Tactic::Skewer]),
    theme("xRayAttack", &[Tactic::XRay]),
    theme("trappedPiece", &[Tactic::TrappedPiece]),
    Theme { name: "hangingPiece", tactics: &[Tactic::HangingCapture], first_move: true },
    theme("capturingDefender", &[Tactic::RemovingTheDefender]),
    theme("sacrifice", &[Tactic::Sacrifice]),
    theme("backRankMate", &[Tactic::BackRankMate]),
    theme("mate", &[Tactic::BackRankMate, Tactic::Checkmate]),
];

/// The tactics that no theme means.
pub const UNLABELLED: [Tactic; 2] = [Tactic::DoubleAttack, Tactic::PinnedDefender];

/// Whose word a disagreement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The label is there, Koga does not say it.
    LabelOnly,
    /// Koga says it, the label is not there.
    KogaOnly,
}

impl Side {
    /// Both, in the order of the report.
    pub const ALL: [Side; 2] = [Side::LabelOnly, Side::KogaOnly];

    /// As a heading.
    pub const fn title(self) -> &'static str {
        match self {
            Side::LabelOnly => "label only",
            Side::KogaOnly => "Koga only",
        }
    }
}

/// A puzzle that stands for its group.
#[derive(Debug, Clone)]
pub struct Example {
    /// What it is drawn by: the smallest are kept.
    lot: u64,
    /// Its name in the file; its FEN where it has none.
    pub id: String,
    /// Where the line begins.
    pub fen: String,
    /// The line, numbered.
    pub moves: String,
    /// What Koga says.
    pub says: String,
    /// The board on which it says so.
    pub diagram: Diagram,
}

/// Disagreements of one kind.
#[derive(Debug, Clone, Default)]
pub struct Group {
    /// How many.
    pub count: u64,
    /// Some of them.
    pub examples: Vec<Example>,
}

/// One theme, counted.
#[derive(Debug, Clone, Default)]
pub struct Entry {
    /// The label is there and Koga says it.
    pub both: u64,
    /// Disagreements, by side and by what made them.
    pub groups: BTreeMap<(Side, String), Group>,
}

/// Everything that is counted. Tallies of parts add up to the tally of the whole, whatever the parts.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// By [`THEMES`].
    pub entries: [Entry; THEMES.len()],
    /// By [`UNLABELLED`].
    pub unlabelled: [u64; UNLABELLED.len()],
}

impl Entry {
    /// The disagreements on one side.
    pub fn only(&self, side: Side) -> u64 {
        self.groups.iter().filter(|((of, _), _)| *of == side).map(|(_, group)| group.count).sum()
    }

    /// The groups of one side, the largest first.
    pub fn by_size(&self, side: Side) -> Vec<(&str, &Group)> {
        let groups = self.groups.iter().filter(|((of, _), _)| *of == side);
        let mut groups: Vec<(&str, &Group)> = groups.map(|((_, why), group)| (why.as_str(), group)).collect();
        groups.sort_by_key(|(why, group)| (std::cmp::Reverse(group.count), *why));
        groups
    }
}

impl Group {
    /// Keeps the `sample` smallest lots.
    fn keep(&mut self, lot: u64, sample: usize, make: impl FnOnce() -> Example) {
        let at = self.examples.partition_point(|other| other.lot <= lot);
        if at < sample {
            self.examples.insert(at, Example { lot, ..make() });
            self.examples.truncate(sample);
        }
    }
}

/// What a disagreement is about.
enum Word<'r> {
    Finding(&'r Finding),
    /// What Koga says instead, of the ply of that number.
    Text(String, usize),
}

impl Tally {
    /// Takes up a puzzle, as an example if its lot says so.
    pub fn add(&mut self, puzzle: &Puzzle, sample: usize) {
        let labels = puzzle.field("Themes").unwrap_or_default();
        let (line, report) = (puzzle.line, puzzle.report);
        for (count, tactic) in self.unlabelled.iter_mut().zip(UNLABELLED) {
            *count += u64::from(made(report, &[tactic], false).is_some());
        }
        for (entry, theme) in self.entries.iter_mut().zip(THEMES) {
            let labelled = labels.split_ascii_whitespace().any(|label| label == theme.name);
            let (side, (why, word)) = match (labelled, made(report, theme.tactics, theme.first_move)) {
                (true, Some(_)) => {
                    entry.both += 1;
                    continue;
                }
                (false, None) => continue,
                (true, None) => (Side::LabelOnly, missing(line, report, &theme)),
                (false, Some(finding)) => (Side::KogaOnly, (extra(line, finding), Word::Finding(finding))),
            };
            let group = entry.groups.entry((side, why)).or_default();
            group.count += 1;
            let fen = puzzle.field("FEN").unwrap_or_default();
            let moves = puzzle.field("Moves").unwrap_or_default();
            group.keep(lot(theme.name, fen, moves), sample, || example(puzzle, &word));
        }
    }

    /// Takes up another part.
    pub fn merge(&mut self, other: Tally, sample: usize) {
        for (count, more) in self.unlabelled.iter_mut().zip(other.unlabelled) {
            *count += more;
        }
        for (entry, more) in self.entries.iter_mut().zip(other.entries) {
            entry.both += more.both;
            for (key, part) in more.groups {
                let group = entry.groups.entry(key).or_default();
                group.count += part.count;
                for example in part.examples {
                    group.keep(example.lot, sample, || example);
                }
            }
        }
    }
}

/// The first finding of these tactics that the line makes.
fn made<'r>(report: &'r Report, tactics: &[Tactic], first_move: bool) -> Option<&'r Finding> {
    report.findings.iter().find(|finding| {
        tactics.contains(&finding.tactic)
            && match finding.role {
                FindingRole::Motif => true,
                FindingRole::FollowUp => !first_move,
                FindingRole::Enabling => false,
            }
    })
}

/// Why Koga does not say what the label says. What came furthest counts: what only lost against a rival, then what is
/// there but not made, then what relevance refused, then the first shape that a rule refused.
fn missing<'r>(line: &Line, report: &'r Report, theme: &Theme) -> (String, Word<'r>) {
    let is_it = |tactic: Tactic| theme.tactics.contains(&tactic);
    if let Some(finding) = made(report, theme.tactics, false) {
        return ("found on a later move".to_owned(), Word::Finding(finding));
    }
    if let Some(lost) = report.superseded.iter().find(|lost| is_it(lost.finding.tactic)) {
        let why = format!("superseded by {} ({})", lost.by, lost.rule.id);
        return (why, Word::Text(explain::superseded(line, lost), lost.finding.ply));
    }
    if let Some(finding) = report.findings.iter().find(|finding| is_it(finding.tactic)) {
        return ("only enabling".to_owned(), Word::Finding(finding));
    }
    let refused = || report.rejections.iter().filter(|rejection| is_it(rejection.tactic));
    let relevance = refused().find(|rejection| koga::arbiter::RULES.iter().any(|rule| rule.id == rejection.rule.id));
    match relevance.or_else(|| refused().next()) {
        Some(rejection) => {
            let why = format!("refused by {}: {}", rejection.rule.id, rejection.rule.text);
            (why, Word::Text(explain::rejection(line, rejection), rejection.ply))
        }
        None => {
            let headline = report.headline.map(|index| &report.findings[index]);
            let word = match headline {
                Some(finding) => Word::Finding(finding),
                None => Word::Text("No tactic to speak of.".to_owned(), 1),
            };
            ("no shape".to_owned(), word)
        }
    }
}

/// What a finding without a label is.
fn extra(line: &Line, finding: &Finding) -> String {
    let payoff = match finding.won {
        _ if finding.tactic.is_mate() => "mate",
        Some(won) if won > 0 => "the line pays",
        Some(_) => "the line passes it over",
        None => "the line does not show it",
    };
    let last = if finding.ply == line.len() { "last move" } else { "not the last move" };
    format!("{}, {payoff}, {last}", finding.role.name())
}

fn example(puzzle: &Puzzle, word: &Word) -> Example {
    let line = puzzle.line;
    let (says, diagram) = match word {
        Word::Finding(finding) => {
            let role = finding.role.name();
            let sentence = explain::finding(line, finding);
            (format!("{}, {role}: {sentence}", explain::title(finding.tactic)), svg::of_finding(line, finding))
        }
        Word::Text(text, ply) => (text.clone(), svg::plain(line, *ply)),
    };
    let fen = Fen::from_position(line.root(), EnPassantMode::Legal).to_string();
    let id = puzzle.field("PuzzleId").map_or_else(|| fen.clone(), str::to_owned);
    Example { lot: 0, id, fen, moves: render::text::moves(line), says, diagram }
}

/// A number that draws examples: the same for the same puzzle, whatever file it stands in. FNV-1a with its bits mixed,
/// since the last letters of a line hardly reach the high ones.
fn lot(theme: &str, fen: &str, moves: &str) -> u64 {
    let bytes = [theme, fen, moves].into_iter().flat_map(|text| text.bytes().chain([0]));
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (hash ^ (hash >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

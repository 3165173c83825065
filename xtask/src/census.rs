//! What the program says of a fixed set of puzzles and quiet positions, counted: the behaviour's signature. A commit that
//! changes verdicts changes these counts, and says so.

use std::{collections::BTreeMap, fmt::Write, fs};

use koga::{Finding, Line, analyze};

use crate::{root, settle};

/// One position a line: `puzzle` or `quiet`, FEN, moves in UCI; of a puzzle the first is the enemy's.
const POSITIONS: &str = "census/positions.csv";
const COUNTS: &str = "census/counts.txt";

/// Counts, and writes or compares the result.
pub fn run(check: bool) -> Result<(), String> {
    let text = fs::read_to_string(root().join(POSITIONS)).map_err(|err| format!("{POSITIONS}: {err}"))?;
    let mut counts: BTreeMap<String, [u32; 2]> = BTreeMap::new();
    let mut signature = Signature::new();
    for (index, row) in text.lines().enumerate() {
        let (quiet, line) = parse(row).map_err(|err| format!("{POSITIONS}, line {}: {err}", index + 1))?;
        let report = analyze(&line);
        let mut count = |key: String| counts.entry(key).or_default()[usize::from(quiet)] += 1;
        for finding in &report.findings {
            count(format!("{} {}", finding.tactic, finding.role.name()));
            signature.add(&summary(finding));
        }
        for lost in &report.superseded {
            count(format!("{} superseded", lost.finding.tactic));
            signature.add(&format!("{} {} {}", summary(&lost.finding), lost.by, lost.rule.id));
        }
        for rejection in &report.rejections {
            count(format!("{} refused by {}", rejection.tactic, rejection.rule.id));
            signature.add(&format!("{} {} {}", rejection.tactic, rejection.ply, rejection.rule.id));
        }
        signature.add(&format!("{:?} {}", report.headline, line.won()));
    }
    let mut out = format!("signature {:016x}\n\n{:>8} {:>8}\n", signature.0, "puzzles", "quiet");
    for (key, [puzzles, quiet]) in counts {
        let _ = writeln!(out, "{puzzles:>8} {quiet:>8}  {key}");
    }
    settle(COUNTS, &out, check)
}

fn parse(row: &str) -> Result<(bool, Line), String> {
    let fields: Vec<&str> = row.split(',').collect();
    let [kind, fen, moves] = fields[..] else { return Err("three fields are needed".to_owned()) };
    let mut moves = moves.split(' ');
    let line = match (kind, moves.next()) {
        ("puzzle", Some(setup)) => Line::parse_with_setup(fen, setup, moves),
        ("quiet", Some(first)) => Line::parse(fen, std::iter::once(first).chain(moves)),
        _ => return Err(format!("no such kind: {kind}")),
    };
    line.map(|line| (kind == "quiet", line)).map_err(|err| err.to_string())
}

fn summary(finding: &Finding) -> String {
    let Finding { tactic, role, kind, ply, piece, targets, squares: _, prize, won } = finding;
    format!("{tactic} {role:?} {kind:?} {ply} {piece} {targets:?} {prize:?} {won:?}")
}

/// FNV-1a, 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>): the same on every machine.
struct Signature(u64);

impl Signature {
    fn new() -> Signature {
        Signature(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([b'\n']) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

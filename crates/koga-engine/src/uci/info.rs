//! Reads what engines write about a search. Whatever is not understood is passed over.

use crate::Score;

/// A line of play as the engine wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Info {
    /// The line's rank among several, from 1.
    pub rank: usize,
    pub depth: u32,
    pub nodes: u64,
    pub score: Score,
    /// Whether the score is only a bound.
    pub is_bound: bool,
    pub pv: Vec<String>,
}

impl Info {
    /// Whether the other is news of the same: a score of the same move at the same rank, or a bound.
    pub(crate) fn is_replaced_by(&self, other: &Info) -> bool {
        (self.rank, self.is_bound, &self.pv[0]) == (other.rank, other.is_bound, &other.pv[0])
    }
}

/// The words that begin a new part of an info line.
const KEYWORDS: [&str; 18] = [
    "depth",
    "seldepth",
    "time",
    "nodes",
    "pv",
    "multipv",
    "score",
    "currmove",
    "currmovenumber",
    "hashfull",
    "nps",
    "tbhits",
    "sbhits",
    "cpuload",
    "string",
    "refutation",
    "currline",
    "wdl",
];

/// The line an info line tells of, if it has both a score and moves.
pub(crate) fn parse(text: &str) -> Option<Info> {
    let mut words = text.split_ascii_whitespace().peekable();
    if words.next() != Some("info") {
        return None;
    }
    let mut info = Info { rank: 1, depth: 0, nodes: 0, score: Score::Cp(0), is_bound: false, pv: Vec::new() };
    let mut scored = false;
    while let Some(word) = words.next() {
        match word {
            "string" => break,
            "multipv" => info.rank = words.next()?.parse().ok()?,
            "depth" => info.depth = words.next()?.parse().ok()?,
            "nodes" => info.nodes = words.next()?.parse().ok()?,
            "cp" => {
                info.score = Score::Cp(words.next()?.parse().ok()?);
                scored = true;
            }
            "mate" => {
                info.score = Score::Mate(words.next()?.parse().ok()?);
                scored = true;
            }
            "lowerbound" | "upperbound" => info.is_bound = true,
            "pv" => {
                while let Some(m) = words.next_if(|word| !KEYWORDS.contains(word)) {
                    info.pv.push(m.to_owned());
                }
            }
            _ => {}
        }
    }
    (scored && !info.pv.is_empty() && info.rank > 0).then_some(info)
}

/// The option an engine says it has.
pub(crate) fn option_name(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("option")?.trim_start().strip_prefix("name ")?;
    let end = rest.find(" type ").unwrap_or(rest.len());
    Some(rest[..end].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_whatever_stands_between() {
        let text = "info depth 12 seldepth 18 multipv 2 score cp -31 upperbound wdl 3 950 47 nodes 1234 nps 9 \
                    hashfull 1 tbhits 0 time 5 pv e2e4 e7e5 g1f3";
        let info = parse(text).unwrap();
        assert_eq!((info.rank, info.depth, info.nodes), (2, 12, 1234));
        assert_eq!((info.score, info.is_bound), (Score::Cp(-31), true));
        assert_eq!(info.pv, ["e2e4", "e7e5", "g1f3"]);
    }

    #[test]
    fn moves_end_where_another_part_begins() {
        let info = parse("info pv e2e4 e7e5 score mate -3 depth 7").unwrap();
        assert_eq!((info.pv.len(), info.score, info.depth), (2, Score::Mate(-3), 7));
    }

    #[test]
    fn lines_without_moves_or_score_tell_nothing() {
        for text in [
            "",
            "info",
            "bestmove e2e4",
            "info depth 3 currmove e2e4 currmovenumber 1",
            "info string pv e2e4 score cp 3",
            "info depth 3 score cp 12",
            "info depth 3 pv e2e4",
            "info depth x score cp 12 pv e2e4",
            "info depth 3 score cp 99999999999 pv e2e4",
            "info score cp",
            "info multipv 0 score cp 1 pv e2e4",
            "infodepth 3 score cp 12 pv e2e4",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn option_names_may_have_blanks() {
        assert_eq!(option_name("option name Clear Hash type button"), Some("Clear Hash"));
        assert_eq!(option_name("option name UCI_Chess960 type check default false"), Some("UCI_Chess960"));
        assert_eq!(option_name("id name x"), None);
    }
}

//! The report as JSON, version 1.

use serde::Serialize;
use serde_json::{Map, Value, json};
use shakmaty::{Bitboard, EnPassantMode, Position, Square, fen::Fen, uci::UciMove};

use crate::{Finding, Line, Rejection, Report, Superseded, parse};

/// The version of the shape that [`report`] gives.
pub const VERSION: u32 = 1;

/// The report of a line, ready to be written; `id` is the request's.
pub fn report(line: &Line, report: &Report, id: Value) -> Value {
    json!({
        "version": VERSION,
        "id": id,
        "fen": Fen::from_position(line.root(), EnPassantMode::Legal).to_string(),
        "pov": line.pov().fold_wb("white", "black"),
        "line": (1..=line.len()).filter_map(|n| line.ply(n)).map(|ply| ply.san()).collect::<Vec<_>>(),
        "uci": (1..=line.len()).filter_map(|n| line.ply(n)).map(|ply| UciMove::from_move(ply.m, ply.before.castles().mode()).to_string()).collect::<Vec<_>>(),
        "won": line.won(),
        "headline": report.headline,
        "findings": report.findings.iter().map(|f| finding(line, f)).collect::<Vec<_>>(),
        "superseded": report.superseded.iter().map(|s| superseded(line, s)).collect::<Vec<_>>(),
        "rejections": report.rejections.iter().map(rejection).collect::<Vec<_>>(),
    })
}

fn finding(line: &Line, finding: &Finding) -> Value {
    let squares: Map<String, Value> =
        finding.squares.iter().map(|(mark, set)| (mark.name().to_owned(), names(*set))).collect();
    json!({
        "tactic": finding.tactic.name(),
        "role": finding.role.name(),
        "ply": finding.ply,
        "move": line.ply(finding.ply).map(|ply| ply.san()),
        "kind": finding.kind.map(|kind| kind.name()),
        "piece": finding.piece.to_string(),
        "targets": finding.targets.iter().map(Square::to_string).collect::<Vec<_>>(),
        "squares": squares,
        "prize": finding.prize,
        "won": finding.won,
        "text": "",
    })
}

fn superseded(line: &Line, lost: &Superseded) -> Value {
    let mut value = finding(line, &lost.finding);
    value["by"] = json!(lost.by.name());
    value["rule"] = json!(lost.rule.id);
    value
}

fn rejection(rejection: &Rejection) -> Value {
    json!({
        "tactic": rejection.tactic.name(),
        "ply": rejection.ply,
        "rule": rejection.rule.id,
        "squares": names(rejection.squares),
        "text": rejection.rule.text,
    })
}

fn names(set: Bitboard) -> Value {
    set.into_iter().map(|sq| sq.to_string()).collect()
}

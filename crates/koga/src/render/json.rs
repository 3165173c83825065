//! The report as JSON, version 1.

use std::collections::BTreeMap;

use serde::Serialize;
use shakmaty::{Bitboard, EnPassantMode, Position, Square, fen::Fen, uci::UciMove};

use crate::{Finding, Line, Rejection, Report, Superseded, explain, material::Points};

/// The version of the shape.
pub const VERSION: u32 = 1;

/// A report as it is written.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Report"))]
pub struct JsonReport<I> {
    /// [`VERSION`].
    pub version: u32,
    /// The request's own name for itself.
    pub id: I,
    /// The root.
    pub fen: String,
    /// The side whose line it is: `white` or `black`.
    pub pov: &'static str,
    /// The line in SAN.
    pub line: Vec<String>,
    /// The line in UCI.
    pub uci: Vec<String>,
    /// Points that the line wins.
    pub won: Points,
    /// Index into `findings`.
    pub headline: Option<usize>,
    /// What stands.
    pub findings: Vec<JsonFinding>,
    /// What lost against a rival.
    pub superseded: Vec<JsonSuperseded>,
    /// What a rule refused.
    pub rejections: Vec<JsonRejection>,
}

/// A finding as it is written.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Finding"))]
pub struct JsonFinding {
    /// The tactic's name.
    pub tactic: &'static str,
    /// The role's name.
    pub role: &'static str,
    /// The ply, counted from 1.
    pub ply: usize,
    /// The move of that ply in SAN.
    #[serde(rename = "move")]
    pub san: String,
    /// The variety, where the tactic has several.
    pub kind: Option<&'static str>,
    /// Where the acting piece stands.
    pub piece: String,
    /// What it acts on.
    pub targets: Vec<String>,
    /// Other squares that matter, by why they do.
    pub squares: BTreeMap<&'static str, Vec<String>>,
    /// Points at stake; null where it is the king.
    pub prize: Option<Points>,
    /// Points that the line shows it winning.
    pub won: Option<Points>,
    /// The sentence.
    pub text: String,
}

/// A finding that lost, as it is written.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Superseded"))]
pub struct JsonSuperseded {
    /// What lost; its text says why.
    #[serde(flatten)]
    pub finding: JsonFinding,
    /// The winner's name.
    pub by: &'static str,
    /// The rule's number.
    pub rule: &'static str,
}

/// A rejection as it is written.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rejection"))]
pub struct JsonRejection {
    /// The tactic that it would have been.
    pub tactic: &'static str,
    /// The ply, counted from 1.
    pub ply: usize,
    /// The rule's number.
    pub rule: &'static str,
    /// The squares of the shape.
    pub squares: Vec<String>,
    /// The sentence.
    pub text: String,
}

/// The report of a line, ready to be written.
pub fn report<I>(line: &Line, report: &Report, id: I) -> JsonReport<I> {
    let plies = || (1..=line.len()).filter_map(|number| line.ply(number));
    let san: Vec<String> = plies().map(|ply| ply.san()).collect();
    JsonReport {
        version: VERSION,
        id,
        fen: Fen::from_position(line.root(), EnPassantMode::Legal).to_string(),
        pov: line.pov().fold_wb("white", "black"),
        uci: plies().map(|ply| UciMove::from_move(ply.m, ply.before.castles().mode()).to_string()).collect(),
        won: line.won(),
        headline: report.headline,
        findings: report.findings.iter().map(|f| finding(line, &san, f)).collect(),
        superseded: report.superseded.iter().map(|lost| superseded(line, &san, lost)).collect(),
        rejections: report.rejections.iter().map(|r| rejection(line, r)).collect(),
        line: san,
    }
}

fn finding(line: &Line, san: &[String], finding: &Finding) -> JsonFinding {
    JsonFinding {
        tactic: finding.tactic.name(),
        role: finding.role.name(),
        ply: finding.ply,
        san: san[finding.ply - 1].clone(),
        kind: finding.kind.map(|kind| kind.name()),
        piece: finding.piece.to_string(),
        targets: finding.targets.iter().map(Square::to_string).collect(),
        squares: finding.squares.iter().map(|(mark, set)| (mark.name(), names(*set))).collect(),
        prize: finding.prize,
        won: finding.won,
        text: explain::finding(line, finding),
    }
}

fn superseded(line: &Line, san: &[String], lost: &Superseded) -> JsonSuperseded {
    let mut finding = finding(line, san, &lost.finding);
    finding.text = explain::superseded(line, lost);
    JsonSuperseded { finding, by: lost.by.name(), rule: lost.rule.id }
}

fn rejection(line: &Line, rejection: &Rejection) -> JsonRejection {
    JsonRejection {
        tactic: rejection.tactic.name(),
        ply: rejection.ply,
        rule: rejection.rule.id,
        squares: names(rejection.squares),
        text: explain::rejection(line, rejection),
    }
}

fn names(set: Bitboard) -> Vec<String> {
    set.into_iter().map(|sq| sq.to_string()).collect()
}

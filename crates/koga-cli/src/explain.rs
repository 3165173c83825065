//! `koga explain`: one position, one line, one answer.

use std::fmt;

use clap::ValueEnum;
use koga::{
    Finding, FindingRole, Line, Report, Tactic, analyze, explain,
    material::Points,
    parse::{self, ParseError},
    render::{self, json::JsonReport},
    shakmaty::{Chess, Move, Position},
};
use koga_engine::{Engine, EngineError, Limits, PvLine, Score};
use koga_review::{contradicts, cut, headline, render::json::JsonScore, win::chances};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    engine::EngineArgs,
    request::{Problem, Question, RequestError, question},
};

/// What to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// A board and sentences.
    #[default]
    Text,
    /// The report, as `--jsonl` writes it.
    Json,
    /// One board with the headline's arrows and squares.
    Svg,
}

/// What the command line asks for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The position.
    pub fen: String,
    /// The candidate move.
    pub candidate: Option<String>,
    /// The whole line, the candidate (or, with `setup`, the enemy's move) first.
    pub line: Option<String>,
    /// Whether the line's first move is the enemy's.
    pub setup: bool,
    /// What to print.
    pub format: Format,
    /// The one tactic to speak of.
    pub why_not: Option<Tactic>,
    /// Whether to colour the board.
    pub colored: bool,
    /// Lines that the engine is asked for; 0 counts as 1.
    pub multipv: usize,
    /// The engine that finds the line where none is given.
    pub engine: EngineArgs,
}

/// What the program prints for a request. Where no line is given, the engine finds it.
///
/// # Errors
///
/// A message for the user, with the place at fault pointed at.
pub fn run(request: &Request) -> Result<String, String> {
    let moves_given = request.candidate.as_deref().map_or(0, |text| parse::moves_of(text).count());
    if request.line.is_none() && moves_given < 2 {
        return by_engine(request);
    }
    let line = parse(request)?;
    let report = analyze(&line);
    Ok(match (request.why_not, request.format) {
        (Some(tactic), _) => render::text::why_not(&line, &report, tactic),
        (None, Format::Text) => render::text::report(&line, &report, request.colored),
        (None, Format::Svg) => render::svg::report(&line, &report),
        (None, Format::Json) => to_json(&render::json::report(&line, &report, ()))?,
    })
}

/// Nodes for a position where nothing else is asked for: a fraction of a second.
pub const DEFAULT_NODES: u64 = 200_000;

/// A report on a line of the engine's, as it is written.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ScoredReport")]
pub struct ScoredReport<I> {
    /// The report.
    #[serde(flatten)]
    pub report: JsonReport<I>,
    /// The engine's score of the line, from the side whose line it is.
    pub score: JsonScore,
    /// What the line is: `best`, or for a move that was given `move`, and then `reply` for what it allows and `better` for a
    /// move that is clearly better.
    pub part: &'static str,
}

/// A line of the engine's with its report.
#[derive(Debug)]
pub struct Scored {
    /// The line.
    pub line: Line,
    /// What Koga says of it.
    pub report: Report,
    /// What the engine said.
    pub found: PvLine,
    /// As [`ScoredReport::part`].
    pub part: &'static str,
}

impl Scored {
    fn new(root: &Chess, setup: Option<Move>, found: PvLine, part: &'static str) -> Option<Scored> {
        Scored::judged(root, setup, found, part, false)
    }

    fn judged(
        root: &Chess,
        setup: Option<Move>,
        found: PvLine,
        part: &'static str,
        is_mistake: bool,
    ) -> Option<Scored> {
        let line = cut(root, setup, &found.moves, found.score)?;
        let mut report = analyze(&line);
        let is_idle = |index: usize| is_idle(&line, &report.findings[index], found.score, is_mistake);
        report.headline = report.headline.filter(|index| !is_idle(*index));
        Some(Scored { line, report, found, part })
    }

    /// The report, ready to be written.
    pub fn json<I>(&self, id: I) -> ScoredReport<I> {
        let report = render::json::report(&self.line, &self.report, id);
        ScoredReport { report, score: self.found.score.into(), part: self.part }
    }
}

/// A side with this score, in hundredths of a pawn, is better.
const BETTER: i32 = 100;

/// What a later tactic must win, in points, to be named first.
const WORTH_WAITING: Points = 2;

/// Whether a line that nobody asked for is better met with silence than with this finding: it comes late, or wins next to nothing;
/// or the side is no better for a first move that is a mistake, or that takes what only restores the balance, as a recapture
/// does whose occasion the FEN does not tell.
fn is_idle(line: &Line, finding: &Finding, score: Score, is_mistake: bool) -> bool {
    if finding.tactic.is_mate() {
        return false;
    }
    let is_better = match score {
        Score::Cp(cp) => cp >= BETTER,
        Score::Mate(n) => n > 0,
    };
    let restores = || {
        let balance = line.balance(0);
        line.setup.is_none() && finding.ply == 1 && balance < 0 && balance + finding.won.unwrap_or_default() <= 0
    };
    let pays_soon = finding.ply <= 3 && finding.won >= Some(WORTH_WAITING) && line.won() > 0;
    (finding.role == FindingRole::FollowUp && !pays_soon)
        || (!is_better && (is_mistake || finding.tactic == Tactic::HangingCapture && restores()))
}

/// Why an engine has no line for a position.
#[derive(Debug)]
pub enum NoLine {
    /// The game is over: by checkmate, or else by stalemate.
    Over(bool),
    /// The engine failed.
    Engine(EngineError),
}

impl fmt::Display for NoLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self {
            NoLine::Engine(err) => return err.fmt(f),
            NoLine::Over(true) => "checkmate",
            NoLine::Over(false) => "stalemate",
        };
        write!(f, "there is no move in the position: it is {how}")
    }
}

impl std::error::Error for NoLine {}

/// The engine's lines of a position, at least one: its best, as many as the limits ask for; or, of a move that is given, the
/// line that begins with it, what it allows, and a clearly better one.
///
/// # Errors
///
/// [`NoLine`] where the game is over or the engine fails.
pub fn scored(question: &Question, limits: &Limits, engine: &mut dyn Engine) -> Result<Vec<Scored>, NoLine> {
    let Question { root, setup, candidate } = question;
    let over = || NoLine::Over(root.is_checkmate());
    if root.legal_moves().is_empty() {
        return Err(over());
    }
    let mut search = |limits: &Limits| engine.analyse(root, limits).map_err(NoLine::Engine);
    let mut lines = Vec::new();
    match *candidate {
        None => lines.extend(search(limits)?.into_iter().filter_map(|found| Scored::new(root, *setup, found, "best"))),
        Some(m) => {
            let best = search(limits)?.into_iter().next();
            let is_best = best.as_ref().is_some_and(|best| best.moves[0] == m);
            let found = match best.clone().filter(|_| is_best) {
                Some(best) => Some(best),
                None => search(&limits.clone().with_root_moves([m]))?.into_iter().next(),
            };
            let found = found.ok_or_else(over)?;
            let clearly = |best: &PvLine| !is_best && chances(best.score) - chances(found.score) >= CLEARLY;
            let better = best.filter(clearly);
            let reply = better.as_ref().and_then(|_| reply(root, &found));
            lines.extend(Scored::judged(root, *setup, found, "move", better.is_some()));
            lines.extend(reply);
            lines.extend(better.and_then(|better| Scored::new(root, *setup, better, "better")));
        }
    }
    if lines.is_empty() { Err(over()) } else { Ok(lines) }
}

fn by_engine(request: &Request) -> Result<String, String> {
    let text = request.candidate.as_deref();
    let question = question(&request.fen, None, text).map_err(|err| match err {
        RequestError::Parse(err) => point_at(&err, &request.fen, text.unwrap_or_default(), false),
        err => Problem::from(&err).message.into_owned(),
    })?;
    if question.root.legal_moves().is_empty() {
        return Err(NoLine::Over(question.root.is_checkmate()).to_string());
    }
    let mut engine = request.engine.open().map_err(|err| err.to_string())?;
    let limits = request.engine.limits(DEFAULT_NODES).with_lines(request.multipv.max(1));
    let lines = scored(&question, &limits, &mut *engine).map_err(|err| err.to_string())?;
    let first = &lines[0];
    match (request.why_not, request.format) {
        (Some(tactic), _) => Ok(render::text::why_not(&first.line, &first.report, tactic)),
        (None, Format::Text) => Ok(in_words(&lines, engine.name(), request.colored)),
        (None, Format::Svg) => Ok(render::svg::report(&first.line, &first.report)),
        (None, Format::Json) => lines.iter().map(|scored| to_json(&scored.json(()))).collect(),
    }
}

/// A move is clearly better from the loss on that earns the other an inaccuracy.
const CLEARLY: f64 = 0.1;

/// What the enemy's answer in the line wins by a tactic.
fn reply(root: &Chess, found: &PvLine) -> Option<Scored> {
    let (m, rest) = found.moves.split_first()?;
    let mut after = root.clone();
    after.play_unchecked(*m);
    let score = match found.score {
        Score::Cp(cp) => Score::Cp(-cp),
        Score::Mate(n) if n > 0 => Score::Mate(1 - n),
        Score::Mate(n) => Score::Mate(-n),
    };
    let found = PvLine { moves: rest.to_vec(), score, ..found.clone() };
    let reply = Scored::new(&after, Some(*m), found, "reply")?;
    let pays = headline(&reply.line, &reply.report).is_some() && !contradicts(&reply.line, score);
    pays.then_some(reply)
}

fn in_words(lines: &[Scored], engine: &str, colored: bool) -> String {
    let mut out = String::new();
    for (index, scored) in lines.iter().enumerate() {
        let root = scored.line.root();
        match scored.part {
            "reply" => {
                let Some(finding) = headline(&scored.line, &scored.report) else { continue };
                out += "\nWhat the move allows:\n";
                out += &format!("  {}\n", explain::finding(&scored.line, &scored.report.findings[finding]));
                out += &format!("  {}\n", render::text::moves(&scored.line));
                continue;
            }
            "better" => out += "\nClearly better:\n\n",
            _ if index > 0 => out += &format!("\nLine {}:\n\n", index + 1),
            _ => {}
        }
        out += &render::text::report(&scored.line, &scored.report, colored);
        out.push('\n');
        let side = root.turn().fold_wb("White", "Black");
        let found = &scored.found;
        let score = match found.score {
            Score::Mate(n) if n > 0 => format!("{side} mates in {n}"),
            Score::Mate(n) => format!("{side} is mated in {}", -n),
            score => format!("{score} for {side}"),
        };
        out += &format!("Score: {score} ({engine}, depth {}, {} nodes)\n", found.depth, found.nodes);
        if contradicts(&scored.line, found.score) {
            out += "The score says less than the line: the engine does not expect all of that to last.\n";
        }
    }
    out
}

fn to_json(json: &impl Serialize) -> Result<String, String> {
    Ok(serde_json::to_string(json).map_err(|err| err.to_string())? + "\n")
}

fn parse(request: &Request) -> Result<Line, String> {
    let text = request.line.as_deref().or(request.candidate.as_deref()).unwrap_or_default();
    let mut moves = parse::moves_of(text);
    let parsed = if request.setup {
        let setup = moves.next().ok_or_else(|| ParseError::EmptyLine.to_string())?;
        Line::parse_with_setup(&request.fen, setup, moves)
    } else {
        Line::parse(&request.fen, moves)
    };
    let line = parsed.map_err(|err| point_at(&err, &request.fen, text, request.setup))?;
    let Some(candidate) = request.candidate.as_deref().filter(|_| request.line.is_some()) else {
        return Ok(line);
    };
    match parse::parse_move(line.root(), candidate) {
        Ok(m) if m == line.moves[0] => Ok(line),
        Ok(_) => Err(format!("the line does not begin with the move \"{candidate}\"")),
        Err(reason) => Err(ParseError::Move { ply: 1, token: candidate.to_owned(), reason }.to_string()),
    }
}

/// The message, and under it the text at fault with the token underlined.
fn point_at(err: &ParseError, fen: &str, line: &str, setup: bool) -> String {
    let (text, token, nth) = match err {
        ParseError::Fen { token: Some(token), .. } => (fen, token, 0),
        ParseError::Move { ply, token, .. } => (line, token, if setup { *ply } else { *ply - 1 }),
        _ => return err.to_string(),
    };
    let start = if std::ptr::eq(text, fen) {
        fen.split_ascii_whitespace().find(|field| field == token).map(|field| offset(fen, field))
    } else {
        parse::moves_of(line).nth(nth).map(|found| offset(line, found))
    };
    match start {
        Some(start) if text.len() < 200 => {
            let indent = text[..start].chars().count();
            format!(
                "{err}\n  {}\n  {}{}",
                render::text::printable(text),
                " ".repeat(indent),
                "^".repeat(token.chars().count().max(1))
            )
        }
        _ => err.to_string(),
    }
}

/// Where `part`, a slice of `whole`, begins in it.
fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

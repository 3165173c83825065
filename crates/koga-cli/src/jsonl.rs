//! `koga explain --jsonl`: one request a line in, one report a line out.

use std::{
    borrow::Cow,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
};

use koga::{
    Line, analyze,
    parse::{ParseError, parse_fen, parse_move},
    render,
    shakmaty::{Chess, Move, Position},
};
use koga_engine::{Engine, Score};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    engine::EngineArgs,
    explain::{DEFAULT_NODES, ScoredReport, best_line},
};

/// A longer request is refused: no position and line need as much.
pub const LONGEST_REQUEST: usize = 1 << 20;

/// One request.
#[derive(Debug, Deserialize)]
pub struct Request<'a> {
    /// Whatever the caller tells requests apart by.
    #[serde(borrow, default)]
    pub id: Option<&'a RawValue>,
    /// The position: the root or, with `setup`, the one before it.
    #[serde(borrow)]
    pub fen: Cow<'a, str>,
    /// The line, the candidate first, in UCI or SAN; the engine finds it if there is none.
    #[serde(borrow, default)]
    pub moves: Option<Vec<Cow<'a, str>>>,
    /// The enemy's move that leads to the root.
    #[serde(borrow, default)]
    pub setup: Option<Cow<'a, str>>,
}

/// An answer to a request that failed.
#[derive(Debug, Serialize)]
struct Failure<'a> {
    id: Option<&'a RawValue>,
    error: Error<'a>,
}

#[derive(Debug, Serialize)]
struct Error<'a> {
    kind: &'static str,
    ply: Option<usize>,
    token: Option<&'a str>,
    message: String,
}

/// Answers every request of `input` and returns how many failed. Empty lines are passed over.
///
/// # Errors
///
/// Only those of reading and writing.
pub fn run(input: impl Read, output: impl Write, engine: &EngineArgs) -> io::Result<u64> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut output = BufWriter::with_capacity(1 << 16, output);
    let mut request = Vec::new();
    let mut failed = 0;
    let mut engine = LazyEngine { args: engine, opened: None };
    while read_line(&mut input, &mut request)? {
        if request.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        failed += u64::from(!answer(&request, &mut output, &mut engine)?);
        output.write_all(b"\n")?;
        // Whoever waits for an answer before asking again gets it.
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    output.flush()?;
    Ok(failed)
}

/// An engine that is opened when the first request needs it.
struct LazyEngine<'a> {
    args: &'a EngineArgs,
    opened: Option<Box<dyn Engine + Send>>,
}

impl LazyEngine<'_> {
    fn line(&mut self, root: &Chess, setup: Option<Move>) -> Result<(Line, Score), RequestError> {
        let engine = match &mut self.opened {
            Some(engine) => engine,
            None => self.opened.insert(self.args.open().map_err(|err| RequestError::Engine(err.to_string()))?),
        };
        let limits = self.args.limits(DEFAULT_NODES);
        best_line(root, setup, &limits, &mut **engine).map_err(RequestError::Engine)
    }
}

/// Writes the answer to one request; whether it succeeded.
fn answer(request: &[u8], output: &mut impl Write, engine: &mut LazyEngine) -> io::Result<bool> {
    let (id, err) = match parse(request) {
        Ok((id, Asked::Line(line))) => {
            let report = analyze(&line);
            serde_json::to_writer(output, &render::json::report(&line, &report, id))?;
            return Ok(true);
        }
        Ok((id, Asked::Best(root, setup))) => match engine.line(&root, setup) {
            Ok((line, score)) => {
                let report = render::json::report(&line, &analyze(&line), id);
                serde_json::to_writer(output, &ScoredReport { report, score: score.into(), part: "best" })?;
                return Ok(true);
            }
            Err(err) => (id, err),
        },
        Err(failure) => failure,
    };
    serde_json::to_writer(output, &Failure { id, error: describe(&err) })?;
    Ok(false)
}

/// What a request asks for.
enum Asked {
    /// A report on a line.
    Line(Line),
    /// A report on the best line of a position.
    Best(Chess, Option<Move>),
}

enum RequestError {
    Request(String),
    Parse(ParseError),
    Engine(String),
}

type Answered<'a, T> = Result<(Option<&'a RawValue>, T), (Option<&'a RawValue>, RequestError)>;

fn parse(request: &[u8]) -> Answered<'_, Asked> {
    let refuse = |message: String| (None, RequestError::Request(message));
    if request.len() > LONGEST_REQUEST {
        return Err(refuse(format!("the request is longer than {LONGEST_REQUEST} bytes")));
    }
    let text = std::str::from_utf8(request)
        .map_err(|err| refuse(format!("the request is not UTF-8 from byte {} on", err.valid_up_to() + 1)))?;
    let text = text.trim_start_matches('\u{feff}');
    if !text.trim_start().starts_with('{') {
        return Err(refuse("not a request: a JSON object is needed".to_owned()));
    }
    let request: Request = serde_json::from_str(text).map_err(|err| {
        (
            id_of(text),
            RequestError::Request(format!("not a request: {}", err.to_string().replace("line 1 column", "column"))),
        )
    })?;
    let asked = match (&request.setup, &request.moves) {
        (Some(setup), Some(moves)) => {
            Line::parse_with_setup(&request.fen, setup, moves.iter().map(AsRef::as_ref)).map(Asked::Line)
        }
        (None, Some(moves)) => Line::parse(&request.fen, moves.iter().map(AsRef::as_ref)).map(Asked::Line),
        (setup, None) => root(&request.fen, setup.as_deref()).map(|(root, setup)| Asked::Best(root, setup)),
    };
    match asked {
        Ok(asked) => Ok((request.id, asked)),
        Err(err) => Err((request.id, RequestError::Parse(err))),
    }
}

/// The position that a request speaks of, and the enemy's move that led to it.
fn root(fen: &str, setup: Option<&str>) -> Result<(Chess, Option<Move>), ParseError> {
    let mut pos = parse_fen(fen)?;
    let Some(token) = setup else { return Ok((pos, None)) };
    let m = parse_move(&pos, token).map_err(|reason| ParseError::Move { ply: 0, token: token.to_owned(), reason })?;
    pos.play_unchecked(m);
    Ok((pos, Some(m)))
}

/// The id of a request that is not one otherwise.
fn id_of(text: &str) -> Option<&RawValue> {
    #[derive(Deserialize)]
    struct Id<'a> {
        #[serde(borrow, default)]
        id: Option<&'a RawValue>,
    }
    serde_json::from_str::<Id>(text).ok()?.id
}

fn describe(err: &RequestError) -> Error<'_> {
    match err {
        RequestError::Request(message) => Error { kind: "request", ply: None, token: None, message: message.clone() },
        RequestError::Engine(message) => Error { kind: "engine", ply: None, token: None, message: message.clone() },
        RequestError::Parse(err) => {
            let (kind, ply, token) = match err {
                ParseError::Fen { token, .. } => ("fen", None, token.as_deref()),
                ParseError::Move { ply, token, .. } => ("move", Some(*ply), Some(token.as_str())),
                ParseError::EmptyLine | ParseError::TooLong => ("request", None, None),
            };
            Error { kind, ply, token, message: err.to_string() }
        }
    }
}

/// Reads a line without its end into `line`; false at the end of the input. Of a line that is too long only as much is kept
/// as shows that it is.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut any = false;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(buffer.len());
        let room = (LONGEST_REQUEST + 1).saturating_sub(line.len());
        line.extend_from_slice(&buffer[..taken.min(room)]);
        input.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(true);
        }
    }
}

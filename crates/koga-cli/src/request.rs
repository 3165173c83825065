//! Requests for an explanation as JSON, and what is answered to those that fail: shared by `koga explain --jsonl` and
//! `koga serve`.

use std::borrow::Cow;

use koga::{
    Line,
    parse::{self, ParseError, parse_fen, parse_move},
    shakmaty::{Chess, Move, Position},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::explain::NoLine;

/// Whatever the caller tells requests apart by, as it was given.
pub type Id<'a> = Option<&'a RawValue>;

/// What a request asks for.
#[derive(Debug)]
pub enum Asked {
    /// A report on a line.
    Line(Box<Line>),
    /// A report on a line that the engine is to find.
    Engine(Box<Question>),
}

impl From<Question> for Asked {
    fn from(question: Question) -> Asked {
        Asked::Engine(Box::new(question))
    }
}

/// A question for the engine.
#[derive(Debug, Clone)]
pub struct Question {
    /// The position.
    pub root: Chess,
    /// The enemy's move that led to it.
    pub setup: Option<Move>,
    /// The move that is asked about; the best is looked for if there is none.
    pub candidate: Option<Move>,
}

/// Why a request could not be answered.
#[derive(Debug)]
pub enum RequestError {
    /// It is not a request.
    Request(String),
    /// Its position or a move of it is wrong.
    Parse(ParseError),
    /// The engine found no line.
    NoLine(NoLine),
}

/// The answer to a request that failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Failure<'a> {
    /// The request's own name for itself, as far as it could be read.
    #[schemars(with = "serde_json::Value")]
    pub id: Id<'a>,
    /// What is wrong.
    pub error: Problem<'a>,
}

/// What is wrong with a request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Problem<'a> {
    /// What sort of trouble it is.
    pub kind: Kind,
    /// The ply at fault, counted from 1; 0 is the enemy's move before the root.
    pub ply: Option<usize>,
    /// The text at fault.
    pub token: Option<Cow<'a, str>>,
    /// A sentence for people.
    pub message: Cow<'a, str>,
}

/// Sorts of trouble. Those from `too-large` on come from the server only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The position is malformed or cannot occur.
    Fen,
    /// A move is unreadable, illegal or ambiguous.
    Move,
    /// The request is none, or asks for what there is not.
    Request,
    /// The engine failed.
    Engine,
    /// The body is longer than is allowed.
    TooLarge,
    /// The body is not said to be JSON.
    MediaType,
    /// The address is there, but not for this method.
    Method,
    /// Nothing is at the address.
    NotFound,
    /// The request is meant for another host.
    Host,
    /// The request comes from another site's page.
    Origin,
    /// The body took too long to arrive.
    Timeout,
    /// Too many analyses run and wait already.
    Busy,
    /// The analysis took too long and was stopped.
    Deadline,
    /// The server made a mistake.
    Internal,
}

impl<'a> Problem<'a> {
    /// A trouble that no ply and no token is to blame for.
    pub fn new(kind: Kind, message: impl Into<Cow<'a, str>>) -> Problem<'a> {
        Problem { kind, ply: None, token: None, message: message.into() }
    }

    /// The same, which outlives the request.
    pub fn into_owned(self) -> Problem<'static> {
        let owned = |text: Cow<str>| Cow::Owned(text.into_owned());
        Problem { kind: self.kind, ply: self.ply, token: self.token.map(owned), message: owned(self.message) }
    }
}

impl<'a> From<&'a RequestError> for Problem<'a> {
    fn from(err: &'a RequestError) -> Problem<'a> {
        match err {
            RequestError::Request(message) => Problem::new(Kind::Request, message),
            RequestError::NoLine(err @ NoLine::Over(_)) => Problem::new(Kind::Request, err.to_string()),
            RequestError::NoLine(err @ NoLine::Engine(_)) => Problem::new(Kind::Engine, err.to_string()),
            RequestError::Parse(err) => {
                let (kind, ply, token) = match err {
                    ParseError::Fen { token, .. } => (Kind::Fen, None, token.as_deref()),
                    ParseError::Move { ply, token, .. } => (Kind::Move, Some(*ply), Some(token.as_str())),
                    ParseError::EmptyLine | ParseError::TooLong => (Kind::Request, None, None),
                };
                Problem { kind, ply, token: token.map(Cow::Borrowed), message: err.to_string().into() }
            }
        }
    }
}

/// Reads a JSON object; where that fails, its id is looked for all the same.
///
/// # Errors
///
/// What is wrong with it, and the id.
pub fn read<'a, R: Deserialize<'a>>(request: &'a [u8], longest: usize) -> Result<R, (Id<'a>, RequestError)> {
    let refuse = |message: String| (None, RequestError::Request(message));
    if request.len() > longest {
        return Err(refuse(format!("the request is longer than {longest} bytes")));
    }
    let text = std::str::from_utf8(request)
        .map_err(|err| refuse(format!("the request is not UTF-8 from byte {} on", err.valid_up_to() + 1)))?;
    let text = text.trim_start_matches('\u{feff}');
    if !text.trim_start().starts_with('{') {
        return Err(refuse("not a request: a JSON object is needed".to_owned()));
    }
    serde_json::from_str(text).map_err(|err| {
        let message = err.to_string().replace("line 1 column", "column");
        (id_of(text), RequestError::Request(format!("not a request: {message}")))
    })
}

/// The id of a request that is not one otherwise.
fn id_of(text: &str) -> Id<'_> {
    #[derive(Deserialize)]
    struct OnlyId<'a> {
        #[serde(borrow, default)]
        id: Id<'a>,
    }
    serde_json::from_str::<OnlyId>(text).ok()?.id
}

/// What is asked for: a report on the line that is given, or one on the engine's best.
///
/// # Errors
///
/// Where the position or a move is wrong.
pub fn asked(fen: &str, setup: Option<&str>, moves: Option<&[Cow<str>]>) -> Result<Asked, RequestError> {
    let line = match (setup, moves) {
        (Some(setup), Some(moves)) => Line::parse_with_setup(fen, setup, moves.iter().map(AsRef::as_ref)),
        (None, Some(moves)) => Line::parse(fen, moves.iter().map(AsRef::as_ref)),
        (setup, None) => return question(fen, setup, None).map(Asked::from),
    };
    Ok(Asked::Line(Box::new(line.map_err(RequestError::Parse)?)))
}

/// A question for the engine: of a position or, where a candidate is given, of that move.
///
/// # Errors
///
/// As [`asked`].
pub fn question(fen: &str, setup: Option<&str>, candidate: Option<&str>) -> Result<Question, RequestError> {
    let mut root = parse_fen(fen).map_err(RequestError::Parse)?;
    let read = |pos: &Chess, ply: usize, token: &str| {
        parse_move(pos, token)
            .map_err(|reason| RequestError::Parse(ParseError::Move { ply, token: token.to_owned(), reason }))
    };
    let setup = setup.map(|token| read(&root, 0, token)).transpose()?;
    if let Some(m) = setup {
        root.play_unchecked(m);
    }
    let candidate = candidate.map(|text| read(&root, 1, only_move(text)?)).transpose()?;
    Ok(Question { root, setup, candidate })
}

/// The one move of a text such as `1. Nf3!`.
fn only_move(text: &str) -> Result<&str, RequestError> {
    let mut moves = parse::moves_of(text);
    match (moves.next(), moves.next()) {
        (Some(m), None) => Ok(m),
        (None, _) => Err(RequestError::Parse(ParseError::EmptyLine)),
        _ => Err(RequestError::Request("\"move\" is one move; a line is given as \"moves\"".to_owned())),
    }
}

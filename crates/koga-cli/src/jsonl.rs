//! `koga explain --jsonl`: one request a line in, one report a line out.

use std::{
    borrow::Cow,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
};

use koga::{Line, analyze, parse::ParseError, render};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

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
    /// The line, the candidate first, in UCI or SAN.
    #[serde(borrow)]
    pub moves: Vec<Cow<'a, str>>,
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
pub fn run(input: impl Read, output: impl Write) -> io::Result<u64> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut output = BufWriter::with_capacity(1 << 16, output);
    let mut request = Vec::new();
    let mut failed = 0;
    while read_line(&mut input, &mut request)? {
        if request.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        failed += u64::from(!answer(&request, &mut output)?);
        output.write_all(b"\n")?;
        // Whoever waits for an answer before asking again gets it.
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    output.flush()?;
    Ok(failed)
}

/// Writes the answer to one request; whether it succeeded.
fn answer(request: &[u8], output: &mut impl Write) -> io::Result<bool> {
    let (id, err) = match parse(request) {
        Ok((id, line)) => {
            let report = analyze(&line);
            serde_json::to_writer(output, &render::json::report(&line, &report, id))?;
            return Ok(true);
        }
        Err(failure) => failure,
    };
    serde_json::to_writer(output, &Failure { id, error: describe(&err) })?;
    Ok(false)
}

enum RequestError {
    Request(String),
    Parse(ParseError),
}

type Answered<'a, T> = Result<(Option<&'a RawValue>, T), (Option<&'a RawValue>, RequestError)>;

fn parse(request: &[u8]) -> Answered<'_, Line> {
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
    let moves = request.moves.iter().map(AsRef::as_ref);
    let line = match &request.setup {
        Some(setup) => Line::parse_with_setup(&request.fen, setup, moves),
        None => Line::parse(&request.fen, moves),
    };
    match line {
        Ok(line) => Ok((request.id, line)),
        Err(err) => Err((request.id, RequestError::Parse(err))),
    }
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

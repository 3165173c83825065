//! `koga explain --jsonl`: one request a line in, one report a line out.

use std::{
    borrow::Cow,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
};

use koga::{analyze, render};
use koga_engine::Engine;
use serde::Deserialize;

use crate::{
    engine::EngineArgs,
    explain::{DEFAULT_NODES, NoLine, Scored, scored},
    request::{self, Asked, Failure, Id, Question, RequestError},
};

/// A longer request is refused: no position and line need as much.
pub const LONGEST_REQUEST: usize = 1 << 20;

/// One request.
#[derive(Debug, Deserialize)]
pub struct Request<'a> {
    /// Whatever the caller tells requests apart by.
    #[serde(borrow, default)]
    pub id: Id<'a>,
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
    fn best(&mut self, question: &Question) -> Result<Scored, NoLine> {
        let engine = match &mut self.opened {
            Some(engine) => engine,
            None => self.opened.insert(self.args.open().map_err(NoLine::Engine)?),
        };
        scored(question, &self.args.limits(DEFAULT_NODES), &mut **engine).map(|mut lines| lines.swap_remove(0))
    }
}

/// Writes the answer to one request; whether it succeeded.
fn answer(request: &[u8], output: &mut impl Write, engine: &mut LazyEngine) -> io::Result<bool> {
    let (id, err) = match parse(request) {
        Ok((id, Asked::Line(line))) => {
            serde_json::to_writer(output, &render::json::report(&line, &analyze(&line), id))?;
            return Ok(true);
        }
        Ok((id, Asked::Engine(question))) => match engine.best(&question) {
            Ok(scored) => {
                serde_json::to_writer(output, &scored.json(id))?;
                return Ok(true);
            }
            Err(err) => (id, RequestError::NoLine(err)),
        },
        Err(failure) => failure,
    };
    serde_json::to_writer(output, &Failure { id, error: (&err).into() })?;
    Ok(false)
}

fn parse(request: &[u8]) -> Result<(Id<'_>, Asked), (Id<'_>, RequestError)> {
    let request: Request = request::read(request, LONGEST_REQUEST)?;
    match request::asked(&request.fen, request.setup.as_deref(), request.moves.as_deref()) {
        Ok(asked) => Ok((request.id, asked)),
        Err(err) => Err((request.id, err)),
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

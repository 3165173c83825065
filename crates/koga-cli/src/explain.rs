//! `koga explain`: one position, one line, one answer.

use clap::ValueEnum;
use koga::{
    Line, Tactic, analyze,
    parse::{self, ParseError},
    render,
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
}

/// What the program prints for a request.
///
/// # Errors
///
/// A message for the user, with the place at fault pointed at.
pub fn run(request: &Request) -> Result<String, String> {
    let line = parse(request)?;
    let report = analyze(&line);
    Ok(match (request.why_not, request.format) {
        (Some(tactic), _) => render::text::why_not(&line, &report, tactic),
        (None, Format::Text) => render::text::report(&line, &report, request.colored),
        (None, Format::Svg) => render::svg::report(&line, &report),
        (None, Format::Json) => {
            let json = render::json::report(&line, &report, ());
            serde_json::to_string(&json).map_err(|err| err.to_string())? + "\n"
        }
    })
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
            format!("{err}\n  {text}\n  {}{}", " ".repeat(indent), "^".repeat(token.chars().count().max(1)))
        }
        _ => err.to_string(),
    }
}

/// Where `part`, a slice of `whole`, begins in it.
fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

//! One game read from its text.

use std::{collections::BTreeSet, fmt};

use koga::{
    parse::{self, ParseError},
    shakmaty::{Chess, Position},
};

use super::{
    Game, Item, Played, RawGame, decode,
    token::{Token, Tokens},
};

/// What is wrong with a game, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The move it stands at, `12.` or `12...`; none for a tag.
    pub place: Option<String>,
    /// The text at fault.
    pub token: Option<String>,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "move {place}: ")?;
        }
        match &self.token {
            Some(token) => write!(f, "\"{token}\" {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Variants whose rules are those of chess.
const KNOWN_VARIANTS: [&str; 12] = [
    "",
    "?",
    "-",
    "standard",
    "normal",
    "chess",
    "fromposition",
    "chess960",
    "960",
    "fischerandom",
    "fischerrandom",
    "freestylechess",
];

/// Variations within variations beyond this are left out: nobody reads them, and what walks them must come to an end.
const DEEPEST: usize = 64;

/// A token longer than this is shown in part.
const LONGEST_TOKEN: usize = 40;

/// Reads a game as far as it can be read, with all that is wrong. Nothing is there where not even the start is known: an
/// unknown variant, or a FEN tag that is wrong.
pub fn read(raw: &RawGame) -> (Option<Game>, Vec<Trouble>) {
    let text = decode(&raw.bytes);
    let mut troubles = Vec::new();
    let (tags, movetext) = read_tags(&text, &mut troubles);
    let mut game =
        Game { tags, start: Chess::new(), opening: Vec::new(), moves: Vec::new(), result: "*".to_owned(), rest: None };
    match start(&game) {
        Ok(start) => game.start = start,
        Err(trouble) => {
            troubles.push(trouble);
            return (None, troubles);
        }
    }
    read_moves(&mut game, movetext, &mut troubles);
    if raw.cut {
        troubles.push(Trouble {
            place: None,
            token: None,
            message: "the game is too long, its end is left out".into(),
        });
    }
    (Some(game), troubles)
}

fn read_tags<'a>(text: &'a str, troubles: &mut Vec<Trouble>) -> (Vec<(String, String)>, &'a str) {
    let mut tags: Vec<(String, String)> = Vec::new();
    let mut names = BTreeSet::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if rest.starts_with('%') {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
            continue;
        }
        if !rest.starts_with('[') {
            return (tags, rest);
        }
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        match tag(line) {
            Some((name, value, length)) => {
                rest = &rest[length..];
                if names.insert(name.clone()) {
                    tags.push((name, value));
                }
            }
            None => {
                troubles.push(Trouble {
                    place: None,
                    token: Some(shortened(line.trim())),
                    message: "is not a tag pair".to_owned(),
                });
                rest = &rest[line.len()..];
            }
        }
    }
}

/// The name, the value and the length of the tag pair that a line begins with.
fn tag(line: &str) -> Option<(String, String, usize)> {
    let quote = line.find('"')?;
    let name = line[1..quote].trim();
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let mut value = String::new();
    let mut chars = line[quote + 1..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if chars.peek().is_some_and(|(_, next)| matches!(next, '\\' | '"')) => {
                value.extend(chars.next().map(|(_, c)| c));
            }
            // A quote that closes nothing is part of the value: not right, but common.
            '"' => {
                let after = &line[quote + 1 + at + 1..];
                let bracket = after.trim_start();
                if bracket.starts_with(']') {
                    return Some((name.to_owned(), value, line.len() - bracket.len() + 1));
                }
                value.push('"');
            }
            _ => value.push(c),
        }
    }
    None
}

fn start(game: &Game) -> Result<Chess, Trouble> {
    let of_tag = |token: &str, message: String| Trouble { place: None, token: Some(shortened(token)), message };
    if let Some(variant) = game.tag("Variant") {
        let plain: String =
            variant.to_lowercase().chars().filter(|c| c.is_alphanumeric() || "?-".contains(*c)).collect();
        if !KNOWN_VARIANTS.contains(&plain.as_str()) {
            return Err(of_tag(variant, "is a variant that Koga does not know (tag Variant)".to_owned()));
        }
    }
    let Some(fen) = game.tag("FEN").filter(|fen| !fen.trim().is_empty()) else {
        return Ok(Chess::new());
    };
    parse::parse_fen(fen).map_err(|err| match err {
        ParseError::Fen { token: Some(token), reason } => of_tag(&token, format!("is wrong in the tag FEN: {reason}")),
        err => of_tag(fen, format!("is wrong in the tag FEN: {err}")),
    })
}

fn read_moves(game: &mut Game, movetext: &str, troubles: &mut Vec<Trouble>) {
    let mut pos = game.start.clone();
    let mut tokens = Tokens::new(movetext);
    let mut ended = false;
    // Variations that are open, the innermost last.
    let mut open: Vec<Vec<Item>> = Vec::new();
    // Variations that are open within the deepest.
    let mut too_deep = 0;
    loop {
        let before = tokens.rest();
        let Some(token) = tokens.next() else { break };
        let mut trouble = |token: Option<&str>, message: String| {
            troubles.push(Trouble { place: Some(place(&pos)), token: token.map(shortened), message });
        };
        let item = match token {
            Token::Open if open.len() == DEEPEST => {
                if too_deep == 0 {
                    trouble(Some("("), format!("opens a variation more than {DEEPEST} deep, which is left out"));
                }
                too_deep += 1;
                continue;
            }
            Token::Close if too_deep > 0 => {
                too_deep -= 1;
                continue;
            }
            _ if too_deep > 0 => continue,
            Token::Number => continue,
            Token::Nag(nag) => Item::Nag(nag),
            Token::Comment(text) => Item::Comment(text.trim().to_owned()),
            Token::Nested(text) => {
                trouble(Some(text.trim()), "is a comment within a comment".to_owned());
                Item::Comment(text.trim().replace('{', "(").replace('}', ")"))
            }
            Token::Unclosed(text) => {
                trouble(Some(text.trim()), "is a comment that is never closed".to_owned());
                Item::Comment(text.trim().replace('{', "("))
            }
            Token::Open if game.moves.is_empty() => {
                trouble(Some("("), "opens a variation before the first move".to_owned());
                game.rest = Some(before.trim().to_owned());
                break;
            }
            Token::Open => {
                open.push(Vec::new());
                continue;
            }
            Token::Close => match open.pop() {
                Some(items) => Item::Variation(items),
                None => {
                    trouble(Some(")"), "closes no variation".to_owned());
                    continue;
                }
            },
            Token::Word(word) if !open.is_empty() => Item::Move(word.to_owned()),
            Token::Result(_) if !open.is_empty() => continue,
            Token::Result(result) => {
                result.clone_into(&mut game.result);
                ended = true;
                let rest = tokens.rest();
                if let Some(next) = Tokens::new(rest).find(|token| matches!(token, Token::Word(_) | Token::Result(_))) {
                    let (Token::Word(word) | Token::Result(word)) = next else { break };
                    trouble(Some(word), "comes after the end of the game".to_owned());
                    game.rest = Some(rest.trim().to_owned());
                    break;
                }
                continue;
            }
            Token::Word(word) => match parse::parse_move(&pos, word) {
                Ok(m) => {
                    pos.play_unchecked(m);
                    game.moves.push(Played { m, after: Vec::new() });
                    continue;
                }
                Err(reason) => {
                    trouble(Some(word), reason.to_string());
                    game.rest = Some(
                        before
                            .trim_start_matches(|c: char| c.is_whitespace() || ".…".contains(c))
                            .trim_end()
                            .to_owned(),
                    );
                    break;
                }
            },
        };
        push(game, &mut open, item);
    }
    if !open.is_empty() {
        let message = "a variation is never closed".to_owned();
        troubles.push(Trouble { place: Some(place(&pos)), token: Some("(".to_owned()), message });
        while let Some(items) = open.pop() {
            push(game, &mut open, Item::Variation(items));
        }
    }
    if !ended {
        let known = ["1-0", "0-1", "1/2-1/2"].into_iter().find(|result| game.tag("Result") == Some(result));
        known.unwrap_or("*").clone_into(&mut game.result);
        if game.rest.is_none() {
            troubles.push(Trouble {
                place: Some(place(&pos)),
                token: None,
                message: format!("the result is missing after the moves, {} is assumed", game.result),
            });
        }
    }
}

fn push(game: &mut Game, open: &mut [Vec<Item>], item: Item) {
    let items = match (open.last_mut(), game.moves.last_mut()) {
        (Some(items), _) => items,
        (None, Some(played)) => &mut played.after,
        (None, None) => &mut game.opening,
    };
    items.push(item);
}

/// "12." or "12...": the move to be played in a position.
fn place(pos: &Chess) -> String {
    format!("{}{}", pos.fullmoves(), pos.turn().fold_wb(".", "..."))
}

fn shortened(token: &str) -> String {
    let token: String = token.split_whitespace().collect::<Vec<_>>().join(" ");
    match token.char_indices().nth(LONGEST_TOKEN) {
        Some((at, _)) => format!("{}…", &token[..at]),
        None => token,
    }
}

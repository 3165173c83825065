//! A stream cut into games.

use std::io::{self, BufRead};

/// A longer game is cut: nobody has played one.
pub const LONGEST_GAME: usize = 4 << 20;

/// The bytes of one game.
#[derive(Debug, Clone, Default)]
pub struct RawGame {
    /// Its number in the file, counted from 1.
    pub number: usize,
    /// Its text, as it stands in the file.
    pub bytes: Vec<u8>,
    /// Where in the file it ends.
    pub end: u64,
    /// Whether it was longer than [`LONGEST_GAME`], and its end is missing.
    pub cut: bool,
}

/// The games of a stream, one after the other.
///
/// A game ends where the next one's tags begin, or at the blank line after its result. In a comment that is never closed it
/// ends where tags begin after a blank line: the reader then says what is wrong.
#[derive(Debug)]
pub struct Split<R> {
    reader: R,
    line: Vec<u8>,
    /// Whether `line` was read but belongs to the next game.
    held: bool,
    number: usize,
    read: u64,
}

/// Where in a game the lines so far end.
#[derive(Default)]
struct Place {
    tags: bool,
    event: bool,
    moves: bool,
    comment: bool,
    blank: bool,
    result: bool,
}

impl<R: BufRead> Split<R> {
    /// The games of `reader`.
    pub fn new(reader: R) -> Split<R> {
        Split { reader, line: Vec::new(), held: false, number: 0, read: 0 }
    }

    fn next_game(&mut self) -> io::Result<Option<RawGame>> {
        let mut game = RawGame::default();
        let mut place = Place::default();
        loop {
            if !self.held && !self.read_line()? {
                break;
            }
            self.held = false;
            let text = trimmed(&self.line, self.number == 0 && game.bytes.is_empty());
            if game.bytes.is_empty() && text.is_empty() {
                continue;
            }
            if place.ends_before(text) {
                self.held = true;
                break;
            }
            place.pass(text);
            if game.bytes.len() + self.line.len() <= LONGEST_GAME {
                game.bytes.extend_from_slice(&self.line);
            } else {
                game.cut = true;
            }
        }
        if game.bytes.is_empty() && !game.cut {
            return Ok(None);
        }
        self.number += 1;
        game.number = self.number;
        game.end = self.read - if self.held { self.line.len() as u64 } else { 0 };
        Ok(Some(game))
    }

    /// Reads a line with its end; of one that is too long only the beginning.
    fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(!self.line.is_empty());
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(buffer.len(), |end| end + 1);
            let room = (LONGEST_GAME + 1).saturating_sub(self.line.len());
            self.line.extend_from_slice(&buffer[..taken.min(room)]);
            self.reader.consume(taken);
            self.read += taken as u64;
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

impl<R: BufRead> Iterator for Split<R> {
    type Item = io::Result<RawGame>;

    fn next(&mut self) -> Option<io::Result<RawGame>> {
        self.next_game().transpose()
    }
}

impl Place {
    /// Whether a line belongs to the next game already.
    fn ends_before(&self, line: &[u8]) -> bool {
        let tag = is_tag(line);
        if self.comment {
            return tag && (self.blank || line.starts_with(b"[Event "));
        }
        let new_tags = line.starts_with(b"[") && (self.moves || (self.event && line.starts_with(b"[Event ")));
        new_tags || (self.result && self.blank && !line.is_empty())
    }

    fn pass(&mut self, line: &[u8]) {
        if line.is_empty() {
            self.blank = true;
            return;
        }
        self.blank = false;
        if !self.comment && line.starts_with(b"%") {
            return;
        }
        if !self.moves && !self.comment && line.starts_with(b"[") {
            self.tags = true;
            self.event |= line.starts_with(b"[Event ");
            return;
        }
        self.moves = true;
        let mut outside = Vec::new();
        for byte in line {
            match (self.comment, byte) {
                (true, b'}') => self.comment = false,
                (true, _) => {}
                (false, b'{') => self.comment = true,
                (false, b';') => break,
                (false, byte) => outside.push(*byte),
            }
        }
        let last = outside.split(|byte| byte.is_ascii_whitespace()).rfind(|token| !token.is_empty());
        if let Some(last) = last {
            self.result = [&b"1-0"[..], b"0-1", b"1/2-1/2", b"*"].iter().any(|result| last.ends_with(result));
        }
    }
}

/// The line without white space around it and, at the start of a file, without the byte-order mark.
fn trimmed(line: &[u8], first: bool) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").filter(|_| first).unwrap_or(line);
    line.trim_ascii()
}

/// Whether a line looks like `[Name "value"]`.
fn is_tag(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"[") else { return false };
    let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name > 0 && rest[name..].trim_ascii_start().starts_with(b"\"")
}

/// Text of a PGN file: UTF-8, or else the older one-byte encoding of Western Europe.
pub fn decode(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| of_windows_1252(*byte)).collect(),
    }
}

/// ISO 8859-1, and Windows' additions to it where it has only control characters.
fn of_windows_1252(byte: u8) -> char {
    const ADDED: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘',
        '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => ADDED[usize::from(byte) - 0x80],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn games(text: &str) -> Vec<String> {
        Split::new(text.as_bytes()).map(|game| decode(&game.unwrap().bytes).trim().replace('\n', "/")).collect()
    }

    #[test]
    fn games_end_where_tags_begin() {
        assert_eq!(games("[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n*\n").len(), 2);
        assert_eq!(games("[Event \"a\"]\n1. e4 *\n[Event \"b\"]\n*\n").len(), 2);
        assert_eq!(games("[Event \"a\"]\n\n[Event \"b\"]\n\n1. e4 1-0\n").len(), 2);
    }

    #[test]
    fn games_without_tags_end_at_the_blank_line_after_the_result() {
        assert_eq!(games("1. e4 e5\n\n2. Nf3 1-0\n\n1. d4 *\n"), ["1. e4 e5//2. Nf3 1-0", "1. d4 *"]);
    }

    #[test]
    fn a_comment_may_hold_blank_lines_and_brackets() {
        let text = "[Event \"a\"]\n\n1. e4 { x\n\n[%clk 1]\n[y] } e5 *\n\n[Event \"b\"]\n\n*\n";
        assert_eq!(games(text).len(), 2);
    }

    #[test]
    fn an_unclosed_comment_ends_with_its_game() {
        assert_eq!(games("[Event \"a\"]\n\n1. e4 { x\n\n[White \"b\"]\n\n1. d4 *\n").len(), 2);
    }

    #[test]
    fn marks_line_ends_and_old_encodings_are_understood() {
        let bytes = b"\xef\xbb\xbf[White \"J\xf6rg\"]\r\n\r\n1. e4 *\r\n\r\n[White \"x\"]\r\n\r\n*";
        let games: Vec<RawGame> = Split::new(&bytes[..]).map(Result::unwrap).collect();
        assert_eq!(games.len(), 2);
        assert!(decode(&games[0].bytes).starts_with("[White \"J\u{f6}rg\"]"));
        assert_eq!(games[1].end, bytes.len() as u64);
        assert_eq!(Split::new(&b""[..]).count(), 0);
        assert_eq!(Split::new(&b"\n \r\n"[..]).count(), 0);
    }
}

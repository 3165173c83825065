//! The tokens of movetext.

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A move, or whatever stands where one should.
    Word(&'a str),
    /// `12.` or `12...`: nobody relies on it.
    Number,
    Nag(u16),
    Comment(&'a str),
    /// A comment with braces in it, which the notation does not allow.
    Nested(&'a str),
    /// A comment that is never closed: the rest of the game.
    Unclosed(&'a str),
    Open,
    Close,
    Result(&'a str),
}

/// Tokens and where each begins.
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Tokens<'a> {
        Tokens { text, at: 0 }
    }

    /// What was not read yet.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self, length: usize) -> &'a str {
        let taken = &self.text[self.at..self.at + length];
        self.at += length;
        taken
    }

    fn comment(&mut self) -> Token<'a> {
        let rest = &self.rest()[1..];
        let Some(first) = rest.find('}') else {
            let rest = self.take(rest.len() + 1);
            return Token::Unclosed(&rest[1..]);
        };
        // A brace may open within a comment, and means nothing there, unless another one closes before the next opens.
        let inner = &rest[..first];
        if inner.contains('{')
            && let Some(end) = balanced(rest)
            && rest[first + 1..].find(['{', '}']).is_some_and(|next| first + 1 + next <= end)
        {
            self.take(end + 2);
            return Token::Nested(&rest[..end]);
        }
        self.take(first + 2);
        Token::Comment(inner)
    }

    fn glyph(&mut self) -> Token<'a> {
        let rest = self.rest();
        let marks = [("!!", 3), ("??", 4), ("!?", 5), ("?!", 6), ("!", 1), ("?", 2)];
        let (mark, nag) = marks.into_iter().find(|(mark, _)| rest.starts_with(mark)).unwrap_or(("!", 1));
        self.take(mark.len());
        Token::Nag(nag)
    }
}

/// Where the comment that has just been opened closes, braces within it counted.
fn balanced(text: &str) -> Option<usize> {
    // Nobody nests as deep: without an end to it, braces that never close would be counted again and again.
    const DEEPEST: usize = 64;
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match depth {
            0 => return Some(at),
            1..=DEEPEST => {}
            _ => return None,
        }
    }
    None
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let rest = self.rest();
            let c = rest.chars().next()?;
            let starts_line = self.at == 0 || self.text[..self.at].ends_with('\n');
            return Some(match c {
                _ if c.is_whitespace() => {
                    self.take(c.len_utf8());
                    continue;
                }
                '%' if starts_line => {
                    self.take(rest.find('\n').unwrap_or(rest.len()));
                    continue;
                }
                '{' => self.comment(),
                ';' => {
                    let comment = self.take(rest.find('\n').unwrap_or(rest.len()));
                    Token::Comment(comment[1..].trim())
                }
                '(' | ')' => {
                    self.take(1);
                    if c == '(' { Token::Open } else { Token::Close }
                }
                '!' | '?' => self.glyph(),
                '$' => {
                    let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
                    let nag = self.take(digits + 1);
                    nag[1..].parse().map_or(Token::Word(nag), Token::Nag)
                }
                '*' => Token::Result(self.take(1)),
                '.' | '…' => {
                    self.take(c.len_utf8());
                    continue;
                }
                _ => {
                    let end = rest.find(|c: char| c.is_whitespace() || "{}();$!?*".contains(c) || c == '…');
                    let word = &rest[..end.unwrap_or(rest.len()).max(c.len_utf8())];
                    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
                    match word {
                        "1-0" | "0-1" | "1/2-1/2" => Token::Result(self.take(word.len())),
                        "1–0" => self.result(word, "1-0"),
                        "0–1" => self.result(word, "0-1"),
                        "½-½" | "½–½" | "1/2–1/2" => self.result(word, "1/2-1/2"),
                        "+-" => self.sign(word, 18),
                        "-+" => self.sign(word, 19),
                        "+/-" | "±" => self.sign(word, 16),
                        "-/+" | "∓" => self.sign(word, 17),
                        "=" => self.sign(word, 10),
                        "e.p." => {
                            self.take(word.len());
                            continue;
                        }
                        // "12." before a move, with or without a space between; "12" alone.
                        _ if digits == word.len() => {
                            self.take(digits);
                            Token::Number
                        }
                        _ if digits > 0 && word[digits..].starts_with('.') => {
                            self.take(digits);
                            Token::Number
                        }
                        _ => Token::Word(self.take(word.len())),
                    }
                }
            });
        }
    }
}

impl<'a> Tokens<'a> {
    fn result(&mut self, word: &str, result: &'static str) -> Token<'a> {
        self.take(word.len());
        Token::Result(result)
    }

    fn sign(&mut self, word: &str, nag: u16) -> Token<'a> {
        self.take(word.len());
        Token::Nag(nag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn movetext_falls_into_tokens() {
        let tokens: Vec<Token> = Tokens::new("1.e4! {a} 1...e5$14 (1... c5 ; x\n) 12 Nf3?? 0-0 1/2-1/2").collect();
        assert_eq!(
            tokens,
            [
                Token::Number,
                Token::Word("e4"),
                Token::Nag(1),
                Token::Comment("a"),
                Token::Number,
                Token::Word("e5"),
                Token::Nag(14),
                Token::Open,
                Token::Number,
                Token::Word("c5"),
                Token::Comment("x"),
                Token::Close,
                Token::Number,
                Token::Word("Nf3"),
                Token::Nag(4),
                Token::Word("0-0"),
                Token::Result("1/2-1/2"),
            ]
        );
    }

    #[test]
    fn comments_nest_only_where_the_braces_say_so() {
        let of = |text| Tokens::new(text).next().unwrap();
        assert_eq!(of("{ a { b } c } e4"), Token::Nested(" a { b } c "));
        assert_eq!(of("{ a { b } e4 {c}"), Token::Comment(" a { b "));
        assert_eq!(of("{ a { b } e4"), Token::Comment(" a { b "));
        assert_eq!(of("{ a } } e4"), Token::Comment(" a "));
        assert_eq!(of("{ a e4"), Token::Unclosed(" a e4"));
    }
}

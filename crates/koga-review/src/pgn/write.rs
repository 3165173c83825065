//! Games written in export format: no line longer than 80 characters but for words that are.

use koga::{
    parse,
    shakmaty::{Chess, Position},
};

use super::{Game, Item};

/// The width of a line.
const WIDTH: usize = 80;

/// Comments shorter than this stay on one line.
const SHORT: usize = 40;

/// Writes one game.
#[derive(Debug, Default)]
pub struct Writer {
    out: String,
    column: usize,
}

impl Writer {
    /// The game as text, with a blank line at its end.
    pub fn game(game: &Game) -> String {
        let mut writer = Writer::default();
        for (name, value) in &game.tags {
            let value: String = value.split_whitespace().collect::<Vec<_>>().join(" ");
            writer.out += &format!("[{name} \"{}\"]\n", value.replace('\\', "\\\\").replace('"', "\\\""));
        }
        if !game.tags.is_empty() {
            writer.out.push('\n');
        }
        writer.movetext(game);
        writer.out.push_str("\n\n");
        writer.out
    }

    fn movetext(&mut self, game: &Game) {
        let mut pos = game.start.clone();
        // Whether the number of a black move is needed.
        let mut numbered = true;
        let ply = first_ply(&pos);
        self.items(&game.opening, ply);
        for (index, played) in game.moves.iter().enumerate() {
            let ply = ply + index;
            self.word(&numbered_san(ply, numbered, &parse::san(&pos, played.m)));
            pos.play_unchecked(played.m);
            numbered = self.items(&played.after, ply);
        }
        if let Some(rest) = &game.rest {
            self.comment(&format!("Unreadable from here on: {}", rest.replace('{', "(").replace('}', ")")));
        }
        self.word(&game.result);
    }

    /// Writes what stands after the move of that ply; whether the next move needs its number.
    fn items(&mut self, items: &[Item], ply: usize) -> bool {
        for item in items {
            match item {
                Item::Nag(nag) => self.word(&format!("${nag}")),
                Item::Comment(text) => self.comment(text),
                Item::Variation(items) => self.variation(items, ply),
                Item::Move(_) => {}
            }
        }
        items.iter().any(|item| !matches!(item, Item::Nag(_)))
    }

    /// A variation instead of the move of that ply.
    fn variation(&mut self, items: &[Item], ply: usize) {
        let mut next = ply;
        let mut numbered = true;
        let mut glue = "(";
        for item in items {
            match item {
                Item::Move(san) => {
                    self.word(&format!("{glue}{}", numbered_san(next, numbered, san)));
                    next += 1;
                    numbered = false;
                }
                item => {
                    if !glue.is_empty() {
                        self.word(glue);
                    }
                    numbered |= self.items(std::slice::from_ref(item), next.saturating_sub(1));
                }
            }
            glue = "";
        }
        if !glue.is_empty() {
            self.word(glue);
        }
        self.glue(")");
    }

    /// A comment. Commands like `[%csl Ge4]` are never broken.
    fn comment(&mut self, text: &str) {
        let text = text.replace('}', ")");
        if text.chars().count() < SHORT {
            let words: Vec<&str> = text.split_whitespace().collect();
            return self.word(&format!("{{ {} }}", words.join(" ")));
        }
        self.word("{");
        let mut command = String::new();
        for word in text.split_whitespace() {
            if !command.is_empty() || (word.starts_with("[%") && !word.ends_with(']')) {
                if !command.is_empty() {
                    command.push(' ');
                }
                command += word;
                if word.ends_with(']') || command.len() > 4 * WIDTH {
                    self.word(&std::mem::take(&mut command));
                }
            } else {
                self.word(word);
            }
        }
        if !command.is_empty() {
            self.word(&command);
        }
        self.word("}");
    }

    /// A word after a space or, where the line is full, a line break. No line begins with `%`, which would hide it.
    fn word(&mut self, word: &str) {
        let length = word.chars().count();
        if self.column > 0 && (self.column + 1 + length <= WIDTH || word.starts_with('%')) {
            self.out.push(' ');
            self.column += 1;
        } else if self.column > 0 {
            self.out.push('\n');
            self.column = 0;
        }
        self.out += word;
        self.column += length;
    }

    /// Something that follows without a space, even past the width of the line.
    fn glue(&mut self, word: &str) {
        if self.column + word.len() > WIDTH {
            return self.word(word);
        }
        self.out += word;
        self.column += word.len();
    }
}

/// The ply of the move to be played: twice the move number, less two for White and less one for Black.
fn first_ply(pos: &Chess) -> usize {
    2 * (pos.fullmoves().get() as usize - 1) + usize::from(pos.turn().is_black())
}

/// The move with its number where it needs one: always for White, for Black only after something else than White's move.
fn numbered_san(ply: usize, numbered: bool, san: &str) -> String {
    match ply.is_multiple_of(2) {
        true => format!("{}. {san}", ply / 2 + 1),
        false if numbered => format!("{}... {san}", ply / 2 + 1),
        false => san.to_owned(),
    }
}

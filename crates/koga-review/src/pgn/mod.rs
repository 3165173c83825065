//! PGN: games cut out of a stream, read and written.
//!
//! The reading is Koga's own, since a review must name the token that it cannot read, keep everything else, and go on with
//! the next game even where a comment is never closed; readers made for speed pass over such things in silence.

mod read;
mod split;
mod token;
mod write;

use koga::shakmaty::{Chess, Move};

pub use self::{
    read::{Trouble, read},
    split::{LONGEST_GAME, RawGame, Split, decode},
    write::Writer,
};

/// A game as it stands in a file.
#[derive(Debug, Clone)]
pub struct Game {
    /// The tags in their order, unescaped.
    pub tags: Vec<(String, String)>,
    /// The position that it starts from.
    pub start: Chess,
    /// Comments and marks before the first move.
    pub opening: Vec<Item>,
    /// The moves.
    pub moves: Vec<Played>,
    /// How it ended: `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: String,
    /// Text after the last move that could be read.
    pub rest: Option<String>,
}

/// A move of the game with what stands after it.
#[derive(Debug, Clone)]
pub struct Played {
    /// The move.
    pub m: Move,
    /// Marks, comments and variations, in their order.
    pub after: Vec<Item>,
}

/// What may stand after a move, and in a variation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A move of a variation, as it was written: nobody checked it.
    Move(String),
    /// A numeric annotation glyph.
    Nag(u16),
    /// A comment, without its braces.
    Comment(String),
    /// A variation instead of the move before it.
    Variation(Vec<Item>),
}

impl Game {
    /// The value of a tag.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The moves alone.
    pub fn line(&self) -> Vec<Move> {
        self.moves.iter().map(|played| played.m).collect()
    }

    /// The start and the position after each move.
    pub fn positions(&self) -> Vec<Chess> {
        let mut positions = vec![self.start.clone()];
        for played in &self.moves {
            let mut next = positions[positions.len() - 1].clone();
            koga::shakmaty::Position::play_unchecked(&mut next, played.m);
            positions.push(next);
        }
        positions
    }
}

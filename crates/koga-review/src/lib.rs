//! Reviews chess games: for every position the best line and the move played, and of the tactics in them those that were
//! found, missed or allowed; silence for all the rest.
//!
//! ```
//! use koga_engine::{BuiltIn, Limits};
//! use koga_review::{Class, Settings, pgn, review};
//!
//! let raw = pgn::RawGame { bytes: b"1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. d3 Nxe4 5. dxe4 *".to_vec(), ..Default::default() };
//! let (game, troubles) = pgn::read(&raw);
//! assert!(troubles.is_empty());
//! let settings = Settings { limits: Limits::nodes(3_000), ..Settings::default() };
//! let review = review(game.unwrap(), &settings, &mut BuiltIn::new())?;
//! assert_eq!(review.moves[7].mark.map(|mark| mark.glyph()), Some("??"));
//! # Ok::<_, koga_engine::EngineError>(())
//! ```

#![forbid(unsafe_code)]

pub mod batch;
mod examine;
mod moment;
pub mod pgn;
pub mod render;
pub mod win;

pub use crate::{
    examine::{DEFAULT_NODES, Examination, MoveReview, Query, Review, Settings, Step, Subject, review},
    moment::{Answer, Class, Counts, Moment, Players, contradicts, cut, headline},
};

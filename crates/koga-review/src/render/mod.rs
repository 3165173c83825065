//! From reviews to text, JSON and annotated PGN.

pub mod json;
pub mod pgn;
pub mod text;
mod words;

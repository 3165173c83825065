//! From reports to text, JSON and pictures.

pub mod diagram;
pub mod json;
mod pieces;
pub mod svg;
pub mod text;

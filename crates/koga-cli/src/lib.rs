//! The parts of the program `koga`: commands, the corpus of test positions, and the reference pages made from it.

#![forbid(unsafe_code)]

pub mod agree;
pub mod corpus;
pub mod engine;
pub mod explain;
pub mod jsonl;
pub mod pages;
pub mod request;
pub mod review;
pub mod serve;
pub mod site;
pub mod tag;

/// The exit status of a program that a signal ended, as shells count it.
pub const INTERRUPTED_STATUS: u8 = 130;

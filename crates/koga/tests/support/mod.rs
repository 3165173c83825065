//! What the tests share: positions to test on, mirrors, and slow references.
//!
//! Every test crate uses its own part of it.
#![allow(dead_code)]

pub mod mirror;
pub mod puzzles;
pub mod random;
pub mod slow;
pub mod truths;

use koga::shakmaty::{Chess, EnPassantMode, fen::Fen};

/// How often the random tests go round: `KOGA_TEST_EFFORT=20` for twenty times the usual.
pub fn effort() -> usize {
    number("KOGA_TEST_EFFORT").map_or(1, |effort| effort.max(1) as usize)
}

/// The seed of the random tests: fixed, or `KOGA_TEST_SEED`.
pub fn seed() -> u64 {
    number("KOGA_TEST_SEED").unwrap_or(2026)
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, not {text:?}")))
}

/// The position as it is written, for messages.
pub fn fen(pos: &Chess) -> String {
    Fen::from_position(pos, EnPassantMode::Legal).to_string()
}

/// What went wrong, in the first few of many places.
#[derive(Debug, Default)]
pub struct Complaints {
    first: Vec<String>,
    count: usize,
}

impl Complaints {
    /// Notes that something is not as it should be.
    pub fn add(&mut self, complaint: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < 10 {
            self.first.push(complaint());
        }
    }

    /// Notes a difference between a fact and its reference.
    pub fn compare<T: PartialEq + std::fmt::Debug>(&mut self, got: T, expected: T, place: impl FnOnce() -> String) {
        if got != expected {
            self.add(|| format!("{}: got {got:?}, expected {expected:?}", place()));
        }
    }

    /// Fails the test if anything was noted.
    pub fn settle(self) {
        assert!(self.count == 0, "{} complaints, the first of them:\n{}", self.count, self.first.join("\n"));
    }
}

//! Bytes choose a start and legal moves from it; what holds of every report must hold of this one.

#![no_main]

#[allow(dead_code)]
#[path = "../../crates/koga/tests/support/mirror.rs"]
mod mirror;
#[allow(dead_code)]
#[path = "../../crates/koga/tests/support/random.rs"]
mod random;
#[path = "../../crates/koga/tests/support/truths.rs"]
mod truths;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let line = random::line(&mut random::Bytes(data), 24);
    truths::check(&line);
});

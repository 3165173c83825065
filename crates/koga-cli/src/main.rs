//! probe
use std::io::{BufRead, Write};
fn main() {
    let stdin = std::io::stdin().lock();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for l in stdin.lines() {
        let v: serde_json::Value = serde_json::from_str(&l.unwrap()).unwrap();
        let moves: Vec<&str> = v["moves"].as_array().unwrap().iter().map(|m| m.as_str().unwrap()).collect();
        let fen = v["fen"].as_str().unwrap();
        let line = match v["setup"].as_str() { Some(s) => koga::Line::parse_with_setup(fen, s, moves), None => koga::Line::parse(fen, moves) };
        let line = match line { Ok(l) => l, Err(e) => { println!("{e}"); continue; } };
        let r = koga::analyze(&line);
        writeln!(out, "{}", serde_json::to_string(&koga::render::json::report(&line, &r, v["id"].clone())).unwrap()).unwrap();
    }
}

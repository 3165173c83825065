//! Prints the mistakes of a file of games that no label speaks of, with the lines and whatever the rules found in them: for
//! whoever works on the labels.
//!
//! `cargo run --release -p koga-review --example silence -- GAMES.PGN [NODES]`

use std::{error::Error, fs::File, io::BufReader};

use koga::{analyze, explain, render::text::moves};
use koga_engine::{BuiltIn, Limits};
use koga_review::{Settings, contradicts, cut, headline, pgn, review, win::Mark};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: silence GAMES.PGN [NODES]")?;
    let nodes = args.next().map_or(Ok(20_000), |n| n.parse())?;
    let settings = Settings { limits: Limits::nodes(nodes), ..Settings::default() };
    let mut engine = BuiltIn::new();
    for raw in pgn::Split::new(BufReader::new(File::open(path)?)) {
        let raw = raw?;
        let (Some(game), _) = pgn::read(&raw) else { continue };
        let review = review(game, &settings, &mut engine)?;
        let positions = &review.subject.positions;
        for (index, judged) in review.moves.iter().enumerate() {
            let labelled = review.moments.iter().any(|moment| moment.index == index || moment.index + 1 == index);
            if judged.mark < Some(Mark::Mistake) || labelled {
                continue;
            }
            let played = koga::parse::san(&positions[index], review.game.moves[index].m);
            println!(
                "\ngame {} ply {} {played}{} {} -> {}",
                raw.number,
                index + 1,
                judged.mark.map_or("", Mark::glyph),
                judged.best_score,
                judged.score
            );
            let reply = review.moves.get(index + 1).map_or(&[][..], |next| &next.best);
            let lines = [
                ("best ", cut(&positions[index], None, &judged.best, judged.best_score), judged.best_score),
                (
                    "reply",
                    cut(&positions[index + 1], Some(review.game.moves[index].m), reply, judged.score),
                    koga_review::win::negated(judged.score),
                ),
            ];
            for (name, line, score) in lines {
                let Some(line) = line else { continue };
                let report = analyze(&line);
                println!(
                    "  {name} {} won {} contradicted {} pays {:?}",
                    moves(&line),
                    line.won(),
                    contradicts(&line, score),
                    headline(&line, &report)
                );
                for finding in &report.findings {
                    println!(
                        "    {} {} ply {} prize {:?} won {:?}: {}",
                        finding.tactic,
                        finding.role.name(),
                        finding.ply,
                        finding.prize,
                        finding.won,
                        explain::finding(&line, finding)
                    );
                }
                for rejection in &report.rejections {
                    println!("    refused {} ply {} {}", rejection.tactic, rejection.ply, rejection.rule.id);
                }
            }
        }
    }
    Ok(())
}

//! False alarms: how many quiet moves of played games get a motif.

use std::{collections::BTreeMap, fs::File, ops::ControlFlow, path::Path};

use koga::{
    Finding, FindingRole, Line, analyze, explain, render,
    shakmaty::{Chess, EnPassantMode, Move, Position, fen::Fen, san::SanPlus},
};
use pgn_reader::{RawTag, Reader, Visitor};

/// The candidate and what must follow it without a capture.
const PLIES: usize = 5;

/// Reads games and prints the counts; with `list`, every motif.
pub fn run(games: &Path, list: bool) -> Result<(), String> {
    let error = |err: std::io::Error| format!("{}: {err}", games.display());
    let mut quiet = Quiet::default();
    let mut reader = Reader::new(File::open(games).map_err(error)?);
    while let Some(game) = reader.read_game(&mut quiet).map_err(error)? {
        game?;
    }
    if list {
        quiet.listed.iter().for_each(|entry| println!("{entry}"));
    }
    let Quiet { games, positions, with_motif, findings, .. } = quiet;
    let rate = 100.0 * with_motif as f64 / positions.max(1) as f64;
    println!("{games} games, {positions} quiet positions, {with_motif} with a motif ({rate:.2} %)");
    for (tactic, count) in findings {
        println!("{count:>6}  {tactic}");
    }
    Ok(())
}

#[derive(Default)]
struct Quiet {
    games: u64,
    positions: u64,
    with_motif: u64,
    /// Motifs by tactic; a move may have several.
    findings: BTreeMap<&'static str, u64>,
    listed: Vec<String>,
}

/// A game as far as it is read.
#[derive(Default)]
struct Game {
    site: String,
    positions: Vec<Chess>,
    moves: Vec<Move>,
    now: Chess,
}

impl Visitor for Quiet {
    type Tags = Option<Game>;
    type Movetext = Game;
    type Output = Result<(), String>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Self::Tags> {
        ControlFlow::Continue(Some(Game::default()))
    }

    fn tag(&mut self, tags: &mut Self::Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        match (name, tags) {
            (b"Site", Some(game)) => game.site = value.decode_utf8_lossy().into_owned(),
            // A game from another position is none of ours.
            (b"FEN", tags) => *tags = None,
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Self::Output, Self::Movetext> {
        match tags {
            Some(game) => ControlFlow::Continue(game),
            None => ControlFlow::Break(Ok(())),
        }
    }

    fn san(&mut self, game: &mut Game, san: SanPlus) -> ControlFlow<Self::Output> {
        match san.san.to_move(&game.now) {
            Ok(m) => {
                game.positions.push(game.now.clone());
                game.moves.push(m);
                game.now.play_unchecked(m);
                ControlFlow::Continue(())
            }
            Err(err) => ControlFlow::Break(Err(format!("{}: {san}: {err}", game.site))),
        }
    }

    fn end_game(&mut self, mut game: Game) -> Self::Output {
        self.games += 1;
        game.positions.push(game.now);
        for at in 0..(game.moves.len() + 1).saturating_sub(PLIES) {
            let moves = &game.moves[at..at + PLIES];
            let positions = &game.positions[at..=at + PLIES];
            if moves.iter().any(|m| m.is_capture()) || positions[1].is_check() {
                continue;
            }
            let line = Line { positions: positions.to_vec(), moves: moves.to_vec(), setup: None, mates: false };
            self.take(&line, &game.site);
        }
        Ok(())
    }
}

impl Quiet {
    fn take(&mut self, line: &Line, site: &str) {
        self.positions += 1;
        let report = analyze(line);
        let is_motif = |finding: &&Finding| finding.role == FindingRole::Motif;
        self.with_motif += u64::from(report.findings.iter().any(|finding| is_motif(&finding)));
        for finding in report.findings.iter().filter(is_motif) {
            *self.findings.entry(finding.tactic.name()).or_default() += 1;
            let fen = Fen::from_position(line.root(), EnPassantMode::Legal);
            let moves = render::text::moves(line);
            self.listed.push(format!("{site}\n  {fen}\n  {moves}\n  {}", explain::finding(line, finding)));
        }
    }
}

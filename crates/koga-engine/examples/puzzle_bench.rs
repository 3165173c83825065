//! Measures the built-in engine on puzzles of a Lichess file.
//!
//! `cargo run --release -p koga-engine --example puzzle_bench -- PUZZLES.csv.zst [PUZZLES [NODES [ENGINE]]]`
//!
//! Takes rows at even distances and asks for the best move at every position where the solver is to move.
//! A move is right if it is the puzzle's, or if the puzzle mates and the engine has a mate as quick.

use std::{
    error::Error,
    fs::File,
    io::Read,
    time::{Duration, Instant},
};

use koga_engine::{Limits, PvLine, Score, UciOptions};
use shakmaty::{CastlingMode, Chess, Move, Position, fen::Fen, uci::UciMove};

struct Puzzle {
    id: String,
    start: Chess,
    moves: Vec<Move>,
    mates: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: puzzle_bench PUZZLES.csv.zst [PUZZLES [NODES [ENGINE]]]")?;
    let count: usize = args.next().map_or(Ok(1000), |n| n.parse())?;
    let nodes: u64 = args.next().map_or(Ok(50_000), |n| n.parse())?;
    let verbose = std::env::var_os("VERBOSE").is_some();
    let puzzles = sample(&path, count)?;

    let program = args.next();
    let mut engine = koga_engine::open(program.as_deref(), &UciOptions::default())?;
    let (mut firsts, mut solved, mut moves_right, mut moves_asked, mut same_lines) = (0, 0, 0, 0, 0);
    let (mut visited, mut spent, mut wall) = (0, Vec::new(), Duration::ZERO);
    let (mut mates, mut whole_mates) = (0, 0);
    for puzzle in &puzzles {
        let mut all_right = true;
        for ply in (1..puzzle.moves.len()).step_by(2) {
            let began = (Instant::now(), cpu_time());
            let lines = engine.analyse_after(&puzzle.start, &puzzle.moves[..ply], &Limits::nodes(nodes))?;
            wall += began.0.elapsed();
            let time = elapsed_since(began);
            let best = &lines[0];
            visited += best.nodes.min(nodes);
            spent.push((best.nodes, time));
            let right = is_right(puzzle, ply, best);
            moves_asked += 1;
            moves_right += usize::from(right);
            all_right &= right;
            if ply == 1 {
                firsts += usize::from(right);
                let wanted = &puzzle.moves[1..puzzle.moves.len().min(4)];
                same_lines += usize::from(best.moves.starts_with(wanted));
            }
            if let Score::Mate(n) = best.score {
                mates += 1;
                whole_mates += usize::from(best.moves.len() as i32 == if n > 0 { 2 * n - 1 } else { -2 * n });
            }
            if verbose && !right {
                let line: Vec<String> = best.moves.iter().map(|m| m.to_string()).collect();
                println!(
                    "{} ply {ply}: {} wanted, {} depth {}: {}",
                    puzzle.id,
                    puzzle.moves[ply],
                    best.score,
                    best.depth,
                    line.join(" ")
                );
            }
        }
        solved += usize::from(all_right);
    }

    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let seconds: f64 = spent.iter().map(|(_, time)| time.as_secs_f64()).sum();
    let mut rates: Vec<f64> =
        spent.iter().filter(|(n, _)| *n >= nodes / 2).map(|(n, time)| *n as f64 / time.as_secs_f64() / 1e6).collect();
    rates.sort_by(f64::total_cmp);
    let median = rates.get(rates.len() / 2).copied().unwrap_or_default();
    println!("{} puzzles, {moves_asked} positions, {nodes} nodes each", puzzles.len());
    println!("first solver move right   {:6.2} % of puzzles", percent(firsts, puzzles.len()));
    println!("all solver moves right    {:6.2} % of puzzles", percent(solved, puzzles.len()));
    println!("solver moves right        {:6.2} % of moves", percent(moves_right, moves_asked));
    println!("first three plies equal   {:6.2} % of puzzles", percent(same_lines, puzzles.len()));
    println!("mates with all their moves{:6.2} % of {mates}", percent(whole_mates, mates));
    let rate = |nodes: u64, seconds: f64| nodes as f64 / seconds / 1e6;
    println!("million nodes per second  {:6.2} by the clock", rate(visited, wall.as_secs_f64()));
    if program.is_some() {
        return Ok(());
    }
    // Another program's processor time is not ours to see.
    println!("    of processor time     {median:6.2} median of {} searches", rates.len());
    println!("                          {:6.2} {visited} nodes in {seconds:.1} s", rate(visited, seconds));
    let began = (Instant::now(), cpu_time());
    let floor = count_positions(&Chess::new(), 4);
    let time = elapsed_since(began).as_secs_f64();
    println!("                          {:6.2} for the rules alone, from the initial position", rate(floor, time));
    Ok(())
}

/// The processor time of this thread, where the system tells: unlike the clock it does not run while others do.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}

/// Plays all moves to a depth, with the moves of every position: what no search on these rules can beat by much.
fn count_positions(pos: &Chess, depth: u32) -> u64 {
    let moves = pos.legal_moves();
    if depth == 0 {
        return 1;
    }
    let deeper = moves.into_iter().map(|m| {
        let mut after = pos.clone();
        after.play_unchecked(m);
        count_positions(&after, depth - 1)
    });
    1 + deeper.sum::<u64>()
}

fn elapsed_since((clock, cpu): (Instant, Option<Duration>)) -> Duration {
    cpu_time().zip(cpu).map_or(clock.elapsed(), |(now, then)| now - then)
}

/// Whether the engine plays the puzzle's move, or mates as quickly as the puzzle does.
fn is_right(puzzle: &Puzzle, ply: usize, best: &PvLine) -> bool {
    let moves_left = (puzzle.moves.len() - ply).div_ceil(2) as i32;
    best.moves[0] == puzzle.moves[ply]
        || puzzle.mates && matches!(best.score, Score::Mate(n) if n > 0 && n <= moves_left)
}

fn sample(path: &str, count: usize) -> Result<Vec<Puzzle>, Box<dyn Error>> {
    let mut text = String::new();
    zstd::Decoder::new(File::open(path)?)?.read_to_string(&mut text)?;
    let rows: Vec<&str> = text.lines().skip(1).collect();
    let step = (rows.len() / count.max(1)).max(1);
    rows.iter().step_by(step).take(count).map(|row| puzzle(row)).collect()
}

fn puzzle(row: &str) -> Result<Puzzle, Box<dyn Error>> {
    let mut fields = row.split(',');
    let mut field = || fields.next().ok_or("a row with too few fields");
    let (id, fen, text) = (field()?.to_owned(), field()?, field()?);
    let start: Chess = fen.parse::<Fen>()?.into_position(CastlingMode::Standard)?;
    let (mut pos, mut moves) = (start.clone(), Vec::new());
    for token in text.split(' ') {
        let m = token.parse::<UciMove>()?.to_move(&pos)?;
        moves.push(m);
        pos.play_unchecked(m);
    }
    Ok(Puzzle { id, start, moves, mates: pos.is_checkmate() })
}

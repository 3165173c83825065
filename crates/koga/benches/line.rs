//! What each stage costs on real puzzles, stage by stage, and how detection compares with parsing and replay.
//!
//! Every figure is for all the lines together; criterion's throughput (`elem/s`) is lines a second. The closing table gives
//! the medians of this run a line.

#[allow(dead_code)]
#[path = "../tests/support/puzzles.rs"]
mod puzzles;
#[allow(dead_code)]
#[path = "../tests/support/random.rs"]
mod random;

use std::{
    fs,
    hint::black_box,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use criterion::{BatchSize, BenchmarkGroup, Criterion, SamplingMode, Throughput, measurement::WallTime};
use koga::{
    Line, Report, analyze,
    arbiter::arbitrate,
    render,
    shakmaty::{CastlingMode, EnPassantMode, fen::Fen, uci::UciMove},
    tactics::detect,
};

/// One puzzle in so many is measured: enough for steady medians.
const STEP: usize = 16;

const STAGES: [&str; 7] =
    ["parse+replay", "detection", "arbitration", "analyze", "render-json", "render-text", "render-svg"];

/// A line as text.
struct Text {
    fen: String,
    setup: String,
    moves: Vec<String>,
}

impl Text {
    fn parse(&self) -> Line {
        let moves = self.moves.iter().map(String::as_str);
        Line::parse_with_setup(&self.fen, &self.setup, moves).expect("the line is legal")
    }
}

/// The puzzles, or random lines where they are not at hand.
fn texts() -> Vec<Text> {
    if let Some(puzzles) = puzzles::every(STEP) {
        let text = |puzzle: puzzles::Puzzle| {
            let mut moves = puzzle.moves.split(' ').map(str::to_owned);
            let setup = moves.next().expect("a puzzle begins with the enemy's move");
            Text { setup, moves: moves.collect(), fen: puzzle.fen }
        };
        return puzzles.into_iter().map(text).collect();
    }
    eprintln!("the figures are for random lines and say little about real ones");
    let mut rng = random::Rng::new(1);
    let lines = std::iter::repeat_with(|| random::line(&mut rng, 5)).filter(|line| line.len() > 1).take(5000);
    let text = |line: Line| {
        let mut moves = line.moves.iter().map(|m| UciMove::from_move(*m, CastlingMode::Chess960).to_string());
        let fen = Fen::from_position(line.root(), EnPassantMode::Legal).to_string();
        Text { setup: moves.next().expect("a move"), moves: moves.collect(), fen }
    };
    lines.map(text).collect()
}

fn main() {
    let start = SystemTime::now();
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("criterion");
    let mut criterion = Criterion::default()
        .output_directory(&directory)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(4))
        .sample_size(20)
        .without_plots()
        .configure_from_args();
    let texts = texts();
    let lines: Vec<Line> = texts.iter().map(Text::parse).collect();
    let reports: Vec<Report> = lines.iter().map(analyze).collect();
    let mut group = criterion.benchmark_group("line");
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(lines.len() as u64));
    measure(&mut group, &texts, &lines, &reports);
    group.finish();
    criterion.final_summary();
    print_table(&directory, start, lines.len());
}

fn measure(group: &mut BenchmarkGroup<WallTime>, texts: &[Text], lines: &[Line], reports: &[Report]) {
    let [parse, detection, arbitration, analysis, json, text, svg] = STAGES;
    group.bench_function(parse, |b| {
        b.iter(|| texts.iter().for_each(|text| drop(black_box(text.parse()))));
    });
    group.bench_function(detection, |b| {
        b.iter(|| lines.iter().for_each(|line| drop(black_box(detect(line)))));
    });
    group.bench_function(arbitration, |b| {
        b.iter_batched(
            || lines.iter().map(detect).collect::<Vec<_>>(),
            |found| lines.iter().zip(found).for_each(|(line, found)| drop(black_box(arbitrate(line, found)))),
            BatchSize::PerIteration,
        );
    });
    group.bench_function(analysis, |b| {
        b.iter(|| lines.iter().for_each(|line| drop(black_box(analyze(line)))));
    });
    let all = || lines.iter().zip(reports);
    group.bench_function(json, |b| {
        b.iter(|| {
            all().for_each(|(line, report)| {
                drop(black_box(serde_json::to_vec(&render::json::report(line, report, ()))));
            });
        });
    });
    group.bench_function(text, |b| {
        b.iter(|| all().for_each(|(line, report)| drop(black_box(render::text::report(line, report, false)))));
    });
    group.bench_function(svg, |b| {
        b.iter(|| all().for_each(|(line, report)| drop(black_box(render::svg::report(line, report)))));
    });
}

/// The medians of this run, in microseconds a line; nothing where criterion measured only some stages, or none.
fn print_table(directory: &Path, start: SystemTime, lines: usize) {
    let median = |stage: &str| -> Option<f64> {
        let file = directory.join("line").join(stage).join("new").join("estimates.json");
        if fs::metadata(&file).ok()?.modified().ok()? < start {
            return None;
        }
        let estimates: serde_json::Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        Some(estimates["median"]["point_estimate"].as_f64()? / 1000.0 / lines as f64)
    };
    let Some(medians) = STAGES.iter().map(|stage| median(stage)).collect::<Option<Vec<f64>>>() else { return };
    println!("medians over {lines} lines, in microseconds a line:");
    for (stage, median) in STAGES.iter().zip(&medians) {
        println!("  {stage:<14}{median:>9.3}");
    }
    let [parse, detection, arbitration, ..] = medians[..] else { return };
    println!("(detection + arbitration) / (parse + replay) = {:.2}", (detection + arbitration) / parse);
}

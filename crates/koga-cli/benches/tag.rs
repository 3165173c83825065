//! How fast `koga tag` is, from the start of the process to its end, and what the floor is: reading the positions and
//! replaying the lines alone, in the same run.
//!
//! `cargo bench -p koga-cli --bench tag -- [--rows N] [--runs N] [--format FORMAT] [--pipe]`: the puzzle file, repeated
//! to that many rows, in a file or through a pipe. Medians.

use std::{
    fs::{self, File},
    hint::black_box,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use koga::{Line, analyze};

/// A thousand times the 148 puzzles a second of the field's Python tagger.
const TARGET: f64 = 148_000.0;

struct Settings {
    rows: usize,
    runs: usize,
    format: String,
    pipe: bool,
}

/// One run of the program.
struct Run {
    wall: Duration,
    /// Processor time, as far as it was seen before the end.
    cpu: Duration,
    /// Kilobytes.
    memory: u64,
}

fn main() {
    let settings = settings();
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/puzzles.csv.zst");
    let Ok(file) = File::open(&shared) else {
        println!("skipped: {} is absent", shared.display());
        return;
    };
    let puzzles = zstd::decode_all(file).expect("the puzzle file is whole");
    let text = std::str::from_utf8(&puzzles).expect("the puzzle file is text");
    floor(text);

    let input = std::env::temp_dir().join(format!("koga-bench-{}.csv.zst", std::process::id()));
    if !settings.pipe {
        let file = BufWriter::new(File::create(&input).expect("the temporary folder can be written"));
        let mut packed = zstd::Encoder::new(file, 3).expect("3 is a level");
        repeat(text, settings.rows, &mut packed).and_then(|()| packed.finish()?.flush()).expect("there is room for it");
    }
    let mut one = None;
    for threads in [1, 2] {
        let mut runs: Vec<Run> = (0..settings.runs).map(|_| run(&settings, text, &input, threads)).collect();
        runs.sort_by_key(|run| run.wall);
        let run = &runs[runs.len() / 2];
        let rate = settings.rows as f64 / run.wall.as_secs_f64();
        let than_one = run_ratio(one.get_or_insert(run.wall.as_secs_f64()), run);
        println!(
            "{threads} thread(s): {rate:.0} rows a second ({:.2} of {TARGET}), {:.2} s, of which processor {:.2} s; {} kB at most; \
             {than_one:.2} times one thread",
            rate / TARGET,
            run.wall.as_secs_f64(),
            run.cpu.as_secs_f64(),
            run.memory,
        );
    }
    let _ = fs::remove_file(input);
}

fn run_ratio(one: &f64, run: &Run) -> f64 {
    one / run.wall.as_secs_f64()
}

fn settings() -> Settings {
    let mut settings = Settings { rows: 1_000_000, runs: 3, format: "csv".to_owned(), pipe: false };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse().ok()).expect("a number follows");
        match arg.as_str() {
            "--rows" => settings.rows = number(),
            "--runs" => settings.runs = number(),
            "--format" => settings.format = args.next().expect("a format follows"),
            "--pipe" => settings.pipe = true,
            _ => {}
        }
    }
    settings
}

/// Reading and replaying alone, then with the rules: what `koga tag` cannot be faster than.
fn floor(text: &str) {
    let rows: Vec<(&str, &str)> = text
        .lines()
        .skip(1)
        .filter_map(|row| {
            let mut fields = row.split(',').skip(1);
            Some((fields.next()?, fields.next()?))
        })
        .collect();
    let line = |(fen, moves): &(&str, &str)| {
        let mut moves = moves.split(' ');
        Line::parse_with_setup(fen, moves.next().unwrap_or_default(), moves).expect("the puzzles are legal")
    };
    let median = |work: &dyn Fn()| {
        let mut times: Vec<Duration> = (0..7)
            .map(|_| {
                let begun = Instant::now();
                work();
                begun.elapsed()
            })
            .collect();
        times.sort();
        times[3].as_secs_f64() / rows.len() as f64
    };
    let replay = median(&|| rows.iter().for_each(|row| drop(black_box(line(row)))));
    let whole = median(&|| rows.iter().for_each(|row| drop(black_box(analyze(&line(row))))));
    for (what, time) in [("parse and replay alone", replay), ("with the rules", whole)] {
        println!("{what}: {:.2} µs a row, {:.0} rows a second", time * 1e6, 1.0 / time);
    }
}

fn repeat(text: &str, rows: usize, out: &mut impl Write) -> io::Result<()> {
    let (header, body) = text.split_once('\n').expect("there is a header");
    let count = body.lines().count();
    writeln!(out, "{header}")?;
    for _ in 0..rows / count {
        out.write_all(body.as_bytes())?;
    }
    body.lines().take(rows % count).try_for_each(|row| writeln!(out, "{row}"))
}

fn run(settings: &Settings, text: &str, input: &PathBuf, threads: usize) -> Run {
    let begun = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_koga"));
    command.args(["tag", "--format", &settings.format, "--threads", &threads.to_string()]).stdout(Stdio::null());
    if settings.pipe {
        command.stdin(Stdio::piped());
    } else {
        command.arg(input);
    }
    let mut child = command.spawn().expect("the program starts");
    let stdin = child.stdin.take();
    let run = std::thread::scope(|scope| {
        if let Some(mut stdin) = stdin {
            scope.spawn(move || repeat(text, settings.rows, &mut stdin).expect("the program reads on"));
        }
        watch(&mut child, begun)
    });
    assert!(child.wait().expect("it was started").success());
    run
}

/// Waits for the end, and sees how much memory and time the program takes.
fn watch(child: &mut Child, begun: Instant) -> Run {
    let (mut memory, mut cpu) = (0, Duration::ZERO);
    let proc = PathBuf::from(format!("/proc/{}", child.id()));
    while child.try_wait().expect("it was started").is_none() {
        let status = fs::read_to_string(proc.join("status")).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        memory = peak.unwrap_or(memory);
        let stat = fs::read_to_string(proc.join("stat")).unwrap_or_default();
        // Hundredths of a second in user and in kernel mode.
        let ticks: u64 = stat.split_whitespace().skip(13).take(2).filter_map(|n| n.parse::<u64>().ok()).sum();
        cpu = cpu.max(Duration::from_millis(10 * ticks));
        std::thread::sleep(Duration::from_millis(5));
    }
    Run { wall: begun.elapsed(), cpu, memory }
}

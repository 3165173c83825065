//! How fast `koga serve` answers requests with given lines, and whether hostile clients cost honest ones their answers.
//!
//! `cargo bench -p koga-cli --bench serve -- [--requests N] [--connections N]`: the program is started on a free port of the
//! loopback address and asked by as many connections as are wanted, each a thread that asks again once it has its answer.
//! The lines are those of the puzzle file where it is, else those of the corpus. Every answer is compared with what the rules
//! say here. Both runs share the machine with the server.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use koga::{Line, Tactic, analyze, render};
use koga_cli::corpus;
use serde_json::{json, value::RawValue};

/// What the honest run must reach.
const LEAST_RATE: f64 = 5_000.0;
const LONGEST_P99: Duration = Duration::from_millis(50);

/// Threads of each kind of hostile client.
const HOSTILE: usize = 4;

struct Case {
    request: Vec<u8>,
    answer: Vec<u8>,
}

/// What came of a run.
struct Run {
    wall: Duration,
    times: Vec<Duration>,
    errors: usize,
}

fn main() -> ExitCode {
    let (mut requests, mut connections) = (2_000, 64);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse().ok()).expect("a number follows");
        match arg.as_str() {
            "--requests" => requests = number(),
            "--connections" => connections = number(),
            _ => {}
        }
    }
    let cases = cases(requests);
    let (mut server, addr) = start();
    // Code and pages are in memory once this is over.
    run(addr, &cases[..cases.len().min(500)], connections);
    let honest = run(addr, &cases, connections);
    honest.print("honest clients alone");
    let (attacks, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let mixed = std::thread::scope(|scope| {
        for attack in ATTACKS {
            for _ in 0..HOSTILE {
                let (attacks, stop) = (&attacks, &stop);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        // It is their failure if they fail.
                        let _ = attack(addr, stop);
                        attacks.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        }
        std::thread::sleep(Duration::from_millis(500));
        let mixed = run(addr, &cases, connections);
        stop.store(true, Ordering::Relaxed);
        mixed
    });
    mixed.print(&format!("beside {} hostile ones", ATTACKS.len() * HOSTILE));
    println!("    {} hostile attempts", attacks.into_inner());
    let _ = server.kill();
    let _ = server.wait();
    let is_fast = honest.rate() >= LEAST_RATE && honest.part(0.99) <= LONGEST_P99;
    if honest.errors + mixed.errors == 0 && is_fast { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Run {
    fn rate(&self) -> f64 {
        self.times.len() as f64 / self.wall.as_secs_f64()
    }

    /// The time that this part of the answers took at most.
    fn part(&self, part: f64) -> Duration {
        let index = (self.times.len() as f64 * part) as usize;
        self.times.get(index.min(self.times.len().saturating_sub(1))).copied().unwrap_or_default()
    }

    fn print(&self, name: &str) {
        let milliseconds = |part| self.part(part).as_secs_f64() * 1e3;
        println!(
            "{name}: {} answers, {:.0} a second, p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms, {} errors",
            self.times.len(),
            self.rate(),
            milliseconds(0.5),
            milliseconds(0.99),
            milliseconds(1.0),
            self.errors
        );
    }
}

/// So many requests and what must be answered.
fn cases(count: usize) -> Vec<Case> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/puzzles.csv.zst");
    let lines: Vec<(String, Vec<String>, Line)> = match File::open(&shared) {
        Ok(file) => {
            let text = zstd::decode_all(file).expect("the puzzle file is whole");
            let text = String::from_utf8(text).expect("the puzzle file is text");
            let puzzle = |row: &str| {
                let mut fields = row.split(',').skip(1);
                let (fen, moves) = (fields.next()?.to_owned(), fields.next()?);
                let moves: Vec<String> = moves.split(' ').map(str::to_owned).collect();
                let line = Line::parse_with_setup(&fen, &moves[0], moves[1..].iter().map(String::as_str)).ok()?;
                Some((fen, moves, line))
            };
            text.lines().skip(1).filter_map(puzzle).take(count).collect()
        }
        Err(_) => {
            println!("{} is absent: the corpus takes its place", shared.display());
            let lines = Tactic::ALL.iter().flat_map(|tactic| corpus::cases(*tactic).unwrap_or_default());
            lines.filter_map(|case| of_corpus(&case)).collect()
        }
    };
    let case = |(id, (fen, moves, line)): (usize, &(String, Vec<String>, Line))| {
        let request = json!({ "id": id, "fen": fen, "setup": moves[0], "moves": moves[1..] }).to_string();
        let id = RawValue::from_string(id.to_string()).expect("a number");
        let answer = serde_json::to_string(&render::json::report(line, &analyze(line), Some(&*id))).expect("JSON");
        let head = "POST /api/explain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length:";
        Case {
            request: format!("{head} {}\r\n\r\n{request}", request.len()).into_bytes(),
            answer: (answer + "\n").into(),
        }
    };
    lines.iter().cycle().take(count).enumerate().map(case).collect()
}

/// A case that, like a puzzle, begins with the enemy's move.
fn of_corpus(case: &corpus::Case) -> Option<(String, Vec<String>, Line)> {
    let line = case.line().ok()?;
    let setup = case.setup.clone()?;
    let moves = koga::parse::moves_of(&case.line).map(str::to_owned);
    Some((case.fen.clone(), std::iter::once(setup).chain(moves).collect(), line))
}

fn start() -> (Child, SocketAddr) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_koga"))
        .args(["serve", "--addr", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut said = String::new();
    BufReader::new(child.stderr.take().expect("piped")).read_line(&mut said).expect("it says where it is");
    let addr = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()?.parse().ok());
    (child, addr.unwrap_or_else(|| panic!("{said}")))
}

/// Asks all requests over so many connections, each waiting for its answer before it asks again.
fn run(addr: SocketAddr, cases: &[Case], connections: usize) -> Run {
    let (next, errors) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let times = Mutex::new(Vec::with_capacity(cases.len()));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..connections {
            scope.spawn(|| {
                let mut own = Vec::new();
                let mut connection = connect(addr).map(BufReader::new);
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begun = Instant::now();
                    let answer =
                        connection.as_mut().map_err(|_| ()).and_then(|it| ask(it, &case.request).map_err(drop));
                    own.push(begun.elapsed());
                    if answer.is_ok_and(|(status, body)| status == 200 && body == case.answer) {
                        continue;
                    }
                    errors.fetch_add(1, Ordering::Relaxed);
                    connection = connect(addr).map(BufReader::new);
                }
                times.lock().expect("nobody panics").extend(own);
            });
        }
    });
    let wall = begun.elapsed();
    let mut times = times.into_inner().expect("nobody panics");
    times.sort();
    Run { wall, times, errors: errors.into_inner() }
}

fn connect(addr: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(addr)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    Ok(stream)
}

fn ask(connection: &mut BufReader<TcpStream>, request: &[u8]) -> io::Result<(u16, Vec<u8>)> {
    connection.get_mut().write_all(request)?;
    let bad = || io::Error::from(io::ErrorKind::InvalidData);
    let mut line = String::new();
    connection.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(bad)?;
    let mut length = None;
    loop {
        line.clear();
        connection.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().ok(),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length.ok_or_else(bad)?];
    connection.read_exact(&mut body)?;
    Ok((status, body))
}

type Attack = fn(SocketAddr, &AtomicBool) -> io::Result<()>;

const HEAD: &str = "POST /api/explain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

/// What hostile clients do.
const ATTACKS: [Attack; 7] = [
    // A body that comes byte by byte.
    |addr, stop| {
        let mut stream = connect(addr)?;
        write!(stream, "{HEAD}Content-Length: 60000\r\n\r\n")?;
        while !stop.load(Ordering::Relaxed) {
            stream.write_all(b" ")?;
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    },
    // A body that is much too long.
    |addr, _| {
        let mut stream = connect(addr)?;
        write!(stream, "{HEAD}Content-Length: 8000000\r\n\r\n")?;
        for _ in 0..125 {
            stream.write_all(&[b' '; 64_000])?;
        }
        std::thread::sleep(Duration::from_millis(20));
        stream.read(&mut [0; 1000]).map(drop)
    },
    // No HTTP.
    |addr, _| {
        let mut stream = connect(addr)?;
        stream.write_all(&[0x16, 3, 1, 0, 0xff, 0, b'\r', b'\n', b'\r', b'\n'])?;
        std::thread::sleep(Duration::from_millis(5));
        stream.read(&mut [0; 1000]).map(drop)
    },
    // No request.
    |addr, _| {
        let garbage = "[".repeat(20_000);
        let mut stream = BufReader::new(connect(addr)?);
        for _ in 0..20 {
            let (status, _) = ask(&mut stream, format!("{HEAD}Content-Length: 20000\r\n\r\n{garbage}").as_bytes())?;
            assert_eq!(status, 400);
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    },
    // Connections that are half open.
    |addr, stop| {
        let open: io::Result<Vec<TcpStream>> = (0..16).map(|_| connect(addr)).collect();
        for stream in &mut open? {
            stream.write_all(b"POST /api/explain HTT")?;
        }
        for _ in 0..50 {
            if !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(())
    },
    // A client that goes away in the middle of its request.
    |addr, _| {
        let mut stream = connect(addr)?;
        write!(stream, "{HEAD}Content-Length: 600\r\n\r\n{{\"fen\": ")?;
        std::thread::sleep(Duration::from_millis(2));
        Ok(())
    },
    // A client that asks the engine for much and goes away.
    |addr, _| {
        let mut stream = connect(addr)?;
        let body = "{\"fen\": \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\", \"nodes\": 10000000}";
        write!(stream, "{HEAD}Content-Length: {}\r\n\r\n{body}", body.len())?;
        std::thread::sleep(Duration::from_millis(50));
        Ok(())
    },
];

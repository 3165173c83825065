//! A UCI engine may do anything; whoever asks gets lines or a clear error, soon, and no process is left over.
#![cfg(unix)]

use std::{
    fs,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use koga_engine::{Engine, EngineError, Limits, Score, Uci, UciOptions};
use shakmaty::{CastlingMode, Chess, Position, fen::Fen, uci::UciMove};

/// An engine made of a shell script: how it greets, and what it does when told to go.
struct Fake {
    hello: &'static str,
    go: String,
}

const HELLO: &str = "echo 'id name Fake 1'; echo 'option name MultiPV type spin default 1 min 1 max 9'; echo 'option name Skill Level type spin default 20'; echo uciok";
const ANSWER: &str = "echo 'info depth 3 score cp 20 nodes 99 pv e2e4 e7e5 g1f3'; echo 'bestmove e2e4 ponder e7e5'";

impl Fake {
    fn going(go: impl Into<String>) -> Fake {
        Fake { hello: HELLO, go: go.into() }
    }

    fn script(&self) -> String {
        let Fake { hello, go } = self;
        format!(
            "while read -r line; do case \"$line\" in\n\
             uci) {hello};;\n\
             isready) echo readyok;;\n\
             go*) {go};;\n\
             quit) exit 0;;\n\
             esac; done"
        )
    }

    fn options(&self) -> UciOptions {
        UciOptions {
            arguments: vec!["-c".to_owned(), self.script()],
            patience: Duration::from_millis(1000),
            ..UciOptions::default()
        }
    }

    fn start(&self) -> Result<Uci, EngineError> {
        Uci::start("/bin/sh", &self.options())
    }

    /// What analysing the initial position gives, which must not take long.
    fn ask(&self) -> Result<Vec<koga_engine::PvLine>, EngineError> {
        let began = Instant::now();
        let answer = self.start().and_then(|mut uci| uci.analyse(&Chess::new(), &short()));
        assert!(began.elapsed() < Duration::from_secs(20), "took {:?}", began.elapsed());
        if let Err(error) = &answer {
            assert!(error.to_string().starts_with("engine /bin/sh "), "{error}");
        }
        answer
    }
}

fn short() -> Limits {
    Limits::time(Duration::from_millis(50))
}

/// Our child processes, each with its state and its command, which is empty once it has ended.
fn children() -> Vec<(u32, String, String)> {
    let read = |pid: u32, file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).ok();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = read(pid, "stat")?;
            let mut fields = stat.rsplit(')').next()?.split_ascii_whitespace();
            let (state, parent) = (fields.next()?.to_owned(), fields.next()?);
            let ours = parent == std::process::id().to_string();
            ours.then(|| (pid, state, read(pid, "cmdline").unwrap_or_default().replace('\0', " ")))
        })
        .collect()
}

/// How many of our processes run a command with this in it.
fn running(mark: &str) -> usize {
    children().iter().filter(|(_, _, command)| command.contains(mark)).count()
}

#[test]
fn no_process_is_running() {
    for go in ["exit 0", "kill -9 $$", "exec cat /dev/zero", "echo 'bestmove e2e5'", "exec sleep 60.75", ANSWER] {
        let _ = Fake::going(go).ask();
    }
    assert_eq!(running("60.75"), 0);
    // Tests beside this one may just be about to wait for an ended process of theirs, but not for long.
    let zombies = || children().into_iter().filter(|(_, state, _)| state == "Z").map(|(pid, ..)| pid);
    let before: Vec<u32> = zombies().collect();
    thread::sleep(Duration::from_secs(2));
    assert_eq!(zombies().filter(|pid| before.contains(pid)).count(), 0);
}

#[test]
fn a_good_engine_gives_its_lines() {
    let mut uci = Fake::going(ANSWER).start().unwrap();
    assert_eq!(uci.name(), "Fake 1");
    for _ in 0..3 {
        let lines = uci.analyse(&Chess::new(), &short()).unwrap();
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].score, lines[0].depth, lines[0].nodes), (Score::Cp(20), 3, 99));
        assert_eq!(lines[0].moves.len(), 3);
    }
}

#[test]
fn garbage_bounds_and_wdl_between_the_lines_are_passed_over() {
    let lines = Fake::going(
        "echo; echo 'info string pv h2h4'; echo 'info depth'; echo 'xyzzy'; printf '\\377\\376\\n';
         echo 'info depth 2 currmove e2e4 currmovenumber 1';
         echo 'info depth 7 seldepth 9 multipv 1 score cp 31 wdl 40 950 10 nodes 5 pv d2d4 d7d5 wdl 1 2 3';
         echo 'info depth 8 score cp 11 upperbound pv d2d4'; echo 'bestmove d2d4'",
    )
    .ask()
    .unwrap();
    assert_eq!((lines[0].score, lines[0].depth, lines[0].moves.len()), (Score::Cp(31), 7, 2));
}

#[test]
fn several_lines_come_best_first_and_differ() {
    let fake = Fake::going(
        "echo 'info depth 5 multipv 1 score cp 9 pv e2e4'; echo 'info depth 5 multipv 2 score cp 40 pv d2d4';
         echo 'info depth 4 multipv 3 score cp 1 pv e2e4 e7e5'; echo 'bestmove d2d4'",
    );
    let lines = fake.start().unwrap().analyse(&Chess::new(), &short().with_lines(3)).unwrap();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].moves[0].to_string(), "d2-d4");
}

#[test]
fn a_line_is_cut_at_its_first_illegal_move() {
    let lines =
        Fake::going("echo 'info depth 3 score cp 20 pv e2e4 e7e5 e1e3 g8f6'; echo 'bestmove e2e4'").ask().unwrap();
    assert_eq!(lines[0].moves.len(), 2);
}

#[test]
fn a_missing_program_is_named() {
    for name in ["no-such-engine-anywhere", "/no/such/engine", "./no-such-engine"] {
        let Err(error) = Uci::start(name, &UciOptions::default()) else { panic!("{name} is there") };
        assert_eq!(error, EngineError::NotFound { engine: name.to_owned() });
        assert_eq!(error.to_string(), format!("engine {name}: no such program"));
    }
}

#[test]
fn a_file_that_is_no_program_is_named() {
    let Err(error) = Uci::start("./Cargo.toml", &UciOptions::default()) else { panic!("a program") };
    assert!(matches!(error, EngineError::NotStarted { .. }), "{error}");
}

#[test]
fn a_program_that_exits_at_once_is_told_with_its_status() {
    let options = UciOptions { arguments: vec!["-c".into(), "exit 3".into()], ..UciOptions::default() };
    let Err(error) = Uci::start("/bin/sh", &options) else { panic!("started") };
    assert_eq!(error.to_string(), "engine /bin/sh ended during the handshake (exit status: 3)");
}

#[test]
fn a_program_that_says_nothing_times_out() {
    let options = UciOptions {
        arguments: vec!["-c".into(), "exec sleep 60.125".into()],
        patience: Duration::from_millis(200),
        ..UciOptions::default()
    };
    let began = Instant::now();
    let Err(error) = Uci::start("/bin/sh", &options) else { panic!("started") };
    assert!(matches!(error, EngineError::TimedOut { during: "the handshake", .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(running("60.125"), 0);
}

#[test]
fn an_engine_that_hangs_in_its_search_times_out_and_is_killed() {
    let error = Fake::going("exec sleep 60.25").ask().unwrap_err();
    assert!(matches!(error, EngineError::TimedOut { during: "the search", .. }), "{error}");
    assert_eq!(running("60.25"), 0);
}

#[test]
fn an_engine_that_falls_silent_is_not_waited_for_as_long_as_its_nodes_could_take() {
    let mut uci = Fake::going("exec sleep 60.75").start().unwrap();
    let began = Instant::now();
    // Half an hour at the slowest speed that is believed.
    let error = uci.analyse(&Chess::new(), &Limits::nodes(1_000_000)).unwrap_err();
    assert!(matches!(error, EngineError::TimedOut { during: "the search", .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn an_engine_that_does_not_stop_when_told_is_given_up_soon() {
    let fake = Fake::going("exec sleep 61.25");
    let patient = UciOptions { patience: Duration::from_secs(60), ..fake.options() };
    let mut uci = Uci::start("/bin/sh", &patient).unwrap();
    let handle = uci.stop_handle();
    let began = Instant::now();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        handle.stop();
    });
    let error = uci.analyse(&Chess::new(), &Limits::nodes(1_000_000)).unwrap_err();
    assert!(matches!(error, EngineError::TimedOut { .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(running("61.25"), 0);
}

#[test]
fn an_engine_that_dies_in_every_search_is_told() {
    let error = Fake::going("echo 'info depth 1 score cp 1 pv e2e4'; kill -9 $$").ask().unwrap_err();
    assert!(matches!(&error, EngineError::Exited { during: "the search", .. }), "{error}");
    assert!(error.to_string().contains("signal: 9"), "{error}");
}

#[test]
fn an_engine_that_dies_once_is_started_again() {
    let mark = std::env::temp_dir().join(format!("koga-engine-died-{}", std::process::id()));
    let _ = fs::remove_file(&mark);
    let path = mark.display();
    let lines = Fake::going(format!("if [ -e '{path}' ]; then {ANSWER}; else : > '{path}'; kill -9 $$; fi")).ask();
    fs::remove_file(&mark).unwrap();
    assert_eq!(lines.unwrap().len(), 1);
}

#[test]
fn an_engine_killed_from_outside_while_it_thinks_is_started_again() {
    let mark = std::env::temp_dir().join(format!("koga-engine-pid-{}", std::process::id()));
    let _ = fs::remove_file(&mark);
    let path = mark.display().to_string();
    let fake = Fake::going(format!("if [ -e '{path}' ]; then {ANSWER}; else echo $$ > '{path}'; exec sleep 60.5; fi"));
    let pid_file = mark.clone();
    let killer = thread::spawn(move || {
        let pid = loop {
            match fs::read_to_string(&pid_file) {
                Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
                _ => thread::sleep(Duration::from_millis(5)),
            }
        };
        Command::new("kill").args(["-9", &pid]).status().unwrap();
    });
    let lines = fake.ask();
    killer.join().unwrap();
    fs::remove_file(&mark).unwrap();
    assert_eq!(lines.unwrap().len(), 1);
}

#[test]
fn a_flood_of_lines_ends_in_an_error() {
    let error = Fake::going("exec yes 'info string all is well'").ask().unwrap_err();
    assert!(matches!(error, EngineError::Flooded { .. } | EngineError::TimedOut { .. }), "{error}");
    assert_eq!(running("all is well"), 0);
}

#[test]
fn a_flood_without_line_breaks_ends_in_an_error() {
    let error = Fake::going("exec cat /dev/zero").ask().unwrap_err();
    assert!(matches!(error, EngineError::Flooded { during: "the search", .. }), "{error}");
    assert_eq!(running("/dev/zero"), 0);
}

#[test]
fn a_flood_before_the_handshake_ends_in_an_error() {
    let fake = Fake { hello: "exec yes hello", go: String::new() };
    let error = fake.ask().unwrap_err();
    assert!(matches!(error, EngineError::Flooded { .. } | EngineError::TimedOut { .. }), "{error}");
}

#[test]
fn illegal_answers_are_told_with_their_move() {
    for (go, text) in [
        ("echo 'info depth 1 score cp 1 pv e2e5'; echo 'bestmove e2e4'", "e2e5"),
        ("echo 'info depth 1 score cp 1 pv e2e4'; echo 'bestmove e7e5'", "e7e5"),
        ("echo 'info depth 1 score cp 1 pv e2e4'; echo 'bestmove (none)'", "(none)"),
        ("echo 'info depth 1 score cp 1 pv e2e4'; echo 'bestmove'", ""),
    ] {
        let error = Fake::going(go).ask().unwrap_err();
        assert!(matches!(&error, EngineError::IllegalMove { text: told, .. } if told == text), "{error}");
    }
}

#[test]
fn an_answer_without_a_line_is_told() {
    let error = Fake::going("echo 'info depth 1 score cp 1'; echo 'bestmove e2e4'").ask().unwrap_err();
    assert_eq!(error.to_string(), "engine /bin/sh ended its search without a line");
}

#[test]
fn after_a_failure_the_next_question_starts_the_engine_anew() {
    let mark = std::env::temp_dir().join(format!("koga-engine-ill-{}", std::process::id()));
    let _ = fs::remove_file(&mark);
    let path = mark.display();
    let go = format!("if [ -e '{path}' ]; then {ANSWER}; else : > '{path}'; echo 'bestmove a1a8'; fi");
    let mut uci = Fake::going(go).start().unwrap();
    assert!(uci.analyse(&Chess::new(), &short()).is_err());
    let lines = uci.analyse(&Chess::new(), &short());
    fs::remove_file(&mark).unwrap();
    assert_eq!(lines.unwrap().len(), 1);
}

#[test]
fn options_must_exist_and_fit_on_a_line() {
    let with = |name: &str, value: &str| {
        let fake = Fake::going(ANSWER);
        let others = vec![(name.to_owned(), value.to_owned())];
        Uci::start("/bin/sh", &UciOptions { others, ..fake.options() }).map(|_| ())
    };
    assert_eq!(with("skill level", "3"), Ok(()));
    assert!(matches!(with("Contempt", "3"), Err(EngineError::NoOption { .. })));
    assert!(matches!(with("Skill Level", "3\nquit"), Err(EngineError::Unsendable { .. })));
}

#[test]
fn what_is_sent_is_what_was_asked() {
    let log = std::env::temp_dir().join(format!("koga-engine-log-{}", std::process::id()));
    let path = log.display();
    let mut fake = Fake::going(format!(
        "echo \"$line\" >> '{path}'; echo 'info depth 1 score cp 1 pv a1c1'; echo 'bestmove a1c1'"
    ));
    fake.hello =
        "echo 'option name UCI_Chess960 type check default false'; echo 'option name Hash type spin'; echo uciok";
    let script = fake
        .script()
        .replace("quit)", &format!("position*|setoption*|ucinewgame) echo \"$line\" >> '{path}';;\nquit)"));
    let options = UciOptions { arguments: vec!["-c".into(), script], hash: Some(32), ..fake.options() };
    let _ = fs::remove_file(&log);

    let fen: Fen = "rk5r/8/8/8/8/8/P7/RK5R w HAha - 3 20".parse().unwrap();
    let start: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
    let (mut pos, mut played) = (start.clone(), Vec::new());
    for text in ["a2a3", "a8a7", "h1h2", "a7a8"] {
        let m = text.parse::<UciMove>().unwrap().to_move(&pos).unwrap();
        played.push(m);
        pos.play_unchecked(m);
    }

    // The king castles to c1 with the rook on a1.
    let fen: Fen = "4k3/8/8/8/8/8/8/RK6 w A - 0 1".parse().unwrap();
    let castling: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
    let mut uci = Uci::start("/bin/sh", &options).unwrap();
    let error = uci.analyse_after(&start, &played, &Limits { depth: Some(4), ..Limits::nodes(70) }).unwrap_err();
    assert!(matches!(error, EngineError::IllegalMove { .. }));
    let m = castling.legal_moves().into_iter().find(|m| m.is_castle()).unwrap();
    let error = uci.analyse(&castling, &short().with_root_moves([m])).unwrap_err();
    assert!(matches!(error, EngineError::IllegalMove { .. }));
    drop(uci);
    let sent = fs::read_to_string(&log).unwrap();
    fs::remove_file(&log).unwrap();
    assert_eq!(
        sent.lines().collect::<Vec<_>>(),
        [
            "setoption name Hash value 32",
            "setoption name UCI_Chess960 value true",
            "ucinewgame",
            "position fen rk5r/8/8/8/8/P7/8/RK5R b KQkq - 0 20 moves a8a7 h1h2 a7a8",
            "go nodes 70 depth 4",
            "setoption name Hash value 32",
            "setoption name UCI_Chess960 value true",
            "ucinewgame",
            "position fen 4k3/8/8/8/8/8/8/RK6 w Q - 0 1",
            "go movetime 50 searchmoves b1a1",
        ]
    );
}

#[test]
fn an_engine_without_several_lines_or_chess960_says_so() {
    let fake = Fake { hello: "echo uciok", go: ANSWER.to_owned() };
    let mut uci = fake.start().unwrap();
    let error = uci.analyse(&Chess::new(), &short().with_lines(2)).unwrap_err();
    assert_eq!(error.to_string(), "engine /bin/sh has no option MultiPV");
    let fen: Fen = "4k3/8/8/8/8/8/8/RK6 w A - 0 1".parse().unwrap();
    let castling: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
    let error = uci.analyse(&castling, &short()).unwrap_err();
    assert_eq!(error.to_string(), "engine /bin/sh has no option UCI_Chess960");
}

#[test]
fn a_search_is_stopped_from_another_thread() {
    // Thinks until told to stop.
    let go = "echo 'info depth 1 score cp 1 pv e2e4'; while read -r line; do case \"$line\" in stop) echo 'bestmove e2e4'; break;; esac; done";
    let mut uci = Fake::going(go).start().unwrap();
    let handle = uci.stop_handle();
    let endless = Limits { nodes: None, ..Limits::default() };
    let stopper = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        handle.stop();
        Instant::now()
    });
    let lines = uci.analyse(&Chess::new(), &endless).unwrap();
    assert!(stopper.join().unwrap().elapsed() < Duration::from_secs(5));
    assert_eq!(lines.len(), 1);
}

#[test]
fn a_late_engine_is_told_to_stop_and_its_lines_are_kept() {
    let go = "echo 'info depth 1 score cp 1 pv e2e4'; while read -r line; do case \"$line\" in stop) echo 'bestmove e2e4'; break;; esac; done";
    assert_eq!(Fake::going(go).ask().unwrap().len(), 1);
}

#[test]
fn positions_without_moves_are_not_sent() {
    let fen: Fen = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1".parse().unwrap();
    let stalemate: Chess = fen.into_position(CastlingMode::Standard).unwrap();
    let mut uci = Fake::going("exit 1").start().unwrap();
    assert_eq!(uci.analyse(&stalemate, &short()), Ok(Vec::new()));
}

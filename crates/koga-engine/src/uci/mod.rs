//! Any engine that speaks UCI, run as a process of its own.

mod info;
mod process;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use shakmaty::{CastlingMode, Chess, EnPassantMode, File, Move, Position, fen::Fen, uci::UciMove};

use self::{
    info::Info,
    process::{Heard, Process, find_program},
};
use crate::{Engine, EngineError, Limits, PvLine, StopHandle, replay};

/// How to run a UCI engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UciOptions {
    /// Threads to search with, if the engine lets one choose. More than one makes answers differ from run to run.
    pub threads: Option<u32>,
    /// Megabytes for the engine's table, if it lets one choose.
    pub hash: Option<u32>,
    /// Other options by name and value. The engine must have them.
    pub others: Vec<(String, String)>,
    /// Arguments for the program.
    pub arguments: Vec<String>,
    /// How long to wait for anything but a search, and for a search beyond the time it was given.
    pub patience: Duration,
    /// How long to wait for a search that is limited by nodes or depth, not by time.
    pub longest_search: Duration,
}

impl Default for UciOptions {
    /// The engine's own settings, 10 seconds of patience, 10 minutes for the longest search.
    fn default() -> UciOptions {
        UciOptions {
            threads: None,
            hash: None,
            others: Vec::new(),
            arguments: Vec::new(),
            patience: Duration::from_secs(10),
            longest_search: Duration::from_secs(600),
        }
    }
}

/// A UCI engine. Its process ends with it.
///
/// An engine that dies during a search is started anew and asked once more; after any other failure the next
/// question starts it anew.
///
/// ```no_run
/// use koga_engine::{Engine, Limits, Uci, UciOptions};
/// use shakmaty::Chess;
/// let options = UciOptions { hash: Some(64), ..UciOptions::default() };
/// let mut engine = Uci::start("stockfish", &options)?;
/// for line in engine.analyse(&Chess::new(), &Limits::nodes(100_000).with_lines(2))? {
///     println!("{} {}", line.score, line.moves[0]);
/// }
/// # Ok::<_, koga_engine::EngineError>(())
/// ```
pub struct Uci {
    program: String,
    path: PathBuf,
    options: UciOptions,
    name: String,
    session: Option<Session>,
    stop: StopHandle,
}

/// A process past the handshake.
struct Session {
    process: Process,
    /// The options it says it has.
    known: Vec<String>,
    lines: usize,
    chess960: bool,
}

/// How often a wait looks whether it is to stop.
const GLANCE: Duration = Duration::from_millis(10);
/// How long an engine that is told to stop from outside may take to do so.
const STOPS_WITHIN: Duration = Duration::from_secs(2);
/// A search that says nothing for so many times the patience is thought to hang.
const SILENT_FOR: u32 = 3;
/// Lines of one answer beyond which an engine is thought to have gone mad.
const MOST_LINES: usize = 1_000_000;
/// Lines of play kept of one answer.
const MOST_KEPT: usize = 512;
/// Nodes a second that the slowest engine is believed to manage.
const LEAST_SPEED: u64 = 500;

impl Uci {
    /// Starts the engine of that name, looked for as a shell would and in Debian's `/usr/games`, or path.
    ///
    /// # Errors
    ///
    /// [`EngineError`] if it is missing, does not answer as a UCI engine, or lacks an option asked for.
    pub fn start(program: &str, options: &UciOptions) -> Result<Uci, EngineError> {
        let path = find_program(program).ok_or_else(|| EngineError::NotFound { engine: program.to_owned() })?;
        let mut uci = Uci {
            program: program.to_owned(),
            path,
            options: options.clone(),
            name: program.to_owned(),
            session: None,
            stop: StopHandle::default(),
        };
        uci.session = Some(uci.open()?);
        Ok(uci)
    }

    /// The same engine, stopped by a handle of one's own.
    #[must_use]
    pub fn with_stop_handle(self, stop: StopHandle) -> Uci {
        Uci { stop, ..self }
    }

    /// Starts the process and greets it.
    fn open(&mut self) -> Result<Session, EngineError> {
        const HANDSHAKE: &str = "the handshake";
        let process = Process::start(&self.path, &self.options.arguments)
            .map_err(|error| EngineError::NotStarted { engine: self.program.clone(), reason: error.to_string() })?;
        let mut session = Session { process, known: Vec::new(), lines: 1, chess960: false };
        session.process.say("uci");
        let (mut name, mut known) = (None, Vec::new());
        self.listen(&mut session, HANDSHAKE, Some(self.options.patience), false, |line| {
            if let Some(text) = line.strip_prefix("id name ") {
                name = Some(text.trim().to_owned());
            }
            known.extend(info::option_name(line).map(str::to_owned));
            line == "uciok"
        })?;
        self.name = name.unwrap_or_else(|| self.program.clone());
        session.known = known;

        let hints = [("Threads", self.options.threads), ("Hash", self.options.hash)];
        for (option, value) in hints {
            if let (Some(value), true) = (value, session.has(option)) {
                self.set(&mut session, option, &value.to_string())?;
            }
        }
        for (option, value) in &self.options.others {
            self.set(&mut session, option, value)?;
        }
        self.await_ready(&mut session, HANDSHAKE)?;
        Ok(session)
    }

    fn set(&self, session: &mut Session, option: &str, value: &str) -> Result<(), EngineError> {
        if format!("{option}{value}").contains(['\n', '\r']) {
            let what = "an option has a line break".to_owned();
            return Err(EngineError::Unsendable { engine: self.program.clone(), what });
        }
        if !session.has(option) {
            return Err(EngineError::NoOption { engine: self.program.clone(), option: option.to_owned() });
        }
        match value {
            "" => session.process.say(&format!("setoption name {option}")),
            value => session.process.say(&format!("setoption name {option} value {value}")),
        }
        Ok(())
    }

    fn await_ready(&self, session: &mut Session, during: &'static str) -> Result<(), EngineError> {
        session.process.say("isready");
        self.listen(session, during, Some(self.options.patience), false, |line| line == "readyok")
    }

    /// Hears lines until one is the last. At the deadline, after a long silence, or when stopped, a search is told to come to
    /// an end.
    fn listen(
        &self,
        session: &mut Session,
        during: &'static str,
        wait: Option<Duration>,
        is_search: bool,
        mut is_last: impl FnMut(&str) -> bool,
    ) -> Result<(), EngineError> {
        let began = Instant::now();
        let mut deadline = wait.and_then(|wait| began.checked_add(wait));
        let mut told = false;
        let (mut heard, mut last_heard) = (0, began);
        loop {
            let now = Instant::now();
            let late = deadline.is_some_and(|deadline| now >= deadline);
            let silent = now - last_heard >= self.options.patience * SILENT_FOR;
            let stopped = self.stop.is_stopped();
            if is_search && !told && (late || silent || stopped) {
                told = true;
                session.process.say("stop");
                let patience = self.options.patience;
                deadline = Some(now + if stopped { patience.min(STOPS_WITHIN) } else { patience });
            } else if late {
                let after = now - began;
                return Err(EngineError::TimedOut { engine: self.program.clone(), during, after });
            }
            match session.process.hear(GLANCE) {
                Heard::Line(line) if is_last(&line) => return Ok(()),
                Heard::Line(_) if heard < MOST_LINES => {
                    heard += 1;
                    last_heard = now;
                }
                Heard::Line(_) | Heard::Flood => {
                    return Err(EngineError::Flooded { engine: self.program.clone(), during });
                }
                Heard::Silence => {}
                Heard::End => {
                    let status = session.process.end(Duration::from_millis(200));
                    let status = status.map_or_else(|| "status unknown".to_owned(), |status| status.to_string());
                    return Err(EngineError::Exited { engine: self.program.clone(), during, status });
                }
            }
        }
    }

    /// One search on a running engine.
    fn ask(
        &self,
        session: &mut Session,
        positions: &[Chess],
        played: &[Move],
        limits: &Limits,
    ) -> Result<Vec<PvLine>, EngineError> {
        let pos = positions.last().expect("the start is there");
        let wanted = limits.lines.clamp(1, pos.legal_moves().len());
        if wanted != session.lines {
            self.set(session, "MultiPV", &wanted.to_string())?;
            session.lines = wanted;
        }
        let chess960 = needs_chess960(&positions[0]);
        if chess960 != session.chess960 {
            self.set(session, "UCI_Chess960", if chess960 { "true" } else { "false" })?;
            session.chess960 = chess960;
        }
        let mode = CastlingMode::from_chess960(chess960);
        session.process.say("ucinewgame");
        self.await_ready(session, "a new game")?;
        session.process.say(&position_command(positions, played, mode));
        session.process.say(&go_command(limits, mode));

        let mut infos: Vec<Info> = Vec::new();
        let mut best = String::new();
        self.listen(session, "the search", self.longest_wait(limits), true, |line| {
            if let Some(info) = info::parse(line).filter(|info| info.rank <= wanted) {
                infos.retain(|old| !old.is_replaced_by(&info));
                infos.push(info);
                if infos.len() > MOST_KEPT {
                    infos.remove(0);
                }
            }
            let Some(text) = line.strip_prefix("bestmove") else {
                return false;
            };
            best = text.split_ascii_whitespace().next().unwrap_or_default().to_owned();
            true
        })?;
        self.lines(pos, &infos, &best)
    }

    /// How long a search may take before it is told to end.
    fn longest_wait(&self, limits: &Limits) -> Option<Duration> {
        let by_time = limits.time.map(|time| time.saturating_add(self.options.patience));
        let by_nodes = limits.nodes.map(|nodes| self.options.patience + Duration::from_secs(nodes / LEAST_SPEED));
        let by_depth = limits.depth.map(|_| self.options.longest_search);
        [by_time, by_nodes.map(|wait| wait.min(self.options.longest_search)), by_depth].into_iter().flatten().min()
    }

    /// The legal part of what the engine wrote last about each of its lines.
    fn lines(&self, pos: &Chess, infos: &[Info], best: &str) -> Result<Vec<PvLine>, EngineError> {
        let illegal = |text: &str| EngineError::IllegalMove { engine: self.program.clone(), text: text.to_owned() };
        if infos.is_empty() {
            return Err(EngineError::NoLine { engine: self.program.clone() });
        }
        let best_move = parse_move(pos, best).ok_or_else(|| illegal(best))?;
        let mut lines: Vec<PvLine> = Vec::new();
        for rank in 1..=infos.iter().map(|info| info.rank).max().unwrap_or(0) {
            // The first line is the one the engine decided for, even if it changed its mind after its last line;
            // a score tells more than a bound.
            let of_rank = infos.iter().enumerate().filter(|(_, info)| info.rank == rank);
            let latest = of_rank.max_by_key(|(index, info)| (rank == 1 && info.pv[0] == best, !info.is_bound, *index));
            let Some((_, info)) = latest else { continue };
            let moves = legal_prefix(pos, &info.pv);
            let first = *moves.first().ok_or_else(|| illegal(&info.pv[0]))?;
            // A search cut short may leave a move in its old place as well.
            if lines.iter().all(|line| line.moves[0] != first) {
                lines.push(PvLine { moves, score: info.score, depth: info.depth, nodes: info.nodes });
            }
        }
        lines.sort_by_key(|line| (std::cmp::Reverse(line.score), line.moves[0] != best_move));
        Ok(lines)
    }
}

impl Session {
    fn has(&self, option: &str) -> bool {
        self.known.iter().any(|known| known.eq_ignore_ascii_case(option))
    }
}

impl Engine for Uci {
    fn name(&self) -> &str {
        &self.name
    }

    fn analyse_after(&mut self, start: &Chess, played: &[Move], limits: &Limits) -> Result<Vec<PvLine>, EngineError> {
        let positions = replay(start, played, limits)?;
        if positions.last().is_some_and(|pos| pos.legal_moves().is_empty()) {
            return Ok(Vec::new());
        }
        let mut tries = 2;
        loop {
            tries -= 1;
            let mut session = match self.session.take() {
                Some(session) => session,
                None => self.open()?,
            };
            match self.ask(&mut session, &positions, played, limits) {
                Ok(lines) => {
                    self.session = Some(session);
                    return Ok(lines);
                }
                Err(EngineError::Exited { .. }) if tries > 0 && !self.stop.is_stopped() => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }
}

/// Whether castling in games from this position can only be told to an engine in Chess960's way.
fn needs_chess960(start: &Chess) -> bool {
    let board = start.board();
    start.castles().castling_rights().into_iter().any(|rook| {
        let king = board.color_at(rook).and_then(|color| board.king_of(color));
        king.is_some_and(|king| king.file() != File::E) || !matches!(rook.file(), File::A | File::H)
    })
}

/// The position as the last irreversible move left it, and the moves since.
fn position_command(positions: &[Chess], played: &[Move], mode: CastlingMode) -> String {
    let from = played.iter().rposition(|m| m.is_zeroing()).map_or(0, |index| index + 1);
    let fen = Fen::from_position(&positions[from], EnPassantMode::Legal);
    let moves: String = played[from..].iter().map(|m| format!(" {}", UciMove::from_move(*m, mode))).collect();
    let moves = if moves.is_empty() { moves } else { format!(" moves{moves}") };
    format!("position fen {fen}{moves}")
}

fn go_command(limits: &Limits, mode: CastlingMode) -> String {
    let mut command = "go".to_owned();
    let numbers = [
        ("nodes", limits.nodes),
        ("depth", limits.depth.map(u64::from)),
        ("movetime", limits.time.map(|time| time.as_millis().max(1) as u64)),
    ];
    for (word, number) in numbers {
        if let Some(number) = number {
            command += &format!(" {word} {number}");
        }
    }
    if command == "go" {
        command += " infinite";
    }
    // Some engines take all that follows for moves.
    if !limits.root_moves.is_empty() {
        command += " searchmoves";
        for m in &limits.root_moves {
            command += &format!(" {}", UciMove::from_move(*m, mode));
        }
    }
    command
}

fn legal_prefix(pos: &Chess, texts: &[String]) -> Vec<Move> {
    let mut pos = pos.clone();
    let mut moves = Vec::new();
    for text in texts {
        let Some(m) = parse_move(&pos, text) else {
            break;
        };
        pos.play_unchecked(m);
        moves.push(m);
    }
    moves
}

fn parse_move(pos: &Chess, text: &str) -> Option<Move> {
    text.parse::<UciMove>().ok()?.to_move(pos).ok()
}

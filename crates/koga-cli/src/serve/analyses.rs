//! Analyses with the engine: how many at a time, who waits and who is sent away, and what stops them.
//!
//! An analysis runs on a thread of its own. It is stopped when its deadline passes, when the client goes away, and when the
//! server ends; its engine then gives what little it has, which nobody reads, and is used again.

use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use koga::shakmaty::{Chess, Move};
use koga_engine::{Engine, EngineError, Limits, PvLine, StopHandle};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::spawn_blocking,
    time::{sleep, timeout},
};

use crate::{
    engine::EngineArgs,
    request::{Kind, Problem},
};

/// How long a request waits for its turn.
pub const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Requests that may wait for each analysis that may run; more are sent away at once.
pub const WAITING_FOR_EACH: usize = 8;

/// The engines, and the order in which they are used.
#[derive(Debug)]
pub struct Analyses {
    /// How the engine is opened.
    pub engine: EngineArgs,
    most: usize,
    room: Arc<Semaphore>,
    waiting: AtomicUsize,
    idle: Mutex<Idle>,
    ending: watch::Sender<bool>,
    refused: AtomicU64,
    stopped: AtomicU64,
    nodes: AtomicU64,
}

/// Engines that nobody uses just now.
struct Idle(Vec<Box<dyn Engine + Send>>);

impl std::fmt::Debug for Idle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} engines", self.0.len())
    }
}

/// What there is to say of the analyses, for the metrics.
#[derive(Debug)]
pub struct Load {
    /// Analyses under way.
    pub running: usize,
    /// Requests that wait for their turn.
    pub waiting: usize,
    /// Requests sent away.
    pub refused: u64,
    /// Analyses stopped by their deadline.
    pub stopped: u64,
    /// Nodes searched.
    pub nodes: u64,
}

/// The leave to run one analysis.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "held for its end")] OwnedSemaphorePermit);

impl Analyses {
    /// So many analyses at a time at most.
    pub fn new(engine: EngineArgs, most: usize) -> Analyses {
        Analyses {
            engine,
            most,
            room: Arc::new(Semaphore::new(most)),
            waiting: AtomicUsize::new(0),
            idle: Mutex::new(Idle(Vec::new())),
            ending: watch::Sender::new(false),
            refused: AtomicU64::new(0),
            stopped: AtomicU64::new(0),
            nodes: AtomicU64::new(0),
        }
    }

    /// Starts an external engine before anybody asks for it.
    ///
    /// # Errors
    ///
    /// Where it is missing, or is no engine.
    pub fn prepare(&self) -> Result<(), EngineError> {
        if self.engine.is_external() {
            lock(&self.idle).0.push(self.engine.open()?);
        }
        Ok(())
    }

    /// Waits for leave to run, for a short while.
    ///
    /// # Errors
    ///
    /// The refusal where too many are before it.
    pub async fn turn(&self) -> Result<Turn, Problem<'static>> {
        struct Waiting<'a>(&'a AtomicUsize);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        if let Ok(permit) = self.room.clone().try_acquire_owned() {
            return Ok(Turn(permit));
        }
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        if before < self.most.saturating_mul(WAITING_FOR_EACH)
            && let Ok(Ok(permit)) = timeout(LONGEST_WAIT, self.room.clone().acquire_owned()).await
        {
            return Ok(Turn(permit));
        }
        self.refused.fetch_add(1, Ordering::Relaxed);
        Err(Problem::new(Kind::Busy, format!("{} analyses run already and others wait: ask again soon", self.most)))
    }

    /// Runs an analysis on a thread of its own until it is done or its time is over. Dropping the future stops it.
    ///
    /// # Errors
    ///
    /// Where the time is over, the engine cannot be opened, or the analysis panics.
    pub async fn run<T: Send + 'static>(
        self: &Arc<Analyses>,
        turn: Turn,
        time: Duration,
        work: impl FnOnce(&mut Lease) -> T + Send + 'static,
    ) -> Result<T, Problem<'static>> {
        let stop = StopOnDrop::default();
        let (analyses, its_stop) = (self.clone(), stop.0.clone());
        let task = spawn_blocking(move || {
            let mut engine = analyses.lease(turn, &its_stop)?;
            Ok(work(&mut engine))
        });
        tokio::select! {
            done = task => done.unwrap_or_else(|_| Err(accident())),
            problem = self.clone().time_over(time) => Err(problem),
        }
    }

    /// An engine for an analysis that is run elsewhere.
    ///
    /// # Errors
    ///
    /// Where the engine cannot be opened, or the analysis was stopped already.
    pub async fn open(self: &Arc<Analyses>, turn: Turn, stop: &Arc<Stop>) -> Result<Lease, Problem<'static>> {
        let (analyses, stop) = (self.clone(), stop.clone());
        spawn_blocking(move || analyses.lease(turn, &stop)).await.unwrap_or_else(|_| Err(accident()))
    }

    /// Waits for the end of the time that an analysis has, or of the server.
    pub async fn time_over(self: Arc<Analyses>, time: Duration) -> Problem<'static> {
        let mut ending = self.ending.subscribe();
        let message: Cow<str> = tokio::select! {
            () = sleep(time) => format!("the analysis was stopped after {} s", time.as_secs_f64()).into(),
            _ = ending.wait_for(|ending| *ending) => "the analysis was stopped: the server ends".into(),
        };
        self.stopped.fetch_add(1, Ordering::Relaxed);
        Problem::new(Kind::Deadline, message)
    }

    /// Stops all analyses.
    pub fn end(&self) {
        self.ending.send_replace(true);
    }

    /// What there is to say of the analyses.
    pub fn load(&self) -> Load {
        Load {
            running: self.most - self.room.available_permits(),
            waiting: self.waiting.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            stopped: self.stopped.load(Ordering::Relaxed),
            nodes: self.nodes.load(Ordering::Relaxed),
        }
    }

    /// An engine, which that stop stops.
    fn lease(self: Arc<Analyses>, turn: Turn, stop: &Arc<Stop>) -> Result<Lease, Problem<'static>> {
        // A thread may have been long in coming: no engine, least of all a process, is begun for nobody.
        if stop.is_stopped() {
            return Err(Problem::new(Kind::Deadline, "the analysis was stopped before it began"));
        }
        let idle = lock(&self.idle).0.pop();
        let engine = idle.map_or_else(|| self.engine.open(), Ok).map_err(|err| engine_failed(&err))?;
        stop.take_hold_of(engine.stop_handle());
        Ok(Lease { engine: Some(engine), is_sound: true, stop: stop.clone(), analyses: self, turn })
    }
}

/// The answer where the engine failed.
pub fn engine_failed(err: &EngineError) -> Problem<'static> {
    Problem::new(Kind::Engine, err.to_string())
}

/// The answer where the server made a mistake.
pub fn accident() -> Problem<'static> {
    Problem::new(Kind::Internal, "the server made a mistake; its standard error says more")
}

/// Stops one analysis, from its beginning to its end and not later: the engine may then be another's.
#[derive(Debug, Default)]
pub struct Stop {
    state: Mutex<StopState>,
}

#[derive(Debug, Default)]
struct StopState {
    is_stopped: bool,
    engine: Option<StopHandle>,
}

impl Stop {
    /// Stops the analysis, or keeps it from beginning.
    pub fn stop(&self) {
        let mut state = lock(&self.state);
        state.is_stopped = true;
        if let Some(engine) = &state.engine {
            engine.stop();
        }
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        lock(&self.state).is_stopped
    }

    fn take_hold_of(&self, engine: StopHandle) {
        let mut state = lock(&self.state);
        if state.is_stopped {
            engine.stop();
        }
        state.engine = Some(engine);
    }

    fn let_go(&self) {
        lock(&self.state).engine = None;
    }
}

/// Stops an analysis that nobody waits for any more.
#[derive(Debug, Default)]
pub struct StopOnDrop(pub Arc<Stop>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// An engine that goes back to the others after use, and the turn after it.
pub struct Lease {
    engine: Option<Box<dyn Engine + Send>>,
    is_sound: bool,
    stop: Arc<Stop>,
    analyses: Arc<Analyses>,
    #[expect(dead_code, reason = "held for its end")]
    turn: Turn,
}

impl Lease {
    fn engine(&self) -> &(dyn Engine + Send) {
        self.engine.as_deref().expect("it is there until the end")
    }
}

impl Engine for Lease {
    fn name(&self) -> &str {
        self.engine().name()
    }

    fn analyse_after(&mut self, start: &Chess, played: &[Move], limits: &Limits) -> Result<Vec<PvLine>, EngineError> {
        let engine = self.engine.as_deref_mut().expect("it is there until the end");
        let found = engine.analyse_after(start, played, limits);
        match &found {
            Ok(lines) => {
                let nodes = lines.first().map_or(0, |line| line.nodes);
                self.analyses.nodes.fetch_add(nodes, Ordering::Relaxed);
            }
            Err(_) => self.is_sound = false,
        }
        found
    }

    fn stop_handle(&self) -> StopHandle {
        self.engine().stop_handle()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.stop.let_go();
        if let Some(engine) = self.engine.take().filter(|_| self.is_sound && !std::thread::panicking()) {
            engine.stop_handle().reset();
            lock(&self.analyses.idle).0.push(engine);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

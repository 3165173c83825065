//! Many games, one after the other, on several threads: the positions of a few games are searched at the same time, and the
//! games come out in their order.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use koga_engine::{Engine, EngineError, PvLine};

use crate::{
    examine::{Examination, Query, Review, Settings, Step, Subject},
    pgn::{self, RawGame, Trouble},
};

/// A game that came out: reviewed as far as it could be read.
#[derive(Debug)]
pub struct Reviewed {
    /// The game as it stood in the file.
    pub raw: RawGame,
    /// What there is to say of it; nothing where not even its start could be read.
    pub review: Option<Review>,
    /// What is wrong with it.
    pub troubles: Vec<Trouble>,
}

/// Why a batch ended before its time.
#[derive(Debug)]
pub enum BatchError {
    /// Reading or writing failed.
    Io(io::Error),
    /// An engine failed.
    Engine(EngineError),
}

impl From<io::Error> for BatchError {
    fn from(err: io::Error) -> BatchError {
        BatchError::Io(err)
    }
}

impl std::fmt::Display for BatchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BatchError::Io(err) => err.fmt(f),
            BatchError::Engine(err) => err.fmt(f),
        }
    }
}

impl std::error::Error for BatchError {}

/// How a batch is run.
#[derive(Debug)]
pub struct Batch<'a> {
    /// What every game is reviewed with.
    pub settings: &'a Settings,
    /// How many searches at a time; 0 counts as 1.
    pub threads: usize,
    /// Once set, the game in hand is finished and no other begun.
    pub interrupted: &'a AtomicBool,
    /// Counts the searches.
    pub searches: &'a Searches,
}

/// How far a batch has come, for whoever looks on from another thread.
#[derive(Debug, Default)]
pub struct Searches {
    /// Searches that the games begun so far need, as far as that is known: a closer look may ask for more.
    pub asked: AtomicU64,
    /// Searches done.
    pub done: AtomicU64,
}

/// A search to be done.
struct Task {
    game: usize,
    subject: Arc<Subject>,
    query: Query,
}

/// A game in hand.
struct Active {
    raw: RawGame,
    troubles: Vec<Trouble>,
    examination: Examination,
    /// How many searches of this round are still out.
    waiting: usize,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Task>,
    active: BTreeMap<usize, Active>,
    done: BTreeMap<usize, Reviewed>,
    /// Games begun and not yet handed over: those above, and those that go on to their next round just now.
    in_hand: usize,
    closed: bool,
    failed: Option<BatchError>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
    news: Condvar,
}

impl Batch<'_> {
    /// Reviews the games and hands each to `sink`, in their order. The memory used does not depend on their number. With
    /// the built-in engine and no time limit, what comes out does not depend on the threads.
    ///
    /// # Errors
    ///
    /// [`BatchError`] if reading, an engine, or the sink fails; what came before has been handed over.
    pub fn run(
        &self,
        mut games: impl Iterator<Item = io::Result<RawGame>>,
        mut engines: impl FnMut() -> Result<Box<dyn Engine + Send>, EngineError>,
        mut sink: impl FnMut(Reviewed) -> io::Result<()>,
    ) -> Result<(), BatchError> {
        let shared = Shared::default();
        let engines: Vec<_> =
            (0..self.threads.max(1)).map(|_| engines()).collect::<Result<_, _>>().map_err(BatchError::Engine)?;
        std::thread::scope(|scope| {
            let threads = engines.len();
            for engine in engines {
                let shared = &shared;
                scope.spawn(move || self.work(shared, engine));
            }
            // Closes the queue however this ends, so that the workers do.
            let _close = Closing(&shared);
            let window = threads + 2;
            let (mut next_in, mut next_out, mut more) = (0, 0, true);
            // The game in hand when the interruption came.
            let mut last = None;
            loop {
                let in_hand = shared.lock().in_hand;
                let interrupted = self.interrupted.load(Ordering::Relaxed);
                if more && !interrupted && in_hand < window {
                    match games.next() {
                        Some(raw) => self.begin(&shared, next_in, raw?),
                        None => more = false,
                    }
                    next_in += usize::from(more);
                    continue;
                }
                let mut state = shared.lock();
                if interrupted {
                    more = false;
                    state.drop_all_but(*last.get_or_insert(next_out));
                }
                if let Some(reviewed) = state.done.remove(&next_out) {
                    state.in_hand -= 1;
                    drop(state);
                    sink(reviewed)?;
                    next_out += 1;
                    continue;
                }
                if let Some(err) = state.failed.take() {
                    return Err(err);
                }
                if state.in_hand == 0 && !more {
                    return Ok(());
                }
                // Looks up now and then, since an interruption wakes nobody.
                let _ = shared.news.wait_timeout(state, Duration::from_millis(50));
            }
        })
    }

    fn work(&self, shared: &Shared, mut engine: Box<dyn Engine + Send>) {
        let _watch = Watch(shared);
        while let Some(task) = shared.next() {
            match task.subject.search(&task.query, &self.settings.limits, &mut *engine) {
                Ok(found) => {
                    self.searches.done.fetch_add(1, Ordering::Relaxed);
                    self.answer(shared, task.game, task.query, found);
                }
                Err(err) => return shared.fail(BatchError::Engine(err)),
            }
        }
    }

    /// Reads a game and asks for its first searches.
    fn begin(&self, shared: &Shared, index: usize, raw: RawGame) {
        shared.lock().in_hand += 1;
        let (game, troubles) = pgn::read(&raw);
        let Some(game) = game else {
            shared.lock().done.insert(index, Reviewed { raw, review: None, troubles });
            return;
        };
        let examination = Examination::new(game, self.settings);
        self.go_on(shared, index, Active { raw, troubles, examination, waiting: 0 });
    }

    /// Goes on with a game until it waits for searches or is done.
    fn go_on(&self, shared: &Shared, index: usize, mut game: Active) {
        loop {
            match game.examination.step() {
                Step::Search(queries) if queries.is_empty() => {}
                Step::Search(queries) => {
                    game.waiting = queries.len();
                    self.searches.asked.fetch_add(queries.len() as u64, Ordering::Relaxed);
                    let subject = game.examination.subject();
                    let mut state = shared.lock();
                    state.active.insert(index, game);
                    // Older games first: they are waited for.
                    let at = state.queue.iter().position(|task| task.game > index).unwrap_or(state.queue.len());
                    let later = state.queue.split_off(at);
                    let tasks = queries.into_iter().map(|query| Task { game: index, subject: subject.clone(), query });
                    state.queue.extend(tasks);
                    state.queue.extend(later);
                    return shared.work.notify_all();
                }
                Step::Done(review) => {
                    let reviewed = Reviewed { raw: game.raw, review: Some(*review), troubles: game.troubles };
                    shared.lock().done.insert(index, reviewed);
                    return shared.news.notify_all();
                }
            }
        }
    }

    fn answer(&self, shared: &Shared, index: usize, query: Query, found: Option<PvLine>) {
        let mut state = shared.lock();
        let Some(game) = state.active.get_mut(&index) else { return };
        game.examination.answer(query, found);
        game.waiting -= 1;
        if game.waiting == 0
            && let Some(game) = state.active.remove(&index)
        {
            drop(state);
            self.go_on(shared, index, game);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task; none once all is done.
    fn next(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(task) = state.queue.pop_front() {
                return Some(task);
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn fail(&self, err: BatchError) {
        let mut state = self.lock();
        state.failed.get_or_insert(err);
        state.closed = true;
        drop(state);
        self.work.notify_all();
        self.news.notify_all();
    }
}

impl State {
    /// Forgets every game but that one.
    fn drop_all_but(&mut self, index: usize) {
        let before = self.active.len() + self.done.len();
        self.queue.retain(|task| task.game == index);
        self.active.retain(|game, _| *game == index);
        self.done.retain(|game, _| *game == index);
        self.in_hand -= before - self.active.len() - self.done.len();
    }
}

/// Closes the queue when the batch ends.
struct Closing<'a>(&'a Shared);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.work.notify_all();
    }
}

/// Tells the others if a worker dies.
struct Watch<'a>(&'a Shared);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(BatchError::Io(io::Error::other("a search ended by accident")));
        }
    }
}

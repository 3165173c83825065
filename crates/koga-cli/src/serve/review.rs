//! `POST /api/review`: games in, progress and the reviewed games out as they come.

use std::{
    borrow::Cow,
    convert::Infallible,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderValue, header},
    response::Response,
};
use futures_util::stream;
use koga::shakmaty::Position;
use koga_engine::Engine;
use koga_review::{
    DEFAULT_NODES, Settings,
    batch::{Batch, BatchError, Reviewed, Searches},
    pgn::{RawGame, Split, read},
    render::json::{JsonGame, game},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::{
    sync::mpsc,
    task::{JoinHandle, spawn_blocking},
    time::{MissedTickBehavior, interval},
};

use super::{
    App,
    analyses::{Lease, Stop, StopOnDrop, accident, engine_failed},
    api::{json_body, limits, refusal},
};
use crate::{
    request::{self, Problem, RequestError},
    review::{annotated, players},
};

/// Bytes that a request for a review may have.
pub const LONGEST: usize = 1 << 20;

/// Games of a request.
pub const MOST_GAMES: usize = 32;

/// Plies of all games of a request together.
pub const MOST_PLIES: usize = 4_000;

/// Things that may be wrong with the games of a request.
pub const MOST_TROUBLES: usize = 1_000;

/// Nodes for a position that a request for a review may ask for.
pub const MOST_NODES: u64 = 1_000_000;

/// How often progress is told.
const TOLD_EVERY: Duration = Duration::from_millis(200);

/// Events that wait for the client to read them, beside the last.
const MOST_UNREAD: usize = 16;

/// A request for a review.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ReviewRequest")]
pub struct ReviewRequest<'a> {
    /// The games.
    #[serde(borrow)]
    pgn: Cow<'a, str>,
    /// Whose moves are spoken of: `white`, `black` or a name; both sides' if nobody is named.
    #[serde(borrow, default)]
    player: Option<Cow<'a, str>>,
    /// Positions that the engine visits at most, for each position of a game.
    #[serde(default)]
    #[schemars(range(min = 1, max = MOST_NODES))]
    nodes: Option<u64>,
}

/// How far a review has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ReviewProgress")]
pub struct Progress {
    /// The game in hand, counted from 1.
    pub game: usize,
    /// Positions searched.
    pub positions: u64,
    /// Positions to be searched: at least so many, since a closer look may need more.
    pub of: u64,
}

/// A game that was reviewed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReviewedGame")]
pub struct Game {
    /// The game, as `koga review --format json` writes it.
    pub game: JsonGame,
    /// The annotated PGN.
    pub pgn: String,
}

/// The end of a review.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReviewDone")]
pub struct Done {
    /// How many games there were.
    pub games: usize,
}

/// The end of a review that failed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReviewError")]
pub struct Failed {
    /// Why.
    pub error: Problem<'static>,
}

/// What is told of a review: the data of an event. Its name stands in each description, for whoever reads the schema.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ReviewEvent")]
pub enum Event {
    /// `progress`
    Progress(Progress),
    /// `game`
    Game(Box<Game>),
    /// `error`, which ends the stream
    Error(Failed),
    /// `done`, which ends the stream
    Done(Done),
}

impl Event {
    fn name(&self) -> &'static str {
        match self {
            Event::Progress(_) => "progress",
            Event::Game(_) => "game",
            Event::Error(_) => "error",
            Event::Done(_) => "done",
        }
    }

    /// The event as it is sent.
    fn written(&self) -> Bytes {
        let data = serde_json::to_string(self).expect("strings and numbers can be written");
        format!("event: {}\ndata: {data}\n\n", self.name()).into()
    }
}

pub(super) async fn review(State(app): State<Arc<App>>, request: Request) -> Response {
    let received = match begin(&app, request).await {
        Ok(received) => received,
        Err(problem) => return refusal(None, &problem),
    };
    let received = stream::unfold(received, async |mut received| {
        let event = received.recv().await?;
        Some((Ok::<Bytes, Infallible>(event), received))
    });
    let mut response = Response::new(Body::from_stream(received));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

/// Reads the games and, once there is a turn and an engine, begins with them. What goes wrong before can still be refused.
async fn begin(app: &Arc<App>, request: Request) -> Result<mpsc::Receiver<Bytes>, Problem<'static>> {
    let body = json_body(request, LONGEST).await?;
    let its_app = app.clone();
    let read = move || Task::read(&body, &its_app).map_err(|err| Problem::from(&err).into_owned());
    let task = app.beside(read).await??;
    let turn = app.analyses.turn().await?;
    let stop = StopOnDrop::default();
    let mut end = Box::pin(app.analyses.clone().time_over(app.review_deadline));
    let engine = tokio::select! {
        problem = &mut end => return Err(problem),
        opened = app.analyses.open(turn, &stop.0) => opened?,
    };
    let (events, received) = mpsc::channel(MOST_UNREAD + 1);
    let last = events.clone().try_reserve_owned().expect("nobody has sent anything yet");
    let work = Work::begin(task, engine, stop.0.clone());
    tokio::spawn(run(work, stop, end, events, last));
    Ok(received)
}

/// Games to be reviewed.
struct Task {
    games: Vec<RawGame>,
    settings: Settings,
    /// Searches that are needed at least.
    searches: u64,
}

impl Task {
    fn read(body: &[u8], app: &App) -> Result<Task, RequestError> {
        let refuse = |message: String| Err(RequestError::Request(message));
        let request: ReviewRequest = request::read(body, LONGEST).map_err(|(_, err)| err)?;
        let limits = limits(request.nodes, MOST_NODES, || app.analyses.engine.limits(DEFAULT_NODES))?;
        let players = match request.player.as_deref().map(players).transpose() {
            Ok(players) => players.unwrap_or_default(),
            Err(message) => return refuse(format!("\"player\": {message}")),
        };
        let (mut games, mut plies, mut wrong, mut searches) = (Vec::new(), 0, 0, 0);
        for raw in Split::new(request.pgn.as_bytes()) {
            let raw = raw.map_err(|err| RequestError::Request(err.to_string()))?;
            if games.len() == MOST_GAMES {
                return refuse(format!("the PGN has more than {MOST_GAMES} games"));
            }
            let (game, troubles) = read(&raw);
            wrong += troubles.len();
            if wrong > MOST_TROUBLES {
                return refuse(format!("more than {MOST_TROUBLES} things are wrong with the PGN"));
            }
            if let Some(game) = game {
                plies += game.moves.len();
                if plies > MOST_PLIES {
                    return refuse(format!("the games have more than {MOST_PLIES} plies together"));
                }
                searches += game.positions().iter().filter(|pos| !pos.legal_moves().is_empty()).count() as u64;
            }
            games.push(raw);
        }
        if games.is_empty() {
            return refuse("there is no game in the PGN".to_owned());
        }
        Ok(Task { games, settings: Settings { limits, players }, searches })
    }
}

/// A review on a thread of its own.
struct Work {
    /// The games in their order, as they are done.
    games: mpsc::Receiver<Game>,
    ended: JoinHandle<Result<(), BatchError>>,
    searches: Arc<Searches>,
    /// Searches that are needed at least.
    least: u64,
}

impl Work {
    fn begin(task: Task, engine: Lease, stop: Arc<Stop>) -> Work {
        let searches = Arc::new(Searches::default());
        let (finished, games) = mpsc::channel(1);
        let (its_searches, least) = (searches.clone(), task.searches);
        let ended = spawn_blocking(move || {
            let mut engine = Some(engine);
            let the_engine = || {
                let engine: Box<dyn Engine + Send> = Box::new(engine.take().expect("one thread has one engine"));
                Ok(engine)
            };
            let hand_over = |reviewed: Reviewed| {
                let done = Game { game: game(&reviewed), pgn: annotated(&reviewed) };
                // What a stopped engine says of the rest of a game is worth nothing.
                let sent = if stop.is_stopped() { None } else { finished.blocking_send(done).ok() };
                sent.ok_or_else(|| io::ErrorKind::Interrupted.into())
            };
            let batch = Batch {
                settings: &task.settings,
                threads: 1,
                interrupted: &AtomicBool::new(false),
                searches: &its_searches,
            };
            batch.run(task.games.into_iter().map(Ok), the_engine, hand_over)
        });
        Work { games, ended, searches, least }
    }

    fn progress(&self, game: usize) -> Progress {
        let of = self.searches.asked.load(Ordering::Relaxed).max(self.least);
        Progress { game, positions: self.searches.done.load(Ordering::Relaxed), of }
    }
}

/// Tells of a review until all is done, the time is over, or nobody listens. The time goes on while the client is slow to
/// read, and there is always room for the last event: whatever the client does, the engine is free when the time is over.
async fn run(
    work: Work,
    stop: StopOnDrop,
    end: impl Future<Output = Problem<'static>>,
    events: mpsc::Sender<Bytes>,
    last: mpsc::OwnedPermit<Bytes>,
) {
    let ended = tokio::select! {
        biased;
        problem = end => Err(problem),
        () = events.closed() => return,
        ended = tell(work, &events) => ended,
    };
    drop(stop);
    last.send(ended.map_or_else(|error| Event::Error(Failed { error }), Event::Done).written());
}

/// Tells of a review until all is done.
async fn tell(mut work: Work, events: &mpsc::Sender<Bytes>) -> Result<Done, Problem<'static>> {
    // Who waits for these notices if nobody listens any more.
    let send = async |event: Event| drop(events.send(event.written()).await);
    let mut ticks = interval(TOLD_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first thing told, however fast the first game is done.
    let mut told = Progress { game: 1, positions: 0, of: work.least };
    send(Event::Progress(told)).await;
    let mut done = Done { games: 0 };
    loop {
        tokio::select! {
            biased;
            game = work.games.recv() => match game {
                Some(game) => {
                    done.games += 1;
                    send(Event::Game(Box::new(game))).await;
                }
                None => break,
            },
            _ = ticks.tick() => {
                let progress = work.progress(done.games + 1);
                // Who does not read what came before can do without this.
                if told != progress && events.try_send(Event::Progress(progress).written()).is_ok() {
                    told = progress;
                }
            }
        }
    }
    match work.ended.await {
        Ok(Ok(())) => Ok(done),
        Ok(Err(BatchError::Engine(err))) => Err(engine_failed(&err)),
        Ok(Err(BatchError::Io(_))) | Err(_) => Err(accident()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use serde_json::json;
    use tokio::{runtime, time::sleep};

    use super::*;
    use crate::serve::tests::app;

    fn request(games: usize) -> Request {
        let body = json!({ "pgn": "[Event \"x\"]\n\n1. e4 *\n\n".repeat(games), "nodes": 10 });
        Request::post("/api/review").header("content-type", "application/json").body(body.to_string().into()).unwrap()
    }

    #[test]
    fn who_does_not_read_keeps_the_engine_until_the_time_is_over_and_no_longer() {
        let runtime = runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be built");
        runtime.block_on(async {
            let app = app(&["--review-deadline", "2", "--analyses", "1"]);
            let begun = Instant::now();
            let mut received = begin(&app, request(MOST_GAMES)).await.map_err(|err| err.message).expect("a review");
            while app.analyses.load().running > 0 {
                assert!(begun.elapsed() < Duration::from_secs(20), "it goes on");
                sleep(Duration::from_millis(10)).await;
            }
            assert!(begun.elapsed() >= app.review_deadline, "more was done than there is room for");
            assert_eq!(app.analyses.load().stopped, 1);
            // What was told is still there to be read, and why it ended.
            let mut told = Vec::new();
            while let Some(event) = received.recv().await {
                told.push(String::from_utf8_lossy(&event).into_owned());
            }
            let last = told.pop().expect("events");
            assert!(last.starts_with("event: error\n") && last.contains("\"kind\":\"deadline\""), "{last}");
            assert_eq!(told.len(), MOST_UNREAD);
            assert!(told[0].starts_with("event: progress\n"), "{}", told[0]);
        });
    }
}

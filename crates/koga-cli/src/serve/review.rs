//! `POST /api/review`: games in, progress and the reviewed games out as they come.

use std::{
    borrow::Cow,
    convert::Infallible,
    io,
    pin::pin,
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
    task::spawn_blocking,
    time::{MissedTickBehavior, interval},
};

use super::{
    App,
    analyses::{StopOnDrop, Turn, accident, engine_failed},
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

/// Events that wait for the client to read them.
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
pub struct Failed<'a> {
    /// Why.
    pub error: Problem<'a>,
}

pub(super) async fn review(State(app): State<Arc<App>>, request: Request) -> Response {
    let body = match json_body(request, LONGEST).await {
        Ok(body) => body,
        Err(problem) => return refusal(None, &problem),
    };
    let its_app = app.clone();
    let task = match app.beside(move || Task::read(&body, &its_app)).await {
        Ok(Ok(task)) => task,
        Ok(Err(err)) => return refusal(None, &(&err).into()),
        Err(problem) => return refusal(None, &problem),
    };
    let turn = match app.analyses.turn().await {
        Ok(turn) => turn,
        Err(problem) => return refusal(None, &problem),
    };
    let (events, received) = mpsc::channel(MOST_UNREAD);
    tokio::spawn(run(app, turn, task, events));
    let received = stream::unfold(received, async |mut received| {
        let event = received.recv().await?;
        Some((Ok::<Bytes, Infallible>(event), received))
    });
    let mut response = Response::new(Body::from_stream(received));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
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

/// Reviews the games on a thread of its own and tells of it, until all is done, the time is over, or nobody listens.
async fn run(app: Arc<App>, turn: Turn, task: Task, events: mpsc::Sender<Bytes>) {
    let stop = StopOnDrop::default();
    let searches = Arc::new(Searches::default());
    let of_start = task.searches;
    let (finished, mut games) = mpsc::channel(1);
    let work = {
        let (app, stop, searches) = (app.clone(), stop.0.clone(), searches.clone());
        spawn_blocking(move || {
            let _turn = turn;
            let engine = || Ok(Box::new(app.analyses.lease(&stop)?) as Box<dyn Engine + Send>);
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
                searches: &searches,
            };
            batch.run(task.games.into_iter().map(Ok), engine, hand_over)
        })
    };
    let mut end = pin!(app.analyses.time_over(app.review_deadline));
    let mut ticks = interval(TOLD_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first thing told, however fast the first game is done.
    let begun = Progress { game: 1, positions: 0, of: of_start };
    let _ = events.send(event("progress", &begun)).await;
    let (mut done, mut told) = (Done { games: 0 }, begun);
    let last = loop {
        tokio::select! {
            biased;
            problem = &mut end => break Err(problem),
            () = events.closed() => return,
            game = games.recv() => match game {
                Some(game) => {
                    done.games += 1;
                    let _ = events.send(event("game", &game)).await;
                }
                None => break Ok(()),
            },
            _ = ticks.tick() => {
                let of = searches.asked.load(Ordering::Relaxed).max(of_start);
                let progress =
                    Progress { game: done.games + 1, positions: searches.done.load(Ordering::Relaxed), of };
                // Who does not read what came before can do without this.
                if told != progress && events.try_send(event("progress", &progress)).is_ok() {
                    told = progress;
                }
            }
        }
    };
    let last = match last {
        Ok(()) => work.await.map_or_else(
            |_| Err(accident()),
            |ended| {
                ended.map_err(|err| match err {
                    BatchError::Engine(err) => engine_failed(&err),
                    BatchError::Io(_) => accident(),
                })
            },
        ),
        Err(problem) => Err(problem),
    };
    let _ = match last {
        Ok(()) => events.send(event("done", &done)).await,
        Err(error) => events.send(event("error", &Failed { error })).await,
    };
}

/// A server-sent event.
fn event(name: &str, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).expect("strings and numbers can be written");
    format!("event: {name}\ndata: {data}\n\n").into()
}

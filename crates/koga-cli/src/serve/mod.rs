//! `koga serve`: the analysis page, the reference pages and a JSON API over HTTP.
//!
//! Nothing that a client does may cost the others their answers: bodies, heads, nodes, analyses, connections and times are
//! all limited, each by a constant beside what it limits.

mod analyses;
mod api;
mod assets;
mod connections;
mod guard;
mod metrics;
mod openapi;
mod review;

use std::{
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
    thread::available_parallelism,
    time::Duration,
};

use tokio::{net::TcpListener, runtime, sync::Semaphore, task::spawn_blocking};

use self::{
    analyses::Analyses,
    assets::{Asset, Assets},
    metrics::Metrics,
};
use crate::{
    INTERRUPTED_STATUS,
    engine::{EngineArgs, seconds},
    request::Problem,
};

pub use self::{
    analyses::{LONGEST_WAIT, WAITING_FOR_EACH},
    api::{BODY_TIME, LONGEST_EXPLAIN, MOST_NODES},
    connections::{GRACE, HEAD_TIME, MOST as MOST_CONNECTIONS},
    openapi::{Operation, document, operations},
    review::{
        LONGEST as LONGEST_REVIEW, MOST_GAMES, MOST_NODES as MOST_REVIEW_NODES, MOST_PLIES as MOST_REVIEW_PLIES,
        MOST_TROUBLES,
    },
};

/// What the command line asks for.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Where to listen; port 0 takes any that is free.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub addr: String,
    /// A name that the server goes by, beside its address and, on this machine, `localhost`; may be given several times.
    #[arg(long = "host", value_name = "NAME", value_parser = host)]
    pub hosts: Vec<String>,
    /// Analyses with the engine at a time; one for each core, but at least two, if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub analyses: Option<u16>,
    /// Seconds that an explanation may take.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "10")]
    pub deadline: Duration,
    /// Seconds that a review may take.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "600")]
    pub review_deadline: Duration,
    /// The engine; the limits are for requests that name none.
    #[command(flatten)]
    pub engine: EngineArgs,
}

fn host(name: &str) -> Result<String, String> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match bare.rsplit_once(':') {
        Some((before, port)) if !before.contains(':') && is_port(port) => Err("leave out the port".to_owned()),
        _ if bare.is_empty() || !bare.bytes().all(is_name) => Err("must be a name or an address".to_owned()),
        _ => Ok(bare.to_owned()),
    }
}

/// What all requests share.
#[derive(Debug)]
struct App {
    hosts: Vec<String>,
    deadline: Duration,
    review_deadline: Duration,
    analyses: Arc<Analyses>,
    /// Room for what takes milliseconds and no engine: long lines, and reading games.
    longer: Arc<Semaphore>,
    /// Room for connections.
    connections: Arc<Semaphore>,
    assets: Assets,
    tactics: Asset,
    openapi: Asset,
    metrics: Metrics,
}

impl App {
    fn new(args: Args) -> App {
        let cores = available_parallelism().map_or(1, usize::from);
        App {
            hosts: args.hosts,
            deadline: args.deadline,
            review_deadline: args.review_deadline,
            analyses: Arc::new(Analyses::new(args.engine, args.analyses.map_or(cores.max(2), usize::from))),
            longer: Arc::new(Semaphore::new(cores)),
            connections: Arc::new(Semaphore::new(connections::MOST)),
            assets: Assets::new(),
            tactics: Asset::json(&api::all_tactics()),
            openapi: Asset::json(&document()),
            metrics: Metrics::default(),
        }
    }

    /// Does what takes milliseconds and no engine on a thread of its own. Its room is free again when it is done, even if
    /// nobody waits for it any more.
    ///
    /// # Errors
    ///
    /// Where it panics.
    async fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem<'static>> {
        let room = self.longer.clone().acquire_owned().await.expect("it is never closed");
        let task = spawn_blocking(move || {
            let _room = room;
            work()
        });
        task.await.map_err(|_| analyses::accident())
    }
}

/// How long the end waits for engines that do not stop when told: longer than it takes to kill them.
const ENGINES_END: Duration = Duration::from_secs(4);

/// Serves until it is told to end.
pub fn run(args: Args) -> ExitCode {
    let runtime = match runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(err) => return complain(&err.to_string()),
    };
    let ended = runtime.block_on(serve(args));
    // Analyses were told to stop; an engine that does not listen is killed meanwhile.
    runtime.shutdown_timeout(ENGINES_END);
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => complain(&message),
    }
}

fn complain(message: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "koga: {message}");
    ExitCode::FAILURE
}

async fn serve(args: Args) -> Result<(), String> {
    let failed = |err: io::Error| format!("cannot listen at {}: {err}", args.addr);
    let listener = TcpListener::bind(&args.addr).await.map_err(failed)?;
    let addr = listener.local_addr().map_err(failed)?;
    let end = signals().map_err(|err| format!("cannot listen to signals: {err}"))?;
    let app = Arc::new(App::new(args));
    app.analyses.prepare().map_err(|err| err.to_string())?;
    // No browser can ask for the address that means all.
    let hint = if addr.ip().is_unspecified() {
        format!("on every address of this machine, here http://localhost:{}/", addr.port())
    } else {
        format!("http://{addr}/")
    };
    let _ = writeln!(io::stderr(), "koga: serving {hint} (Ctrl-C ends)");
    connections::serve(listener, api::router(app.clone()), &app, end).await;
    Ok(())
}

/// Waits for Ctrl-C or a request to end; the second ends the program at once.
fn signals() -> io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let mut signals = {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        async move || {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
    };
    #[cfg(not(unix))]
    let mut signals = async || {
        let _ = tokio::signal::ctrl_c().await;
    };
    Ok(async move {
        signals().await;
        tokio::spawn(async move {
            signals().await;
            std::process::exit(INTERRUPTED_STATUS.into());
        });
    })
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, extract::Request, routing::get};
    use clap::{Args as _, FromArgMatches};
    use http_body_util::BodyExt;
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;

    use super::*;
    use crate::request::Kind;

    pub(super) fn app(args: &[&str]) -> Arc<App> {
        let args = [&["serve"], args].concat();
        let matches = Args::augment_args(clap::Command::new("serve")).get_matches_from(args);
        Arc::new(App::new(Args::from_arg_matches(&matches).expect("all has defaults")))
    }

    #[test]
    fn an_accident_is_answered_and_the_next_request_as_well() {
        let runtime = runtime::Builder::new_current_thread().build().expect("a runtime can be built");
        runtime.block_on(async {
            let accident = get(async || -> &'static str { panic!("on purpose") });
            let router = Router::new().route("/accident", accident).route("/healthz", get(api::health));
            let service = TowerToHyperService::new(api::guarded(router, app(&[])));
            for (path, status, text) in [("/accident", 500, "\"kind\":\"internal\""), ("/healthz", 200, "ok")] {
                let mut request = Request::get(path).header("host", "127.0.0.1").body(Body::empty()).unwrap();
                request.extensions_mut().insert(guard::Local(([127, 0, 0, 1], 80).into()));
                let answer = service.call(request).await.expect("an answer");
                assert_eq!(answer.status(), status);
                assert!(answer.headers().contains_key("content-security-policy"));
                let body = answer.into_body().collect().await.expect("a body").to_bytes();
                assert!(String::from_utf8_lossy(&body).contains(text), "{body:?}");
            }
        });
    }

    #[test]
    fn an_accident_in_an_analysis_is_told_and_its_turn_given_back() {
        let runtime = runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be built");
        runtime.block_on(async {
            let analyses = app(&[]).analyses.clone();
            for _ in 0..10 {
                let turn = analyses.turn().await.expect("nobody else is there");
                let time = Duration::from_secs(60);
                let problem = analyses.run(turn, time, |_| panic!("on purpose")).await.map(|()| "no accident");
                assert_eq!(problem.expect_err("an accident").kind, Kind::Internal);
            }
            assert_eq!(analyses.load().running, 0);
        });
    }

    #[test]
    fn no_engine_is_opened_for_an_analysis_that_was_stopped() {
        let runtime = runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be built");
        runtime.block_on(async {
            let engine = EngineArgs { engine: Some("no-such-engine-anywhere".to_owned()), ..EngineArgs::default() };
            let analyses = Arc::new(Analyses::new(engine, 1));
            for (is_stopped, kind) in [(false, Kind::Engine), (true, Kind::Deadline)] {
                let stop = Arc::new(analyses::Stop::default());
                if is_stopped {
                    stop.stop();
                }
                let turn = analyses.turn().await.expect("nobody else is there");
                let opened = analyses.open(turn, &stop).await;
                assert_eq!(opened.map(|_| "an engine").expect_err("no engine").kind, kind);
                assert_eq!(analyses.load().running, 0);
            }
        });
    }

    #[test]
    fn what_is_done_beside_has_its_room_to_its_end() {
        let runtime = runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be built");
        runtime.block_on(async {
            let app = app(&[]);
            let rooms = app.longer.available_permits();
            let (begin, begun) = tokio::sync::oneshot::channel();
            let (end, told_to_end) = std::sync::mpsc::channel::<()>();
            let work = app.beside(move || {
                let _ = begin.send(());
                let _ = told_to_end.recv();
            });
            tokio::select! {
                biased;
                _ = work => panic!("it is not done"),
                _ = begun => {}
            }
            assert_eq!(app.longer.available_permits(), rooms - 1, "nobody waits for it, but it goes on");
            drop(end);
            let all = app.longer.acquire_many(rooms.try_into().expect("a few")).await;
            drop(all.expect("it is never closed"));
            let failed = app.beside(|| -> () { panic!("on purpose") }).await;
            assert_eq!(failed.expect_err("an accident").kind, Kind::Internal);
            assert_eq!(app.longer.available_permits(), rooms);
        });
    }

    #[test]
    fn names_are_told_from_what_is_none() {
        for name in ["koga.example", "localhost", "10.0.0.1", "::1", "[::1]"] {
            assert!(host(name).is_ok(), "{name}");
        }
        for name in ["", "koga.example:8080", "a/b", "http://koga.example", "[]", "a b"] {
            assert!(host(name).is_err(), "{name}");
        }
    }
}

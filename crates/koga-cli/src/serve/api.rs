//! The requests and their answers.

use std::{borrow::Cow, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    response::Response,
    routing::get,
};
use http_body_util::BodyExt;
use koga::{Tactic, analyze, render, tactics::Definition};
use koga_engine::Limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};

use super::{App, assets::Asset, guard, openapi};
use crate::{
    corpus,
    explain::{DEFAULT_NODES, Scored, ScoredReport, scored},
    pages,
    request::{self, Asked, Failure, Id, Kind, Problem, Question, RequestError},
};

/// Bytes that a request for an explanation may have.
pub const LONGEST_EXPLAIN: usize = 64 << 10;

/// Nodes that a request for an explanation may ask for.
pub const MOST_NODES: u64 = 10_000_000;

/// How long a body may take to arrive.
pub const BODY_TIME: Duration = Duration::from_secs(10);

/// Lines of more plies are looked at beside the others, so that nobody waits for them.
const SHORT_LINE: usize = 80;

/// Of a body that is too long so much is read and thrown away, so that the client listens to the refusal.
const MOST_DISCARDED: usize = 64 << 20;

/// And for so long.
const DISCARDING_TIME: Duration = Duration::from_secs(2);

/// All routes.
pub fn router(app: Arc<App>) -> Router {
    let mut router = Router::new();
    for operation in openapi::operations() {
        router = router.route(operation.path, operation.handler);
    }
    guarded(router.route("/tactics", get(async || moved("/tactics/"))), app)
}

/// Routes behind the guard, and what is answered where there are none.
pub(super) fn guarded(router: Router<Arc<App>>, app: Arc<App>) -> Router {
    router
        .fallback(nothing_there)
        .method_not_allowed_fallback(wrong_method)
        .layer(axum::middleware::from_fn_with_state(app.clone(), guard::watch))
        .with_state(app)
}

/// A request for an explanation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ExplainRequest")]
pub struct Explain<'a> {
    /// Whatever the caller tells requests apart by; the answer has it too.
    #[serde(borrow, default)]
    #[schemars(with = "serde_json::Value")]
    id: Id<'a>,
    /// The position: the root or, with `setup`, the one before it.
    #[serde(borrow)]
    fen: Cow<'a, str>,
    /// The line, the candidate first, in UCI or SAN; the engine finds it if there is none.
    #[serde(borrow, default)]
    moves: Option<Vec<Cow<'a, str>>>,
    /// The enemy's move that leads to the root.
    #[serde(borrow, default)]
    setup: Option<Cow<'a, str>>,
    /// One move that is asked about, where no line is given.
    #[serde(borrow, default, rename = "move")]
    candidate: Option<Cow<'a, str>>,
    /// Positions that the engine visits at most in each of its searches.
    #[serde(default)]
    #[schemars(range(min = 1, max = MOST_NODES))]
    nodes: Option<u64>,
}

/// The report on the engine's line that begins with a given move.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MoveReport")]
pub struct MoveReport<I> {
    /// The report.
    #[serde(flatten)]
    pub report: ScoredReport<I>,
    /// What the move allows and what is clearly better, where there is such.
    pub others: Vec<ScoredReport<()>>,
}

/// A tactic, as it is written.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Tactic")]
pub struct JsonTactic {
    /// Its name in reports.
    pub name: &'static str,
    /// Its name in sentences.
    pub title: String,
    /// The first sentence of its definition.
    pub summary: String,
    /// How Koga decides, in Markdown.
    pub text: String,
    /// The rules by which its shape is refused.
    pub rules: Vec<JsonRule>,
    /// The address of its page.
    pub page: String,
    /// How many positions test it.
    pub positions: usize,
}

/// A rule, as it is written.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Rule")]
pub struct JsonRule {
    /// Its number.
    pub id: &'static str,
    /// What it says.
    pub text: &'static str,
}

pub(super) async fn explain(State(app): State<Arc<App>>, request: Request) -> Response {
    let body = match json_body(request, LONGEST_EXPLAIN).await {
        Ok(body) => body,
        Err(problem) => return refusal(None, &problem),
    };
    let (id, question, limits) = match consider(&body, &app, SHORT_LINE) {
        Considered::Answered(response) => return response,
        Considered::Long => return long_line(app, body).await,
        Considered::Question(id, question, limits) => (id, question, limits),
    };
    let asked_of_move = question.candidate.is_some();
    let found = async {
        let turn = app.analyses.turn().await?;
        app.analyses.run(turn, app.deadline, move |engine| scored(&question, &limits, engine)).await
    };
    match found.await {
        Ok(Ok(lines)) if asked_of_move => {
            let (first, others) = lines.split_first().expect("the engine's lines are at least one");
            let others = others.iter().map(|other: &Scored| other.json(())).collect();
            json(StatusCode::OK, &MoveReport { report: first.json(id.as_deref()), others })
        }
        Ok(Ok(lines)) => json(StatusCode::OK, &lines[0].json(id.as_deref())),
        Ok(Err(err)) => refusal(id.as_deref(), &(&RequestError::NoLine(err)).into()),
        Err(problem) => refusal(id.as_deref(), &problem),
    }
}

/// What becomes of a request for an explanation.
enum Considered {
    Answered(Response),
    /// The line is longer than was allowed.
    Long,
    Question(Option<Box<RawValue>>, Question, Limits),
}

fn consider(body: &[u8], app: &App, longest: usize) -> Considered {
    let request: Explain = match request::read(body, LONGEST_EXPLAIN) {
        Ok(request) => request,
        Err((id, err)) => return Considered::Answered(refusal(id, &(&err).into())),
    };
    if request.moves.as_ref().is_some_and(|moves| moves.len() > longest) {
        return Considered::Long;
    }
    let asked = limits(request.nodes, MOST_NODES, || app.analyses.engine.limits(DEFAULT_NODES)).and_then(|limits| {
        let setup = request.setup.as_deref();
        let asked = match (&request.candidate, &request.moves) {
            (None, moves) => request::asked(&request.fen, setup, moves.as_deref()),
            (Some(candidate), None) => request::question(&request.fen, setup, Some(candidate)).map(Asked::from),
            (Some(_), Some(_)) => {
                let message = "\"move\" and \"moves\" exclude each other: a line that is given begins with its move";
                Err(RequestError::Request(message.to_owned()))
            }
        };
        Ok((asked?, limits))
    });
    match asked {
        Ok((Asked::Line(line), _)) => {
            Considered::Answered(json(StatusCode::OK, &render::json::report(&line, &analyze(&line), request.id)))
        }
        Ok((Asked::Engine(question), limits)) => {
            Considered::Question(request.id.map(RawValue::to_owned), *question, limits)
        }
        Err(err) => Considered::Answered(refusal(request.id, &(&err).into())),
    }
}

/// A long line takes some milliseconds: only a few at a time, on threads of their own.
async fn long_line(app: Arc<App>, body: Bytes) -> Response {
    let its_app = app.clone();
    match app.beside(move || consider(&body, &its_app, usize::MAX)).await {
        Ok(Considered::Answered(response)) => response,
        Ok(_) => refusal(None, &super::analyses::accident()),
        Err(problem) => refusal(None, &problem),
    }
}

/// The limits with the nodes that the client asks for, up to `most`; else the server's own.
pub(super) fn limits(nodes: Option<u64>, most: u64, own: impl FnOnce() -> Limits) -> Result<Limits, RequestError> {
    match nodes {
        None => Ok(own()),
        Some(nodes) if (1..=most).contains(&nodes) => Ok(Limits { nodes: Some(nodes), ..own() }),
        Some(_) => Err(RequestError::Request(format!("\"nodes\" must be from 1 to {most}"))),
    }
}

pub(super) async fn tactics(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    app.tactics.answer(&headers)
}

/// Every tactic with its definition.
pub fn all_tactics() -> Vec<JsonTactic> {
    let of = |tactic: &Tactic| {
        let definition = Definition::of(*tactic);
        JsonTactic {
            name: tactic.name(),
            title: pages::title(*tactic),
            summary: pages::summary(*tactic),
            text: definition.text(),
            rules: definition.rules.iter().map(|rule| JsonRule { id: rule.id, text: rule.text }).collect(),
            page: format!("/tactics/{tactic}.html"),
            positions: corpus::cases(*tactic).map_or(0, |cases| cases.len()),
        }
    };
    Tactic::ALL.iter().map(of).collect()
}

pub(super) async fn openapi_document(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    app.openapi.answer(&headers)
}

pub(super) async fn health() -> Response {
    text("ok\n".to_owned())
}

pub(super) async fn metrics(State(app): State<Arc<App>>) -> Response {
    let connections = super::connections::MOST - app.connections.available_permits();
    let mut response = text(app.metrics.text(&app.analyses.load(), connections));
    let prometheus = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, prometheus);
    response
}

pub(super) async fn file(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Response {
    found(app.assets.get(uri.path()), &headers)
}

pub(super) async fn page(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Response {
    let of = |ending: &str| app.assets.get(&format!("{}{ending}", uri.path()));
    match of("") {
        None if of(".html").is_some() => moved(&format!("{}.html", uri.path())),
        asset => found(asset, &headers),
    }
}

fn found(asset: Option<&Asset>, headers: &HeaderMap) -> Response {
    asset.map_or_else(|| refusal(None, &nothing()), |asset| asset.answer(headers))
}

fn nothing() -> Problem<'static> {
    Problem::new(Kind::NotFound, "nothing is at this address; /api/openapi.json lists what there is")
}

async fn nothing_there() -> Response {
    refusal(None, &nothing())
}

async fn wrong_method(method: Method) -> Response {
    let message = format!("the method {method} is not for this address; the header Allow says which are");
    refusal(None, &Problem::new(Kind::Method, message))
}

fn moved(to: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(header::LOCATION, to);
    }
    response
}

fn text(text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// The body of a request that must be JSON.
pub(super) async fn json_body(request: Request, longest: usize) -> Result<Bytes, Problem<'static>> {
    let media_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = media_type.and_then(|value| value.split(';').next()).unwrap_or_default();
    if !essence.trim().eq_ignore_ascii_case("application/json") {
        return Err(Problem::new(Kind::MediaType, "the body must be JSON: Content-Type: application/json"));
    }
    let is_awaited = request.headers().contains_key(header::EXPECT);
    let mut body = request.into_body();
    let declared = axum::body::HttpBody::size_hint(&body).lower();
    let mut bytes = Vec::with_capacity(declared.min(LONGEST_EXPLAIN as u64) as usize);
    let mut length = 0;
    let is_too_long = |length: usize| length > longest || declared > longest as u64;
    // What is too long is read for a while all the same: a client that still writes does not see the answer.
    let end = Instant::now() + if is_too_long(0) { DISCARDING_TIME } else { BODY_TIME };
    // A client that asks first need not send what is not wanted.
    if !(is_awaited && is_too_long(0)) {
        loop {
            let frame = match timeout_at(end, body.frame()).await {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(_) if is_too_long(length) => break,
                Err(_) => {
                    let message = format!("the body took longer than {} s", BODY_TIME.as_secs());
                    return Err(Problem::new(Kind::Timeout, message));
                }
            };
            let broken = |_| Problem::new(Kind::Request, "the body is broken off or badly framed");
            let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
            length += data.len();
            if length <= longest {
                bytes.extend_from_slice(&data);
            } else if length > MOST_DISCARDED {
                break;
            }
        }
    }
    if is_too_long(length) {
        return Err(Problem::new(Kind::TooLarge, format!("the body is longer than {longest} bytes")));
    }
    Ok(bytes.into())
}

/// An answer in JSON, with a line feed at its end.
pub(super) fn json(status: StatusCode, answer: &impl Serialize) -> Response {
    let mut body = serde_json::to_vec(answer).expect("strings and numbers can be written");
    body.push(b'\n');
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The answer to a request that failed.
pub(super) fn refusal(id: Id, problem: &Problem) -> Response {
    let status = status(problem.kind);
    let error = Problem {
        token: problem.token.as_deref().map(Cow::Borrowed),
        message: problem.message.as_ref().into(),
        ..*problem
    };
    let mut response = json(status, &Failure { id, error });
    let headers = response.headers_mut();
    match problem.kind {
        Kind::Busy => drop(headers.insert(header::RETRY_AFTER, HeaderValue::from_static("2"))),
        // The rest of the body would be taken for the next request.
        Kind::Timeout | Kind::TooLarge => drop(headers.insert(header::CONNECTION, HeaderValue::from_static("close"))),
        _ => {}
    }
    response
}

/// The status that goes with a sort of trouble.
pub fn status(kind: Kind) -> StatusCode {
    match kind {
        Kind::Fen | Kind::Move | Kind::Request => StatusCode::BAD_REQUEST,
        Kind::Origin => StatusCode::FORBIDDEN,
        Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::Method => StatusCode::METHOD_NOT_ALLOWED,
        Kind::Timeout => StatusCode::REQUEST_TIMEOUT,
        Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Kind::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Kind::Host => StatusCode::MISDIRECTED_REQUEST,
        Kind::Busy => StatusCode::TOO_MANY_REQUESTS,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Kind::Engine => StatusCode::BAD_GATEWAY,
        Kind::Deadline => StatusCode::SERVICE_UNAVAILABLE,
    }
}

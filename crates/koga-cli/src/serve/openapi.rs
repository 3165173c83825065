//! The routes in one table, from which the router and the description at `/api/openapi.json` are made: none can lack the
//! other.

use std::sync::Arc;

use axum::routing::{MethodRouter, get, post};
use koga::render::json::JsonReport;
use koga_review::render::json::JsonGame;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{
    App,
    api::{self, Explain, JsonTactic, MoveReport, status},
    assets::Assets,
    review::{self, Event, ReviewRequest},
};
use crate::{
    explain::ScoredReport,
    request::{Failure, Kind},
};

/// One method of one path.
pub struct Operation {
    /// `get` or `post`.
    pub method: &'static str,
    /// The path as the router has it.
    pub path: &'static str,
    summary: &'static str,
    description: &'static str,
    request: Option<MakeSchema>,
    /// The media type and shape of a good answer.
    answer: (&'static str, MakeSchema),
    failures: &'static [Kind],
    pub(super) handler: MethodRouter<Arc<App>>,
}

type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

/// What any request may be refused for.
const ALWAYS: [Kind; 4] = [Kind::Request, Kind::Host, Kind::Origin, Kind::Internal];

/// What a body may be refused for.
const OF_BODY: &[Kind] =
    &[Kind::Fen, Kind::Move, Kind::Timeout, Kind::TooLarge, Kind::MediaType, Kind::Busy, Kind::Engine, Kind::Deadline];

/// The answers to a request for an explanation.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Explanation")]
#[expect(dead_code, reason = "only its schema is used")]
enum Explanation {
    /// Where a line was given.
    Given(Box<JsonReport<Value>>),
    /// Where neither a line nor a move was given.
    Best(Box<ScoredReport<Value>>),
    /// Where a move was given.
    Move(Box<MoveReport<Value>>),
}

/// All that the server answers.
pub fn operations() -> Vec<Operation> {
    let get_of = |path, summary, answer, handler| Operation {
        method: "get",
        path,
        summary,
        description: "",
        request: None,
        answer,
        failures: &[],
        handler,
    };
    let text: MakeSchema = SchemaGenerator::subschema_for::<String>;
    let mut operations = vec![
        Operation {
            method: "post",
            path: "/api/explain",
            summary: "The tactics of a line, of a move, or of the engine's best line.",
            description: "With `moves` the report on that line, byte for byte as `koga explain --jsonl` writes it. With \
                          neither `moves` nor `move` the report on the engine's best line with its `score`. With `move` the \
                          report on the engine's line that begins with it, and `others`.",
            request: Some(SchemaGenerator::subschema_for::<Explain>),
            answer: (JSON, SchemaGenerator::subschema_for::<Explanation>),
            failures: OF_BODY,
            handler: post(api::explain),
        },
        Operation {
            method: "post",
            path: "/api/review",
            summary: "Games reviewed: the tactics found, missed and allowed.",
            description: "The answer is a stream of events: `progress` now and then, `game` for each game in the order of the \
                          PGN, and at the end `done` or `error`. The schema is that of an event's data.",
            request: Some(SchemaGenerator::subschema_for::<ReviewRequest>),
            answer: ("text/event-stream", SchemaGenerator::subschema_for::<Event>),
            failures: OF_BODY,
            handler: post(review::review),
        },
        get_of(
            "/api/tactics",
            "How Koga decides on each tactic.",
            (JSON, SchemaGenerator::subschema_for::<Vec<JsonTactic>>),
            get(api::tactics),
        ),
        get_of(
            "/api/openapi.json",
            "This description.",
            (JSON, SchemaGenerator::subschema_for::<Map<String, Value>>),
            get(api::openapi_document),
        ),
        get_of("/healthz", "That the server runs.", (TEXT, text), get(api::health)),
        get_of("/metrics", "Counts and times for Prometheus.", (TEXT, text), get(api::metrics)),
        get_of("/tactics/", "The reference pages.", (HTML, text), get(api::file)),
        Operation {
            failures: &[Kind::NotFound],
            ..get_of("/tactics/{*page}", "A reference page or a picture on one.", (HTML, text), get(api::page))
        },
    ];
    operations.extend(Assets::files().map(|(path, media_type)| {
        get_of(path, "A file of the analysis page, or the licence.", (media_type, text), get(api::file))
    }));
    operations
}

/// The description in OpenAPI 3.1.
pub fn document() -> Value {
    let settings = |settings: SchemaSettings| {
        settings.with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        })
    };
    let mut requests = settings(SchemaSettings::draft2020_12()).for_deserialize().into_generator();
    let mut answers = settings(SchemaSettings::draft2020_12()).for_serialize().into_generator();
    // It is game and report for whoever reads the document; the event and the answer hold them.
    for make in [SchemaGenerator::subschema_for::<JsonGame>, SchemaGenerator::subschema_for::<JsonReport<Value>>] {
        let _: Schema = make(&mut answers);
    }
    let mut paths: Map<String, Value> = Map::new();
    for operation in operations() {
        let (media_type, make) = operation.answer;
        let mut responses = Map::new();
        let good = json!({ "description": "The answer.", "content": { media_type: { "schema": make(&mut answers) } } });
        responses.insert("200".to_owned(), good);
        for kind in operation.failures.iter().chain(&ALWAYS) {
            let of_status = responses.entry(status(*kind).as_str()).or_insert_with(|| {
                let schema = answers.subschema_for::<Failure>();
                json!({ "description": "Refused; `kind`:", "content": { JSON: { "schema": schema } } })
            });
            let said = format!("{} `{}`", of_status["description"].as_str().unwrap_or_default(), name(*kind));
            of_status["description"] = said.into();
        }
        let mut described = json!({ "summary": operation.summary, "responses": responses });
        if !operation.description.is_empty() {
            described["description"] = operation.description.into();
        }
        if let Some(make) = operation.request {
            let schema = make(&mut requests);
            described["requestBody"] = json!({ "required": true, "content": { JSON: { "schema": schema } } });
        }
        if operation.path.contains('{') {
            let schema = json!({ "type": "string" });
            described["parameters"] = json!([{ "name": "page", "in": "path", "required": true, "schema": schema }]);
        }
        paths.entry(operation.path.replace('*', "")).or_insert_with(|| json!({}))[operation.method] = described;
    }
    let mut schemas = answers.take_definitions(true);
    schemas.extend(requests.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Koga",
            "description": "Says why a chess move is good: names the tactics of a position, a move and a line.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "GPL-3.0-or-later", "identifier": "GPL-3.0-or-later" },
        },
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

fn name(kind: Kind) -> String {
    serde_json::to_value(kind).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

//! What never changes while the server runs: the analysis page, the reference pages, and JSON made once.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hasher},
};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};

use serde::Serialize;

use crate::site;

/// The files of the analysis page and what they are: a new one is added here.
const FILES: [(&str, &[u8]); 6] = [
    ("/", include_bytes!("../../../../web/dist/index.html")),
    ("/app.css", include_bytes!("../../../../web/dist/app.css")),
    ("/app.js", include_bytes!("../../../../web/dist/app.js")),
    ("/favicon.svg", include_bytes!("../../../../web/dist/favicon.svg")),
    ("/licence", include_bytes!("../../../../COPYING")),
    ("/licences.txt", include_bytes!("../../../../web/dist/licences.txt")),
];

/// The analysis page, as the reference pages link to it.
const ANALYSIS: &str = "/";

/// What is at one address.
#[derive(Debug, Clone)]
pub struct Asset {
    media_type: &'static str,
    tag: HeaderValue,
    body: Bytes,
}

/// All assets by their paths.
#[derive(Debug)]
pub struct Assets {
    by_path: BTreeMap<String, Asset>,
}

impl Assets {
    /// Makes the pages.
    pub fn new() -> Assets {
        let files = FILES.iter().map(|(path, body)| ((*path).to_owned(), Bytes::from_static(body)));
        let pages = site::html(ANALYSIS).into_iter().flat_map(|page| {
            let path = format!("/tactics/{}", page.path);
            let folder = path.strip_suffix("index.html").map(str::to_owned);
            let body = Bytes::from(page.text);
            folder.into_iter().chain([path]).map(move |path| (path, body.clone()))
        });
        let by_path = files.chain(pages).map(|(path, body)| {
            let asset = Asset::new(media_type(&path), body);
            (path, asset)
        });
        Assets { by_path: by_path.collect() }
    }

    /// The paths of the analysis page's files.
    pub fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
        FILES.iter().map(|(path, _)| (*path, media_type(path)))
    }

    /// What is at that path.
    pub fn get(&self, path: &str) -> Option<&Asset> {
        self.by_path.get(path)
    }
}

impl Asset {
    /// An asset of that type.
    pub fn new(media_type: &'static str, body: Bytes) -> Asset {
        let mut hasher = DefaultHasher::new();
        hasher.write(&body);
        let tag = format!("\"{:016x}\"", hasher.finish());
        Asset { media_type, tag: HeaderValue::try_from(tag).expect("digits are fit for a header"), body }
    }

    /// JSON that never changes.
    pub fn json(value: &impl Serialize) -> Asset {
        Asset::new("application/json", serde_json::to_vec(value).expect("strings and numbers can be written").into())
    }

    /// The answer to a request with those headers: not the body where the client has it already.
    pub fn answer(&self, headers: &HeaderMap) -> Response {
        let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        let same = |tag: &str| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == self.tag.as_bytes();
        let is_known = known.flat_map(|value| value.split(',')).any(|tag| same(tag.trim()));
        let mut response = Response::new(if is_known { Body::empty() } else { self.body.clone().into() });
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        }
        response.headers_mut().insert(header::ETAG, self.tag.clone());
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("txt") => "text/plain; charset=utf-8",
        None if path == "/licence" => "text/plain; charset=utf-8",
        _ => "text/html; charset=utf-8",
    }
}

//! What every request passes: who may ask, what every answer says of itself, and that an accident is answered.
//!
//! A page of another site can send requests to a server on the same machine. Those that name the server by a name that is
//! not its own are refused (a name whose address was changed meanwhile: DNS rebinding), and so are those that come from a
//! page of another origin. Only `localhost` for a loopback address, the address itself, and the names that were given are its
//! own.

use std::{net::SocketAddr, panic::AssertUnwindSafe, sync::Arc, time::Instant};

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Uri, header, uri::Authority},
    middleware::Next,
    response::Response,
};
use futures_util::FutureExt;

use super::{App, analyses::accident, api::refusal};
use crate::request::{Kind, Problem};

/// The address that a connection came in by.
#[derive(Debug, Clone, Copy)]
pub struct Local(pub SocketAddr);

/// What every answer says: no other site may frame, embed or script it.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Answers a request, or refuses it, and counts it.
pub async fn watch(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let local = request.extensions().get::<Local>().copied();
    let mut response = match check(request.uri(), request.headers(), local, &app.hosts) {
        Err((kind, message)) => refusal(None, &Problem::new(kind, message)),
        Ok(()) => match AssertUnwindSafe(next.run(request)).catch_unwind().await {
            Ok(response) => response,
            Err(_) => refusal(None, &accident()),
        },
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    let route = route.as_ref().map_or("none", |route| route.as_str());
    app.metrics.count(route, response.status().as_u16(), begun.elapsed());
    response
}

/// Whether a request may be answered, else what is wrong with it.
fn check(uri: &Uri, headers: &HeaderMap, local: Option<Local>, names: &[String]) -> Result<(), (Kind, &'static str)> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host,
        (None, _) => return Err((Kind::Request, "the header Host is missing")),
        _ => return Err((Kind::Request, "there are several headers Host")),
    };
    let host = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
    let Some(host) = host.filter(|host| !host.as_str().contains('@')) else {
        return Err((Kind::Request, "the header Host is not a host"));
    };
    let is_own = |host: &Authority| is_own(host.host(), local, names);
    if !is_own(&host) || !uri.authority().is_none_or(is_own) {
        return Err((Kind::Host, "this server does not go by the name in the header Host; --host NAME gives it one"));
    }
    let same_origin = |origin: &HeaderValue| {
        let origin = origin.to_str().unwrap_or_default();
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host.as_str()))
    };
    if !headers.get_all(header::ORIGIN).iter().all(same_origin) {
        return Err((Kind::Origin, "pages of other sites may not use this server"));
    }
    Ok(())
}

/// Whether the server goes by that name, whatever the port: a forwarded port is another, and no protection hangs on it.
fn is_own(host: &str, local: Option<Local>, names: &[String]) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let by_address = local.is_some_and(|Local(local)| {
        let local = local.ip().to_canonical();
        let is_local = bare.parse().is_ok_and(|ip: std::net::IpAddr| ip.to_canonical() == local);
        is_local || (local.is_loopback() && bare.eq_ignore_ascii_case("localhost"))
    });
    by_address || names.iter().any(|name| name.eq_ignore_ascii_case(bare))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(host: &str, origin: Option<&str>, local: &str, names: &[&str]) -> Result<(), Kind> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let local = Some(Local(local.parse().unwrap()));
        check(&Uri::from_static("/"), &headers, local, &names).map_err(|(kind, _)| kind)
    }

    #[test]
    fn a_server_goes_by_its_address_and_by_the_names_it_was_given() {
        let local = "127.0.0.1:8080";
        for host in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST", "127.0.0.1", "localhost:9000"] {
            assert_eq!(verdict(host, None, local, &[]), Ok(()), "{host}");
        }
        for host in
            ["evil.example:8080", "localhost.evil.example", "192.168.0.7:8080", "127.0.0.1.nip.io", "0.0.0.0:8080"]
        {
            assert_eq!(verdict(host, None, local, &[]), Err(Kind::Host), "{host}");
        }
        assert_eq!(verdict("koga.example", None, local, &["koga.example"]), Ok(()));
        assert_eq!(verdict("[::1]:8080", None, "[::1]:8080", &[]), Ok(()));
        assert_eq!(verdict("127.0.0.1:8080", None, "[::ffff:127.0.0.1]:8080", &[]), Ok(()));
        assert_eq!(verdict("localhost:8080", None, "192.168.0.7:8080", &[]), Err(Kind::Host));
        assert_eq!(verdict("192.168.0.7:8080", None, "192.168.0.7:8080", &[]), Ok(()));
        for host in ["a@localhost", "", "local host", "localhost/", "user:pass@localhost:8080"] {
            assert_eq!(verdict(host, None, local, &[]), Err(Kind::Request), "{host}");
        }
    }

    #[test]
    fn only_its_own_pages_may_ask() {
        let of = |origin: &str| verdict("localhost:8080", Some(origin), "127.0.0.1:8080", &[]);
        assert_eq!(of("http://localhost:8080"), Ok(()));
        for origin in [
            "http://evil.example",
            "null",
            "",
            "http://localhost",
            "http://localhost:3000",
            "http://127.0.0.1:8080",
            "file://localhost:8080",
            "http://localhost:8080.evil.example",
            "http://localhost:8080/",
        ] {
            assert_eq!(of(origin), Err(Kind::Origin), "{origin}");
        }
        assert_eq!(verdict("koga.example", Some("https://koga.example"), "10.0.0.1:80", &["koga.example"]), Ok(()));
    }
}

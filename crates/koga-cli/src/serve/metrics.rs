//! What `/metrics` tells, in Prometheus' text format.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use super::analyses::Load;

/// Upper ends of the histogram's classes, in seconds.
const CLASSES: [f64; 9] = [0.0005, 0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 5.0, 10.0];

/// The requests answered so far.
#[derive(Debug, Default)]
pub struct Metrics {
    routes: Mutex<BTreeMap<String, Route>>,
}

#[derive(Debug, Default)]
struct Route {
    statuses: BTreeMap<u16, u64>,
    /// How many took at most so long; not yet added up.
    classes: [u64; CLASSES.len()],
    count: u64,
    sum: Duration,
}

impl Metrics {
    /// Counts a request; its time is that until the answer begins.
    pub fn count(&self, route: &str, status: u16, time: Duration) {
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        if !routes.contains_key(route) {
            routes.insert(route.to_owned(), Route::default());
        }
        let Some(route) = routes.get_mut(route) else { return };
        *route.statuses.entry(status).or_default() += 1;
        if let Some(class) = CLASSES.iter().position(|end| time.as_secs_f64() <= *end) {
            route.classes[class] += 1;
        }
        route.count += 1;
        route.sum += time;
    }

    /// All of it as text.
    pub fn text(&self, load: &Load, connections: usize) -> String {
        let mut out = String::new();
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        head(&mut out, "koga_http_requests_total", "counter", "Requests answered.");
        for (name, route) in &*routes {
            for (status, count) in &route.statuses {
                let _ = writeln!(out, "koga_http_requests_total{{route=\"{name}\",status=\"{status}\"}} {count}");
            }
        }
        head(&mut out, "koga_http_request_seconds", "histogram", "Time until the answer begins.");
        for (name, route) in &*routes {
            let mut so_far = 0;
            for (end, count) in CLASSES.iter().zip(route.classes) {
                so_far += count;
                let _ = writeln!(out, "koga_http_request_seconds_bucket{{route=\"{name}\",le=\"{end}\"}} {so_far}");
            }
            let count = route.count;
            let _ = writeln!(out, "koga_http_request_seconds_bucket{{route=\"{name}\",le=\"+Inf\"}} {count}");
            let _ = writeln!(out, "koga_http_request_seconds_sum{{route=\"{name}\"}} {}", route.sum.as_secs_f64());
            let _ = writeln!(out, "koga_http_request_seconds_count{{route=\"{name}\"}} {count}");
        }
        let single = [
            ("koga_connections", "gauge", "Connections open.", connections as u64),
            ("koga_analyses_running", "gauge", "Analyses with the engine under way.", load.running as u64),
            ("koga_analyses_queued", "gauge", "Requests that wait for an analysis.", load.waiting as u64),
            ("koga_analyses_refused_total", "counter", "Requests answered 429.", load.refused),
            ("koga_analyses_stopped_total", "counter", "Analyses that their deadline stopped.", load.stopped),
            ("koga_engine_nodes_total", "counter", "Positions that the engine visited.", load.nodes),
        ];
        for (name, kind, help, value) in single {
            head(&mut out, name, kind, help);
            let _ = writeln!(out, "{name} {value}");
        }
        out
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

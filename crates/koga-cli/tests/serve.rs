//! `koga serve`, asked by honest clients and by others.

#![cfg(unix)]

mod support;

use std::{
    fs,
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread::{scope, sleep},
    time::{Duration, Instant},
};

use koga_cli::serve;
use serde_json::{Value, json};
use support::Folder;

const FORK: &str = "r3k3/5ppp/8/3N4/8/8/5PPP/4K3 w - - 0 1";
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const GAMES: &str = "[Event \"one\"]\n[White \"Ada\"]\n[Black \"Bob\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n\
    [Event \"two\"]\n\n1. e4 e5 2. Ke3 d5 *\n\n[Event \"three\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n\n\
    [Event \"four\"]\n[White \"Cy\"]\n[Black \"Ada\"]\n\n1. e4 e5 2. Qh5 Nf6 3. Qxe5+ Be7 *\n";
const JSON: (&str, &str) = ("Content-Type", "application/json");

fn koga(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_koga"));
    command.args(args).env_remove("KOGA_ENGINE").stdin(Stdio::null());
    command
}

/// What the program itself prints, being fed that.
fn printed(args: &[&str], input: &str) -> String {
    let mut child = koga(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program runs");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it listens");
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A server of its own for a test.
struct Server {
    child: Child,
    addr: SocketAddr,
}

impl Server {
    fn start(args: &[&str]) -> Server {
        let mut child = koga(&["serve", "--addr", "127.0.0.1:0"]).args(args).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        let addr = said.strip_prefix("koga: serving http://").and_then(|said| said.strip_suffix("/ (Ctrl-C ends)\n"));
        let addr = addr.unwrap_or_else(|| panic!("{said}")).parse().expect("an address");
        Server { child, addr }
    }

    fn connect(&self) -> Connection {
        let stream = TcpStream::connect(self.addr).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection { stream: BufReader::new(stream), host: self.addr.to_string() }
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.connect().ask(method, path, headers, body)
    }

    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], b"")
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, &[JSON], body.to_string().as_bytes())
    }

    fn metric(&self, name: &str) -> u64 {
        let text = self.get("/metrics").text();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{text}")).parse().expect("a number")
    }

    /// Waits until a number has a value.
    fn await_metric(&self, name: &str, value: u64) {
        let begun = Instant::now();
        while self.metric(name) != value {
            assert!(begun.elapsed() < Duration::from_secs(10), "{name} never became {value}");
            sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the server has begun some of so many answers and begins no more.
    fn await_standstill(&self, path: &str, asked: usize) {
        let name = format!("koga_http_requests_total{{route=\"{path}\",status=\"200\"}} ");
        let (begun, mut answered, mut same) = (Instant::now(), 0, 0);
        while answered <= 1 || same < 5 {
            assert!(begun.elapsed() < Duration::from_secs(60), "it goes on to answer");
            sleep(Duration::from_millis(200));
            let text = self.get("/metrics").text();
            let now = text.lines().find_map(|line| line.strip_prefix(&name)?.parse().ok()).unwrap_or(0);
            same = if now == answered { same + 1 } else { 0 };
            answered = now;
        }
        assert!(answered < asked, "it waits for who does not read");
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
    }

    fn ended(&mut self, patience: Duration) -> ExitStatus {
        let begun = Instant::now();
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status,
                None => assert!(begun.elapsed() < patience, "it goes on"),
            }
            sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

#[derive(Debug)]
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Connection {
    fn write(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).expect("it listens");
    }

    /// Writes a request whose body is said to have that length.
    fn head(&mut self, method: &str, path: &str, headers: &[(&str, &str)], length: Option<usize>) {
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        if headers.iter().all(|(name, _)| *name != "Host") {
            text += &format!("Host: {}\r\n", self.host);
        }
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        if let Some(length) = length {
            text += &format!("Content-Length: {length}\r\n");
        }
        self.write((text + "\r\n").as_bytes());
    }

    fn ask(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.head(method, path, headers, (method == "POST").then_some(body.len()));
        self.write(body);
        self.answer(method == "HEAD")
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("an answer");
        line.trim_end().to_owned()
    }

    fn answer_head(&mut self) -> Answer {
        let status = self.line();
        let status = status.strip_prefix("HTTP/1.1 ").and_then(|rest| rest[..3].parse().ok());
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        Answer { status: status.expect("a status"), headers, body: Vec::new() }
    }

    fn answer(&mut self, is_head: bool) -> Answer {
        let mut answer = self.answer_head();
        if is_head || answer.status == 304 {
            return answer;
        }
        if let Some(length) = answer.header("content-length").map(|length| length.parse().unwrap()) {
            answer.body = vec![0; length];
            self.stream.read_exact(&mut answer.body).expect("a whole body");
        } else {
            while let Some(chunk) = self.chunk() {
                answer.body.extend(chunk);
            }
        }
        answer
    }

    /// The next part of a body in parts; none at its end.
    fn chunk(&mut self) -> Option<Vec<u8>> {
        let length = usize::from_str_radix(&self.line(), 16).expect("a length");
        let mut chunk = vec![0; length + 2];
        self.stream.read_exact(&mut chunk).expect("a whole part");
        chunk.truncate(length);
        Some(chunk).filter(|chunk| !chunk.is_empty())
    }

    /// What comes until the server closes the connection.
    fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Err(err) if err.kind() != ErrorKind::ConnectionReset => panic!("it is not closed: {err}"),
            _ => String::from_utf8_lossy(&rest).into_owned(),
        }
    }
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("UTF-8")
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|err| panic!("{err}: {}", self.text()))
    }

    fn kind(&self) -> (u16, String) {
        let json = self.json();
        let error = &json["error"];
        assert!(!error["message"].as_str().expect("a message").is_empty());
        assert!(json.get("id").is_some() && error.get("ply").is_some() && error.get("token").is_some(), "{json}");
        (self.status, error["kind"].as_str().expect("a kind").to_owned())
    }

    /// The events of a stream: their names and data.
    fn events(&self) -> Vec<(String, Value)> {
        let event = |text: &str| {
            let (name, data) = text.strip_prefix("event: ")?.split_once("\ndata: ")?;
            Some((name.to_owned(), serde_json::from_str(data).ok()?))
        };
        let text = self.text();
        let text = text.strip_suffix("\n\n").expect("the stream ends with an event");
        text.split("\n\n").map(|text| event(text).unwrap_or_else(|| panic!("{text}"))).collect()
    }
}

fn refused(status: u16, kind: &str) -> (u16, String) {
    (status, kind.to_owned())
}

/// A request that keeps the engine busy for long.
fn long() -> Value {
    json!({ "id": "long", "fen": START, "nodes": serve::MOST_NODES })
}

/// An engine that answers on cue; it knows the move `d5c7` only.
struct CuedEngine {
    folder: Folder,
}

impl CuedEngine {
    fn new() -> CuedEngine {
        let folder = Folder::new();
        // A link, since a program that was just written cannot be run while another thread starts one.
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/engine.sh");
        std::os::unix::fs::symlink(script, folder.path("engine")).expect("a link can be made");
        CuedEngine { folder }
    }

    fn serve(&self, args: &[&str]) -> Server {
        let engine = self.folder.path("engine");
        Server::start(&[&["--engine", engine.to_str().expect("UTF-8")], args].concat())
    }

    /// Lets it answer, from now on.
    fn cue(&self) {
        self.folder.write("cue", "");
    }

    fn starts(&self) -> usize {
        fs::read_to_string(self.folder.path("starts")).expect("it was started").lines().count()
    }
}

#[test]
fn answers_are_those_of_the_program_byte_for_byte() {
    let server = Server::start(&["--nodes", "3000"]);
    let requests = [
        json!({ "id": 1, "fen": FORK, "moves": ["d5c7", "e8d8", "c7a8"] }),
        json!({ "id": { "any": [null, "ü"] }, "fen": FORK, "moves": ["Nc7+", "Kd8", "Nxa8"] }),
        json!({ "fen": "r7/3k1ppp/8/3N4/8/8/5PPP/4K3 b - - 0 1", "setup": "d7e8", "moves": ["Nc7+"] }),
        json!({ "id": 2, "fen": FORK }),
        json!({ "id": 3, "fen": "r7/3k1ppp/8/3N4/8/8/5PPP/4K3 b - - 0 1", "setup": "d7e8" }),
        json!({ "id": 4, "fen": FORK, "moves": ["Nc7+", "Qd8"] }),
        json!({ "id": "x", "fen": "8/8/8 w - - 0 1", "moves": ["e4"] }),
        json!({ "id": 5, "fen": FORK, "moves": [] }),
        json!({ "id": 6, "fen": "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1" }),
    ];
    let input: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let expected = printed(&["explain", "--jsonl", "--nodes", "3000"], &input);
    let mut connection = server.connect();
    let answers: Vec<Answer> = requests
        .iter()
        .map(|request| connection.ask("POST", "/api/explain", &[JSON], request.to_string().as_bytes()))
        .collect();
    assert_eq!(answers.iter().map(Answer::text).collect::<String>(), expected);
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 400, 400, 400, 400]);
    assert_eq!(answers[3].json()["part"], "best");
    assert!(answers[3].json()["score"]["cp"].is_i64());
}

#[test]
fn a_long_line_is_answered_as_well() {
    let server = Server::start(&[]);
    let moves = ["g1f3", "g8f6", "f3g1", "f6g8"].repeat(250);
    let request = json!({ "id": 1, "fen": START, "moves": moves });
    let expected = printed(&["explain", "--jsonl"], &format!("{request}\n"));
    assert_eq!(server.post("/api/explain", &request).text(), expected);
    let longer = json!({ "fen": START, "moves": (["g1f3", "g8f6", "f3g1", "f6g8"].repeat(251)) });
    assert_eq!(server.post("/api/explain", &longer).kind(), refused(400, "request"));
}

#[test]
fn a_move_is_explained_with_what_it_allows_and_what_is_better() {
    let server = Server::start(&["--nodes", "3000"]);
    let answer = server.post("/api/explain", &json!({ "id": 7, "fen": FORK, "move": "1. Kd2?!" })).json();
    let said = printed(&["explain", FORK, "Kd2", "--format", "json", "--nodes", "3000"], "");
    let mut expected: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(expected.len() > 1);
    let mut first = expected.remove(0);
    first["id"] = 7.into();
    first["others"] = expected.into();
    assert_eq!(answer, first);
    assert_eq!(answer["part"], "move");
    let best = server.post("/api/explain", &json!({ "fen": FORK, "move": "d5c7" })).json();
    assert_eq!((&best["part"], &best["others"]), (&json!("move"), &json!([])));
    let fewer = server.post("/api/explain", &json!({ "fen": FORK, "nodes": 500 })).json();
    let said = printed(&["explain", FORK, "--format", "json", "--nodes", "500"], "");
    assert_eq!(fewer, serde_json::from_str::<Value>(&said).unwrap());
    let after_setup = json!({ "fen": "r7/3k1ppp/8/3N4/8/8/5PPP/4K3 b - - 0 1", "setup": "Ke8", "move": "Nc7+" });
    assert_eq!(server.post("/api/explain", &after_setup).json()["findings"][0]["tactic"], "fork");
}

#[test]
fn bad_requests_are_named() {
    let server = Server::start(&[]);
    let of = |body: &str| server.ask("POST", "/api/explain", &[JSON], body.as_bytes());
    for (body, kind) in [
        ("", "request"),
        ("null", "request"),
        ("[]", "request"),
        ("{", "request"),
        ("{}", "request"),
        ("{\"fen\": 1}", "request"),
        ("{\"fen\": \"x\"}", "fen"),
        ("{\"fen\": \"x\", \"fen\": \"x\"}", "request"),
        ("{\"fen\": \"x\", \"moves\": \"e4\"}", "request"),
        (&format!("{{\"fen\": \"{START}\", \"moves\": [\"e5\"]}}"), "move"),
        (&format!("{{\"fen\": \"{START}\", \"move\": \"e5\"}}"), "move"),
        (&format!("{{\"fen\": \"{START}\", \"move\": \"e4 e5\"}}"), "request"),
        (&format!("{{\"fen\": \"{START}\", \"move\": \"\"}}"), "request"),
        (&format!("{{\"fen\": \"{START}\", \"setup\": \"e5\"}}"), "move"),
        (&format!("{{\"fen\": \"{START}\", \"move\": \"e4\", \"moves\": [\"e4\"]}}"), "request"),
        (&format!("{{\"fen\": \"{START}\", \"nodes\": 0}}"), "request"),
        (&format!("{{\"fen\": \"{START}\", \"nodes\": -1}}"), "request"),
        (&format!("{{\"fen\": \"{START}\", \"nodes\": {}}}", serve::MOST_NODES + 1), "request"),
        (&"[".repeat(60_000), "request"),
        (&format!("{{\"id\": {}, \"fen\": 1}}", "[".repeat(60_000)), "request"),
    ] {
        assert_eq!(of(body).kind(), refused(400, kind), "{}", &body[..body.len().min(100)]);
    }
    let unknown = of(&format!("{{\"id\": 9, \"fen\": \"{START}\", \"colour\": 1}}")).json();
    assert_eq!(unknown["id"], 9);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("`colour`"), "{unknown}");
    let wrong = of(&format!("{{\"id\": 9, \"fen\": \"{START}\", \"moves\": [\"e4\", \"Qxg9\"]}}")).json();
    let error = &wrong["error"];
    assert_eq!((&wrong["id"], &error["ply"], &error["token"]), (&json!(9), &json!(2), &json!("Qxg9")));
    assert_eq!(server.ask("POST", "/api/explain", &[JSON], b"{\"fen\": \"\xff\"}").kind(), refused(400, "request"));
}

#[test]
fn wrong_addresses_methods_and_media_types() {
    let server = Server::start(&[]);
    for path in ["/nothing", "/api", "/api/explain/", "/tactics/nothing", "/tactics/../licence", "//", "/app.js.map"] {
        assert_eq!(server.get(path).kind(), refused(404, "not-found"), "{path}");
    }
    for (method, path, allowed) in [
        ("GET", "/api/explain", "POST"),
        ("PUT", "/api/review", "POST"),
        ("OPTIONS", "/api/explain", "POST"),
        ("POST", "/", "GET,HEAD"),
        ("DELETE", "/metrics", "GET,HEAD"),
    ] {
        let answer = server.ask(method, path, &[], b"");
        assert_eq!(answer.kind(), refused(405, "method"), "{method} {path}");
        assert_eq!(answer.header("allow"), Some(allowed), "{method} {path}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    let body = json!({ "fen": FORK, "moves": ["Nc7"] }).to_string();
    let of = |headers: &[(&str, &str)]| server.ask("POST", "/api/explain", headers, body.as_bytes());
    for media_type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""] {
        assert_eq!(of(&[("Content-Type", media_type)]).kind(), refused(415, "media-type"), "{media_type}");
    }
    assert_eq!(of(&[]).kind(), refused(415, "media-type"));
    assert_eq!(of(&[("Content-Type", "Application/JSON; charset=utf-8")]).status, 200);
}

#[test]
fn long_bodies_are_refused() {
    let server = Server::start(&[]);
    for (path, most) in [("/api/explain", serve::LONGEST_EXPLAIN), ("/api/review", serve::LONGEST_REVIEW)] {
        let answer = server.ask("POST", path, &[JSON], &vec![b' '; most + 1]);
        assert_eq!(answer.kind(), refused(413, "too-large"), "{path}");
        assert_eq!(server.ask("POST", path, &[JSON], &vec![b' '; most]).kind(), refused(400, "request"), "{path}");
        // Whoever says so before need not send it.
        let mut connection = server.connect();
        connection.head("POST", path, &[JSON, ("Expect", "100-continue")], Some(1 << 40));
        assert_eq!(connection.answer(false).kind(), refused(413, "too-large"), "{path}");
        // Of unknown length.
        let mut connection = server.connect();
        connection.head("POST", path, &[JSON, ("Transfer-Encoding", "chunked")], None);
        for _ in 0..=most / 1000 {
            connection.write(format!("3e8\r\n{}\r\n", " ".repeat(1000)).as_bytes());
        }
        connection.write(b"0\r\n\r\n");
        assert_eq!(connection.answer(false).kind(), refused(413, "too-large"), "{path}");
    }
    // Whoever says how long it is and then waits is not kept waiting.
    let begun = Instant::now();
    let mut connection = server.connect();
    connection.head("POST", "/api/explain", &[JSON], Some(1 << 40));
    connection.write(b"{");
    assert_eq!(connection.answer(false).kind(), refused(413, "too-large"));
    assert!(begun.elapsed() < serve::BODY_TIME, "{:?}", begun.elapsed());
    let head = "x".repeat(100_000);
    let mut connection = server.connect();
    connection.head("GET", "/", &[("X-Long", &head)], None);
    let said = connection.rest();
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 431"), "{said}");
}

#[test]
fn slow_clients_are_not_waited_for() {
    let server = Server::start(&[]);
    let begun = Instant::now();
    scope(|scope| {
        scope.spawn(|| {
            let mut connection = server.connect();
            connection.head("POST", "/api/explain", &[JSON], Some(1000));
            connection.write(b"{\"fen\": ");
            assert_eq!(connection.answer(false).kind(), refused(408, "timeout"));
            assert_eq!(connection.rest(), "", "the connection is closed");
            let spent = begun.elapsed();
            assert!(spent >= serve::BODY_TIME && spent < serve::BODY_TIME * 2, "{spent:?}");
        });
        for head in ["", "GET / HT", "GET / HTTP/1.1\r\nHost: localhost\r\n"] {
            let server = &server;
            scope.spawn(move || {
                let mut connection = server.connect();
                connection.write(head.as_bytes());
                assert!(!connection.rest().contains(" 200 "));
                let spent = begun.elapsed();
                assert!(spent < serve::HEAD_TIME * 2, "{head}: {spent:?}");
            });
        }
        scope.spawn(|| {
            let mut connection = server.connect();
            assert_eq!(connection.ask("GET", "/healthz", &[], b"").status, 200);
            assert_eq!(connection.rest(), "", "an idle connection is closed");
            assert!(begun.elapsed() < serve::HEAD_TIME * 2);
        });
    });
}

#[test]
fn only_its_own_pages_may_use_it() {
    let server = Server::start(&["--host", "koga.example"]);
    let port = server.addr.port();
    let body = json!({ "fen": FORK, "moves": ["Nc7"] }).to_string();
    let of = |headers: &[(&str, &str)]| {
        let headers: Vec<_> = headers.iter().copied().chain([JSON]).collect();
        server.ask("POST", "/api/explain", &headers, body.as_bytes())
    };
    let local = format!("localhost:{port}");
    for host in [local.as_str(), "localhost", "koga.example", "KOGA.example:443", "127.0.0.1"] {
        assert_eq!(of(&[("Host", host)]).status, 200, "{host}");
        assert_eq!(of(&[("Host", host), ("Origin", &format!("http://{host}"))]).status, 200, "{host}");
    }
    for host in ["evil.example", &format!("evil.example:{port}"), "0.0.0.0", "127.0.0.2", "koga.example.evil.example"] {
        assert_eq!(of(&[("Host", host)]).kind(), refused(421, "host"), "{host}");
        assert_eq!(server.ask("GET", "/", &[("Host", host)], b"").kind(), refused(421, "host"), "{host}");
    }
    for origin in ["null", "http://evil.example", "http://localhost:1", "https://koga.example", "file://"] {
        assert_eq!(of(&[("Origin", origin)]).kind(), refused(403, "origin"), "{origin}");
    }
    for heads in ["", "Host: localhost\r\nHost: localhost\r\n", "Host: a b\r\n", "Host: x@localhost\r\n"] {
        let mut connection = server.connect();
        connection.write(format!("GET /healthz HTTP/1.1\r\n{heads}\r\n").as_bytes());
        assert_eq!(connection.answer(false).kind(), refused(400, "request"), "{heads}");
    }
    let mut connection = server.connect();
    connection.write(b"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(connection.answer(false).kind(), refused(421, "host"));
}

#[test]
fn garbage_and_broken_connections_harm_nobody() {
    let server = Server::start(&[]);
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut connection = server.connect();
        connection.write(garbage);
        connection.write(b"\r\n\r\n");
        let said = connection.rest();
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{said}");
    }
    for part in [
        "POST /api/explain",
        "POST /api/explain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
    ] {
        server.connect().write(part.as_bytes());
    }
    let mut connection = server.connect();
    connection.head("POST", "/api/explain", &[JSON, ("Transfer-Encoding", "chunked")], None);
    connection.write(b"zz\r\n");
    assert_eq!(connection.answer(false).kind(), refused(400, "request"));
    assert_eq!(server.get("/healthz").text(), "ok\n");
}

#[test]
fn too_many_analyses_are_sent_away_and_given_lines_are_not() {
    let engine = CuedEngine::new();
    let server = engine.serve(&["--analyses", "1", "--deadline", "60"]);
    let mut running = server.connect();
    let request = json!({ "id": 1, "fen": FORK }).to_string();
    running.head("POST", "/api/explain", &[JSON], Some(request.len()));
    running.write(request.as_bytes());
    server.await_metric("koga_analyses_running", 1);
    scope(|scope| {
        let waiting: Vec<Connection> = (0..serve::WAITING_FOR_EACH).map(|_| server.connect()).collect();
        let waiting: Vec<_> = waiting
            .into_iter()
            .map(|mut connection| {
                scope.spawn(move || {
                    let begun = Instant::now();
                    let body = long().to_string();
                    (connection.ask("POST", "/api/explain", &[JSON], body.as_bytes()), begun.elapsed())
                })
            })
            .collect();
        server.await_metric("koga_analyses_queued", serve::WAITING_FOR_EACH as u64);
        let begun = Instant::now();
        let answer = server.post("/api/explain", &long());
        assert_eq!(answer.kind(), refused(429, "busy"));
        assert_eq!(answer.json()["id"], "long");
        assert!(answer.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok()));
        assert!(begun.elapsed() < serve::LONGEST_WAIT, "sent away at once");
        for _ in 0..20 {
            let begun = Instant::now();
            let given = server.post("/api/explain", &json!({ "fen": FORK, "moves": ["Nc7+", "Kd8", "Nxa8"] }));
            assert_eq!(given.status, 200);
            assert!(begun.elapsed() < serve::LONGEST_WAIT, "it waits for nobody");
        }
        for waiting in waiting {
            let (answer, spent) = waiting.join().unwrap();
            assert_eq!(answer.kind(), refused(429, "busy"));
            assert!(spent >= serve::LONGEST_WAIT, "it waited for its turn: {spent:?}");
        }
    });
    assert_eq!(server.post("/api/review", &json!({ "pgn": GAMES })).kind(), refused(429, "busy"));
    assert_eq!(server.metric("koga_analyses_queued"), 0);
    assert_eq!(server.metric("koga_analyses_refused_total"), serve::WAITING_FOR_EACH as u64 + 2);
    engine.cue();
    let answer = running.answer(false);
    assert_eq!((answer.status, &answer.json()["score"]), (200, &json!({ "cp": 7 })), "{}", answer.text());
}

#[test]
fn an_analysis_that_takes_too_long_is_stopped() {
    // Long enough for the search that follows, on a machine with much else to do.
    let server = Server::start(&["--deadline", "3", "--analyses", "1"]);
    // Two searches, of which the first is stopped.
    let mut long = long();
    long["move"] = "a3".into();
    for _ in 0..3 {
        let answer = server.post("/api/explain", &long);
        assert_eq!(answer.kind(), refused(503, "deadline"));
        assert_eq!(answer.json()["id"], "long");
        // The engine is stopped and may be used again.
        let next = server.post("/api/explain", &json!({ "fen": FORK, "nodes": 1000 }));
        let said = printed(&["explain", FORK, "--format", "json", "--nodes", "1000"], "");
        assert_eq!(next.text(), said);
    }
    assert_eq!(server.metric("koga_analyses_stopped_total"), 3);
    assert!(server.metric("koga_engine_nodes_total") > 0);
}

#[test]
fn an_analysis_ends_when_its_client_goes_away() {
    let server = Server::start(&["--deadline", "60", "--analyses", "1"]);
    for (path, body) in [("/api/explain", long()), ("/api/review", json!({ "pgn": GAMES, "nodes": 1_000_000 }))] {
        let body = body.to_string();
        let mut connection = server.connect();
        connection.head("POST", path, &[JSON], Some(body.len()));
        connection.write(body.as_bytes());
        server.await_metric("koga_analyses_running", 1);
        drop(connection);
        let begun = Instant::now();
        server.await_metric("koga_analyses_running", 0);
        assert!(begun.elapsed() < Duration::from_secs(3), "{path}");
        assert_eq!(server.post("/api/explain", &json!({ "fen": FORK, "nodes": 1000 })).status, 200);
    }
}

#[test]
fn an_engine_that_is_missing_is_told_at_once_or_when_it_is_missed() {
    let output = koga(&["serve", "--addr", "127.0.0.1:0", "--engine", "no-such-engine-anywhere"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-such-engine-anywhere"));

    let engine = CuedEngine::new();
    let server = engine.serve(&["--analyses", "2"]);
    let ask = || server.post("/api/explain", &json!({ "fen": FORK }));
    std::thread::scope(|scope| {
        let first = scope.spawn(ask);
        server.await_metric("koga_analyses_running", 1);
        fs::remove_file(engine.folder.path("engine")).expect("the link is there");
        assert_eq!(ask().kind(), refused(502, "engine"));
        assert_eq!(server.post("/api/review", &json!({ "pgn": GAMES })).kind(), refused(502, "engine"));
        assert_eq!(server.post("/api/explain", &json!({ "fen": FORK, "moves": ["Nc7"] })).status, 200);
        engine.cue();
        assert_eq!(first.join().expect("it does not panic").status, 200);
    });
}

#[test]
fn an_external_engine_is_started_once() {
    let engine = CuedEngine::new();
    engine.cue();
    let server = engine.serve(&["--analyses", "1"]);
    for _ in 0..5 {
        let answer = server.post("/api/explain", &json!({ "fen": FORK }));
        assert_eq!((answer.status, &answer.json()["score"]), (200, &json!({ "cp": 7 })), "{}", answer.text());
    }
    assert_eq!(engine.starts(), 1);
}

#[test]
fn what_runs_is_finished_when_it_is_told_to_end() {
    for signal in ["-TERM", "-INT"] {
        let engine = CuedEngine::new();
        let mut server = engine.serve(&[]);
        let (_fresh, mut idle, mut half) = (server.connect(), server.connect(), server.connect());
        assert_eq!(idle.ask("GET", "/healthz", &[], b"").status, 200);
        half.write(b"GET / HTTP/1.1\r\n");
        let request = json!({ "id": 1, "fen": FORK }).to_string();
        let mut running = server.connect();
        running.head("POST", "/api/explain", &[JSON], Some(request.len()));
        running.write(request.as_bytes());
        server.await_metric("koga_analyses_running", 1);
        server.signal(signal);
        let begun = Instant::now();
        while TcpStream::connect(server.addr).is_ok() {
            assert!(begun.elapsed() < serve::GRACE / 2, "it accepts nothing more");
            sleep(Duration::from_millis(10));
        }
        engine.cue();
        let answer = running.answer(false);
        assert_eq!((answer.status, &answer.json()["id"]), (200, &json!(1)), "{}", answer.text());
        assert!(server.ended(Duration::from_secs(5)).success());
    }
}

#[test]
fn who_reads_slowly_or_asks_for_much_does_not_keep_it_from_ending() {
    let mut server = Server::start(&[]);
    let moves = "1. Nf3 Nf6 2. Ng1 Ng8 ".repeat(100);
    let body = json!({ "pgn": format!("{moves} *"), "nodes": 1_000_000 }).to_string();
    let (mut listens, mut sleeps) = (server.connect(), server.connect());
    listens.head("POST", "/api/review", &[JSON], Some(body.len()));
    listens.write(body.as_bytes());
    server.await_metric("koga_analyses_running", 1);
    // More than the system keeps for who does not read.
    for _ in 0..1000 {
        sleeps.head("GET", "/licence", &[], None);
    }
    server.await_standstill("/licence", 1000);
    let begun = Instant::now();
    server.signal("-TERM");
    let events = listens.answer(false).events();
    let (name, data) = events.last().expect("events");
    assert_eq!((name.as_str(), &data["error"]["kind"]), ("error", &json!("deadline")));
    assert!(server.ended(Duration::from_secs(5)).success());
    assert!(begun.elapsed() >= serve::GRACE && begun.elapsed() < serve::GRACE * 2);
}

#[test]
fn a_review_streams_progress_and_games_in_order() {
    let server = Server::start(&["--nodes", "1000"]);
    let folder = Folder::new();
    let (games, out) = (folder.write("games.pgn", GAMES), folder.path("out.pgn"));
    for (player, extra) in
        [(None, &[][..]), (Some("Ada"), &["--player", "Ada"]), (Some("white"), &["--player", "white"])]
    {
        let mut request = json!({ "pgn": GAMES });
        if let Some(player) = player {
            request["player"] = player.into();
        }
        let answer = server.post("/api/review", &request);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let events = answer.events();
        let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.first(), Some(&"progress"));
        assert_eq!(events.last(), Some(&("done".to_owned(), json!({ "games": 4 }))));
        let of = |wanted: &'static str| events.iter().filter(move |(name, _)| name == wanted).map(|(_, data)| data);
        assert_eq!((of("game").count(), of("done").count(), of("error").count()), (4, 1, 0));
        let mut before = (0, 0, 0);
        for data in of("progress") {
            let number = |name: &str| data[name].as_u64().expect("a number");
            let now = (number("game"), number("positions"), number("of"));
            assert!(now.1 <= now.2 && now.0 >= before.0 && now.1 >= before.1 && now.2 >= before.2, "{now:?}");
            before = now;
        }
        let common = [&["review", games.to_str().unwrap(), "--nodes", "1000"], extra].concat();
        let json = printed(&[&common[..], &["--format", "json"]].concat(), "");
        assert_eq!(of("game").map(|data| format!("{}\n", reordered(&data["game"], &json))).collect::<String>(), json);
        assert!(!koga(&[&common[..], &["-o", out.to_str().unwrap()]].concat()).output().unwrap().status.success());
        let pgn: String = of("game").map(|data| data["pgn"].as_str().expect("text")).collect();
        assert_eq!(pgn, fs::read_to_string(&out).unwrap());
    }
}

/// The line of `lines` that is the same value: serde's maps forget the order of fields.
fn reordered<'a>(value: &Value, lines: &'a str) -> &'a str {
    let same = |line: &&str| serde_json::from_str::<Value>(line).is_ok_and(|line| line == *value);
    lines.lines().find(same).unwrap_or_else(|| panic!("{value} is not among\n{lines}"))
}

#[test]
fn reviews_have_limits_of_their_own() {
    let server = Server::start(&[]);
    let of = |request: Value| server.post("/api/review", &request);
    let game = "[Event \"x\"]\n\n1. e4 *\n\n";
    for (request, part) in [
        (json!({ "pgn": "" }), "no game"),
        (json!({ "pgn": "\u{feff}\r\n\r\n" }), "no game"),
        (json!({ "pgn": game.repeat(serve::MOST_GAMES + 1) }), "games"),
        (json!({ "pgn": format!("{} *", "1. Nf3 Nf6 2. Ng1 Ng8 ".repeat(serve::MOST_REVIEW_PLIES / 4 + 1)) }), "plies"),
        (json!({ "pgn": format!("{}1. e4 *", "[\n".repeat(serve::MOST_TROUBLES + 1)) }), "wrong"),
        (json!({ "pgn": game, "player": "" }), "player"),
        (json!({ "pgn": game, "nodes": serve::MOST_REVIEW_NODES + 1 }), "nodes"),
        (json!({ "pgn": game, "depth": 3 }), "depth"),
        (json!({ "fen": START }), "fen"),
        (json!({}), "pgn"),
    ] {
        let answer = of(request);
        assert_eq!(answer.kind(), refused(400, "request"), "{part}");
        assert!(answer.text().contains(part), "{part}: {}", answer.text());
    }
    let deep = format!("1. e4 {}{} *", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(of(json!({ "pgn": deep, "nodes": 100 })).events().last().unwrap().0, "done");
    let server = Server::start(&["--review-deadline", "3", "--analyses", "1"]);
    let of = |request: Value| server.post("/api/review", &request);
    let moves = "1. Nf3 Nf6 2. Ng1 Ng8 ".repeat(20);
    let events = of(json!({ "pgn": format!("{moves} *"), "nodes": 1_000_000 })).events();
    let (name, data) = events.last().expect("events");
    assert_eq!((name.as_str(), &data["error"]["kind"]), ("error", &json!("deadline")));
    assert!(events.iter().all(|(name, _)| name != "game"), "what a stopped engine says is not told");
    assert_eq!(of(json!({ "pgn": "1. e4 *", "nodes": 100 })).events().last().unwrap().0, "done");
}

#[test]
fn pages_have_tags_and_what_is_known_is_not_sent_again() {
    let server = Server::start(&[]);
    let static_paths = [
        "/",
        "/app.css",
        "/app.js",
        "/favicon.svg",
        "/licence",
        "/licences.txt",
        "/tactics/",
        "/api/tactics",
        "/api/openapi.json",
    ];
    for path in static_paths {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}");
        let tag = answer.header("etag").expect("a tag").to_owned();
        assert_eq!(answer.header("cache-control"), Some("no-cache"), "{path}");
        for known in [tag.as_str(), "*", &format!("\"other\", W/{tag}")] {
            let again = server.ask("GET", path, &[("If-None-Match", known)], b"");
            assert_eq!((again.status, again.header("etag")), (304, Some(tag.as_str())), "{path}");
        }
        let other = server.ask("GET", path, &[("If-None-Match", "\"other\"")], b"");
        assert_eq!((other.status, &other.body), (200, &answer.body), "{path}");
        let mut connection = server.connect();
        for _ in 0..2 {
            let head = connection.ask("HEAD", path, &[], b"");
            let length = answer.body.len().to_string();
            assert_eq!((head.status, head.header("content-length")), (200, Some(length.as_str())), "{path}");
        }
    }
    assert_eq!(server.get("/licence").body, include_bytes!("../../../COPYING"));
    assert_eq!(server.get("/").body, include_bytes!("../../../web/dist/index.html"));
    for (path, media_type) in [
        ("/", "text/html; charset=utf-8"),
        ("/app.js", "text/javascript; charset=utf-8"),
        ("/app.css", "text/css; charset=utf-8"),
        ("/favicon.svg", "image/svg+xml"),
        ("/licence", "text/plain; charset=utf-8"),
        ("/tactics/", "text/html; charset=utf-8"),
        ("/api/tactics", "application/json"),
    ] {
        assert_eq!(server.get(path).header("content-type"), Some(media_type), "{path}");
    }
    for page in koga_cli::site::html("/") {
        let path = &page.path;
        assert_eq!(server.get(&format!("/tactics/{path}")).text(), page.text, "{path}");
        if path == "index.html" {
            assert_eq!(server.get("/tactics/").text(), page.text);
        } else if let Some(bare) = path.strip_suffix(".html") {
            let moved = server.get(&format!("/tactics/{bare}"));
            assert_eq!((moved.status, moved.header("location")), (308, Some(format!("/tactics/{path}").as_str())));
        }
    }
    let moved = server.get("/tactics");
    assert_eq!((moved.status, moved.header("location")), (308, Some("/tactics/")));
}

#[test]
fn every_answer_keeps_other_sites_out() {
    let server = Server::start(&[]);
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                  base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    let paths = serve::operations().into_iter().map(|operation| operation.path.replace("{*page}", "index.html"));
    for path in paths.chain(["/nothing".to_owned(), "/tactics".to_owned()]) {
        for method in ["GET", "POST", "HEAD"] {
            let answer = server.ask(method, &path, &[], b"");
            assert_eq!(answer.header("content-security-policy"), Some(policy), "{method} {path}");
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{method} {path}");
            assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{method} {path}");
            assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{method} {path}");
            assert!(answer.header("cache-control").is_some(), "{method} {path}");
            assert!(answer.headers.iter().all(|(name, _)| !name.starts_with("access-control")), "{method} {path}");
        }
    }
    let refused = server.ask("GET", "/", &[("Host", "evil.example")], b"");
    assert_eq!(refused.header("content-security-policy"), Some(policy));
}

#[test]
fn tactics_are_those_of_the_program() {
    let server = Server::start(&[]);
    let tactics = server.get("/api/tactics").json();
    let tactics = tactics.as_array().expect("a list");
    assert_eq!(tactics.len(), koga::Tactic::ALL.len());
    for (tactic, said) in koga::Tactic::ALL.iter().zip(tactics) {
        assert_eq!(said["name"], tactic.name());
        assert_eq!(said["page"], format!("/tactics/{tactic}.html"));
        assert_eq!(said["text"], koga::tactics::Definition::of(*tactic).text());
        assert_eq!(said["positions"], koga_cli::corpus::cases(*tactic).unwrap().len());
    }
    assert_eq!((&tactics[0]["title"], &tactics[0]["rules"][0]["id"]), (&json!("Fork"), &json!("F3")));
}

/// The answers are held against the description by a validator that knows nothing of the types.
#[test]
fn every_route_is_described_and_answers_are_as_described() {
    let server = Server::start(&["--nodes", "2000", "--analyses", "1"]);
    let document = server.get("/api/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    for operation in serve::operations() {
        let described = &document["paths"][operation.path.replace('*', "")][operation.method];
        assert!(described["responses"]["200"]["content"].is_object(), "{} {}", operation.method, operation.path);
        assert!(!described["summary"].as_str().unwrap_or_default().is_empty());
        let path = operation.path.replace("{*page}", "index.html");
        let status = server.ask(&operation.method.to_ascii_uppercase(), &path, &[], b"").status;
        assert!(status == 200 || (status == 415 && operation.method == "post"), "{path}: {status}");
    }
    let validator = |schema: Value| {
        let mut schema = schema;
        schema["components"] = document["components"].clone();
        jsonschema::draft202012::new(&schema).expect("a schema")
    };
    let of = |path: &str, status: &str, media_type: &str| {
        let method = if path.contains("tactics") { "get" } else { "post" };
        document["paths"][path][method]["responses"][status]["content"][media_type]["schema"].clone()
    };
    let named = |name: &str| validator(json!({ "$ref": format!("#/components/schemas/{name}") }));
    let holds = |validator: &jsonschema::Validator, value: &Value| {
        let wrong: Vec<String> = validator.iter_errors(value).map(|err| err.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?}: {value}");
    };
    let explained = validator(of("/api/explain", "200", "application/json"));
    let explain = |request: Value| server.post("/api/explain", &request).json();
    let given = explain(json!({ "id": [1], "fen": FORK, "moves": ["Nc7+", "Kd8", "Nxa8"] }));
    let best = explain(json!({ "fen": FORK }));
    let of_move = explain(json!({ "fen": FORK, "move": "Kd2" }));
    for (value, name) in [(&given, "Report"), (&best, "ScoredReport"), (&of_move, "MoveReport")] {
        holds(&explained, value);
        holds(&named(name), value);
    }
    assert!(!named("ScoredReport").is_valid(&given), "it has no score");
    assert!(!named("MoveReport").is_valid(&best), "it has no others");
    let mut wrong = given.clone();
    wrong["findings"][0]["ply"] = "one".into();
    assert!(!explained.is_valid(&wrong));
    for request in [json!({ "id": 1, "fen": "x" }), json!({ "fen": FORK, "moves": ["e9"] }), json!({})] {
        let failure = explain(request);
        holds(&validator(of("/api/explain", "400", "application/json")), &failure);
        assert!(!explained.is_valid(&failure));
    }
    let events = server.post("/api/review", &json!({ "pgn": GAMES })).events();
    let event = validator(of("/api/review", "200", "text/event-stream"));
    let kinds_of_event = document["components"]["schemas"]["ReviewEvent"]["anyOf"].as_array().expect("a list");
    for (name, data) in &events {
        holds(&event, data);
        let says_so =
            |kind: &&Value| kind["description"].as_str().is_some_and(|said| said.starts_with(&format!("`{name}`")));
        holds(&validator(kinds_of_event.iter().find(says_so).expect("it is described").clone()), data);
        if name == "game" {
            holds(&named("ReviewedGame"), data);
            holds(&named("Game"), &data["game"]);
        }
    }
    holds(&validator(of("/api/tactics", "200", "application/json")), &server.get("/api/tactics").json());
    // Requests are described as well.
    let request = |path: &str| {
        validator(document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"].clone())
    };
    assert!(request("/api/explain").is_valid(&json!({ "id": 1, "fen": FORK, "moves": ["Nc7"], "nodes": 5 })));
    assert!(!request("/api/explain").is_valid(&json!({ "fen": FORK, "colour": 5 })));
    assert!(!request("/api/explain").is_valid(&json!({ "fen": FORK, "nodes": 0 })));
    assert!(request("/api/review").is_valid(&json!({ "pgn": GAMES, "player": "white" })));
    assert!(!request("/api/review").is_valid(&json!({ "player": "white" })));
}

#[test]
fn requests_are_counted() {
    let server = Server::start(&[]);
    assert_eq!(server.post("/api/explain", &json!({ "fen": FORK, "moves": ["Nc7"] })).status, 200);
    assert_eq!(server.post("/api/explain", &json!({})).status, 400);
    assert_eq!(server.get("/no/such/page").status, 404);
    let answer = server.get("/metrics");
    assert!(
        answer.header("content-type").is_some_and(|media_type| media_type.starts_with("text/plain; version=0.0.4"))
    );
    let text = answer.text();
    for line in [
        "koga_http_requests_total{route=\"/api/explain\",status=\"200\"} 1",
        "koga_http_requests_total{route=\"/api/explain\",status=\"400\"} 1",
        "koga_http_requests_total{route=\"none\",status=\"404\"} 1",
        "koga_http_request_seconds_count{route=\"/api/explain\"} 2",
        "koga_http_request_seconds_bucket{route=\"/api/explain\",le=\"+Inf\"} 2",
    ] {
        assert!(text.lines().any(|own| own == line), "{line} is not in\n{text}");
    }
    let _open = [server.connect(), server.connect()];
    server.await_metric("koga_connections", 3);
}

#[test]
fn an_address_that_cannot_be_had_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().map(|addr| (taken, addr.to_string())).unwrap();
    for addr in [taken.1.as_str(), "nonsense", "127.0.0.1", "127.0.0.1:99999", "192.0.2.1:8080"] {
        let output = koga(&["serve", "--addr", addr]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with(&format!("koga: cannot listen at {addr}: ")), "{said}");
    }
    for args in [&["--host", "a:1"][..], &["--deadline", "0"], &["--analyses", "0"], &["--nodes", "0"]] {
        assert_eq!(koga(&[&["serve"], args].concat()).output().unwrap().status.code(), Some(2), "{args:?}");
    }
}

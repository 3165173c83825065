//! The connections: so many at a time, none of which may keep the server waiting, and all of which end with it.

use std::{
    future::Future,
    io::{self, IoSlice},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{Router, extract::Request};
use hyper::{body::Incoming, server::conn::http1, service::Service, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, watch},
    task::JoinSet,
    time::{Sleep, sleep, timeout},
};

use super::{App, guard::Local};

/// Connections at a time; others wait until one of them ends.
pub const MOST: usize = 512;

/// How long the head of a request may take, and how long a connection may be idle.
pub const HEAD_TIME: Duration = Duration::from_secs(10);

/// Bytes that the head of a request may have.
const LONGEST_HEAD: usize = 32 << 10;

/// How long a client may leave an answer unread.
const READING_TIME: Duration = Duration::from_secs(20);

/// How long requests under way may go on once the server is told to end.
pub const GRACE: Duration = Duration::from_secs(10);

/// How long the answers of analyses that were stopped then may take.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Accepts connections until `end`, then finishes what runs, for a while.
pub async fn serve(listener: TcpListener, router: Router, app: &Arc<App>, end: impl Future<Output = ()>) {
    let ending = watch::Sender::new(false);
    let mut connections = JoinSet::new();
    let mut end = pin!(end);
    loop {
        while connections.try_join_next().is_some() {}
        let (stream, room) = tokio::select! {
            biased;
            () = &mut end => break,
            accepted = accept(&listener, app) => accepted,
        };
        connections.spawn(connection(stream, router.clone(), ending.subscribe(), room, READING_TIME));
    }
    drop(listener);
    ending.send_replace(true);
    let all_ended = async |connections: &mut JoinSet<()>| while connections.join_next().await.is_some() {};
    if timeout(GRACE, all_ended(&mut connections)).await.is_err() {
        app.analyses.end();
        let _ = timeout(LAST_WORDS, all_ended(&mut connections)).await;
        connections.abort_all();
    }
}

async fn accept(listener: &TcpListener, app: &Arc<App>) -> (TcpStream, OwnedSemaphorePermit) {
    let stream = loop {
        match listener.accept().await {
            Ok((stream, _)) => break stream,
            // Out of file descriptors, most likely: some come back when a connection ends.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    };
    let room = app.connections.clone().acquire_owned().await.expect("it is never closed");
    (stream, room)
}

async fn connection(
    stream: TcpStream,
    router: Router,
    mut ending: watch::Receiver<bool>,
    _room: OwnedSemaphorePermit,
    patience: Duration,
) {
    let Ok(local) = stream.local_addr() else { return };
    let _ = stream.set_nodelay(true);
    let router = TowerToHyperService::new(router);
    let was_used = AtomicBool::new(false);
    let service = service_fn(|mut request: Request<Incoming>| {
        was_used.store(true, Ordering::Relaxed);
        request.extensions_mut().insert(Local(local));
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(Impatient { stream, patience, waiting: None }), service);
    let mut connection = pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = ending.wait_for(|ending| *ending) => connection.as_mut().graceful_shutdown(),
    }
    // Who has not asked anything by now need not be waited for.
    if !was_used.load(Ordering::Relaxed) {
        return;
    }
    let _ = connection.await;
}

/// A stream that fails where the other side does not read for long.
struct Impatient {
    stream: TcpStream,
    patience: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Impatient {
    fn written(&mut self, written: Poll<io::Result<usize>>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Impatient {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Impatient {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.written(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.written(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpStream as Client,
        thread,
        time::Instant,
    };

    use axum::routing::get;
    use tokio::sync::Semaphore;

    use super::*;

    /// More than the system keeps for who does not read.
    const LONG_ANSWER: usize = 64 << 20;

    /// A connection on which a long answer was asked for, and the other end of it.
    async fn asked(patience: Duration) -> (impl Future<Output = ()>, Client) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let mut client = Client::connect(listener.local_addr().expect("it has an address")).expect("it listens");
        let (stream, _) = listener.accept().await.expect("the client is there");
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("it is there");
        let router = Router::new().route("/", get(async || vec![b'x'; LONG_ANSWER]));
        let room = Arc::new(Semaphore::new(1)).acquire_owned().await.expect("there is room");
        let (ending, told) = watch::channel(false);
        let connection = async move {
            connection(stream, router, told, room, patience).await;
            drop(ending);
        };
        (connection, client)
    }

    #[tokio::test]
    async fn an_answer_that_nobody_reads_ends_its_connection() {
        let (connection, _client) = asked(Duration::from_millis(200)).await;
        timeout(Duration::from_secs(10), connection).await.expect("it ends");
    }

    #[tokio::test]
    async fn an_answer_that_is_read_slowly_is_read_to_its_end() {
        let patience = Duration::from_secs(1);
        let (connection, mut client) = asked(patience).await;
        let begun = Instant::now();
        let reading = thread::spawn(move || {
            let (mut part, mut length) = (vec![0; LONG_ANSWER / 16], 0);
            loop {
                match client.read(&mut part).expect("it is still there") {
                    0 => return length,
                    read => length += read,
                }
                if begun.elapsed() <= patience {
                    thread::sleep(patience / 10);
                }
            }
        });
        connection.await;
        let length = reading.join().expect("it reads to the end");
        assert!(length > LONG_ANSWER && begun.elapsed() > patience, "{length} bytes");
    }
}

//! Blocks through several threads, in order.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// There may be more.
    Go,
    /// Nothing is to be read or written any more.
    Stop,
}

/// What the threads share.
struct Desk<D, E> {
    /// Whether some thread reads or writes: one at a time does either.
    reads: bool,
    writes: bool,
    /// Nothing more is to be read.
    ended: bool,
    /// Nothing more is to be written.
    stopped: bool,
    /// Blocks that were read and not yet written, in order; those at work are empty.
    pending: VecDeque<Option<D>>,
    /// Blocks written so far.
    written: usize,
    failure: Option<E>,
}

/// Reads blocks, works on them in `threads` threads, and writes the results in the order of reading. There are no
/// threads beside these: each does what is needed next, and rather writes than reads, so that never more than two blocks
/// a thread are held. `worker` makes what each thread works with.
///
/// # Errors
///
/// The first error of reading, working or writing. What was read before a reading error is written.
pub(crate) fn run<B, D, E, W>(
    threads: usize,
    read: impl FnMut() -> Result<Option<B>, E> + Send,
    worker: impl Fn() -> W + Sync,
    write: impl FnMut(D) -> Result<Next, E> + Send,
) -> Result<(), E>
where
    W: FnMut(B) -> Result<D, E>,
    D: Send,
    E: Send,
{
    let (read, write) = (Mutex::new(read), Mutex::new(write));
    let desk = Mutex::new(Desk {
        reads: false,
        writes: false,
        ended: false,
        stopped: false,
        pending: VecDeque::new(),
        written: 0,
        failure: None,
    });
    let changed = Condvar::new();
    let room = 2 * threads;
    let work = || {
        let _guard = Panics { desk: &desk, changed: &changed };
        let mut worker = worker();
        let mut now = lock(&desk);
        loop {
            if now.stopped {
                return;
            }
            if !now.writes && matches!(now.pending.front(), Some(Some(_))) {
                let Some(done) = now.pending.pop_front().flatten() else { continue };
                now.written += 1;
                now.writes = true;
                drop(now);
                let result = lock(&write)(done);
                now = lock(&desk);
                now.writes = false;
                match result {
                    Ok(Next::Go) => {}
                    Ok(Next::Stop) => now.stopped = true,
                    Err(err) => {
                        now.stopped = true;
                        now.failure = Some(err);
                    }
                }
                changed.notify_all();
            } else if !now.reads && !now.ended && now.pending.len() < room {
                let number = now.written + now.pending.len();
                now.reads = true;
                drop(now);
                let block = lock(&read)();
                now = lock(&desk);
                now.reads = false;
                match block {
                    Ok(Some(block)) => {
                        now.pending.push_back(None);
                        changed.notify_all();
                        drop(now);
                        let done = worker(block);
                        now = lock(&desk);
                        match done {
                            Ok(done) => {
                                let at = number - now.written;
                                now.pending[at] = Some(done);
                            }
                            Err(err) => {
                                now.stopped = true;
                                now.failure.get_or_insert(err);
                            }
                        }
                    }
                    Ok(None) => now.ended = true,
                    Err(err) => {
                        now.ended = true;
                        now.failure.get_or_insert(err);
                    }
                }
                changed.notify_all();
            } else if now.ended && now.pending.is_empty() {
                return;
            } else {
                now = changed.wait(now).unwrap_or_else(PoisonError::into_inner);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    match desk.into_inner().unwrap_or_else(PoisonError::into_inner).failure {
        Some(err) => Err(err),
        None => Ok(()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets the other threads end where one panics, so that the panic is seen.
struct Panics<'d, D, E> {
    desk: &'d Mutex<Desk<D, E>>,
    changed: &'d Condvar,
}

impl<D, E> Drop for Panics<'_, D, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(self.desk).stopped = true;
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn numbers(count: u64) -> impl FnMut() -> Result<Option<u64>, String> {
        let mut next = 0;
        move || {
            next += 1;
            Ok((next <= count).then_some(next))
        }
    }

    #[test]
    fn results_come_in_the_order_of_reading() {
        for threads in [1, 2, 5] {
            let mut all = Vec::new();
            let worker = || {
                |n: u64| {
                    thread::sleep(Duration::from_micros(n * 7919 % 300));
                    Ok(n * n)
                }
            };
            let write = |n| {
                all.push(n);
                Ok(Next::Go)
            };
            run(threads, numbers(100), worker, write).unwrap();
            assert_eq!(all, (1..=100).map(|n| n * n).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn what_was_read_before_an_error_is_written() {
        let mut numbers = numbers(9);
        let read = move || numbers()?.map(Some).ok_or("torn".to_owned());
        let mut all = Vec::new();
        let write = |n| {
            all.push(n);
            Ok(Next::Go)
        };
        assert_eq!(run(3, read, || Ok, write), Err("torn".to_owned()));
        assert_eq!(all, (1..=9).collect::<Vec<u64>>());
    }

    #[test]
    fn nothing_is_written_after_a_stop_or_an_error() {
        for stop in [Ok(Next::Stop), Err("full".to_owned())] {
            let mut all = Vec::new();
            let write = |n| {
                all.push(n);
                if n == 5 { stop.clone() } else { Ok(Next::Go) }
            };
            assert_eq!(run(4, numbers(1000), || Ok, write), stop.clone().map(|_| ()));
            assert_eq!(all, [1, 2, 3, 4, 5]);
        }
    }

    #[test]
    fn few_blocks_are_held() {
        use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
        let held = AtomicI64::new(0);
        let mut numbers = numbers(200);
        let read = || {
            assert!(held.fetch_add(1, SeqCst) < 2 * 3 + 1);
            numbers()
        };
        let write = |_| {
            thread::sleep(Duration::from_micros(100));
            held.fetch_sub(1, SeqCst);
            Ok(Next::Go)
        };
        run(3, read, || Ok, write).unwrap();
    }

    #[test]
    #[should_panic(expected = "panicked")]
    fn a_panic_ends_the_run() {
        let worker = || |n: u64| if n == 20 { panic!("a row panicked") } else { Ok::<u64, String>(n) };
        let _ = run(1, numbers(100), worker, |_| Ok(Next::Go));
    }
}

//! An engine's process: lines in, lines out, a deadline on every wait, and nothing left behind.

use std::{
    env,
    ffi::OsStr,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel},
    thread,
    time::{Duration, Instant},
};

/// What a wait for the engine's next line ended with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Line(String),
    /// Nothing came in time.
    Silence,
    /// A line without end.
    Flood,
    /// The engine closed its output, as it does when it ends.
    End,
}

/// A running engine. Dropping it ends the process.
pub(crate) struct Process {
    child: Child,
    /// Taken away to close the engine's input.
    input: Option<Sender<String>>,
    output: Receiver<Option<String>>,
}

/// Bytes kept of a line; engines' longest lines have some hundred moves.
const LONGEST_LINE: usize = 16 * 1024;
/// Bytes without a line break that make a flood.
const FLOOD: usize = 4 * 1024 * 1024;
/// Lines that may wait to be read before the engine has to.
const WAITING_LINES: usize = 256;

impl Process {
    pub(crate) fn start(program: &Path, arguments: &[String]) -> std::io::Result<Process> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // A Ctrl-C at the terminal is for us; we stop the engine ourselves.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let mut stdin = child.stdin.take().expect("its input is piped");
        let stdout = child.stdout.take().expect("its output is piped");
        let (input, commands) = channel::<String>();
        let (heard, output) = sync_channel(WAITING_LINES);
        // Both threads end with the process: its pipes break, and so do the channels.
        thread::spawn(move || {
            for line in commands {
                if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                    return;
                }
            }
        });
        thread::spawn(move || listen(BufReader::new(stdout), &heard));
        Ok(Process { child, input: Some(input), output })
    }

    /// Sends one line. If the engine has ended, the next wait tells.
    pub(crate) fn say(&mut self, line: &str) {
        if let Some(input) = &self.input {
            let _ = input.send(format!("{line}\n"));
        }
    }

    /// Waits for the next line.
    pub(crate) fn hear(&self, wait: Duration) -> Heard {
        match self.output.recv_timeout(wait) {
            Ok(Some(line)) => Heard::Line(line),
            Ok(None) => Heard::Flood,
            Err(RecvTimeoutError::Timeout) => Heard::Silence,
            Err(RecvTimeoutError::Disconnected) => Heard::End,
        }
    }

    /// Ends the process, at the latest after a while by force, and tells how it ended.
    pub(crate) fn end(&mut self, wait: Duration) -> Option<ExitStatus> {
        self.input = None;
        let deadline = Instant::now() + wait;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            if Instant::now() >= deadline {
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        self.child.wait().ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.say("stop");
        self.say("quit");
        self.end(Duration::from_millis(300));
    }
}

/// Passes the engine's lines on until its output or our interest ends.
fn listen(mut stdout: impl BufRead, heard: &SyncSender<Option<String>>) {
    loop {
        let mut line = Vec::new();
        match (&mut stdout).take(LONGEST_LINE as u64).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.ends_with(b"\n") => {}
            Ok(_) => match skip_line(&mut stdout) {
                Some(true) => {}
                Some(false) => {
                    let _ = heard.send(None);
                    return;
                }
                None => return,
            },
        }
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        if heard.send(Some(text)).is_err() {
            return;
        }
    }
}

/// Reads past the end of a line: false if there is none for long, nothing if reading fails.
fn skip_line(stdout: &mut impl BufRead) -> Option<bool> {
    let mut skipped = 0;
    while skipped < FLOOD {
        let buffer = stdout.fill_buf().ok()?;
        if buffer.is_empty() {
            return Some(true);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |index| index + 1);
        stdout.consume(used);
        if end.is_some() {
            return Some(true);
        }
        skipped += used;
    }
    Some(false)
}

/// Where the program of that name or path is. Debian keeps engines in a directory that PATH may lack.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let is_path = Path::new(name).components().count() > 1 || name.starts_with('.');
    if is_path {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let games = ["/usr/games", "/usr/local/games"].map(PathBuf::from);
    let file = OsStr::new(name);
    let file = if cfg!(windows) && Path::new(file).extension().is_none() {
        format!("{name}.exe").into()
    } else {
        file.to_owned()
    };
    env::split_paths(&path).chain(games).map(|dir| dir.join(&file)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(output: &[u8]) -> Vec<Option<String>> {
        let (send, receive) = sync_channel(WAITING_LINES);
        listen(BufReader::new(output), &send);
        drop(send);
        receive.into_iter().collect()
    }

    #[test]
    fn lines_come_whole_whatever_their_ends_and_bytes() {
        let lines = heard(b"uciok\r\n\xff\xfe\nreadyok");
        assert_eq!(lines[0].as_deref(), Some("uciok"));
        assert_eq!(lines[2].as_deref(), Some("readyok"));
    }

    #[test]
    fn long_lines_are_cut_and_endless_ones_are_floods() {
        let mut text = vec![b'x'; 100_000];
        text.extend(b"\nuciok\n");
        let lines = heard(&text);
        assert_eq!(lines[0].as_ref().map(String::len), Some(LONGEST_LINE));
        assert_eq!(lines[1].as_deref(), Some("uciok"));
        assert_eq!(heard(&vec![b'x'; FLOOD + 2 * LONGEST_LINE]), [None]);
    }
}

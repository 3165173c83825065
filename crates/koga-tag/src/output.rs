//! Where results go: beside the target until they are whole, with a note from which an interrupted run goes on.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{
    BadRow, Error, Format, Options, Target,
    csv::write_field,
    input::{Layout, Place},
    pipeline::Next,
    table::{Footer, MAGIC},
    tagger::Tagged,
};

/// Between two notes of where the run stands there is at least this.
const PAUSE: Duration = Duration::from_millis(500);

/// Where the run stands: all that a later one needs to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    run: Run,
    input: Place,
    written: Place,
    rows: u64,
    bad: u64,
    errors: u64,
}

/// What must be the same for a run to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    koga: String,
    rules: u32,
    format: String,
    columns: Vec<String>,
    input_size: Option<u64>,
    errors: Option<PathBuf>,
}

/// Takes the blocks' results.
pub(crate) struct Output {
    out: Out,
    format: Format,
    footer: Option<Footer>,
    errors: Option<BufWriter<File>>,
    max_errors: Option<u64>,
    /// As of the last block that was written whole.
    state: State,
    /// Rows and bad rows seen, beyond `state` where a block was given up.
    pub(crate) rows: u64,
    pub(crate) bad: u64,
    listed: u64,
    /// Whether there were more bad rows than allowed.
    pub(crate) over: bool,
    noted: Instant,
    pause: Duration,
    /// Whether the last note stands whatever comes. The block with which a pipe ends may be cut short by what interrupts the
    /// run, so that a later run has to read it again.
    fixed: bool,
}

enum Out {
    /// What cannot be renamed or shortened: a pipe, a device.
    Stream(Box<dyn Write + Send>, String),
    File {
        file: File,
        partial: PathBuf,
        note: PathBuf,
        target: PathBuf,
    },
}

impl Output {
    /// Opens the target. Tells, too, where the input goes on, if not at its beginning.
    pub(crate) fn open(
        target: Target,
        options: &Options,
        layout: &Layout,
        size: Option<u64>,
    ) -> Result<(Output, Option<Place>), Error> {
        let errors = options.errors.as_ref().map(std::path::absolute).transpose();
        let run = Run {
            koga: env!("CARGO_PKG_VERSION").to_owned(),
            rules: rules(),
            format: options.format.name().to_owned(),
            columns: layout.columns.clone(),
            input_size: size,
            errors: errors.map_err(|err| Error::write("the file of bad rows", err))?,
        };
        let (written, input) = (Place::default(), Place::default());
        let fresh = State { run, input, written, rows: 0, bad: 0, errors: 0 };
        let (out, state, note) = open(target, options.resume, fresh)?;
        let mut output = Output {
            out,
            format: options.format,
            footer: (options.format == Format::Parquet).then(|| Footer::new(&layout.columns)).transpose()?,
            errors: None,
            max_errors: options.max_errors,
            rows: state.rows,
            bad: state.bad,
            listed: state.errors,
            state,
            over: false,
            noted: Instant::now(),
            pause: PAUSE,
            fixed: false,
        };
        if let Some(path) = &options.errors {
            output.errors = Some(open_errors(path, output.state.errors)?);
        }
        if let Some(footer) = note {
            if let Some(own) = &mut output.footer {
                own.restore(&footer)?;
            }
            let place = output.state.input;
            return Ok((output, Some(place)));
        }
        output.write(&header(options.format, layout))?;
        output.note()?;
        Ok((output, None))
    }

    /// Where a resumed run may go on in place of what is there now: the input's place before the first row.
    pub(crate) fn starts_at(&mut self, place: Place) -> Result<(), Error> {
        self.state.input = place;
        self.note()
    }

    /// Writes the result of the next block. `refused` is told of every bad row.
    pub(crate) fn take(&mut self, tagged: Tagged, refused: &mut dyn FnMut(&BadRow)) -> Result<Next, Error> {
        let Tagged { bytes, group, rows, bad, end, is_last } = tagged;
        if is_last {
            self.note()?;
            self.fixed = true;
        }
        let allowed = self.max_errors.map_or(u64::MAX, |max| max.saturating_sub(self.bad));
        let over = bad.iter().enumerate().find(|(n, _)| *n as u64 == allowed).map(|(n, (_, at, rows))| (n, *at, *rows));
        for (row, ..) in &bad[..over.map_or(bad.len(), |(n, ..)| n + 1)] {
            self.bad += 1;
            refused(row);
            if let Some(errors) = &mut self.errors {
                let text = format!("{row}\n");
                errors.write_all(text.as_bytes()).map_err(|err| Error::write("the file of bad rows", err))?;
                self.listed += text.len() as u64;
            }
        }
        if let Some((_, at, rows)) = over {
            self.over = true;
            // A file may be gone on with from the last whole block; who reads a stream gets the rows before the bad one.
            if matches!(self.out, Out::Stream(..)) && self.format != Format::Parquet {
                self.write(&bytes[..at])?;
                self.rows += rows;
            }
            return Ok(Next::Stop);
        }
        let offset = self.state.written.offset;
        self.write(&bytes)?;
        if let (Some(footer), Some(group)) = (&mut self.footer, group) {
            footer.push(group, offset)?;
        }
        self.rows += rows;
        self.state.input = end;
        (self.state.rows, self.state.bad, self.state.errors) = (self.rows, self.bad, self.listed);
        if self.noted.elapsed() >= self.pause {
            self.note()?;
        }
        Ok(Next::Go)
    }

    /// Makes what was written the target.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        if let Some(footer) = &self.footer {
            let bytes = footer.bytes()?;
            self.write(&bytes)?;
        }
        self.flush_errors()?;
        match &mut self.out {
            Out::Stream(stream, name) => stream.flush().map_err(|err| Error::write(name.as_str(), err)),
            Out::File { file, partial, note, target } => {
                let shown = |err| Error::write(target.display(), err);
                file.sync_all().map_err(shown)?;
                fs::rename(partial, &*target).map_err(shown)?;
                // What is left of it misleads nobody: without the partial file it is not looked at.
                let _ = fs::remove_file(note);
                Ok(())
            }
        }
    }

    /// Notes where the run stands, for a later one to go on.
    pub(crate) fn note(&mut self) -> Result<(), Error> {
        self.flush_errors()?;
        if self.fixed {
            return Ok(());
        }
        let Out::File { note, .. } = &self.out else { return Ok(()) };
        let begun = Instant::now();
        let shown = |err| Error::write(note.display(), err);
        let mut bytes = serde_json::to_vec(&self.state).map_err(|err| shown(err.into()))?;
        bytes.push(b'\n');
        if let Some(footer) = &self.footer {
            bytes.extend_from_slice(&footer.bytes()?);
        }
        let draft = with_suffix(note, ".new");
        let written = fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, note));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written.map_err(shown)?;
        // However large the footer grows, a hundredth of the time at most goes into notes.
        self.pause = PAUSE.max(100 * begun.elapsed());
        self.noted = Instant::now();
        Ok(())
    }

    /// Where an interrupted run's rows are kept.
    pub(crate) fn kept(&self) -> Option<PathBuf> {
        match &self.out {
            Out::File { partial, .. } => Some(partial.clone()),
            Out::Stream(..) => None,
        }
    }

    fn flush_errors(&mut self) -> Result<(), Error> {
        let flushed = self.errors.as_mut().map_or(Ok(()), Write::flush);
        flushed.map_err(|err| Error::write("the file of bad rows", err))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match &mut self.out {
            Out::Stream(stream, name) => stream.write_all(bytes).map_err(|err| Error::write(name.as_str(), err))?,
            Out::File { file, partial, .. } => {
                if let Err(err) = file.write_all(bytes) {
                    // On a full disk this leaves room for the note.
                    let _ = file.set_len(self.state.written.offset);
                    return Err(Error::write(partial.display(), err));
                }
            }
        }
        let mut crc = crc32fast::Hasher::new_with_initial(self.state.written.crc);
        crc.update(bytes);
        self.state.written.crc = crc.finalize();
        self.state.written.offset += bytes.len() as u64;
        Ok(())
    }
}

/// A target's files, the state to start from, and the footer so far if an earlier run is continued.
type Opened = (Out, State, Option<Vec<u8>>);

fn open(target: Target, resume: bool, fresh: State) -> Result<Opened, Error> {
    let only_files = || Error::Resume("only a file can be gone on with".to_owned());
    let path = match target {
        Target::Stream(_, _) if resume => return Err(only_files()),
        Target::Stream(stream, name) => return Ok((Out::Stream(stream, name), fresh, None)),
        // A link stays a link.
        Target::File(path) => fs::canonicalize(&path).unwrap_or(path),
    };
    let shown = |err| Error::write(path.display(), err);
    match fs::metadata(&path) {
        Ok(meta) if meta.is_dir() => return Err(shown(io::ErrorKind::IsADirectory.into())),
        Ok(meta) if !meta.is_file() => {
            if resume {
                return Err(only_files());
            }
            let file = OpenOptions::new().write(true).open(&path).map_err(shown)?;
            return Ok((Out::Stream(Box::new(file), path.display().to_string()), fresh, None));
        }
        _ => {}
    }
    let partial = with_suffix(&path, ".partial");
    let note = with_suffix(&path, ".partial.state");
    let shown = |err| Error::write(partial.display(), err);
    let known = if resume { read_note(&note)?.filter(|_| partial.exists()) } else { None };
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&partial).map_err(shown)?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(Error::Busy(partial));
    }
    let (state, footer) = match known {
        Some((state, footer)) => {
            state.run.same_as(&fresh.run)?;
            let found = checksum(&mut file, state.written.offset).map_err(shown)?;
            if found != Some(state.written.crc) {
                let message = format!("{} is damaged: start again without --resume", partial.display());
                return Err(Error::Resume(message));
            }
            (state, Some(footer))
        }
        None => {
            if let Err(err) = fs::remove_file(&note)
                && err.kind() != io::ErrorKind::NotFound
            {
                return Err(Error::write(note.display(), err));
            }
            (fresh, None)
        }
    };
    file.set_len(state.written.offset).map_err(shown)?;
    file.seek(SeekFrom::End(0)).map_err(shown)?;
    Ok((Out::File { file, partial, note, target: path }, state, footer))
}

/// The note of an interrupted run, if there is one: the state and the footer so far.
fn read_note(note: &Path) -> Result<Option<(State, Vec<u8>)>, Error> {
    let bytes = match fs::read(note) {
        Ok(bytes) => bytes,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) => return Err(Error::Resume(format!("cannot read {}: {err}", note.display()))),
    };
    let (state, footer) = bytes.split_at(memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1));
    match serde_json::from_slice(state) {
        Ok(state) => Ok(Some((state, footer.to_vec()))),
        Err(_) => Err(Error::Resume(format!("{} is not a note of this version of koga", note.display()))),
    }
}

/// The checksum of a file's first bytes; none if it is shorter.
fn checksum(file: &mut File, length: u64) -> io::Result<Option<u32>> {
    let mut crc = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 18];
    let mut left = length;
    while left > 0 {
        let room = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let count = file.read(&mut buffer[..room])?;
        if count == 0 {
            return Ok(None);
        }
        crc.update(&buffer[..count]);
        left -= count as u64;
    }
    Ok(Some(crc.finalize()))
}

impl Run {
    fn same_as(&self, now: &Run) -> Result<(), Error> {
        let difference = if self.koga != now.koga || self.rules != now.rules {
            "it was made by another version of koga"
        } else if self.format != now.format {
            "it writes another format"
        } else if self.columns != now.columns {
            "the input has other columns"
        } else if self.input_size != now.input_size {
            "the input has another size"
        } else if self.errors != now.errors {
            "--errors names another file"
        } else {
            return Ok(());
        };
        Err(Error::Resume(difference.to_owned()))
    }
}

/// Opens the file of bad rows behind what an earlier run wrote.
fn open_errors(path: &Path, length: u64) -> Result<BufWriter<File>, Error> {
    let shown = |err| Error::write(path.display(), err);
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(shown)?;
    let meta = file.metadata().map_err(shown)?;
    if meta.is_file() {
        if meta.len() < length {
            return Err(Error::Resume(format!("{} is shorter than the interrupted run left it", path.display())));
        }
        file.set_len(length).map_err(shown)?;
        (&file).seek(SeekFrom::End(0)).map_err(shown)?;
    }
    Ok(BufWriter::new(file))
}

/// What stands before the first row.
fn header(format: Format, layout: &Layout) -> Vec<u8> {
    match format {
        Format::Csv => {
            let mut out = Vec::new();
            for name in &layout.columns {
                write_field(&mut out, name);
                out.push(b',');
            }
            out.extend_from_slice(b"KogaThemes,KogaFindings\n");
            out
        }
        Format::Jsonl => Vec::new(),
        Format::Parquet => MAGIC.to_vec(),
    }
}

/// Tells versions of the rules apart that have the same number.
fn rules() -> u32 {
    let mut crc = crc32fast::Hasher::new();
    for definition in &koga::tactics::DEFINITIONS {
        crc.update(definition.text().as_bytes());
        definition.rules.iter().for_each(|rule| crc.update(rule.text.as_bytes()));
    }
    crc.finalize()
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

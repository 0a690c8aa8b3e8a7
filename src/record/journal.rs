//! The journal: one event a line, each line with the hash of the line before.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::mask::Masker;
use super::{Event, Fold, Report};

/// Version of the journal's lines.
pub const VERSION: u32 = 1;

/// The text whose hash the first line carries as `prev`.
pub const CHAIN_START: &str = "gatewright journal 1";

/// Longest line that is read, in bytes; a longer one counts as broken.
const LINE_LIMIT: usize = 64 * 1024 * 1024;

/// Why a journal cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file cannot be made or opened.
    #[error("cannot open {path}")]
    Open {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Writing fails, for example on a full disk.
    #[error("cannot write {path}")]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Reading fails.
    #[error("cannot read the journal")]
    Read(#[source] std::io::Error),
    /// An event has no JSON form.
    #[error("cannot write an event as JSON")]
    Encode(#[source] serde_json::Error),
    /// A journal that is to be continued does not hold together.
    #[error("cannot go on with {path}: {problem}")]
    Broken {
        /// Which.
        path: PathBuf,
        /// The first bad line.
        problem: ChainProblem,
    },
}

/// A journal line: an event with its place in the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Number of the line, from 1.
    pub seq: u64,
    /// When it was written, UTC.
    pub time: Timestamp,
    /// sha256 of the line before, hex; of [`CHAIN_START`] for the first.
    pub prev: String,
    /// sha256 of this line, hex, without its line break.
    pub digest: String,
    /// What happened.
    pub event: Event,
}

/// Writes a journal.
///
/// Every event passes the masking of secrets here, and only here. The report is folded from what was written, so
/// it is the same as one folded from the file.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    seq: u64,
    head: String,
    fold: Fold,
    masker: Masker,
}

impl Journal {
    /// Makes a new journal that only its owner may read.
    ///
    /// # Errors
    /// The file exists already, or cannot be made.
    pub fn create(path: &Path) -> Result<Self, RecordError> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(|source| RecordError::Open { path: path.to_owned(), source })?;
        Ok(Self {
            file,
            path: path.to_owned(),
            seq: 0,
            head: sha256_hex(CHAIN_START.as_bytes()),
            fold: Fold::new(),
            masker: Masker::default(),
        })
    }

    /// Opens a journal to go on with it. A torn last line, left by a killed runner, is taken off.
    ///
    /// # Errors
    /// It cannot be opened, or a line in it is broken.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let open = |source| RecordError::Open { path: path.to_owned(), source };
        let mut file = OpenOptions::new().read(true).append(true).open(path).map_err(open)?;
        let mut fold = Fold::new();
        let mut reader = JournalReader::new(std::io::BufReader::new(&mut file));
        for item in reader.by_ref() {
            match item? {
                Ok(entry) => fold.push(&entry),
                Err(problem) => return Err(RecordError::Broken { path: path.to_owned(), problem }),
            }
        }
        let (seq, head, whole_bytes) = (reader.seq, reader.prev.clone(), reader.whole_bytes);
        drop(reader);
        file.set_len(whole_bytes).map_err(open)?;
        file.seek(SeekFrom::End(0)).map_err(open)?;
        Ok(Self { file, path: path.to_owned(), seq, head, fold, masker: Masker::default() })
    }

    /// Writes an event with the time of now; gives back the entry as it stands in the file.
    ///
    /// # Errors
    /// The line cannot be written.
    pub fn append(&mut self, event: &Event) -> Result<Entry, RecordError> {
        self.append_at(event, Timestamp::now())
    }

    /// Writes an event with a given time.
    ///
    /// # Errors
    /// The line cannot be written.
    pub fn append_at(&mut self, event: &Event, time: Timestamp) -> Result<Entry, RecordError> {
        let (line, entry) = encode(event, self.seq + 1, time, &self.head, &mut self.masker)?;
        let write = |source| RecordError::Write { path: self.path.clone(), source };
        // One write call a line: a kill leaves whole lines, or at most one torn at the end.
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(write)?;
        self.file.flush().map_err(write)?;
        self.seq = entry.seq;
        self.head.clone_from(&entry.digest);
        self.fold.push(&entry);
        Ok(entry)
    }

    /// Waits until what was written is on the disk.
    ///
    /// # Errors
    /// The disk says no.
    pub fn sync(&self) -> Result<(), RecordError> {
        self.file.sync_data().map_err(|source| RecordError::Write { path: self.path.clone(), source })
    }

    /// sha256 of the last line, hex: names everything that was written so far.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// Number of lines.
    pub fn len(&self) -> u64 {
        self.seq
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.seq == 0
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The report of what was written so far.
    pub fn report(&self) -> Report {
        self.fold.report()
    }
}

fn encode(
    event: &Event,
    seq: u64,
    time: Timestamp,
    prev: &str,
    masker: &mut Masker,
) -> Result<(String, Entry), RecordError> {
    let mut body = serde_json::to_value(event).map_err(RecordError::Encode)?;
    masker.mask(&mut body, &["given", "replaced_by"]);
    let masked = Event::deserialize(&body).map_err(RecordError::Encode)?;
    let mut map = Map::new();
    map.insert("v".into(), VERSION.into());
    map.insert("seq".into(), seq.into());
    map.insert("time".into(), time.to_string().into());
    map.insert("prev".into(), prev.into());
    if let Value::Object(fields) = body {
        map.extend(fields);
    }
    let line = Value::Object(map).to_string();
    let entry =
        Entry { seq, time, prev: prev.to_owned(), digest: sha256_hex(line.as_bytes()), event: masked };
    Ok((line, entry))
}

/// What is wrong with a journal, at its first bad line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ChainProblem {
    /// Number of the line, from 1.
    pub line: u64,
    /// What.
    pub what: String,
}

/// A journal that was read as far as it holds together.
#[derive(Debug, Clone, Default)]
pub struct JournalRead {
    /// The entries before the first bad line.
    pub entries: Vec<Entry>,
    /// The first bad line.
    pub problem: Option<ChainProblem>,
    /// Bytes of a last line that was not finished, as a killed runner leaves it.
    pub torn_bytes: usize,
}

/// Reads entries one after another, checking number and chain of each; ends after the first bad line.
#[derive(Debug)]
pub struct JournalReader<R> {
    reader: R,
    prev: String,
    seq: u64,
    whole_bytes: u64,
    torn_bytes: usize,
    is_over: bool,
}

impl<R: BufRead> JournalReader<R> {
    /// Reads from `reader`.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            prev: sha256_hex(CHAIN_START.as_bytes()),
            seq: 0,
            whole_bytes: 0,
            torn_bytes: 0,
            is_over: false,
        }
    }

    /// Bytes of a torn last line; known when the reader is at its end.
    pub fn torn_bytes(&self) -> usize {
        self.torn_bytes
    }

    fn problem(&mut self, what: impl Into<String>) -> Result<Entry, ChainProblem> {
        self.is_over = true;
        Err(ChainProblem { line: self.seq + 1, what: what.into() })
    }

    fn entry(&mut self, line: &[u8]) -> Result<Entry, ChainProblem> {
        let mut map: Map<String, Value> = match serde_json::from_slice(line) {
            Ok(map) => map,
            Err(error) => return self.problem(format!("no JSON object ({error})")),
        };
        let version = map.remove("v").and_then(|value| value.as_u64());
        if version != Some(u64::from(VERSION)) {
            let shown = version.map_or_else(|| "none".to_owned(), |version| version.to_string());
            return self.problem(format!("version {shown}, this program reads version {VERSION}"));
        }
        let seq = map.remove("seq").and_then(|value| value.as_u64());
        if seq != Some(self.seq + 1) {
            return self.problem(format!("number {}, expected {}", shown(seq), self.seq + 1));
        }
        let prev = map.remove("prev");
        if prev.as_ref().and_then(Value::as_str) != Some(self.prev.as_str()) {
            return self.problem(if self.seq == 0 {
                "does not begin the chain"
            } else {
                "does not follow the line before, or that line was changed"
            });
        }
        let time = map.remove("time");
        let Some(time) =
            time.as_ref().and_then(Value::as_str).and_then(|text| text.parse::<Timestamp>().ok())
        else {
            return self.problem("no time");
        };
        let event = match Event::deserialize(Value::Object(map)) {
            Ok(event) => event,
            Err(error) => return self.problem(format!("no event that this program knows ({error})")),
        };
        let digest = sha256_hex(line);
        let prev = std::mem::replace(&mut self.prev, digest.clone());
        self.seq += 1;
        Ok(Entry { seq: self.seq, time, prev, digest, event })
    }
}

impl<R: BufRead> Iterator for JournalReader<R> {
    /// The outer result is about reading, the inner one about the line.
    type Item = Result<Result<Entry, ChainProblem>, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let mut line = Vec::new();
        let limit = u64::try_from(LINE_LIMIT).unwrap_or(u64::MAX);
        if let Err(error) = self.reader.by_ref().take(limit).read_until(b'\n', &mut line) {
            self.is_over = true;
            return Some(Err(RecordError::Read(error)));
        }
        if line.is_empty() {
            self.is_over = true;
            return None;
        }
        if line.last() != Some(&b'\n') {
            if line.len() >= LINE_LIMIT {
                return Some(Ok(self.problem("longer than any line this program writes")));
            }
            self.torn_bytes = line.len();
            self.is_over = true;
            return None;
        }
        let bytes = u64::try_from(line.len()).unwrap_or(u64::MAX);
        line.pop();
        let entry = self.entry(&line);
        if entry.is_ok() {
            self.whole_bytes += bytes;
        }
        Some(Ok(entry))
    }
}

/// Reads a whole journal, as far as it holds together.
///
/// # Errors
/// Reading itself fails; what is wrong with the lines is part of the answer.
pub fn read_journal(reader: impl BufRead) -> Result<JournalRead, RecordError> {
    let mut lines = JournalReader::new(reader);
    let mut read = JournalRead::default();
    for item in lines.by_ref() {
        match item? {
            Ok(entry) => read.entries.push(entry),
            Err(problem) => read.problem = Some(problem),
        }
    }
    read.torn_bytes = lines.torn_bytes;
    Ok(read)
}

/// Number of lines and hash of the last one, if the whole journal holds together.
///
/// # Errors
/// The outer error is about reading; the inner one names the first bad line.
pub fn verify_chain(reader: impl BufRead) -> Result<Result<(u64, String), ChainProblem>, RecordError> {
    let mut lines = JournalReader::new(reader);
    for item in lines.by_ref() {
        if let Err(problem) = item? {
            return Ok(Err(problem));
        }
    }
    if lines.torn_bytes > 0 {
        return Ok(Err(ChainProblem { line: lines.seq + 1, what: "is not finished".into() }));
    }
    Ok(Ok((lines.seq, lines.prev)))
}

fn shown(number: Option<u64>) -> String {
    number.map_or_else(|| "missing".to_owned(), |number| number.to_string())
}

/// sha256 of bytes, hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing into a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#[path = "journal_tests.rs"]
pub(super) mod tests;

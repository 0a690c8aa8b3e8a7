//! Our own journals: the calls of a run with everything that is needed to judge them again in the same way.
//!
//! This room lies above `record`, so it reads the lines by their published shape.

use std::collections::BTreeMap;
use std::path::PathBuf;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::call::ToolCall;
use crate::verdict::{Decision, Vote};

use super::json::{Text, hides_text};
use super::{Found, Head, JudgedBefore, Reader, Recorded};

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
}

#[derive(Deserialize)]
struct Gate {
    given: ToolCall,
    #[serde(default)]
    replaced_by: Option<ToolCall>,
    judged_in: JudgedIn,
    #[serde(default)]
    links: BTreeMap<PathBuf, PathBuf>,
    #[serde(default)]
    outside_votes: Vec<Vote>,
    decision: Decision,
}

#[derive(Deserialize)]
struct JudgedIn {
    root: PathBuf,
    cwd: PathBuf,
    #[serde(default)]
    home: Option<PathBuf>,
}

struct Journal {
    gate: memmem::Finder<'static>,
}

pub(super) fn open() -> Box<dyn Reader> {
    Box::new(Journal { gate: memmem::Finder::new("\"gate\"") })
}

pub(super) fn looks_like(head: &Head) -> bool {
    let is_one = |record: &serde_json::Value| {
        ["v", "seq", "time", "prev", "type"].iter().all(|key| record.get(key).is_some())
    };
    head.records.first().is_some_and(is_one)
        || (head.records.is_empty() && head.bytes.starts_with(b"{\"v\":1,\"seq\":1,"))
}

impl Reader for Journal {
    fn wants(&self, line: &[u8]) -> bool {
        self.gate.find(line).is_some() || hides_text(line)
    }

    fn line(&mut self, line: &[u8], found: &mut Found<'_>) {
        let kind = match serde_json::from_slice::<Kind<'_>>(line) {
            Ok(kind) => kind,
            Err(error) => {
                found.problem(format!("no journal line ({error})"));
                return;
            }
        };
        if kind.kind.as_str() != "gate" {
            return;
        }
        match serde_json::from_slice::<&RawValue>(line).map(|raw| serde_json::from_str::<Gate>(raw.get())) {
            Ok(Ok(gate)) => {
                let judged_before = JudgedBefore {
                    root: gate.judged_in.root,
                    cwd: gate.judged_in.cwd,
                    home: gate.judged_in.home,
                    links: gate.links,
                    outside_votes: gate.outside_votes,
                    decision: gate.decision,
                };
                let recorded = Recorded::new(found.place.clone(), gate.replaced_by.unwrap_or(gate.given));
                found
                    .call_as_it_stands(Recorded { judged_before: Some(Box::new(judged_before)), ..recorded });
            }
            Ok(Err(error)) | Err(error) => found.problem(format!("gate event that cannot be read ({error})")),
        }
    }
}

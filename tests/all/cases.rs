//! Verdicts of the shipped policies on the case corpora, in both directions.
//!
//! `fixtures/cases/*.jsonl` are ours and must all be right. `../shared/cases/calls.jsonl` is the neighbours' list of
//! real reports; it is tried where it exists, and the shares reached are constants here that only rise. Every failing
//! row is shown with its votes before a test fails.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a test tells what it found")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use gatewright::call::{Context, NoLinks, Targets, ToolCall};
use gatewright::policy::{NoLibrary, Policy, Source};
use gatewright::verdict::{Decision, Origin, Verdict};
use jiff::civil::date;
use serde::Deserialize;

/// Shares of the shared list that are reached, in tenths of a percent: unarguable rows that are right, unarguable
/// harmless rows that go ahead, arguable rows that are as the list would have them.
const SHARED_RIGHT: usize = 1000;
const SHARED_HARMLESS: usize = 1000;
const SHARED_ARGUABLE: usize = 887;

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) call: ToolCall,
    pub(crate) expect: Verdict,
    why: String,
    #[serde(default)]
    arguable: bool,
}

pub(crate) fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn shipped(name: &str) -> Policy {
    let bytes = fs::read(top().join("policies").join(name)).unwrap();
    let source = Source { name: format!("policies/{name}"), bytes };
    Policy::load(&[source], &NoLibrary, date(2026, 12, 1)).unwrap_or_else(|errors| {
        for error in errors.errors() {
            eprintln!("{error:?}");
        }
        panic!("policies/{name} does not load");
    })
}

pub(crate) fn cases(path: &Path) -> Vec<Case> {
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    rows.map(|(number, line)| {
        serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("{}:{}: {error}", path.display(), number + 1))
    })
    .collect()
}

pub(crate) fn judge(policy: &Policy, call: &ToolCall) -> Decision {
    let context = Context {
        root: PathBuf::from("/repo"),
        cwd: call.cwd.clone().unwrap_or_else(|| PathBuf::from("/repo")),
        home: Some(PathBuf::from("/home/dev")),
    };
    let targets = Targets::resolve(call, &context, &NoLinks);
    Decision::fold(policy.votes(&targets, &call.args))
}

/// A row that is not as it should be, for people: what was asked, and every vote with where it comes from.
fn shown(case: &Case, decision: &Decision) -> String {
    let command = case.call.args.get("command").and_then(serde_json::Value::as_str);
    let call = command.map_or_else(|| format!("{} {}", case.call.tool, case.call.args), str::to_owned);
    let mut text = format!(
        "{}: wanted {:?}, got {:?}: {call}\n    {}\n",
        case.id, case.expect, decision.verdict, case.why
    );
    for vote in &decision.votes {
        let origin = match &vote.origin {
            Origin::Rule { id, .. } => format!("rule {id}"),
            Origin::Unreadable { rule: Some(rule), .. } => format!("unreadable, rule {rule}"),
            Origin::Unreadable { rule: None, .. } => "unreadable".to_owned(),
            other => format!("{other:?}"),
        };
        let subject = vote.subject.as_deref().unwrap_or_default();
        writeln!(text, "    {:?} by {origin}: {} [{subject}]", vote.verdict, vote.reason).unwrap();
    }
    text
}

/// Ids of our own rows that are known to be wrong. The list only shrinks: a row that has become right has to be taken
/// out (`GATEWRIGHT_BLESS=1` does it), and one that becomes wrong fails.
fn open_cases() -> BTreeSet<String> {
    let text = fs::read_to_string(top().join(OPEN_CASES)).unwrap_or_default();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

const OPEN_CASES: &str = "fixtures/open-cases.txt";

#[test]
fn our_own_cases_are_right_but_for_the_open_ones() {
    let policy = shipped("ci.yml");
    let mut files: Vec<PathBuf> =
        fs::read_dir(top().join("fixtures/cases")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    let open = open_cases();
    let (mut wrong, mut now_right, mut total) = (Vec::new(), Vec::new(), 0);
    for file in files.iter().filter(|file| file.extension().is_some_and(|name| name == "jsonl")) {
        for case in &cases(file) {
            total += 1;
            let decision = judge(&policy, &case.call);
            match (decision.verdict == case.expect, open.contains(&case.id)) {
                (false, false) => wrong.push(shown(case, &decision)),
                (true, true) => now_right.push(case.id.clone()),
                (true, false) | (false, true) => {}
            }
        }
    }
    println!("{} of {total} rows right, {} open", total - open.len() - wrong.len(), open.len());
    if std::env::var_os("GATEWRIGHT_BLESS").is_some() && wrong.is_empty() {
        let kept: Vec<&String> = open.iter().filter(|id| !now_right.contains(id)).collect();
        let mut text =
            String::from("# Rows of fixtures/cases that are known to be wrong; see docs/limits.md.\n");
        for id in kept {
            writeln!(text, "{id}").unwrap();
        }
        fs::write(top().join(OPEN_CASES), text).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "{} of {total} rows are wrong:\n{}", wrong.len(), wrong.concat());
    assert!(now_right.is_empty(), "right by now, take them out of {OPEN_CASES}: {now_right:?}");
}

#[test]
fn ids_of_our_own_cases_are_unique() {
    let mut ids = Vec::new();
    for entry in fs::read_dir(top().join("fixtures/cases")).unwrap() {
        ids.extend(cases(&entry.unwrap().path()).into_iter().map(|case| case.id));
    }
    ids.sort();
    let doubled: Vec<_> = ids.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| &pair[0]).collect();
    assert!(doubled.is_empty(), "{doubled:?}");
}

#[test]
fn the_shared_cases_stay_at_least_as_right_as_they_are() {
    let path = [top().join("../shared/cases/calls.jsonl"), top().join("../../shared/cases/calls.jsonl")];
    let Some(path) = path.iter().find(|path| path.exists()) else {
        println!("skipped: there is no ../shared/cases/calls.jsonl beside this checkout");
        return;
    };
    let policy = shipped("ci.yml");
    let rows = cases(path);
    let mut failing = String::new();
    let (mut plain, mut harmless, mut arguable) = (Tally::default(), Tally::default(), Tally::default());
    for case in &rows {
        let decision = judge(&policy, &case.call);
        let is_right = decision.verdict == case.expect;
        if case.arguable {
            arguable.count(is_right);
        } else {
            plain.count(is_right);
            if case.expect == Verdict::Allow {
                harmless.count(is_right);
            }
        }
        if !is_right {
            let mark = if case.arguable { "(arguable) " } else { "" };
            write!(failing, "{mark}{}", shown(case, &decision)).unwrap();
        }
    }
    println!("{failing}");
    println!("unarguable: {plain}; harmless among them: {harmless}; arguable: {arguable}");
    for (tally, held) in [(plain, SHARED_RIGHT), (harmless, SHARED_HARMLESS), (arguable, SHARED_ARGUABLE)] {
        assert!(tally.share() >= held, "{tally} is less than the {held} per mille that were reached before");
    }
}

/// Rows that are right, of how many.
#[derive(Default, Clone, Copy)]
struct Tally {
    right: usize,
    total: usize,
}

impl Tally {
    fn count(&mut self, is_right: bool) {
        self.right += usize::from(is_right);
        self.total += 1;
    }

    /// In tenths of a percent, rounded down.
    fn share(self) -> usize {
        self.right * 1000 / self.total.max(1)
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} ({} per mille)", self.right, self.total, self.share())
    }
}

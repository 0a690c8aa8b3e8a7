//! Literals that a regular expression cannot do without, asked before it is compiled or tried.
//!
//! Most expressions of a policy are about other programs than the command's. What each one begins with, or must
//! hold somewhere, says so for the price of a comparison; compiling them all would be most of what a short process
//! does. The gate may let too much through and never too little.

use std::cmp::Reverse;

use memchr::memmem;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind};

/// Most literals of one kind that are compared one by one; with more, the gate stays open.
const MOST: usize = 96;
/// Most lists of one expression that are asked.
const LISTS: usize = 3;

/// What every text that an expression matches begins with or holds.
#[derive(Debug, Default)]
pub(super) struct LiteralGate {
    /// One of these is its beginning; `None` is not known. For anchored expressions only.
    starts: Option<Vec<Vec<u8>>>,
    /// One of each list is somewhere in it; the rarest lists first.
    holds: Vec<Vec<Vec<u8>>>,
}

impl LiteralGate {
    /// The gate of an expression; open for one that does not parse.
    pub(super) fn of(expression: &str, is_anchored: bool) -> Self {
        let Ok(hir) = regex_syntax::Parser::new().parse(expression) else { return Self::default() };
        let starts = is_anchored.then(|| Extractor::new().extract(&hir)).and_then(|found| {
            let literals = found.literals()?;
            let is_use = literals.len() <= MOST && literals.iter().all(|literal| !literal.is_empty());
            is_use.then(|| literals.iter().map(|literal| literal.as_bytes().to_vec()).collect())
        });
        let mut holds = needed(&hir);
        holds.sort_by_key(|all| Reverse(worth(all)));
        holds.truncate(LISTS);
        Self { starts, holds }
    }

    /// Words, up to the first blank, of which every match begins with one; `None` when one of them may go on.
    pub(super) fn first_words(&self) -> Option<Vec<String>> {
        let word = |start: &Vec<u8>| {
            let text = std::str::from_utf8(start).ok()?;
            text.split_once(' ').map(|(word, _)| word.to_owned())
        };
        self.starts.as_ref()?.iter().map(word).collect()
    }

    /// Whether the expression may match `subject`; never wrongly `false`.
    pub(super) fn admits(&self, subject: &str) -> bool {
        let subject = subject.as_bytes();
        let starts = self.starts.as_ref();
        starts.is_none_or(|all| all.iter().any(|start| subject.starts_with(start)))
            && self.holds.iter().all(|all| all.iter().any(|part| memmem::find(subject, part).is_some()))
    }
}

/// Lists of literals, of each of which every match holds one.
fn needed(hir: &Hir) -> Vec<Vec<Vec<u8>>> {
    match hir.kind() {
        HirKind::Literal(literal) => vec![vec![literal.0.to_vec()]],
        HirKind::Capture(capture) => needed(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => needed(&repetition.sub),
        HirKind::Concat(parts) => parts.iter().flat_map(needed).collect(),
        HirKind::Alternation(ways) => {
            let best = ways.iter().map(|way| needed(way).into_iter().max_by_key(|all| worth(all)));
            let all = best.collect::<Option<Vec<_>>>().unwrap_or_default().concat();
            if all.is_empty() || all.len() > MOST { Vec::new() } else { vec![all] }
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => Vec::new(),
    }
}

/// How much a list is worth asking: its shortest literal decides how seldom it is found, then how few there are.
fn worth(all: &[Vec<u8>]) -> (usize, usize) {
    (all.iter().map(Vec::len).min().unwrap_or(0), MOST.saturating_sub(all.len()))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::fs;
    use std::path::Path;

    use jiff::civil::date;
    use regex::Regex;

    use super::*;
    use crate::policy::{NoLibrary, Policy};

    #[test]
    fn what_cannot_match_is_kept_out() {
        let gate = LiteralGate::of(r"(?:curl|wget)\b.*\| (?:sh|bash)$", true);
        assert!(gate.admits("curl x | sh"));
        assert!(!gate.admits("git curl | sh"));
        assert!(!gate.admits("curl x"));
        let gate = LiteralGate::of(r"\S+ config (?:set|unset)", true);
        assert!(gate.admits("npm config set x"));
        assert!(!gate.admits("npm install"));
        assert!(LiteralGate::of("(?i)git", true).admits("GIT push"));
        assert!(LiteralGate::of("x*", true).admits("git"));
        assert!(LiteralGate::of("(broken", true).admits("anything"));
        assert!(LiteralGate::of("^b", false).admits("a\nb"));
    }

    /// The plain loop is the oracle: no expression of a shipped policy matches what its gate keeps out.
    #[test]
    fn nothing_that_matches_is_kept_out() {
        let mut expressions = Vec::new();
        for name in Policy::builtin_names() {
            let source = Policy::builtin(name).unwrap();
            let policy = Policy::load(&[source], &NoLibrary, date(2026, 12, 1)).unwrap();
            for (rule, _) in policy.rules() {
                expressions.extend(rule.matcher.command.iter().map(|e| (e.text.clone(), true)));
                expressions.extend(rule.matcher.text.iter().map(|e| (e.text.clone(), false)));
            }
        }
        assert!(expressions.len() > 20, "{}", expressions.len());
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
        let mut lines = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            for row in fs::read_to_string(entry.unwrap().path()).unwrap().lines() {
                let row: serde_json::Value = serde_json::from_str(row).unwrap();
                if let Some(line) = row.pointer("/call/args/command").and_then(|line| line.as_str()) {
                    lines.push(line.to_owned());
                }
            }
        }
        let mut matched = 0;
        for (text, is_anchored) in &expressions {
            let gate = LiteralGate::of(text, *is_anchored);
            let form = if *is_anchored { format!(r"(?s)\A(?:{text})") } else { format!("(?m:{text})") };
            let regex = Regex::new(&form).unwrap();
            for line in &lines {
                // Every word may be where a command begins.
                let starts =
                    line.char_indices().filter(|(at, _)| line[..*at].ends_with([' ', '/', '(', '\'']));
                for at in starts.map(|(at, _)| at).chain([0]) {
                    if regex.is_match(&line[at..]) {
                        matched += 1;
                        assert!(gate.admits(&line[at..]), "{text} matches {}", &line[at..]);
                    }
                }
            }
        }
        assert!(matched > 100, "{matched}");
    }
}

//! Which rules can speak about a call at all, found without asking each.
//!
//! A rule is filed under one thing that it cannot do without: the program that its word pattern or the beginning of
//! its expression names, an access to a path, a host. What cannot be filed is asked for every call. The index may
//! hand out too many rules and never too few.

use std::collections::HashMap;

use crate::shell::Access;
use crate::verdict::Verdict;

use super::load::Policy;
use super::rule::Rule;
use super::sight::Sight;
use super::when::Condition;

/// Rules that ask or deny, by position in their policy, ascending in each list.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// By the base name of a program.
    programs: HashMap<String, Vec<usize>>,
    /// By the first word of a command, written canonically.
    first_words: HashMap<String, Vec<usize>>,
    reads: Vec<usize>,
    writes: Vec<usize>,
    deletions: Vec<usize>,
    hosts: Vec<usize>,
    /// Everything else.
    others: Vec<usize>,
    /// Rules that look at earlier calls, those that allow included.
    pub(super) looking_back: Vec<usize>,
    /// Whether a condition looks at the paths that were changed so far.
    pub(super) asks_for_changes: bool,
}

impl Index {
    pub(super) fn of(policy: &Policy) -> Self {
        let mut index = Self::default();
        for (at, held) in policy.rules.iter().enumerate() {
            if held.is_disabled {
                continue;
            }
            let rule = &held.rule;
            if rule.verdict != Verdict::Allow {
                index.file(at, rule);
            }
            if rule.after.is_some() {
                index.looking_back.push(at);
            }
            // An exception that could not see the changes would relax too much.
            let own = [&rule.matcher].into_iter().chain(rule.after.as_deref().map(|after| &after.matcher));
            let mut matchers = own.chain(rule.exceptions.iter().map(|exception| &exception.matcher));
            index.asks_for_changes |=
                matchers.any(|matcher| matcher.when.as_ref().is_some_and(Condition::asks_for_changes));
        }
        index
    }

    fn file(&mut self, at: usize, rule: &Rule) {
        let matcher = &rule.matcher;
        if !matcher.run.is_empty() {
            let programs: Option<Vec<Vec<String>>> =
                matcher.run.iter().map(crate::shell::WordPattern::programs).collect();
            match programs {
                Some(programs) => {
                    for program in programs.into_iter().flatten() {
                        push(self.programs.entry(program).or_default(), at);
                    }
                }
                None => self.others.push(at),
            }
        } else if let Some(expression) = &matcher.command {
            match expression.first_words() {
                Some(words) => {
                    for word in words {
                        push(self.first_words.entry(word).or_default(), at);
                    }
                }
                None => self.others.push(at),
            }
        } else if !matcher.hosts.is_empty() {
            self.hosts.push(at);
        } else if !matcher.paths.is_empty() {
            for access in [Access::Read, Access::Write, Access::Delete] {
                if matcher.covers_access(access) {
                    self.by_access(access).push(at);
                }
            }
        } else {
            self.others.push(at);
        }
    }

    fn by_access(&mut self, access: Access) -> &mut Vec<usize> {
        match access {
            Access::Read => &mut self.reads,
            Access::Write => &mut self.writes,
            Access::Delete => &mut self.deletions,
        }
    }

    /// Positions of the rules that may speak about a call, ascending.
    pub(super) fn candidates(&self, sight: &Sight<'_>) -> Vec<usize> {
        let mut found = self.others.clone();
        for (at, command) in sight.commands().iter().enumerate() {
            if let Some(program) = &command.invocation.program {
                found.extend(self.programs.get(program.as_str()).into_iter().flatten());
                if program.bytes().any(|byte| byte.is_ascii_uppercase()) || !program.is_ascii() {
                    let lower = program.to_ascii_lowercase();
                    found.extend(self.programs.get(&lower).into_iter().flatten());
                }
            }
            if !self.first_words.is_empty() {
                let text = sight.canonical(at);
                let word = text.split(' ').next().unwrap_or(text);
                found.extend(self.first_words.get(word).into_iter().flatten());
            }
        }
        let paths = &sight.targets.paths;
        for (access, rules) in
            [(Access::Read, &self.reads), (Access::Write, &self.writes), (Access::Delete, &self.deletions)]
        {
            if !rules.is_empty() && paths.iter().any(|path| path.access == access) {
                found.extend(rules);
            }
        }
        if !sight.targets.hosts.is_empty() {
            found.extend(&self.hosts);
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Adds a position to an ascending list, once.
fn push(list: &mut Vec<usize>, at: usize) {
    if list.last() != Some(&at) {
        list.push(at);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::fs;
    use std::path::Path;

    use jiff::civil::date;

    use crate::call::{Context, NoLinks, Targets, ToolCall};
    use crate::policy::sight::Sight;
    use crate::policy::{NoLibrary, Policy, Source};

    /// Rules of every kind that the index files, beside the shipped ones.
    const OWN: &str = r"version: 1
rules:
  - {id: a, run: '{git,GIT} push', verdict: deny, reason: r}
  - {id: b, run: '* --force', verdict: ask, reason: r}
  - {id: c, run: 'env LD_PRELOAD=*', verdict: ask, reason: r}
  - {id: d, command: 'curl .*\| sh', verdict: deny, reason: r}
  - {id: e, command: '(?i)rm ', verdict: ask, reason: r}
  - {id: f, command: 'py', verdict: ask, reason: r}
  - {id: g, host: '*', verdict: ask, reason: r}
  - {id: h, path: '**', access: delete, verdict: ask, reason: r}
  - {id: i, path: '**/*.rs', verdict: ask, reason: r}
  - {id: j, text: 'sudo', verdict: ask, reason: r}
  - {id: k, tool: write, verdict: ask, reason: r}
  - {id: l, host: '*.example.com', path: '**', verdict: ask, reason: r}
  - {id: m, command: '(?:sh|bash) ?', path: '/tmp/**', verdict: ask, reason: r}
";

    /// The plain loop over all rules is the oracle.
    #[test]
    fn no_rule_is_hidden() {
        let own = Source { name: "own.yml".to_owned(), bytes: OWN.as_bytes().to_vec() };
        let sources = Policy::builtin_names().map(|name| Policy::builtin(name).unwrap()).chain([own]);
        let policies: Vec<Policy> =
            sources.map(|source| Policy::load(&[source], &NoLibrary, date(2026, 12, 1)).unwrap()).collect();
        let context = Context { root: "/repo".into(), cwd: "/repo".into(), home: Some("/home/dev".into()) };
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
        let (mut calls, mut votes, mut asked, mut rules) = (0, 0, 0, 0);
        for entry in fs::read_dir(folder).unwrap() {
            for row in fs::read_to_string(entry.unwrap().path()).unwrap().lines() {
                let row: serde_json::Value = serde_json::from_str(row).unwrap();
                let Some(call) = row.get("call") else { continue };
                let call: ToolCall = serde_json::from_value(call.clone()).unwrap();
                let targets = Targets::resolve(&call, &context, &NoLinks);
                calls += 1;
                for policy in &policies {
                    let sight = Sight::new(&targets, &call.args);
                    let candidates = policy.index().candidates(&sight);
                    asked += candidates.len();
                    for (at, held) in policy.rules.iter().enumerate() {
                        rules += 1;
                        let is_silent = candidates.binary_search(&at).is_err();
                        if held.is_disabled || held.rule.verdict == crate::verdict::Verdict::Allow {
                            assert!(is_silent);
                        } else if held.rule.witness(&sight).is_some() {
                            votes += 1;
                            assert!(!is_silent, "{} is hidden from {}", held.rule.id(), call.args);
                        }
                    }
                }
            }
        }
        assert!(calls > 1_000 && votes > 1_000, "{calls} calls, {votes} votes");
        assert!(asked * 2 < rules, "{asked} of {rules} rules were asked: the index is of no use");
    }
}

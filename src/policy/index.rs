//! Which rules can speak about a call at all, found without asking each.
//!
//! A rule is filed under one thing that it cannot do without: the program that its word pattern or the beginning of
//! its expression names, with a subcommand if there is one, a name in a path, a host. What cannot be filed is asked
//! for every call. The index may hand out too many rules and never too few.

use std::collections::HashMap;

use crate::call::PathIndex;
use crate::shell::{Access, Invocation, Needs, WordPattern};
use crate::verdict::Verdict;

use super::load::Policy;
use super::rule::Rule;
use super::sight::Sight;
use super::when::Condition;

/// Rules that ask or deny, by position in their policy, ascending in each list.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// By the base name of a program.
    programs: HashMap<String, OfProgram>,
    /// About a variable that is given to a command.
    variables: Vec<usize>,
    /// By the first word of a command, written canonically.
    first_words: HashMap<String, Vec<usize>>,
    reads: PathIndex,
    writes: PathIndex,
    deletions: PathIndex,
    /// By the one host that a pattern names.
    exact_hosts: HashMap<String, Vec<usize>>,
    /// With a pattern of more than one host.
    open_hosts: Vec<usize>,
    /// Everything else.
    others: Vec<usize>,
    /// Rules that look at earlier calls, those that allow included.
    pub(super) looking_back: Vec<usize>,
    /// Whether a condition looks at the paths that were changed so far.
    pub(super) asks_for_changes: bool,
}

/// Rules about one program.
#[derive(Debug, Default)]
struct OfProgram {
    /// By the subcommand that they are about.
    subcommands: HashMap<String, Vec<usize>>,
    /// About any of its calls.
    others: Vec<usize>,
}

impl OfProgram {
    fn candidates(&self, invocation: &Invocation, into: &mut Vec<usize>) {
        into.extend(&self.others);
        match invocation.subcommand.first() {
            Some(name) => into.extend(self.subcommands.get(name).into_iter().flatten()),
            // A word that is not known may be the subcommand.
            None => into.extend(self.subcommands.values().flatten()),
        }
    }
}

impl Index {
    pub(super) fn of(policy: &Policy) -> Self {
        let mut index = Self::default();
        let mut about_paths = Vec::new();
        for (at, held) in policy.rules.iter().enumerate() {
            if held.is_disabled {
                continue;
            }
            let rule = &held.rule;
            if rule.verdict != Verdict::Allow {
                index.file(at, rule, &mut about_paths);
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
        let globs = |access| {
            let rules = about_paths.iter().filter(move |(_, rule)| rule.matcher.covers_access(access));
            rules.flat_map(|(at, rule)| rule.matcher.paths.iter().map(|(_, glob)| (*at, glob)))
        };
        index.reads = PathIndex::of(globs(Access::Read));
        index.writes = PathIndex::of(globs(Access::Write));
        index.deletions = PathIndex::of(globs(Access::Delete));
        index
    }

    fn file<'p>(&mut self, at: usize, rule: &'p Rule, about_paths: &mut Vec<(usize, &'p Rule)>) {
        let matcher = &rule.matcher;
        if !matcher.run.is_empty() {
            let needs: Vec<Needs> = matcher.run.iter().map(WordPattern::needs).collect();
            if needs.contains(&Needs::Anything) {
                self.others.push(at);
                return;
            }
            for needs in needs {
                match needs {
                    Needs::Programs(heads) => heads.into_iter().for_each(|head| self.file_program(at, head)),
                    Needs::Variable => push(&mut self.variables, at),
                    Needs::Anything => {}
                }
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
            for (_, host) in &matcher.hosts {
                match host.exact() {
                    Some(name) => push(self.exact_hosts.entry(name.to_owned()).or_default(), at),
                    None => push(&mut self.open_hosts, at),
                }
            }
        } else if !matcher.paths.is_empty() {
            about_paths.push((at, rule));
        } else {
            self.others.push(at);
        }
    }

    fn file_program(&mut self, at: usize, (program, subcommand): (String, Option<String>)) {
        let rules = self.programs.entry(program).or_default();
        match subcommand {
            Some(name) => push(rules.subcommands.entry(name).or_default(), at),
            None => push(&mut rules.others, at),
        }
    }

    /// Positions of the rules that may speak about a call, ascending.
    pub(super) fn candidates(&self, sight: &Sight<'_>) -> Vec<usize> {
        let mut found = self.others.clone();
        for (at, command) in sight.commands().iter().enumerate() {
            let invocation = &command.invocation;
            if let Some(program) = &invocation.program {
                let mut named = |name: &str| {
                    if let Some(rules) = self.programs.get(name) {
                        rules.candidates(invocation, &mut found);
                    }
                };
                named(program);
                if program.bytes().any(|byte| byte.is_ascii_uppercase()) || !program.is_ascii() {
                    named(&program.to_ascii_lowercase());
                }
            }
            if command.gives_variables() {
                found.extend(&self.variables);
            }
            if !self.first_words.is_empty() {
                let text = sight.canonical(at);
                let word = text.split(' ').next().unwrap_or(text);
                found.extend(self.first_words.get(word).into_iter().flatten());
            }
        }
        for path in &sight.targets.paths {
            let globs = match path.access {
                Access::Read => &self.reads,
                Access::Write => &self.writes,
                Access::Delete => &self.deletions,
            };
            globs.candidates(path, &sight.context, &mut found);
        }
        for host in &sight.targets.hosts {
            found.extend(&self.open_hosts);
            match &host.host {
                Some(name) => found.extend(self.exact_hosts.get(name).into_iter().flatten()),
                None => found.extend(self.exact_hosts.values().flatten()),
            }
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

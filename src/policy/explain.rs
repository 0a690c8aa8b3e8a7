//! Why a policy judges a call as it does: the words that each rule goes by, and the rules that nearly spoke.
//!
//! For people. Nothing here decides anything; the votes do.

use serde_json::Value;

use crate::call::{PathTarget, Targets};
use crate::shell::{Access, Fit};
use crate::verdict::Verdict;

use super::expression::Extent;
use super::fit::{fit_args, fit_command, fit_host, fit_path, fit_run, fit_texts};
use super::load::Policy;
use super::rule::{Rule, joined};
use super::sight::Sight;

/// Distance of a rule that shares the program and no more that could be told.
const OTHER_FORM: u8 = 9;

/// What a policy sees in a call.
#[derive(Debug, Default)]
pub struct Explanation<'a> {
    /// Rules that speak about the call, in rule order, with what they go by.
    pub speaking: Vec<Speaking<'a>>,
    /// Rules that ask or deny, are about the same program, path or host, and do not speak; the nearest first.
    pub near: Vec<Near<'a>>,
}

/// A rule that speaks about a call.
#[derive(Debug)]
pub struct Speaking<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// Whether it certainly holds.
    pub is_certain: bool,
    /// For each command that it is about: its index, and the indices of the words that the rule goes by. Without
    /// words it goes by what the command does, or by all of it.
    pub marks: Vec<(usize, Vec<usize>)>,
}

/// A rule that does not speak about a call though it is about something in it.
#[derive(Debug)]
pub struct Near<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// What is missing, as an end to `the rule …`.
    pub why: String,
    /// 0 is nearest.
    pub distance: u8,
}

impl Policy {
    /// What this policy sees in a call with nothing before it.
    pub fn explain(&self, targets: &Targets, args: &Value) -> Explanation<'_> {
        let sight = Sight::new(targets, args);
        let mut explanation = Explanation::default();
        if !self.is_enabled() {
            return explanation;
        }
        for rule in self.in_force().filter(|rule| rule.verdict != Verdict::Allow) {
            match rule.witness(&sight) {
                Some(witness) => explanation.speaking.push(Speaking {
                    rule,
                    is_certain: witness.fit == Fit::Yes,
                    marks: rule.marks(&sight),
                }),
                None => explanation.near.extend(rule.near(&sight)),
            }
        }
        // Stable: rules that are as near stay in rule order.
        explanation.near.sort_by_key(|near| near.distance);
        explanation
    }
}

impl Rule {
    /// The commands it speaks about, with the words it goes by.
    fn marks(&self, sight: &Sight<'_>) -> Vec<(usize, Vec<usize>)> {
        let single: Vec<(usize, Vec<usize>)> = (0..sight.commands().len())
            .filter(|index| self.witness_within(sight, *index).is_some())
            .map(|index| (index, self.words(sight, index)))
            .collect();
        if !single.is_empty() || self.matcher.command.is_none() {
            return single;
        }
        let whole = sight
            .stretches()
            .iter()
            .find(|stretch| fit_command(&self.matcher, &stretch.text, Extent::Part) > Fit::No);
        let commands = whole.map(|stretch| stretch.commands.clone()).unwrap_or_default();
        commands.into_iter().map(|index| (index, Vec::new())).collect()
    }

    /// Words of one command that the rule goes by.
    fn words(&self, sight: &Sight<'_>, index: usize) -> Vec<usize> {
        let Some(command) = sight.command(index) else { return Vec::new() };
        let mut words: Vec<usize> =
            self.matcher.run.iter().flat_map(|pattern| pattern.marks(command)).collect();
        let mut named: Vec<&str> = Vec::new();
        if !self.matcher.paths.is_empty() {
            let paths = sight.paths_of(Some(std::slice::from_ref(&index)));
            let fitting = paths.filter(|path| fit_path(&self.matcher, sight, path) > Fit::No);
            named.extend(fitting.map(|path| path.shown.as_str()));
        }
        if !self.matcher.hosts.is_empty() {
            let hosts = sight.hosts_of(Some(std::slice::from_ref(&index)));
            let fitting = hosts.filter(|host| fit_host(&self.matcher, host) > Fit::No);
            named.extend(fitting.map(|host| host.shown.as_str()));
        }
        for (at, word) in command.words.iter().enumerate().skip(1) {
            let shown = word.shown();
            let is_named = named.iter().any(|name| {
                *name == shown || shown.strip_suffix(name).is_some_and(|rest| rest.ends_with('='))
            });
            if is_named {
                words.push(at);
            }
        }
        words.sort_unstable();
        words.dedup();
        words
    }

    /// Whether it is about something in the call though it does not speak, and why it does not.
    fn near(&self, sight: &Sight<'_>) -> Option<Near<'_>> {
        if !self.fits_tool(sight) {
            return None;
        }
        let matcher = &self.matcher;
        let near = |distance: u8, why: String| Some(Near { rule: self, why, distance });
        if matcher.has_command_part() {
            let indices = 0..sight.commands().len();
            let fits = |index: &usize| {
                let text = fit_command(matcher, sight.canonical(*index), Extent::Part);
                fit_run(matcher, sight, *index).min(text) > Fit::No
            };
            if let Some(index) = indices.clone().find(fits) {
                let (distance, why) = self.beyond_words(sight, Some(&[index]));
                return near(distance, why);
            }
            let only_text =
                |index: &usize| !matcher.run.is_empty() && fit_run(matcher, sight, *index) > Fit::No;
            if indices.clone().any(|index| only_text(&index)) {
                let text = matcher.command.as_ref().map_or("", |expression| &expression.text);
                return near(1, format!("fits by its words, but not by its expression `{text}`"));
            }
            return indices.clone().find_map(|index| self.near_by_program(sight, index));
        }
        let is_about_something = !matcher.paths.is_empty() || !matcher.hosts.is_empty();
        if !is_about_something {
            return None;
        }
        let by_path = sight.targets.paths.iter().any(|path| self.is_about_path(sight, path));
        let by_host = sight.targets.hosts.iter().any(|host| fit_host(matcher, host) > Fit::No);
        if !by_path && !by_host {
            return None;
        }
        let (distance, why) = self.beyond_words(sight, None);
        near(distance, why)
    }

    /// A rule about a program that the line starts, whose other words are not there.
    fn near_by_program(&self, sight: &Sight<'_>, index: usize) -> Option<Near<'_>> {
        let command = sight.command(index)?;
        let program = command.invocation.program.as_deref()?;
        let names_it = |pattern: &&crate::shell::WordPattern| {
            pattern.programs().is_some_and(|names| names.iter().any(|name| name == program))
        };
        let patterns: Vec<_> = self.matcher.run.iter().filter(names_it).collect();
        if patterns.is_empty() {
            return None;
        }
        let missing = patterns
            .iter()
            .filter_map(|pattern| pattern.missing(command))
            .min_by_key(Vec::len)
            .unwrap_or_default();
        let is_harmless = command.invocation.is_dry_run || command.invocation.is_help;
        let (distance, why) = match missing.as_slice() {
            [] if is_harmless => (1, format!("is about {program}, but this one changes nothing")),
            [] => (OTHER_FORM, format!("is about {program} in another form")),
            words => {
                let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                let distance = 2 + u8::try_from(words.len().min(usize::from(OTHER_FORM) - 3)).unwrap_or(2);
                (distance, format!("is about {program} with {}", quoted.join(" and ")))
            }
        };
        Some(Near { rule: self, why, distance })
    }

    /// Why a rule whose words fit (or that has none) does not speak.
    fn beyond_words(&self, sight: &Sight<'_>, commands: Option<&[usize]>) -> (u8, String) {
        let matcher = &self.matcher;
        if fit_texts(matcher, sight, Extent::Part) == Fit::No {
            return (2, "has an expression that is not in the call's text".to_owned());
        }
        if fit_args(matcher, sight) == Fit::No {
            return (2, "is about other arguments".to_owned());
        }
        if !matcher.paths.is_empty() {
            let mut paths = sight.paths_of(commands);
            if !paths.any(|path| fit_path(matcher, sight, path) > Fit::No) {
                let same = sight.paths_of(commands).find(|path| self.is_about_path(sight, path));
                return match same {
                    Some(path) => {
                        let wanted: Vec<&str> = matcher.access.iter().map(|access| doing(*access)).collect();
                        let done = done(path.access);
                        (1, format!("is about {}; `{}` is {done} here", wanted.join(" and "), path.shown))
                    }
                    None => {
                        let globs = joined(matcher.paths.iter().map(|(text, _)| text.as_str()));
                        (2, format!("is about paths that are not touched here: {globs}"))
                    }
                };
            }
        }
        if !matcher.hosts.is_empty()
            && !sight.hosts_of(commands).any(|host| fit_host(matcher, host) > Fit::No)
        {
            let hosts = joined(matcher.hosts.iter().map(|(text, _)| text.as_str()));
            return (2, format!("is about hosts that are not contacted here: {hosts}"));
        }
        if self.after.is_some() {
            return (1, "holds only after an earlier call, and there is none here".to_owned());
        }
        if let Some(condition) = &matcher.when
            && self.exceptions.is_empty()
        {
            return (1, format!("has a condition that does not hold: {}", condition.text));
        }
        let reasons = joined(self.exceptions.iter().map(|exception| exception.reason.as_str()));
        (0, format!("fits, but an exception of it holds ({reasons})"))
    }

    fn is_about_path(&self, sight: &Sight<'_>, path: &PathTarget) -> bool {
        self.matcher.paths.iter().any(|(_, glob)| glob.fit(path, &sight.context) > Fit::No)
    }
}

fn doing(access: Access) -> &'static str {
    match access {
        Access::Read => "reading",
        Access::Write => "writing",
        Access::Delete => "deleting",
    }
}

fn done(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "written",
        Access::Delete => "deleted",
    }
}

//! Whether a rule speaks about a call, and about which part of it.
//!
//! All keys of a rule must hold for the same command: `run: tar` with `path: "/etc/**"` means a `tar` that touches
//! `/etc`, not a line in which both occur. The answer has three values; `Maybe` is "for some values of what is not
//! known".

use std::sync::atomic::Ordering;

use serde_json::Value;

use crate::call::{HostTarget, PathTarget};
use crate::shell::Fit;

use super::expression::Extent;
use super::relax::relaxes;
use super::rule::{ArgumentPattern, Matcher, Rule, ToolPattern, access_word};
use super::sight::Sight;
use super::when::Outcome;

/// The part of a call that a rule speaks about.
#[derive(Debug, Clone)]
pub(super) struct Witness {
    pub(super) fit: Fit,
    /// Byte range in the command line.
    pub(super) part: Option<(usize, usize)>,
    /// That part for people.
    pub(super) subject: Option<String>,
    /// What else the reason has to say: the earlier call, why a condition could not be tried.
    pub(super) note: Option<String>,
}

impl Rule {
    /// The strongest witness for the rule in a call, the first among equals; `None` when it cannot fit.
    pub(super) fn witness(&self, sight: &Sight<'_>) -> Option<Witness> {
        let call = self.fit_call(sight);
        if call == Fit::No {
            return None;
        }
        let mut search = Search { rule: self, sight, call, best: None };
        if self.matcher.has_command_part() {
            search.commands();
        } else {
            search.effects(None, call);
        }
        search.best
    }

    /// The witness among one command of a line and what it does; `None` when that cannot fit.
    pub(super) fn witness_within(&self, sight: &Sight<'_>, index: usize) -> Option<Witness> {
        let call = self.fit_call(sight);
        let mut search = Search { rule: self, sight, call, best: None };
        let text = fit_command(&self.matcher, sight.canonical(index), Extent::Part);
        search.effects(Some(&[index]), call.min(fit_run(&self.matcher, sight, index)).min(text));
        search.best
    }

    /// The keys that speak about the call as a whole.
    pub(super) fn fit_call(&self, sight: &Sight<'_>) -> Fit {
        if !self.fits_tool(sight) {
            return Fit::No;
        }
        fit_texts(&self.matcher, sight, Extent::Part).min(fit_args(&self.matcher, sight))
    }

    pub(super) fn fits_tool(&self, sight: &Sight<'_>) -> bool {
        self.tools.is_empty()
            || self.tools.iter().any(|tool| match tool {
                ToolPattern::Shell => sight.is_shell(),
                ToolPattern::Name(name) => *name == sight.targets.tool,
                ToolPattern::Glob(glob) => glob.is_match(&sight.targets.tool).unwrap_or(true),
            })
    }
}

/// The search for the strongest witness of one rule.
struct Search<'s, 'a> {
    rule: &'s Rule,
    sight: &'s Sight<'a>,
    call: Fit,
    best: Option<Witness>,
}

impl Search<'_, '_> {
    fn is_done(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.fit == Fit::Yes)
    }

    /// Single commands first, then stretches of pipelines.
    fn commands(&mut self) {
        let matcher = &self.rule.matcher;
        for index in 0..self.sight.commands().len() {
            let run = fit_run(matcher, self.sight, index);
            if run == Fit::No {
                continue;
            }
            let text = fit_command(matcher, self.sight.canonical(index), Extent::Part);
            self.effects(Some(&[index]), self.call.min(run).min(text));
            if self.is_done() {
                return;
            }
        }
        if matcher.command.is_none() {
            return;
        }
        let sight = self.sight;
        for stretch in sight.stretches() {
            let text = fit_command(matcher, &stretch.text, Extent::Part);
            if text == Fit::No {
                continue;
            }
            let run = stretch.commands.iter().map(|index| fit_run(matcher, sight, *index)).max();
            self.effects(Some(&stretch.commands), self.call.min(text).min(run.unwrap_or(Fit::No)));
            if self.is_done() {
                return;
            }
        }
    }

    /// What the commands (or the whole call) do to paths and hosts, as far as the rule looks at that.
    fn effects(&mut self, commands: Option<&[usize]>, so_far: Fit) {
        if so_far == Fit::No {
            return;
        }
        let (rule, sight) = (self.rule, self.sight);
        let matcher = &rule.matcher;
        let host = match matcher.hosts.is_empty() {
            true => None,
            false => match strongest_host(matcher, sight, commands) {
                Some(host) => Some(host),
                None => return,
            },
        };
        let with_host = so_far.min(host.map_or(Fit::Yes, |(fit, _)| fit));
        if matcher.paths.is_empty() {
            let subject = host.map(|(_, host)| format!("contact {}", host.shown));
            let span = host.and_then(|(_, host)| host.command);
            self.offer(commands, None, with_host, subject, span);
            return;
        }
        for path in sight.paths_of(commands) {
            let fit = with_host.min(fit_path(matcher, sight, path));
            if fit > Fit::No {
                let subject = format!("{} {}", access_word(path.access), path.shown);
                self.offer(commands, Some(path), fit, Some(subject), path.command);
                if self.is_done() {
                    return;
                }
            }
        }
    }

    /// Keeps a witness if no exception takes it away and none as strong was found before.
    fn offer(
        &mut self,
        commands: Option<&[usize]>,
        path: Option<&PathTarget>,
        fit: Fit,
        subject: Option<String>,
        command: Option<usize>,
    ) {
        if self.best.as_ref().is_some_and(|best| best.fit >= fit) {
            return;
        }
        let own = command.map(|index| [index]);
        let about = commands.or(own.as_ref().map(<[usize; 1]>::as_slice));
        let mut exceptions = self.rule.exceptions.iter().filter(|exception| !exception.is_over);
        if let Some(exception) =
            exceptions.find(|exception| relaxes(&exception.matcher, self.sight, about, path))
        {
            exception.has_relaxed.store(true, Ordering::Relaxed);
            return;
        }
        let mut fit = fit;
        let mut notes = Vec::new();
        if self.rule.after.is_some() {
            let Some(before) = self.rule.before(self.sight, about) else { return };
            fit = fit.min(before.fit);
            notes.push(before.text);
        }
        // The dearest key comes last: it is tried only where all others hold.
        match self.rule.matcher.when.as_ref().map(|when| when.outcome(self.sight)) {
            Some(Outcome::Fails) => return,
            Some(Outcome::Fault(why)) => notes.push(why),
            Some(Outcome::Holds) | None => {}
        }
        if self.best.as_ref().is_some_and(|best| best.fit >= fit) {
            return;
        }
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        let part = about.and_then(|commands| self.span(commands));
        let subject = subject.or_else(|| about.map(|commands| self.shown(commands)));
        let subject = subject.or_else(|| Some(self.sight.shown_call()));
        self.best = Some(Witness { fit, part, subject, note });
    }

    fn span(&self, commands: &[usize]) -> Option<(usize, usize)> {
        let spans =
            commands.iter().filter_map(|index| self.sight.command(*index)).map(|command| command.span);
        spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    fn shown(&self, commands: &[usize]) -> String {
        let texts: Vec<&str> = commands.iter().map(|index| self.sight.canonical(*index)).collect();
        texts.join(" | ")
    }
}

fn strongest_host<'a>(
    matcher: &Matcher,
    sight: &Sight<'a>,
    commands: Option<&[usize]>,
) -> Option<(Fit, &'a HostTarget)> {
    let mut best: Option<(Fit, &HostTarget)> = None;
    for host in sight.hosts_of(commands) {
        let fit = fit_host(matcher, host);
        if fit > best.map_or(Fit::No, |(fit, _)| fit) {
            best = Some((fit, host));
        }
    }
    best
}

/// Whether command `index` fits `run`; `Yes` without `run`.
pub(super) fn fit_run(matcher: &Matcher, sight: &Sight<'_>, index: usize) -> Fit {
    if matcher.run.is_empty() {
        return Fit::Yes;
    }
    let Some(command) = sight.command(index) else { return Fit::No };
    matcher.run.iter().map(|pattern| pattern.fit(command)).max().unwrap_or(Fit::No)
}

/// Whether a canonical text fits `command`; `Yes` without it.
pub(super) fn fit_command(matcher: &Matcher, text: &str, extent: Extent) -> Fit {
    matcher.command.as_ref().map_or(Fit::Yes, |expression| expression.fit(text, extent))
}

pub(super) fn fit_texts(matcher: &Matcher, sight: &Sight<'_>, extent: Extent) -> Fit {
    let Some(expression) = &matcher.text else { return Fit::Yes };
    sight.texts().iter().map(|text| expression.fit(text, extent)).max().unwrap_or(Fit::No)
}

/// Whether a path fits one of the globs with an access that the matcher is about.
pub(super) fn fit_path(matcher: &Matcher, sight: &Sight<'_>, path: &PathTarget) -> Fit {
    if !matcher.covers_access(path.access) {
        return Fit::No;
    }
    matcher.paths.iter().map(|(_, glob)| glob.fit(path, &sight.context)).max().unwrap_or(Fit::No)
}

pub(super) fn fit_host(matcher: &Matcher, host: &HostTarget) -> Fit {
    matcher.hosts.iter().map(|(_, glob)| glob.fit(host)).max().unwrap_or(Fit::No)
}

/// Whether all arguments that are named fit one of their patterns; `Yes` without any.
pub(super) fn fit_args(matcher: &Matcher, sight: &Sight<'_>) -> Fit {
    matcher
        .args
        .iter()
        .map(|(path, patterns)| {
            let mut values = Vec::new();
            reach(sight.args, path, &mut values);
            let fits = values.iter().flat_map(|value| patterns.iter().map(|pattern| pattern.fit(value)));
            fits.max().unwrap_or(Fit::No)
        })
        .min()
        .unwrap_or(Fit::Yes)
}

/// Values at a dotted path. A list is entered by an index, by `*`, or by any other name through each of its items;
/// `*` is every field of a map too.
fn reach<'a>(value: &'a Value, path: &str, into: &mut Vec<&'a Value>) {
    if path.is_empty() {
        match value {
            Value::Array(items) => into.extend(items),
            _ => into.push(value),
        }
        return;
    }
    match value {
        Value::Object(fields) => {
            // The name itself may contain dots: every way of cutting is tried.
            if let Some(rest) = path.strip_prefix("*").filter(|rest| rest.is_empty() || rest.starts_with('.'))
            {
                let rest = rest.strip_prefix('.').unwrap_or(rest);
                fields.values().for_each(|field| reach(field, rest, into));
            }
            for (name, field) in fields.iter().filter(|(name, _)| *name != "*") {
                match path.strip_prefix(name.as_str()) {
                    Some("") => reach(field, "", into),
                    Some(rest) => {
                        if let Some(rest) = rest.strip_prefix('.') {
                            reach(field, rest, into);
                        }
                    }
                    None => {}
                }
            }
        }
        Value::Array(items) => {
            let (first, rest) = path.split_once('.').unwrap_or((path, ""));
            match first.parse::<usize>() {
                Ok(index) => items.get(index).into_iter().for_each(|item| reach(item, rest, into)),
                Err(_) if first == "*" => items.iter().for_each(|item| reach(item, rest, into)),
                Err(_) => items.iter().for_each(|item| reach(item, path, into)),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl ArgumentPattern {
    fn fit(&self, value: &Value) -> Fit {
        if let Self::Bounds(bounds) = self {
            let measured = match value {
                Value::String(text) => Some(text.len() as f64),
                value => value.as_f64(),
            };
            return if measured.is_some_and(|measured| bounds.holds(measured)) { Fit::Yes } else { Fit::No };
        }
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return Fit::No,
        };
        match self {
            Self::Glob(glob) => match glob.is_match(&text) {
                Some(true) => Fit::Yes,
                Some(false) => Fit::No,
                None => Fit::Maybe,
            },
            Self::Expression(expression) => expression.fit(&text, Extent::Part),
            Self::Value(own) if is_equal(own, value) => Fit::Yes,
            Self::Value(_) | Self::Bounds(_) => Fit::No,
        }
    }
}

/// Equal as values: `1` and `1.0` are the same number.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => {
            one.to_bits() == other.to_bits() || (one - other).abs() < f64::EPSILON * one.abs()
        }
        _ => one == other,
    }
}

//! Whether one rule holds wherever another does, as far as that can be told from how they are written.
//!
//! The answer errs towards no: a finding that is wrong costs more than one that is missing.

use crate::shell::{Fit, Setting, read};

use super::super::rule::{Matcher, Rule};

/// Whether `wide` speaks about every call that `narrow` speaks about.
pub(super) fn is_wider(wide: &Rule, narrow: &Rule) -> bool {
    if !wide.exceptions.is_empty() || wide.after.is_some() {
        return false;
    }
    let has_tools = wide.tools.is_empty()
        || (!narrow.tools.is_empty()
            && narrow.tools.iter().all(|own| wide.tools.iter().any(|tool| tool.text() == own.text())));
    has_tools && is_wider_matcher(&wide.matcher, &narrow.matcher)
}

/// Whether both say the same of a call, exceptions included.
pub(super) fn is_same(one: &Rule, other: &Rule) -> bool {
    let shown = |rule: &Rule| {
        let mut matchers = rule.matchers();
        matchers.sort();
        let exceptions: Vec<String> =
            rule.exceptions().iter().map(|exception| format!("{:?}", exception.matchers)).collect();
        (matchers, exceptions)
    };
    shown(one) == shown(other)
}

fn is_wider_matcher(wide: &Matcher, narrow: &Matcher) -> bool {
    // One of several values is enough, so every value of the narrow one needs its own in the wide one.
    let run = wide.run.is_empty()
        || (!narrow.run.is_empty() && narrow.run_texts.iter().all(|text| is_run_covered(wide, text)));
    let same = |one: &Option<super::super::expression::Expression>, other: &Option<_>| match (one, other) {
        (None, _) => true,
        (Some(one), Some(other)) => {
            let other: &super::super::expression::Expression = other;
            one.text == other.text
        }
        (Some(_), None) => false,
    };
    let paths = wide.paths.is_empty()
        || (!narrow.paths.is_empty()
            && narrow
                .paths
                .iter()
                .all(|(text, _)| wide.paths.iter().any(|(wide, _)| is_path_covered(wide, text)))
            && (wide.access.is_empty()
                || (!narrow.access.is_empty()
                    && narrow.access.iter().all(|access| wide.access.contains(access)))));
    let hosts = wide.hosts.is_empty()
        || (!narrow.hosts.is_empty()
            && narrow
                .hosts
                .iter()
                .all(|(text, _)| wide.hosts.iter().any(|(wide, _)| wide == "*" || wide == text)));
    let shown = |matcher: &Matcher| {
        let mut all = Vec::new();
        matcher.show(&mut all);
        all.retain(|(key, _)| *key == "args" || *key == "when");
        all
    };
    let own = shown(narrow);
    let others = shown(wide).iter().all(|pair| own.contains(pair));
    run && same(&wide.command, &narrow.command) && same(&wide.text, &narrow.text) && paths && hosts && others
}

fn is_run_covered(wide: &Matcher, text: &str) -> bool {
    if wide.run_texts.iter().any(|own| own == text) {
        return true;
    }
    // A pattern of plain words is a command line; whatever fits that line's words fits all lines of the pattern.
    if text.contains(['*', '?', '[', '{', '\\', '$', '\'', '"', '=']) || text.contains("...") {
        return false;
    }
    let reading = read(text, &Setting::default());
    match reading.commands.as_slice() {
        [command] => wide.run.iter().any(|pattern| pattern.fit(command) == Fit::Yes),
        _ => false,
    }
}

fn is_path_covered(wide: &str, narrow: &str) -> bool {
    wide == narrow
        || wide.strip_suffix("/**").is_some_and(|folder| {
            !folder.contains(['*', '{', '?', '[', '!'])
                && narrow
                    .strip_prefix(folder)
                    .is_some_and(|rest| rest.starts_with('/') && !rest.contains(".."))
        })
}

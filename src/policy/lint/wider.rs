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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::policy::{NoLibrary, Policy, Source};

    fn holds(wide: &str, narrow: &str) -> bool {
        let rule = |id: &str, keys: &str| format!("  - {{id: {id}, verdict: deny, reason: r, {keys}}}\n");
        let text = format!("version: 1\nrules:\n{}{}", rule("wide", wide), rule("narrow", narrow));
        let source = Source { name: "p.yml".to_owned(), bytes: text.into_bytes() };
        let policy = Policy::load(&[source], &NoLibrary, date(2026, 12, 1)).unwrap();
        is_wider(policy.rule("wide").unwrap(), policy.rule("narrow").unwrap())
    }

    #[test]
    fn what_holds_wherever_another_does_is_wider() {
        for (wide, narrow) in [
            ("run: git push", "run: git push --force"),
            ("run: git push", "run: [git push -f, git push origin main]"),
            ("run: [git push, git tag]", "run: git tag"),
            ("tool: shell", "tool: shell, run: git push"),
            ("path: 'docs/**'", "path: 'docs/api/*.md'"),
            ("path: a", "path: a, access: write"),
            ("path: a, access: [write, delete]", "path: a, access: write"),
            ("host: '*'", "host: example.com"),
            ("run: git push", "run: git push, when: run.calls > 3"),
        ] {
            assert!(holds(wide, narrow), "{wide} is not wider than {narrow}");
        }
    }

    #[test]
    fn what_may_miss_a_call_is_not_wider() {
        for (wide, narrow) in [
            ("run: git push --force", "run: git push"),
            ("run: git push", "run: [git push -f, git tag]"),
            ("run: git push", "run: git push --dry-run"),
            ("run: git push", "run: 'git *'"),
            ("tool: shell", "run: git push"),
            ("path: 'docs/**'", "path: 'docs2/a'"),
            ("path: 'docs/**'", "path: 'docs/../a'"),
            ("path: a, access: write", "path: a"),
            ("path: a", "run: rm"),
            ("host: example.com", "host: '*.example.com'"),
            ("run: git push, args: {a: b}", "run: git push"),
            ("run: git push, after: {run: ls}", "run: git push"),
            ("run: git push, except: [{run: git push x, reason: r}]", "run: git push -f"),
        ] {
            assert!(!holds(wide, narrow), "{wide} is taken for wider than {narrow}");
        }
    }
}

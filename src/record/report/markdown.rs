//! The report for a comment on a pull request.

use crate::verdict::Verdict;

use super::super::shown::{one_line, shortened};
use super::{Report, TestsLine, counted, duration, short_id, tests_word, verdict_word};

/// Refused calls that are listed; the rest is counted, as comments have a size limit.
const REFUSED_SHOWN: usize = 50;

/// The report as Markdown.
pub(super) fn render(report: &Report) -> String {
    let mut text = format!("### gatewright: {}\n\n", plain(&report.meaning));
    if !report.reason.is_empty() {
        text.push_str(&format!("{}\n\n", plain(&report.reason)));
    }
    table(&mut text, report);
    refused(&mut text, report);
    outcome(&mut text, report);
    isolation(&mut text, report);
    for notice in &report.notices {
        text.push_str(&format!("- notice: {}\n", plain(&notice.text)));
    }
    for leftover in &report.leftovers {
        text.push_str(&format!("- left behind: {}\n", code(leftover)));
    }
    text
}

fn table(text: &mut String, report: &Report) {
    let mut row = |name: &str, value: String| text.push_str(&format!("| {name} | {value} |\n"));
    row("run", format!("{}, exit {}, {}", code(&report.run), report.exit_code, duration(report.duration_ms)));
    row("---", "---".to_owned());
    match (&report.commit, &report.patch) {
        (Some(commit), _) => {
            let files = counted(u64::try_from(commit.files.len()).unwrap_or(u64::MAX), "file");
            row("commit", format!("{} on {}, {files}", code(short_id(&commit.id)), code(&commit.branch)));
            if let Some(attestation) = &commit.attestation {
                row("attestation", plain(attestation));
            }
        }
        (None, Some(patch)) => {
            row("patch", format!("{}; no commit: {}", code(&patch.file), plain(&patch.reason)))
        }
        (None, None) => row("commit", "none".to_owned()),
    }
    row("base", format!("{} {}", code(&report.base.revision), code(short_id(&report.base.commit))));
    if let Some(tests) = &report.tests_on_base {
        row("tests on base", tests_cell(tests));
    }
    if let Some(tests) = &report.tests_on_tree {
        row("tests on the changed tree", tests_cell(tests));
    }
    let counts = report.counts;
    row(
        "calls",
        format!(
            "{}: {} allowed, {} asked, {} denied, {} failed",
            counts.calls, counts.allow, counts.ask, counts.deny, counts.errored
        ),
    );
    row(
        "repository",
        match &report.integrity {
            Some(integrity) if integrity.differences.is_empty() => "unchanged".to_owned(),
            Some(integrity) => format!(
                "**changed**: {}",
                integrity
                    .differences
                    .iter()
                    .map(|difference| format!("{} ({})", code(&difference.what), plain(&difference.how)))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            None => "was not compared".to_owned(),
        },
    );
    if let Some(policy) = &report.policy {
        row(
            "policy",
            format!("{}, sha256 {}", code(&policy.sources.join(", ")), code(short_id(&policy.digest))),
        );
        if !policy.policy_files_changed.is_empty() {
            row("policy files changed", code(&policy.policy_files_changed.join(", ")));
        }
    }
    text.push('\n');
}

fn tests_cell(tests: &TestsLine) -> String {
    format!("{} ({}, {})", tests_word(tests.result), code(&tests.command), duration(tests.duration_ms))
}

fn refused(text: &mut String, report: &Report) {
    if report.refused.is_empty() {
        return;
    }
    let count = u64::try_from(report.refused.len()).unwrap_or(u64::MAX);
    text.push_str(&format!("<details><summary>{} refused</summary>\n\n", counted(count, "call")));
    text.push_str("| # | verdict | call | by | reason |\n| --- | --- | --- | --- | --- |\n");
    for refused in report.refused.iter().take(REFUSED_SHOWN) {
        let source = refused.source.as_ref().map(|source| format!(" {}", code(source))).unwrap_or_default();
        let hint = refused.hint.as_ref().map(|hint| format!("; hint: {}", plain(hint))).unwrap_or_default();
        text.push_str(&format!(
            "| {} | {} | {} | {}{source} | {}{hint} |\n",
            refused.call,
            verdict_word(refused.verdict),
            code(&shortened(&refused.subject, 100)),
            plain(&refused.by),
            plain(&refused.reason)
        ));
    }
    if report.refused.len() > REFUSED_SHOWN {
        text.push_str(&format!("\nand {} more\n", report.refused.len() - REFUSED_SHOWN));
    }
    text.push_str("\n</details>\n\n");
}

fn outcome(text: &mut String, report: &Report) {
    let Some(outcome) = &report.outcome else { return };
    for vote in outcome.votes.iter().filter(|vote| vote.verdict > Verdict::Allow) {
        let subject = vote.subject.as_ref().map(|subject| format!("{} ", code(subject))).unwrap_or_default();
        text.push_str(&format!(
            "- outcome: {} {subject}{} ({})\n",
            verdict_word(vote.verdict),
            plain(&vote.reason),
            plain(&vote.by)
        ));
    }
}

fn isolation(text: &mut String, report: &Report) {
    let names = |layers: &[super::super::Layer]| {
        layers.iter().map(|layer| plain(&layer.name)).collect::<Vec<_>>().join(", ")
    };
    if !report.isolation.in_force.is_empty() {
        text.push_str(&format!("- in force: {}\n", names(&report.isolation.in_force)));
    }
    if !report.isolation.not_in_force.is_empty() {
        text.push_str(&format!("- **not in force**: {}\n", names(&report.isolation.not_in_force)));
    }
}

/// Text that Markdown and HTML take as text.
fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in one_line(text).chars() {
        match character {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '!' | '#' | '~' | '@' => {
                safe.push('\\');
                safe.push(character);
            }
            other => safe.push(other),
        }
    }
    safe
}

/// Text as code, fit for a table cell: no backtick in it can end it early.
fn code(text: &str) -> String {
    let line = one_line(text).replace('|', "\\|");
    let longest = line.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest > 0 || line.is_empty() {
        format!("{fence} {line} {fence}")
    } else {
        format!("{fence}{line}{fence}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_write_markdown() {
        assert_eq!(plain("<b> [x](y) @team a|b"), "&lt;b&gt; \\[x\\](y) \\@team a\\|b");
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
        assert_eq!(code("a|b\nc"), "`a\\|b c`");
    }
}

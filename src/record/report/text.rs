//! The report for people: aligned, and the same without colour.

use anstyle::{AnsiColor, Style};

use crate::verdict::Verdict;

use super::super::shown::{one_line, shortened};
use super::super::{Layer, Status};
use super::{Report, TestsLine, counted, duration, short_id, tests_word, verdict_word};

/// Width of the labels on the left.
const LABEL: usize = 12;

/// Refused calls that are shown; the rest is counted.
const REFUSED_SHOWN: usize = 30;

struct Page {
    text: String,
    has_colour: bool,
}

impl Page {
    fn paint(&self, style: Style, text: &str) -> String {
        if self.has_colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// A line with a label; the text is made harmless.
    fn line(&mut self, label: &str, text: &str) {
        self.painted(label, Style::new(), text);
    }

    fn painted(&mut self, label: &str, style: Style, text: &str) {
        let padded = self.paint(Style::new().bold(), &format!("{label:LABEL$}"));
        let text = self.paint(style, &one_line(text));
        self.text.push_str(if label.is_empty() { "            " } else { &padded });
        self.text.push_str(&text);
        self.text.push('\n');
    }
}

/// The report as text.
pub(super) fn render(report: &Report, has_colour: bool) -> String {
    let mut page = Page { text: String::new(), has_colour };
    head(&mut page, report);
    change(&mut page, report);
    tests(&mut page, report);
    calls(&mut page, report);
    trust(&mut page, report);
    for notice in &report.notices {
        let from = if notice.from.is_empty() { String::new() } else { format!("{}: ", notice.from) };
        page.line("notice", &format!("{from}{}", notice.text));
    }
    for leftover in &report.leftovers {
        page.painted("left behind", bad(), leftover);
    }
    if let Some(reply) = report.reply.as_deref().filter(|reply| !reply.trim().is_empty()) {
        page.line("agent says", &shortened(reply, 400));
    }
    page.text
}

fn good() -> Style {
    Style::new().fg_color(Some(AnsiColor::Green.into()))
}

fn bad() -> Style {
    Style::new().fg_color(Some(AnsiColor::Red.into()))
}

fn unsure() -> Style {
    Style::new().fg_color(Some(AnsiColor::Yellow.into()))
}

fn head(page: &mut Page, report: &Report) {
    let style = match report.status {
        Status::Ok | Status::Unchanged => good(),
        Status::NeedsApproval | Status::NeedsClarification | Status::Escalated => unsure(),
        Status::Failed
        | Status::Usage
        | Status::PolicyBroken
        | Status::Repository
        | Status::Provider
        | Status::Budget
        | Status::TestsRed
        | Status::BaseRed
        | Status::TestsNone
        | Status::Integrity
        | Status::OutcomeRefused
        | Status::Canceled
        | Status::Cut => bad(),
    };
    page.line("run", &report.run);
    page.painted("ended", style, &format!("{} (exit {})", report.meaning, report.exit_code));
    if !report.reason.is_empty() {
        page.line("", &report.reason);
    }
    let times = format!(
        "{}, of which tests {} and tools {}",
        duration(report.duration_ms),
        duration(report.tests_ms),
        duration(report.tools_ms)
    );
    page.line("took", &times);
    if let Some(name) = &report.task.name {
        page.line("task", name);
    }
    page.line("agent", &format!("{}, {}", report.agent, counted(u64::from(report.turns), "turn")));
    page.line("base", &format!("{} {}", report.base.revision, short_id(&report.base.commit)));
}

fn change(page: &mut Page, report: &Report) {
    if let Some(commit) = &report.commit {
        page.painted("commit", good(), &format!("{} on {}", short_id(&commit.id), commit.branch));
        page.line("", &commit.subject);
        page.line("", &files(&commit.files));
        if let Some(attestation) = &commit.attestation {
            page.line("", attestation);
        }
    } else if let Some(patch) = &report.patch {
        page.painted("patch", unsure(), &format!("{} ({})", patch.file, files(&patch.files)));
        page.line("", &format!("no commit: {}", patch.reason));
        if let Some(permit) = &patch.permit {
            page.line("", &format!("for a commit: {permit}"));
        }
    } else {
        page.line("commit", "none");
    }
    let Some(outcome) = &report.outcome else { return };
    for vote in outcome.votes.iter().filter(|vote| vote.verdict > Verdict::Allow) {
        let subject = vote.subject.as_ref().map(|subject| format!("{subject}: ")).unwrap_or_default();
        page.painted("outcome", bad(), &format!("{} {subject}{}", verdict_word(vote.verdict), vote.reason));
        page.line("", &by_line(&vote.by, vote.source.as_deref()));
    }
}

fn files(files: &[String]) -> String {
    const SHOWN: usize = 6;
    let mut text = counted(u64::try_from(files.len()).unwrap_or(u64::MAX), "file");
    if !files.is_empty() {
        text.push_str(": ");
        text.push_str(&files.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", "));
    }
    if files.len() > SHOWN {
        text.push_str(&format!(" and {} more", files.len() - SHOWN));
    }
    text
}

fn tests(page: &mut Page, report: &Report) {
    for (label, on, tests) in
        [("tests", "base", &report.tests_on_base), ("", "changed tree", &report.tests_on_tree)]
    {
        if let Some(tests) = tests {
            let label = if report.tests_on_base.is_none() { "tests" } else { label };
            tests_lines(page, label, on, tests);
        }
    }
}

fn tests_lines(page: &mut Page, label: &str, on: &str, tests: &TestsLine) {
    let style = if tests_word(tests.result) == "green" { good() } else { bad() };
    let text = format!(
        "{} on {on} {} ({}, {})",
        tests_word(tests.result),
        short_id(&tests.tree),
        tests.command,
        duration(tests.duration_ms)
    );
    page.painted(label, style, &text);
    for line in &tests.last_lines {
        page.line("", &format!("| {line}"));
    }
}

fn calls(page: &mut Page, report: &Report) {
    let counts = report.counts;
    let text = format!(
        "{}: {} allowed, {} asked, {} denied; {} failed",
        counted(counts.calls, "call"),
        counts.allow,
        counts.ask,
        counts.deny,
        counts.errored
    );
    page.line("calls", &text);
    for refused in report.refused.iter().take(REFUSED_SHOWN) {
        let style = if refused.verdict == Verdict::Deny { bad() } else { unsure() };
        let text = format!(
            "{:4} {}: {}",
            verdict_word(refused.verdict),
            refused.tool,
            shortened(&refused.subject, 100)
        );
        page.painted(&format!("  #{}", refused.call), style, &text);
        page.line(
            "",
            &format!("     {}: {}", by_line(&refused.by, refused.source.as_deref()), refused.reason),
        );
        if let Some(hint) = &refused.hint {
            page.line("", &format!("     hint: {hint}"));
        }
    }
    if report.refused.len() > REFUSED_SHOWN {
        page.line("", &format!("and {} more, see the JSON report", report.refused.len() - REFUSED_SHOWN));
    }
}

fn by_line(by: &str, source: Option<&str>) -> String {
    match source {
        Some(source) => format!("{by} ({source})"),
        None => by.to_owned(),
    }
}

fn trust(page: &mut Page, report: &Report) {
    match &report.integrity {
        Some(integrity) if integrity.differences.is_empty() => {
            let compared = if integrity.compared.is_empty() {
                String::new()
            } else {
                format!(" (compared: {})", integrity.compared.join(", "))
            };
            page.painted("repository", good(), &format!("unchanged{compared}"));
        }
        Some(integrity) => {
            for difference in &integrity.differences {
                page.painted("repository", bad(), &format!("{}: {}", difference.what, difference.how));
            }
        }
        None => page.painted("repository", unsure(), "was not compared"),
    }
    layers(page, "isolation", "in force", good(), &report.isolation.in_force);
    layers(page, "", "not in force", unsure(), &report.isolation.not_in_force);
    if let Some(policy) = &report.policy {
        page.line("policy", &format!("{} ({} rules)", policy.sources.join(", "), policy.rules));
        page.line("", &format!("sha256 {}", policy.digest));
        for file in &policy.policy_files_changed {
            page.painted("", bad(), &format!("changed by the run: {file}"));
        }
    }
}

fn layers(page: &mut Page, label: &str, what: &str, style: Style, layers: &[Layer]) {
    for (index, layer) in layers.iter().enumerate() {
        let label = if index == 0 { label } else { "" };
        let note = if layer.note.is_empty() { String::new() } else { format!(": {}", layer.note) };
        page.painted(label, style, &format!("{what}: {}{note}", layer.name));
    }
}

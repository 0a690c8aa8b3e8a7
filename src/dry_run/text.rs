//! The summary for people: aligned, and the same without colour.

use anstyle::{AnsiColor, Style};

use crate::record::{one_line, shortened};

use super::{Difference, Sample, Summary};

/// Who voted: rows that are shown.
const RULES_SHOWN: usize = 25;

struct Page {
    text: String,
    has_colour: bool,
}

impl Page {
    fn paint(&self, style: Style, text: &str) -> String {
        if self.has_colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn heading(&mut self, text: &str) {
        let painted = self.paint(Style::new().bold(), text);
        self.text.push_str(&format!("\n{painted}\n"));
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(&one_line(text));
        self.text.push('\n');
    }

    fn sample(&mut self, sample: &Sample) {
        let line = format!("         {}  ({})", shortened(&sample.subject, 90), sample.place);
        self.line(&line);
    }

    fn differences(&mut self, differences: &[Difference]) {
        for difference in differences {
            let id = difference.id.as_ref().map(|id| format!("{id} ")).unwrap_or_default();
            self.line(&format!(
                "  {id}{} is now {}: {}  ({})",
                difference.before,
                difference.now,
                shortened(&difference.sample.subject, 80),
                difference.sample.place
            ));
        }
    }
}

pub(super) fn render(summary: &Summary, has_colour: bool) -> String {
    let mut page = Page { text: String::new(), has_colour };
    head(&mut page, summary);
    if !summary.rules.is_empty() {
        page.heading("votes against calls");
        page.line("  calls decided   by");
        for rule in summary.rules.iter().take(RULES_SHOWN) {
            let source = rule.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
            page.line(&format!("{:7} {:7}   {}{source}", rule.calls, rule.decided, rule.by));
            for sample in &rule.samples {
                page.sample(sample);
            }
        }
        if summary.rules.len() > RULES_SHOWN {
            page.line(&format!("        and {} more", summary.rules.len() - RULES_SHOWN));
        }
    }
    if !summary.refused.is_empty() {
        page.heading("refused most often");
        for command in summary.refused.iter().take(10) {
            page.line(&format!(
                "{:7}   {}  [{}]",
                command.count,
                shortened(&command.subject, 90),
                command.by
            ));
        }
    }
    if let Some(expected) = &summary.expected {
        page.heading("compared with what the cases expect");
        page.line(&format!(
            "  {} right, {} stricter, {} looser",
            expected.right, expected.stricter, expected.looser
        ));
        page.differences(&expected.differences);
    }
    if let Some(recorded) = &summary.recorded_before {
        page.heading("compared with the recorded decisions");
        page.line(&format!("  {} the same, {} different", recorded.same, recorded.different));
        page.differences(&recorded.differences);
    }
    if !summary.outcomes.is_empty() {
        page.heading("what the logs say became of calls");
        for outcome in &summary.outcomes {
            page.line(&format!(
                "{:7}   {}, of which the policy allows {}",
                outcome.count, outcome.outcome, outcome.allowed
            ));
            for sample in &outcome.samples {
                page.sample(sample);
            }
        }
    }
    doubts(&mut page, summary);
    page.text
}

fn head(page: &mut Page, summary: &Summary) {
    let formats = summary
        .formats
        .iter()
        .map(|(format, count)| if *count == 1 { format.clone() } else { format!("{count} {format}") })
        .collect::<Vec<_>>()
        .join(", ");
    page.line(&format!("logs      {} ({formats}), {} lines", summary.logs, summary.lines));
    let nested = if summary.nested > 0 {
        format!(", {} more made by scripts inside them", summary.nested)
    } else {
        String::new()
    };
    page.line(&format!("calls     {}{nested}", summary.calls));
    for (word, count, colour) in [
        ("allow", summary.allow, AnsiColor::Green),
        ("ask", summary.ask, AnsiColor::Yellow),
        ("deny", summary.deny, AnsiColor::Red),
    ] {
        let word = page.paint(Style::new().fg_color(Some(colour.into())), &format!("{word:9}"));
        page.text.push_str(&format!("{word} {count:<8}{}\n", share(count, summary.judged)));
    }
}

fn share(count: u64, all: u64) -> String {
    if all == 0 {
        return String::new();
    }
    let thousandths = count.saturating_mul(1_000) / all;
    format!("{:3}.{} %", thousandths / 10, thousandths % 10)
}

/// What could not be judged, or not be read.
fn doubts(page: &mut Page, summary: &Summary) {
    let mut lines = Vec::new();
    if summary.unreadable > 0 {
        lines
            .push(format!("{:7}   calls with a part that cannot be read with certainty", summary.unreadable));
    }
    if summary.no_directory > 0 {
        lines.push(format!("{:7}   calls without a known directory (give --root)", summary.no_directory));
    }
    for (reason, count) in &summary.opaque {
        lines.push(format!("{count:7}   calls that cannot be judged fully: {reason}"));
    }
    if summary.repeated > 0 {
        lines.push(format!("{:7}   records of calls that were there before, counted once", summary.repeated));
    }
    for kind in &summary.unknown {
        lines.push(format!(
            "{:7}   records of the unknown kind `{}`, first {}",
            kind.count, kind.kind, kind.first
        ));
    }
    if summary.bad > 0 {
        lines.push(format!("{:7}   lines or records that cannot be read", summary.bad));
    }
    for problem in &summary.problems {
        lines.push(format!("          {}: {}", problem.place, problem.what));
    }
    for log in &summary.silent_logs {
        lines.push(format!("          {log}: no call in it was understood"));
    }
    if !lines.is_empty() {
        page.heading("not judged, or in doubt");
        for line in lines {
            page.line(&line);
        }
    }
}

//! `policy compare`: what a new policy changes.

use clap::{Args, ValueEnum};

use crate::call::mask_secrets;
use crate::cli::check::context_of;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, with_causes};
use crate::cli::screen::{Screen, harmless, plural};
use crate::cli::setup::Setup;
use crate::log::{Item, LogReader, Seen};
use crate::policy::{Comparison, Kind, Shift, Tried};

/// Calls that are shown of each rule.
const SHOWN: usize = 2;
/// Characters of a call or a difference that are shown.
const WIDTH: usize = 90;

/// Show what a new policy changes
///
/// Which rules were added, removed or changed, and which calls are judged otherwise. The examples of both policies are
/// tried, and the calls of --calls. Nothing is executed.
#[derive(Debug, Args)]
pub(in crate::cli) struct PolicyCompareArgs {
    /// The policy as it is: a file or `builtin:NAME`
    #[arg(value_name = "OLD")]
    old: String,
    /// The policy as it would be
    #[arg(value_name = "NEW")]
    new: String,
    /// Calls to try besides: a log in any format that `dry-run` reads, or `-` for stdin; may be given more than once
    #[arg(long, value_name = "FILE")]
    calls: Vec<String>,
    /// Exit with 6 when a call is judged otherwise in this way
    #[arg(long, value_name = "HOW", default_value = "never")]
    fail_on: CompareFailOn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompareFailOn {
    /// Some call is judged less strictly
    Loosened,
    /// Some call is judged otherwise
    Changed,
    /// Never
    Never,
}

pub(super) fn compare(args: &PolicyCompareArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let (old, _) = setup.policy(std::slice::from_ref(&args.old))?;
    let (new, _) = setup.policy(std::slice::from_ref(&args.new))?;
    let mut more = Vec::new();
    let mut seen = Seen::new();
    for name in &args.calls {
        let failed = |why: String| Failure::usage(format!("cannot read {name}: {why}"));
        let mut reader = LogReader::open(setup.open(name)?, name, None, std::mem::take(&mut seen))
            .map_err(|error| failed(with_causes(&error)))?;
        for item in reader.by_ref() {
            if let Item::Call(recorded) = item.map_err(|error| failed(with_causes(&error)))? {
                let context = context_of(&recorded.call, None, None, setup);
                let from = recorded.place.to_string();
                more.push(Tried { call: recorded.call, before: Vec::new(), context, from });
            }
        }
        let (tally, known) = reader.finish();
        seen = known;
        if tally.bad > 0 {
            screen.warn(&format!("{name}: {} not read", plural(tally.bad, "line", "lines")));
        }
    }
    let comparison = old.compare(&new, more);
    tell(&comparison, args, screen)?;
    let is_loosened = comparison.shifts.iter().any(|shift| !shift.is_tightened());
    let is_over = match args.fail_on {
        CompareFailOn::Loosened => is_loosened,
        CompareFailOn::Changed => !comparison.shifts.is_empty(),
        CompareFailOn::Never => false,
    };
    Ok(if is_over { Exit::Verdicts } else { Exit::Fine })
}

fn tell(comparison: &Comparison, args: &PolicyCompareArgs, screen: &mut Screen) -> Result<(), Failure> {
    let count = |kind: Kind| comparison.rules.iter().filter(|change| change.kind == kind).count();
    screen.line(&format!("{} -> {}", harmless(&args.old), harmless(&args.new)))?;
    screen.line(&format!(
        "rules: {} added, {} removed, {} changed, {} as before",
        count(Kind::Added),
        count(Kind::Removed),
        count(Kind::Changed),
        comparison.same
    ))?;
    for (name, was, is) in &comparison.levels {
        screen.line(&format!(
            "{name}: {} -> {}",
            screen.verdict(*was).trim_end(),
            screen.verdict(*is).trim_end()
        ))?;
    }
    let mut shown: Vec<&Shift> = Vec::new();
    for change in &comparison.rules {
        let sign = match change.kind {
            Kind::Added => '+',
            Kind::Removed => '-',
            Kind::Changed => '~',
        };
        screen.line("")?;
        screen.line(&format!("{sign} {}  {}", harmless(&change.id), harmless(&change.place.to_string())))?;
        for part in &change.parts {
            screen.line(&format!("    {}", harmless(&cut(part))))?;
        }
        let own: Vec<&Shift> =
            comparison.shifts.iter().filter(|shift| shift.rules.contains(&change.id)).collect();
        if own.is_empty() {
            screen.line("    no call that was tried is judged otherwise")?;
        }
        for shift in own.iter().take(SHOWN) {
            one_shift(shift, screen)?;
        }
        if own.len() > SHOWN {
            screen.line(&format!("    and {} more", plural((own.len() - SHOWN) as u64, "call", "calls")))?;
        }
        shown.extend(own);
    }
    let others: Vec<&Shift> = comparison
        .shifts
        .iter()
        .filter(|shift| !shown.iter().any(|known| std::ptr::eq(*known, *shift)))
        .collect();
    if !others.is_empty() {
        screen.line("")?;
        screen.line("Judged otherwise by no rule that changed")?;
        for shift in others.iter().take(SHOWN * 5) {
            one_shift(shift, screen)?;
        }
        if others.len() > SHOWN * 5 {
            let rest = (others.len() - SHOWN * 5) as u64;
            screen.line(&format!("    and {} more", plural(rest, "call", "calls")))?;
        }
    }
    let tightened = comparison.shifts.iter().filter(|shift| shift.is_tightened()).count();
    screen.line("")?;
    screen.line(&format!(
        "{} tried: {tightened} tightened, {} loosened, {} as before",
        plural(comparison.tried as u64, "call", "calls"),
        comparison.shifts.len() - tightened,
        comparison.tried - comparison.shifts.len()
    ))?;
    Ok(())
}

fn one_shift(shift: &Shift, screen: &mut Screen) -> Result<(), Failure> {
    let way = if shift.is_tightened() { "tightened" } else { "loosened " };
    let (was, is) = (screen.verdict(shift.old.0), screen.verdict(shift.new.0));
    let call = cut(&mask_secrets(&shift.call));
    screen.line(&format!("    {way}  {} -> {}  {}", was.trim_end(), is.trim_end(), harmless(&call)))?;
    let by = format!("{} -> {}; {}", shift.old.1, shift.new.1, shift.from);
    screen.line(&format!("               {}", harmless(&by)))?;
    Ok(())
}

/// The beginning of a text that is too long.
fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

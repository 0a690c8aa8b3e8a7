//! The other direction: whether something lies wholly within a matcher.
//!
//! An exception takes a part of a call away from its rule, and an allow rule lets a call through that the default
//! would stop. Both must hold for all that happens, with certainty: expressions have to match whole texts, every
//! path has to lie inside the globs, and what is not known is never inside.

use std::path::Path;

use crate::call::{HostTarget, PathPattern, PathTarget, ToolClass};
use crate::shell::{Access, Command, Fit, Piece};
use crate::verdict::Verdict;

use super::expression::Extent;
use super::fit::{fit_args, fit_command, fit_host, fit_run, fit_texts};
use super::rule::{Matcher, Rule};
use super::sight::Sight;
use super::when::Outcome;

/// A name that no glob of a policy spells out, for a part of a path that is some name or other.
const SOME_NAME: &str = "\u{e000}some-name";

/// Variables that decide which code a program runs: a command that sets one is not what an allow rule named.
const STEERING_PREFIXES: &[&str] = &["LD_", "DYLD_", "GIT_", "BASH_", "npm_config_", "PIP_"];
/// Of those, what does not.
const PLAIN_PREFIXES: &[&str] =
    &["GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS"];
const STEERING: &[&str] = &[
    "PATH",
    "ENV",
    "IFS",
    "HOME",
    "SHELL",
    "SHELLOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "MAKEFLAGS",
    "GOFLAGS",
    "CC",
    "CXX",
    "RUSTC",
    "RUSTFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOC",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "XDG_CONFIG_HOME",
];

/// Whether an exception takes away the part of a call that consists of these commands (or of all of it) and,
/// if the rule is about one, this path.
pub(super) fn relaxes(
    matcher: &Matcher,
    sight: &Sight<'_>,
    commands: Option<&[usize]>,
    path: Option<&PathTarget>,
) -> bool {
    if fit_texts(matcher, sight, Extent::Whole) != Fit::Yes || fit_args(matcher, sight) != Fit::Yes {
        return false;
    }
    if matcher.when.as_ref().is_some_and(|when| when.outcome(sight) != Outcome::Holds) {
        return false;
    }
    if matcher.has_command_part() {
        let all: Vec<usize>;
        let commands = match commands {
            Some(commands) => commands,
            None => {
                all = (0..sight.commands().len()).collect();
                &all
            }
        };
        if commands.is_empty() || !commands_lie_within(matcher, sight, commands) {
            return false;
        }
    }
    let paths_fit = match path {
        _ if matcher.paths.is_empty() => true,
        Some(path) => path_lies_within(matcher, sight, path),
        None => paths_lie_within(matcher, sight, sight.paths_of(commands)),
    };
    paths_fit && (matcher.hosts.is_empty() || hosts_lie_within(matcher, sight.hosts_of(commands)))
}

fn commands_lie_within(matcher: &Matcher, sight: &Sight<'_>, commands: &[usize]) -> bool {
    if commands.iter().any(|index| fit_run(matcher, sight, *index) != Fit::Yes) {
        return false;
    }
    let whole = |text: &str| fit_command(matcher, text, Extent::Whole) == Fit::Yes;
    if commands.iter().all(|index| whole(sight.canonical(*index))) {
        return true;
    }
    sight.stretches().iter().any(|stretch| stretch.commands == commands && whole(&stretch.text))
}

fn paths_lie_within<'a>(
    matcher: &Matcher,
    sight: &Sight<'_>,
    mut paths: impl Iterator<Item = &'a PathTarget>,
) -> bool {
    // A matcher about paths says nothing where no path is touched.
    let Some(first) = paths.next() else { return false };
    path_lies_within(matcher, sight, first) && paths.all(|path| path_lies_within(matcher, sight, path))
}

fn hosts_lie_within<'a>(matcher: &Matcher, mut hosts: impl Iterator<Item = &'a HostTarget>) -> bool {
    let Some(first) = hosts.next() else { return false };
    fit_host(matcher, first) == Fit::Yes && hosts.all(|host| fit_host(matcher, host) == Fit::Yes)
}

/// Whether everything that `path` may touch lies inside the globs, by name and through links.
fn path_lies_within(matcher: &Matcher, sight: &Sight<'_>, path: &PathTarget) -> bool {
    if !matcher.covers_access(path.access) {
        return false;
    }
    path.forms().all(|form| {
        matcher.paths.iter().any(|(text, glob)| {
            let takes_all_below = text.ends_with("/**") || text.ends_with('/') || text == "**";
            match sample(form) {
                None => false,
                // `/` lies outside the repository and holds it all the same.
                Some(_) if path.recursive && glob.is_outside_repo() => false,
                Some((_, is_certain))
                    if (path.recursive || !is_certain) && !takes_all_below && !glob.is_outside_repo() =>
                {
                    false
                }
                Some((sample, _)) => glob.fit_path(&sample, Access::Write, false, &sight.context) == Fit::Yes,
            }
        })
    })
}

/// A certain path that stands for all that `form` may be, and whether it is the only one; `None` when parts are
/// not known.
fn sample(form: &PathPattern) -> Option<(PathPattern, bool)> {
    let mut text = String::new();
    let mut is_certain = true;
    for piece in form.pieces() {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Glob(_) | Piece::Name => {
                is_certain = false;
                text.push_str(SOME_NAME);
            }
            Piece::Unknown { .. } => return None,
        }
    }
    Some((PathPattern::known(Path::new(&text)), is_certain))
}

/// A part of a call that has to be allowed on its own.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit<'a> {
    /// One command of a line, its redirects aside.
    Command(usize),
    /// A file that a redirect writes.
    Redirect(&'a PathTarget),
    /// The call of a tool that is no shell.
    Call,
}

/// Everything of a call that has to be allowed; empty when nothing of it could be read.
pub(super) fn units<'a>(sight: &Sight<'a>) -> Vec<Unit<'a>> {
    if !sight.is_shell() {
        return vec![Unit::Call];
    }
    let redirects = sight.targets.paths.iter().filter(|path| path.redirect && path.access != Access::Read);
    (0..sight.commands().len()).map(Unit::Command).chain(redirects.map(Unit::Redirect)).collect()
}

impl Rule {
    /// Whether this allow rule covers a part of a call.
    pub(super) fn covers(&self, sight: &Sight<'_>, unit: Unit<'_>) -> bool {
        let matcher = &self.matcher;
        if self.verdict != Verdict::Allow
            || self.fit_call(sight) != Fit::Yes
            || !self.is_certainly_after(sight)
            || matcher.when.as_ref().is_some_and(|when| when.outcome(sight) != Outcome::Holds)
        {
            return false;
        }
        let is_about_effects = !matcher.paths.is_empty() || !matcher.hosts.is_empty();
        match unit {
            Unit::Command(index) => {
                if matcher.has_command_part() {
                    if !commands_lie_within(matcher, sight, &[index]) {
                        return false;
                    }
                } else if is_about_effects {
                    return false;
                }
                let set = [index];
                (!matcher.has_command_part()
                    || sight.command(index).is_some_and(|command| !is_steered(command)))
                    && self.effects_lie_within(sight, Some(&set))
            }
            Unit::Redirect(path) => {
                if !matcher.hosts.is_empty() {
                    return false;
                }
                if matcher.has_command_part() {
                    let Some(index) = path.command else { return false };
                    if matcher.paths.is_empty() || !commands_lie_within(matcher, sight, &[index]) {
                        return false;
                    }
                }
                matcher.paths.is_empty() || path_lies_within(matcher, sight, path)
            }
            Unit::Call => {
                if matcher.has_command_part() {
                    return false;
                }
                if self.tools.is_empty() && is_about_effects && !self.speaks_of_all(sight) {
                    return false;
                }
                self.effects_lie_within(sight, None)
            }
        }
    }

    fn effects_lie_within(&self, sight: &Sight<'_>, commands: Option<&[usize]>) -> bool {
        let matcher = &self.matcher;
        (matcher.paths.is_empty() || paths_lie_within(matcher, sight, sight.paths_of(commands)))
            && (matcher.hosts.is_empty() || hosts_lie_within(matcher, sight.hosts_of(commands)))
    }

    /// Whether paths or hosts are all that there is to a call of this tool.
    fn speaks_of_all(&self, sight: &Sight<'_>) -> bool {
        match sight.targets.class {
            ToolClass::Read | ToolClass::Write | ToolClass::Edit => {
                !self.matcher.paths.is_empty() && sight.targets.hosts.is_empty()
            }
            ToolClass::Fetch => !self.matcher.hosts.is_empty() && sight.targets.paths.is_empty(),
            _ => false,
        }
    }
}

/// Whether an assignment in front of a command decides which code it runs.
fn is_steered(command: &Command) -> bool {
    command.assignments.iter().any(|assignment| {
        let name = assignment.name.as_str();
        let is_cargo_program = name.starts_with("CARGO_")
            && ["_RUNNER", "_LINKER", "_WRAPPER", "_RUSTC", "_RUSTDOC", "_RUSTFLAGS"]
                .iter()
                .any(|end| name.ends_with(end));
        let is_plain = PLAIN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        STEERING.contains(&name)
            || is_cargo_program
            || STEERING_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) && !is_plain
    })
}

//! `doctor`: what this machine offers and what is missing.

use clap::Args;

use crate::policy::Policy;
use crate::sandbox::{Cancel, Isolation, become_subreaper};
use crate::state::State;
use crate::worktree::{Git, Repository, UserContext};

use super::exit::Exit;
use super::failure::{Failure, with_causes};
use super::screen::{Screen, harmless};
use super::setup::{Setup, today};

/// Look at git, isolation, policies, state and settings of this machine
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {}

pub(super) fn doctor(_args: &DoctorArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let mut is_well = true;
    let tell = |screen: &mut Screen, name: &str, good: bool, text: &str| {
        let mark = if good { "ok     " } else { "missing" };
        screen.line(&format!("{mark}  {name:<18}  {}", harmless(text)))
    };
    let user = UserContext::from_environment(|name| std::env::var_os(name));
    match Git::find(&user, &Cancel::new()) {
        Ok(git) => tell(screen, "git", true, &git.version().to_string())?,
        Err(error) => {
            is_well = false;
            let step = error.next_step().unwrap_or_default();
            tell(screen, "git", false, &format!("{}; {step}", with_causes(&error)))?;
        }
    }
    match Repository::open(&setup.cwd, &user, &Cancel::new()) {
        Ok(repository) => tell(screen, "repository", true, &repository.root().display().to_string())?,
        // A person may well ask outside of one.
        Err(error) => tell(screen, "repository", false, &with_causes(&error))?,
    }
    let _ = become_subreaper();
    for layer in Isolation::survey().layers {
        tell(screen, layer.name, layer.in_force, &layer.why)?;
    }
    for name in Policy::builtin_names() {
        let source = Policy::builtin(name).into_iter().collect::<Vec<_>>();
        match Policy::load(&source, &crate::policy::NoLibrary, today()) {
            Ok(policy) => {
                let rules = policy.rules().count();
                tell(
                    screen,
                    &format!("builtin:{name}"),
                    true,
                    &format!("{rules} rules, digest {}", policy.digest()),
                )?;
            }
            Err(error) => {
                is_well = false;
                tell(screen, &format!("builtin:{name}"), false, &error.to_string())?;
            }
        }
    }
    match setup.policy(&[]) {
        Ok((policy, names)) => {
            tell(screen, "policy", true, &format!("{}: digest {}", names.join(", "), policy.digest()))?
        }
        Err(failure) => {
            is_well = false;
            tell(screen, "policy", false, failure.text(false).trim())?;
        }
    }
    match State::locate(|name| std::env::var_os(name)) {
        Ok(state) if state.is_writable() => tell(screen, "state", true, &state.root().display().to_string())?,
        Ok(state) => {
            let text = format!("{} cannot be written; give --out to each run", state.root().display());
            tell(screen, "state", false, &text)?;
        }
        Err(error) => tell(screen, "state", false, &format!("{error}; {}", error.next_step()))?,
    }
    Ok(if is_well { Exit::Fine } else { Exit::Failed })
}

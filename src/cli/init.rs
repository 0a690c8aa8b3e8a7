//! `init`: the first files of a repository.

use std::io::Write;

use clap::Args;

use super::exit::Exit;
use super::failure::Failure;
use super::screen::Screen;
use super::setup::Setup;

const POLICY: &str = include_str!("init/policy.yml");
const CONFIG: &str = include_str!("init/config.yml");
const WORKFLOW: &str = include_str!("init/ci.yml");

/// Write a first policy, settings and a CI snippet
///
/// Makes .gatewright/policy.yml, .gatewright/config.yml and .gatewright/ci-example.yml. A file that is there is
/// never overwritten.
#[derive(Debug, Args)]
pub(super) struct InitArgs {}

pub(super) fn init(_args: &InitArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let folder = setup.cwd.join(".gatewright");
    let failed = |error: std::io::Error| {
        Failure::new(Exit::Failed, format!("cannot write {}: {error}", folder.display()))
            .with_hint("check its owner and the space left")
    };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    for (name, text) in [("policy.yml", POLICY), ("config.yml", CONFIG), ("ci-example.yml", WORKFLOW)] {
        let path = folder.join(name);
        let shown = format!(".gatewright/{name}");
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes()).map_err(failed)?;
                screen.line(&format!("wrote {shown}"))?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                screen.line(&format!("kept {shown}"))?;
            }
            Err(error) => return Err(failed(error)),
        }
    }
    screen.status("next: commit .gatewright, then try `gatewright policy check .gatewright/policy.yml`");
    Ok(Exit::Fine)
}

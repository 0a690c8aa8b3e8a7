//! `policy schema`: the JSON Schema of policy files.

use clap::Args;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::policy;

/// Print the JSON Schema of policy files, for editors
#[derive(Debug, Args)]
pub(in crate::cli) struct PolicySchemaArgs {}

pub(super) fn schema(_args: &PolicySchemaArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    screen.line(&serde_json::to_string_pretty(&policy::schema()).unwrap_or_default())?;
    Ok(Exit::Fine)
}

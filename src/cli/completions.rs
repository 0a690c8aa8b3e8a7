//! `completions` and `man`: what shells and readers of manuals want.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Arguments;
use super::exit::Exit;
use super::failure::Failure;
use super::screen::Screen;

/// Write completions for a shell
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

/// Write the manual page
#[derive(Debug, Args)]
pub(super) struct ManArgs {}

pub(super) fn completions(args: &CompletionsArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "gatewright", &mut text);
    screen.answer(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Fine)
}

pub(super) fn man(_args: &ManArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_mangen::Man::new(Arguments::command()).render(&mut text)?;
    screen.answer(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Fine)
}

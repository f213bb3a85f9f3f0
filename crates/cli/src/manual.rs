//! Completions and manual pages, made from the command line itself.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_complete::Shell;
use nicteam_sys::Context;

use crate::failure::Failure;
use crate::say;

/// Print the completions of a shell.
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

/// Write a manual page for each command into a folder.
#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// The folder; made if it is not there.
    folder: PathBuf,
}

/// Prints completions of `nicteam`, which is the command.
pub(crate) fn completions(completions: &Completions, nicteam: &Command) -> Result<(), Failure> {
    let (mut text, mut command) = (Vec::new(), shown(nicteam));
    clap_complete::generate(completions.shell, &mut command, "nicteam", &mut text);
    say::data(String::from_utf8_lossy(&text))
}

/// The same without the commands that only programs call: nobody wants them offered.
fn shown(command: &Command) -> Command {
    let of_people = command.get_subcommands().filter(|command| !command.is_hide_set());
    // It is made once, in a process that ends with it.
    let name: &'static str = command.get_name().to_owned().leak();
    Command::new(name)
        .about(command.get_about().cloned().unwrap_or_default())
        .version(command.get_version().map(|_| env!("CARGO_PKG_VERSION")))
        .args(command.get_arguments())
        .subcommands(of_people.map(shown))
}

/// Writes manual pages of `nicteam`, which is the command.
pub(crate) fn man(man: &Man, mut nicteam: Command) -> Result<(), Failure> {
    let folder = &man.folder;
    // Gives each command its whole name.
    nicteam.build();
    hide_help(&mut nicteam);
    let write = || {
        fs::create_dir_all(folder)?;
        write_pages(&nicteam, folder)
    };
    Ok(write().context(|| format!("write manual pages into {}", folder.display()))?)
}

/// `help` has no page that another could name.
fn hide_help(command: &mut Command) {
    for sub in command.get_subcommands_mut() {
        if sub.get_name() == "help" {
            *sub = std::mem::take(sub).hide(true);
        }
        hide_help(sub);
    }
}

/// The page of a command, and those of its own commands, but hidden ones.
fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    // Of `bond/show`, as Open vSwitch calls it.
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).replace('/', "-");
    let mut page = Vec::new();
    let source = concat!("nicteam ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command.clone()).title(&name).source(source).manual("nicteam").render(&mut page)?;
    fs::write(folder.join(format!("{name}.1")), page)?;
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown.into_iter().try_for_each(|command| write_pages(command, folder))
}

//! nicteam's own: `/etc/nicteam/*.toml`. A table a team, `[teams.NAME]`: its members, the options of bonding by the
//! kernel's names, its addresses and routes.

mod keys;
mod read;
mod schema;
mod write;

use nicteam_diagnostics::Diagnostics;
use nicteam_drafts::{Format, Writer, Written};
use nicteam_drafts::{Import, Network};
use nicteam_syntax::Source;

pub use schema::{key_reference, schema};

/// nicteam's own format.
pub struct Toml;

impl Format for Toml {
    fn name(&self) -> &'static str {
        "toml"
    }

    fn title(&self) -> &'static str {
        "nicteam's own (/etc/nicteam/*.toml)"
    }

    fn recognises(&self, source: &Source) -> bool {
        let is_header = |line: &str| line.trim_start().starts_with("[teams");
        source.path.ends_with(".toml") || source.text.lines().any(is_header)
    }

    fn read_with(&self, sources: &[Source], _members: &[String]) -> Result<Import, Diagnostics> {
        read::read(sources)
    }
}

impl Writer for Toml {
    fn name(&self) -> &'static str {
        Format::name(self)
    }

    fn title(&self) -> &'static str {
        Format::title(self)
    }

    /// A file a team.
    fn write(&self, network: &Network) -> Written {
        let file = |team: &nicteam_drafts::Team| {
            let import = Import { network: Network { teams: vec![team.clone()] }, ..Import::default() };
            Source::new(format!("/etc/nicteam/{}.toml", team.name), write(&import))
        };
        Written { files: network.teams.iter().map(file).collect(), left: Vec::new() }
    }
}

/// Reads files that belong together: those of `/etc/nicteam`.
///
/// # Errors
/// Everything that is wrong with the first file that something is wrong with.
pub fn read(sources: &[Source]) -> Result<Network, Diagnostics> {
    read::read(sources).map(|import| import.network)
}

/// One text with all teams; what could not be taken over stands in it as comments.
pub fn write(import: &Import) -> String {
    write::write(import)
}

//! Debian's ifupdown: `/etc/network/interfaces` and what it sources, with the options of package ifenslave.
//!
//! After ifupdown 0.8.41 (`interfaces(5)`, and what `ifup -n` says) and the hooks of ifenslave 2.13
//! (`/etc/network/if-pre-up.d/ifenslave`, `README.Debian`). `-` and `_` are one in the names of options: both become
//! `IF_BOND_MODE` in a hook's environment. Names that ifupdown2 and ifupdown-ng have beside are taken, too.

mod addresses;
mod beside;
mod bond;
mod disable;
mod index;
mod interfaces;
mod lines;
mod members;
mod openvswitch;
mod read;
mod sourced;
mod stanza;
mod write;

pub use interfaces::{Definition, Interfaces, List};

use nicteam_diagnostics::Diagnostics;
use nicteam_drafts::{Format, Writer, Written};
use nicteam_drafts::{Import, Network};
use nicteam_syntax::Source;

pub use sourced::{Sourced, sourced};

/// Debian's ifupdown.
pub struct Ifupdown;

impl Format for Ifupdown {
    fn name(&self) -> &'static str {
        "ifupdown"
    }

    fn title(&self) -> &'static str {
        "Debian's ifupdown (/etc/network/interfaces)"
    }

    fn recognises(&self, source: &Source) -> bool {
        let is_head = |line: &str| {
            let mut words = line.split_whitespace();
            words.next() == Some("iface")
                && words.next().is_some()
                && matches!(words.next(), None | Some("inet" | "inet6"))
        };
        source.path.ends_with("/interfaces") || source.text.lines().any(is_head)
    }

    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
        read::read(sources, members)
    }
}

impl Writer for Ifupdown {
    fn name(&self) -> &'static str {
        Format::name(self)
    }

    fn title(&self) -> &'static str {
        Format::title(self)
    }

    fn write(&self, network: &Network) -> Written {
        write::write(network)
    }
}

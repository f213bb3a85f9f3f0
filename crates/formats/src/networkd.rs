//! systemd-networkd: `*.netdev` and `*.network` of `/etc/systemd/network`.
//!
//! After systemd 252 (`systemd.netdev(5)`, `systemd.network(5)`, `systemd.time(7)`), and `ARPMissedMax=` of 256.

mod keys;
mod read;
mod time;
mod write;

use nicteam_diagnostics::Diagnostics;
use nicteam_drafts::{Format, Writer, Written};
use nicteam_drafts::{Import, Network};
use nicteam_syntax::Source;

/// systemd-networkd.
pub struct Networkd;

impl Format for Networkd {
    fn name(&self) -> &'static str {
        "networkd"
    }

    fn title(&self) -> &'static str {
        "systemd-networkd (/etc/systemd/network/*.netdev, *.network)"
    }

    fn recognises(&self, source: &Source) -> bool {
        let is_ours = |line: &str| matches!(line.trim(), "[NetDev]" | "[Network]" | "[Bond]");
        let has_name = [".netdev", ".network"].iter().any(|end| source.path.ends_with(end));
        has_name || read::drop_in_of(&source.path).is_some() || source.text.lines().any(is_ours)
    }

    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
        read::read(sources, members)
    }
}

impl Writer for Networkd {
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

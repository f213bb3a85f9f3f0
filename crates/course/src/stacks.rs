//! Who gives the teams their addresses: the files of each.

use std::time::Duration;

use super::guest::Guest;
use super::outside::GUEST;
use crate::failure::Failure;

/// Who gives addresses to `team0` and to `team1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stacks {
    /// systemd-networkd, and nicteam by its own file.
    NetworkdAndOwn,
    /// netplan (by networkd) with DHCP, and ifupdown.
    NetplanAndIfupdown,
}

/// How long the first team forwards without its process (`lacp_lease`, docs/team.md). At the usual 30 s a process that
/// hangs, which the watchdog ends after 20 s, leaves 10 s for the next one to start: an emulated processor needs more.
pub(super) const LEASE: Duration = Duration::from_secs(60);

/// A file of ours.
pub(super) const TEAMS: &str = "/etc/nicteam/teams.toml";
/// A file of networkd that manages every Ethernet device.
pub(super) const CATCH_ALL: &str = "/etc/systemd/network/80-dhcp.network";

const NETWORKD: &str = "/etc/systemd/network/10-team0.network";
const NETPLAN: &str = "/etc/netplan/10-team0.yaml";
const IFUPDOWN: &str = "/etc/network/interfaces.d/team1";

impl Stacks {
    /// Writes the files, and removes those of the other.
    pub(super) fn configure(self, guest: &mut Guest) -> Result<(), Failure> {
        let [first, second] = GUEST.map(|address| format!("{address}/24"));
        remove(guest)?;
        match self {
            Stacks::NetworkdAndOwn => {
                guest.write(TEAMS, &teams(Some(&second)))?;
                let text = format!(
                    "[Match]\nName=team0\n[Network]\nAddress={first}\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n"
                );
                guest.write(NETWORKD, &text)
            }
            Stacks::NetplanAndIfupdown => {
                guest.write(TEAMS, &teams(None))?;
                let text = "network:\n  version: 2\n  renderer: networkd\n  ethernets:\n    team0:\n      \
                            dhcp4: true\n      link-local: []\n      accept-ra: false\n";
                guest.write(NETPLAN, text)?;
                guest.write(IFUPDOWN, &format!("auto team1\niface team1 inet static\n    address {second}\n"))
            }
        }
    }
}

/// Writes a file by which networkd asks for addresses on every Ethernet device, as cloud images have it.
pub(super) fn catch_all(guest: &mut Guest) -> Result<(), Failure> {
    guest.write(CATCH_ALL, "[Match]\nName=en*\n[Network]\nDHCP=yes\n")
}

/// Removes all of these files.
pub(super) fn remove(guest: &mut Guest) -> Result<(), Failure> {
    guest.must(&format!("rm -f {TEAMS} {CATCH_ALL} {NETWORKD} {NETPLAN} {IFUPDOWN}")).map(drop)
}

/// The two teams of the guest.
fn teams(second: Option<&str>) -> String {
    let addresses = second.map(|address| format!("addresses = [\"{address}\"]\n")).unwrap_or_default();
    format!(
        "[teams.team0]\nmembers = [\"ens16\", \"ens17\"]\nmode = \"802.3ad\"\nlacp_rate = \"fast\"\nmiimon = 100\n\
         lacp_lease = {}\n\n\
         [teams.team1]\nmembers = [\"ens18\", \"ens19\"]\nmode = \"active-backup\"\nmiimon = 100\n{addresses}",
        LEASE.as_millis()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_has_addresses_of_its_own_or_not() {
        assert!(teams(Some("10.0.0.1/24")).ends_with("addresses = [\"10.0.0.1/24\"]\n"));
        assert!(!teams(None).contains("addresses"));
    }
}

//! Teams that start and come back: who gives them their addresses, and who leaves them alone.

use std::time::Instant;

use super::{Course, MEMBERS, SETTLED, SPARE, UNITS};
use crate::failure::Failure;
use crate::figure::Figure;
use crate::goods;
use crate::probe::{self, Cost, SPARSE};
use crate::stacks::{self, Stacks, TEAMS};

impl Course<'_> {
    /// Members that networkd manages are not taken, and the cure is said.
    pub(super) fn refuse(&mut self) -> Result<(), Failure> {
        stacks::catch_all(&mut self.guest)?;
        let said = self.guest.run(&format!("nicteam up {TEAMS}"))?;
        eprintln!("{}", said.text);
        let named = said.text.contains(stacks::CATCH_ALL) && said.text.contains("hint:");
        let measured = format!("exit status {}, {}", said.status, if named { "with the cure" } else { "no cure" });
        let bound = "not 0, with the cure";
        let name = "members managed by networkd (`en*`, DHCP): `nicteam up`";
        self.figures.push(Figure::text(name, measured, bound, Some(said.status != 0 && named)));
        self.guest.must(&format!("rm {}", stacks::CATCH_ALL)).map(drop)
    }

    pub(super) fn start(&mut self) -> Result<(), Failure> {
        self.guest.must("networkctl reload")?;
        let began = Instant::now();
        self.guest.must(&format!("systemctl daemon-reload && systemctl start {}", UNITS.join(" ")))?;
        self.wait_answered()?;
        self.told_seconds("teams started: seconds until both answer", began.elapsed());
        self.unchanged_by_udev()
    }

    /// udev's `MACAddressPolicy=persistent` leaves our addresses alone, and would not if they were not ours.
    fn unchanged_by_udev(&mut self) -> Result<(), Failure> {
        let before = self.addresses_of_links()?;
        self.guest.must("udevadm trigger --action=add --subsystem-match=net && udevadm settle")?;
        let after = self.addresses_of_links()?;
        let changed = before.lines().filter(|line| !after.lines().any(|other| other == *line)).count();
        // NET_ADDR_RANDOM is 1, NET_ADDR_SET is 3 (Linux include/uapi/linux/netdevice.h).
        let control = self.guest.must(
            "ip link add control0 type veth peer name control1
             udevadm settle
             cat /sys/class/net/control0/addr_assign_type
             ip link del control0",
        )?;
        let peer = match control.trim() {
            "3" => "a veth device without an address of its own: changed",
            _ => "a veth device without an address of its own: NOT changed",
        };
        let name = "udev's MACAddressPolicy=persistent: addresses of links changed";
        self.figures.push(Figure::count(name, changed as u64, changed.to_string()).peer(peer));
        Ok(())
    }

    fn addresses_of_links(&mut self) -> Result<String, Failure> {
        self.guest.must("for link in /sys/class/net/*; do echo ${link##*/} $(cat $link/address); done")
    }

    /// Both teams are back, with the addresses of these stacks, and the hardware addresses that they had.
    pub(super) fn reboot(&mut self, stacks: Stacks) -> Result<(), Failure> {
        stacks.configure(&mut self.guest)?;
        let before = self.addresses_of_teams()?;
        let probes = self.outside.probes()?;
        let began = Instant::now();
        let (courses, (answered, time)) = probe::watch(&probes, SPARSE, || {
            self.guest.reboot()?;
            Ok((self.wait_answered(), began.elapsed()))
        })?;
        let what = match stacks {
            Stacks::NetworkdAndOwn => "rebooted (team0: networkd, team1: its own file)",
            Stacks::NetplanAndIfupdown => "rebooted (team0: netplan with DHCP, team1: ifupdown)",
        };
        self.must_be_back(what, answered)?;
        self.told_seconds(&format!("{what}: seconds until both answer"), time);
        let silences = courses.iter().map(|course| {
            let Cost { silence_ms, silent_from_ms, .. } = course.cost();
            format!("{:.1} from second {:.1}", silence_ms / 1e3, silent_from_ms / 1e3)
        });
        let silences = silences.collect::<Vec<_>>().join(", ");
        self.figures.push(Figure::text(format!("{what}: longest silence, seconds"), silences, "-", None));
        self.guest.wait_for("the end of the boot", "systemctl is-system-running --wait || true", SETTLED)?;
        let after = self.addresses_of_teams()?;
        let name = format!("{what}: hardware addresses of teams");
        self.figures.push(Figure::text(name, after.clone(), &before, Some(before == after)));
        let failed = self.guest.must("systemctl list-units --failed --no-legend")?;
        failed.lines().for_each(|line| eprintln!("service: {what}: {line}"));
        self.tell(&format!("{what}: units that failed"), failed.lines().count());
        self.guest.must(&format!("mountpoint -q {0} || mount -o ro /dev/vdb {0}", goods::FOLDER))?;
        if stacks == Stacks::NetplanAndIfupdown { self.network_manager() } else { Ok(()) }
    }

    /// NetworkManager, started beside it, keeps away from members, and would not from another device.
    fn network_manager(&mut self) -> Result<(), Failure> {
        self.guest.must("systemctl --quiet unmask NetworkManager.service && systemctl start NetworkManager.service")?;
        let listed = "nmcli -t -f DEVICE,STATE device";
        self.guest.wait_for("NetworkManager", &format!("{listed} | grep -q {SPARE}"), SETTLED)?;
        let states = self.guest.must(listed)?;
        eprintln!("{states}");
        let is_managed = |device: &str| !states.lines().any(|line| line == format!("{device}:unmanaged"));
        let managed = MEMBERS.into_iter().filter(|device| is_managed(device)).count();
        let peer =
            if is_managed(SPARE) { "a device without a team: managed" } else { "a device without a team: NOT managed" };
        let name = "members that NetworkManager manages";
        self.figures.push(Figure::count(name, managed as u64, managed.to_string()).peer(peer));
        self.guest
            .must("systemctl stop NetworkManager.service && systemctl --quiet mask NetworkManager.service")
            .map(drop)
    }

    fn addresses_of_teams(&mut self) -> Result<String, Failure> {
        let text = self.guest.must("cat /sys/class/net/team0/address /sys/class/net/team1/address")?;
        Ok(text.split_whitespace().collect::<Vec<_>>().join(", "))
    }
}

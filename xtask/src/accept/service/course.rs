//! What the guest goes through, and what it costs those outside.

use std::time::Duration;

use nicteam_sys::process;

use super::goods;
use super::guest::Guest;
use super::image::Image;
use super::outside::{GUEST, NICS, Outside};
use super::probe::{self, Cost};
use super::snapshot::Snapshot;
use super::stacks::{self, Stacks, TEAMS};
use crate::accept::Arguments;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::noise::Noise;
use crate::part::Context;
use crate::product::Product;
use crate::scratch::Scratch;

/// Members of both teams.
const MEMBERS: [&str; 4] = ["ens16", "ens17", "ens18", "ens19"];
/// A device of no team, which NetworkManager takes.
const SPARE: &str = "ens20";
const UNITS: [&str; 2] = ["nicteam@team0.service", "nicteam@team1.service"];
/// How long nothing happens, for comparison.
const QUIET: Duration = Duration::from_secs(6);
/// How long is watched after something has happened.
const AFTERWARDS: Duration = Duration::from_secs(4);
/// Until both teams answer: LACP has to agree, and an emulated processor is slow.
const SETTLED: Duration = Duration::from_secs(120);

/// What tells why a unit is not what it should be.
const JOURNAL: &str =
    "systemctl status --no-pager --lines=0 'nicteam@*'; journalctl --no-pager --lines=80 --unit='nicteam@*'
    ip -brief address; networkctl --no-pager";
/// What tells where the guest lost frames.
const COUNTERS: &str = "cut -d' ' -f1-3 /proc/net/softnet_stat; cat /proc/net/snmp; cat /proc/net/dev; tc -statistics qdisc show | grep -E 'qdisc|dropped'";

/// Prints the number of each team's control map.
const CONTROL_MAPS: &str = r"bpftool map list | sed -n 's/^\([0-9]*\): .*name \.data\.control .*/\1/p'";
/// Gives the running teams' maps another layout's number, the first word of `struct control` (bpf/plan.h); prints
/// the maps.
const OTHER_LAYOUT: &str = r#"
for map in $(bpftool map list | sed -n 's/^\([0-9]*\): .*name \.data\.control .*/\1/p'); do
    set -- $(bpftool --json map lookup id $map key 0 0 0 0 | sed 's/.*"value":\["\([^]]*\)"\].*/\1/; s/","/ /g')
    first=$(($1 ^ 1))
    shift
    bpftool map update id $map key 0 0 0 0 value $first "$@" || exit 1
    echo $map
done"#;

/// A step: what it is, and what does it.
type Step = (&'static str, fn(&mut Course<'_>) -> Result<(), Failure>);

const STEPS: [Step; 9] = [
    ("installed", |course| course.install()),
    ("a catch-all of networkd", |course| course.refuse()),
    ("teams started", |course| course.start()),
    ("killed", |course| course.kill()),
    ("upgraded", |course| course.upgrade("upgraded")),
    ("upgraded across a changed map layout", |course| course.upgrade_across_layouts()),
    ("rebooted", |course| course.reboot(Stacks::NetworkdAndOwn)),
    ("rebooted with other stacks", |course| course.reboot(Stacks::NetplanAndIfupdown)),
    ("removed", |course| course.remove()),
];

/// The guest, those outside, and what was seen so far.
struct Course<'a> {
    guest: Guest,
    outside: &'a Outside,
    /// Before the package was there.
    before: Snapshot,
    /// What a while cost in which nothing happened.
    quiet: Cost,
    figures: Vec<Figure>,
}

/// Goes through the whole course; a step that fails is a missed figure, and the last.
pub(super) fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let Context { product, scratch, .. } = *context;
    let (figures, noise) = Noise::around(|| run(product, scratch))?;
    Ok(figures.into_iter().map(|figure| figure.noise(noise)).collect())
}

fn run(product: &Product, scratch: &Scratch) -> Result<Vec<Figure>, Failure> {
    let goods = goods::pack(product, scratch.path())?;
    let image = Image::obtain()?;
    let outside = Outside::new(product, scratch)?;
    let start = std::time::Instant::now();
    let mut guest = Guest::boot(&image, &goods, &outside.host.netns, &NICS)?;
    let booted = Figure::text("booted: seconds until the guest can be used", seconds(start.elapsed()), "-", None);
    guest.wait_for("the end of the boot", "systemctl is-system-running --wait || true", SETTLED)?;
    guest.must(&format!("mount -o ro /dev/vdb {}", goods::FOLDER))?;
    // A device keeps the queue that it got when it was up for the first time.
    for device in MEMBERS {
        guest.must(&format!("ip link set {device} up && ip link set {device} down"))?;
    }
    let before = Snapshot::of(&mut guest, SPARE)?;
    let mut course = Course { guest, outside: &outside, before, quiet: Cost::default(), figures: vec![booted] };
    for (what, step) in STEPS {
        eprintln!("service: {what}");
        match step(&mut course) {
            Ok(()) => {}
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            Err(failure) => {
                let line = failure.to_string().lines().next().unwrap_or_default().to_owned();
                eprintln!("service: {what}: {failure}");
                course.explain(JOURNAL);
                course.figures.push(Figure::text(what, line, "done", Some(false)));
                return Ok(course.figures);
            }
        }
    }
    let Course { guest, figures, .. } = course;
    guest.power_off()?;
    Ok(figures)
}

impl Course<'_> {
    fn install(&mut self) -> Result<(), Failure> {
        self.guest.must(&format!("dpkg -i {}", goods::PACKAGE))?;
        let failed = self.guest.must("systemctl list-units --failed --no-legend")?;
        self.tell("installed: units that failed", failed.lines().count());
        Ok(())
    }

    /// Members that networkd manages are not taken, and the cure is said.
    fn refuse(&mut self) -> Result<(), Failure> {
        Stacks::NetworkdAndOwn.configure(&mut self.guest)?;
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

    fn start(&mut self) -> Result<(), Failure> {
        self.guest.must("networkctl reload")?;
        let began = std::time::Instant::now();
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

    fn kill(&mut self) -> Result<(), Failure> {
        for unit in UNITS {
            self.under_traffic(&format!("{unit} killed with -9"), |guest| {
                let old = main_process(guest, unit)?;
                guest.must(&format!("kill -9 {old}"))?;
                let replaced = format!("{} && {}", is_active(unit), is_not(unit, &old));
                guest.wait_for("systemd to start it again", &replaced, SETTLED).map(drop)
            })?;
        }
        Ok(())
    }

    /// To the package with the higher version.
    fn upgrade(&mut self, what: &str) -> Result<(), Failure> {
        self.under_traffic(what, |guest| {
            let mut replaced = Vec::new();
            for unit in UNITS {
                let old = main_process(guest, unit)?;
                replaced.push(format!("{} && {}", is_active(unit), is_not(unit, &old)));
            }
            guest.must(&format!("dpkg -i {}", goods::UPGRADE))?;
            guest.wait_for("both teams run by the new program", &replaced.join(" && "), SETTLED).map(drop)
        })?;
        let version = self.guest.must("dpkg-query -W -f '${Version}' nicteam")?;
        let name = format!("{what}: version");
        self.figures.push(Figure::text(name, version.clone(), "...+next", Some(version.ends_with("+next"))));
        Ok(())
    }

    /// The same where the maps of the running teams say that they are of another layout: they cannot be taken over.
    fn upgrade_across_layouts(&mut self) -> Result<(), Failure> {
        const WHAT: &str = "upgraded across a changed map layout";
        let old = self.guest.must(OTHER_LAYOUT)?;
        self.upgrade(WHAT)?;
        let new = self.guest.must(CONTROL_MAPS)?;
        let kept = old.split_whitespace().filter(|map| new.split_whitespace().any(|other| other == *map)).count();
        let [old, new] = [old, new].map(|maps| maps.split_whitespace().count());
        let name = format!("{WHAT}: maps taken over all the same");
        self.figures
            .push(Figure::count(name, kept as u64, kept.to_string()).peer(format!("{old} before, {new} after")));
        Ok(())
    }

    /// Both teams are back, with the addresses of these stacks, and the hardware addresses that they had.
    fn reboot(&mut self, stacks: Stacks) -> Result<(), Failure> {
        stacks.configure(&mut self.guest)?;
        let before = self.addresses_of_teams()?;
        let began = std::time::Instant::now();
        self.guest.reboot()?;
        let answered = self.wait_answered();
        let what = match stacks {
            Stacks::NetworkdAndOwn => "rebooted (team0: networkd, team1: its own file)",
            Stacks::NetplanAndIfupdown => "rebooted (team0: netplan, team1: ifupdown)",
        };
        let (measured, holds) = match &answered {
            Ok(()) => ("both".to_owned(), true),
            Err(failure) => (failure.to_string(), false),
        };
        self.figures.push(Figure::text(format!("{what}: teams that are back"), measured, "both", Some(holds)));
        answered?;
        self.told_seconds(&format!("{what}: seconds until both answer"), began.elapsed());
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

    fn remove(&mut self) -> Result<(), Failure> {
        let said = self.guest.must("dpkg --purge nicteam")?;
        eprintln!("{said}");
        stacks::remove(&mut self.guest)?;
        self.guest
            .must("rmdir /etc/nicteam 2>/dev/null; rm -f /run/systemd/network/10-netplan-*; networkctl reload")?;
        self.guest.must("udevadm settle")?;
        let after = Snapshot::of(&mut self.guest, SPARE)?;
        self.figures.extend(self.before.differences(&after, "removed"));
        Ok(())
    }

    /// What it costs those outside that something happens, and beside it that nothing does.
    fn under_traffic(
        &mut self,
        what: &str,
        happens: impl FnOnce(&mut Guest) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let probes = &self.outside.probes;
        let (quiet, ()) = probe::watch(probes, || {
            process::sleep_or_termination(QUIET);
            Ok(())
        })?;
        let guest = &mut self.guest;
        let before = answers_without_room(guest)?;
        let (courses, ()) = probe::watch(probes, || {
            happens(guest)?;
            process::sleep_or_termination(AFTERWARDS);
            Ok(())
        })?;
        let no_room = answers_without_room(guest)?.saturating_sub(before);
        let sum = |courses: &[probe::Course]| courses.iter().map(probe::Course::cost).fold(Cost::default(), Cost::and);
        let (quiet, cost) = (sum(&quiet), sum(&courses));
        if cost.lost > 0 {
            self.explain(COUNTERS);
        }
        self.quiet = self.quiet.and(quiet);
        let parts: Vec<String> =
            courses.iter().map(probe::Course::cost).map(|cost| format!("{} of {}", cost.lost, cost.sent)).collect();
        // What arrived, and the guest's kernel could not answer, no team has lost.
        let lost = (cost.lost as u64).saturating_sub(no_room);
        let measured = match no_room {
            0 => parts.join(", "),
            _ => format!("{lost} ({} not answered, {no_room} of them arrived)", parts.join(", ")),
        };
        let lost = Figure::count(format!("{what}: frames lost"), lost, measured);
        self.figures.push(lost.peer(format!("quiet: {} of {}", quiet.lost, quiet.sent)));
        let twice = Figure::count(format!("{what}: frames twice"), cost.duplicates, cost.duplicates.to_string());
        self.figures.push(twice.peer(format!("quiet: {}", quiet.duplicates)));
        let silence = format!("{:.0}", cost.silence_ms);
        let silence = Figure::text(format!("{what}: longest silence, ms"), silence, "-", None);
        self.figures.push(silence.peer(format!("quiet: {:.0}", quiet.silence_ms)));
        Ok(())
    }

    fn wait_answered(&mut self) -> Result<(), Failure> {
        let start = std::time::Instant::now();
        for (probe, address) in self.outside.probes.iter().zip(GUEST) {
            while !probe.is_answered() {
                if process::termination().is_some() {
                    return Err(Failure::Interrupted);
                }
                if start.elapsed() > SETTLED {
                    return Err(Failure::failed(format!("{address} does not answer")));
                }
            }
        }
        Ok(())
    }

    /// Prints what may tell why something did not hold.
    fn explain(&mut self, script: &str) {
        match self.guest.run(script) {
            Ok(said) => eprintln!("{}", said.text.trim()),
            Err(failure) => eprintln!("service: {failure}"),
        }
    }

    fn addresses_of_teams(&mut self) -> Result<String, Failure> {
        let text = self.guest.must("cat /sys/class/net/team0/address /sys/class/net/team1/address")?;
        Ok(text.split_whitespace().collect::<Vec<_>>().join(", "))
    }

    /// A number that has to be 0.
    fn tell(&mut self, name: &str, count: usize) {
        self.figures.push(Figure::count(name, count as u64, count.to_string()));
    }

    fn told_seconds(&mut self, name: &str, time: Duration) {
        self.figures.push(Figure::text(name, seconds(time), "-", None));
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64())
}

/// How many answers to echo requests the guest's kernel had no room for (`IcmpOutErrors`): its own socket takes about
/// 170 at once (Linux net/ipv4/icmp.c, `icmp_init`), and when an emulated processor has stood still, more arrive.
fn answers_without_room(guest: &mut Guest) -> Result<u64, Failure> {
    let text = guest.must("grep ^Icmp: /proc/net/snmp")?;
    icmp_counter(&text, "OutErrors").ok_or_else(|| Failure::failed(format!("no IcmpOutErrors in {text}")))
}

/// A counter by its name, of a line of names and one of numbers.
fn icmp_counter(text: &str, name: &str) -> Option<u64> {
    let (names, numbers) = text.trim().split_once('\n')?;
    let mut both = names.split_whitespace().zip(numbers.split_whitespace());
    both.find(|(known, _)| *known == name)?.1.parse().ok()
}

/// The number of a unit's process.
fn main_process(guest: &mut Guest, unit: &str) -> Result<String, Failure> {
    guest.must(&format!("systemctl show -P MainPID {unit}")).map(|text| text.trim().to_owned())
}

fn is_active(unit: &str) -> String {
    format!("systemctl --quiet is-active {unit}")
}

/// A condition: the unit's process is another one.
fn is_not(unit: &str, process: &str) -> String {
    format!("test \"$(systemctl show -P MainPID {unit})\" != {process}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_found_by_its_name() {
        let text = "Icmp: InMsgs InErrors OutMsgs OutErrors OutDestUnreachs\nIcmp: 9 1 8 3 2\n";
        assert_eq!(icmp_counter(text, "OutErrors"), Some(3));
        assert_eq!(icmp_counter(text, "Other"), None);
        assert_eq!(icmp_counter("", "OutErrors"), None);
    }
}

//! What becomes of the package: installed, upgraded, removed.

use super::processes::replaced;
use super::{Course, SETTLED, SPARE, UNITS};
use crate::failure::Failure;
use crate::figure::Figure;
use crate::goods;
use crate::probe::{self, Probe, SPARSE};
use crate::snapshot::Snapshot;
use crate::stacks::{self, Stacks};

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

impl Course<'_> {
    pub(super) fn install(&mut self) -> Result<(), Failure> {
        self.guest.must(&format!("dpkg -i {}", goods::PACKAGE))?;
        let failed = self.guest.must("systemctl list-units --failed --no-legend")?;
        self.tell("installed: units that failed", failed.lines().count());
        Stacks::NetworkdAndOwn.configure(&mut self.guest)
    }

    /// To the package with the higher version.
    pub(super) fn upgrade(&mut self, what: &str) -> Result<(), Failure> {
        self.under_traffic(what, |guest| {
            let replaced = replaced(guest, &UNITS)?;
            guest.must(&format!("dpkg -i {}", goods::UPGRADE))?;
            guest.wait_for("both teams run by the new program", &replaced, SETTLED).map(drop)
        })?;
        let version = self.guest.must("dpkg-query -W -f '${Version}' nicteam")?;
        let name = format!("{what}: version");
        self.figures.push(Figure::text(name, version.clone(), "...+next", Some(version.ends_with("+next"))));
        Ok(())
    }

    /// The same where the maps of the running teams say that they are of another layout: they cannot be taken over.
    pub(super) fn upgrade_across_layouts(&mut self) -> Result<(), Failure> {
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

    /// Removed, but not purged: the teams' files are still there, and a new installation has them.
    pub(super) fn reinstall(&mut self) -> Result<(), Failure> {
        const WHAT: &str = "removed and installed again";
        self.guest.must("dpkg --remove nicteam")?;
        let answering = answering(&self.outside.probes()?);
        self.tell(&format!("{WHAT}: teams that answer between"), answering);
        self.guest.must(&format!("dpkg -i {} && systemctl start {}", goods::UPGRADE, UNITS.join(" ")))?;
        let answered = self.wait_answered();
        self.must_be_back(WHAT, answered)
    }

    /// Nothing answers by a team any more, and what was there before the package is as it was.
    pub(super) fn remove(&mut self) -> Result<(), Failure> {
        let probes = self.outside.probes()?;
        let before = answering(&probes);
        let guest = &mut self.guest;
        let (courses, said) = probe::watch(&probes, SPARSE, || guest.must("dpkg --purge nicteam"))?;
        eprintln!("{said}");
        let last = courses.iter().map(|course| format!("{:.1}", course.cost().silent_from_ms / 1e3));
        let last =
            Figure::text("removed: seconds until a team is silent", last.collect::<Vec<_>>().join(", "), "-", None);
        let after = answering(&probes);
        let answered = Figure::count("removed: teams that answer", after as u64, after.to_string());
        self.figures.extend([last, answered.peer(format!("{before} before"))]);
        stacks::remove(&mut self.guest)?;
        self.guest
            .must("rmdir /etc/nicteam 2>/dev/null; rm -f /run/systemd/network/10-netplan-*; networkctl reload")?;
        self.guest.must("udevadm settle")?;
        let after = Snapshot::of(&mut self.guest, SPARE)?;
        self.figures.extend(self.before.differences(&after, "removed"));
        Ok(())
    }
}

/// How many of them are answered now.
fn answering(probes: &[Probe]) -> usize {
    probes.iter().filter(|probe| probe.is_answered()).count()
}

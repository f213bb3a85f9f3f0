//! What a guest is like: links, addresses, rules of traffic control, eBPF, settings, files.

use std::collections::BTreeSet;

use super::guest::Guest;
use crate::failure::Failure;
use crate::figure::Figure;

/// A kind of thing, and the script that prints a line for each. Numbers of devices, rules, programs, counters and
/// lifetimes are left out: they differ each time; so is where an address comes from (`addr_assign_type`): the kernel
/// remembers that one was set, though it is the same again.
const KINDS: [(&str, &str); 7] = [
    (
        "links",
        "for link in /sys/class/net/*; do
            echo ${link##*/} $(cat $link/address $link/mtu $link/flags $link/tx_queue_len) \
                alias=$(cat $link/ifalias) master=$(readlink $link/master)
         done",
    ),
    ("addresses", "ip -o address show | sed 's/^[0-9]*: //; s/\\\\.*//'"),
    ("routes and rules", "ip route show table all; ip -6 route show table all | sed 's/ expires [^ ]*//'; ip rule; ip -6 rule"),
    (
        "traffic control",
        "tc qdisc show | sed 's/qdisc \\([^ ]*\\) [^ ]*/\\1/'
         for link in /sys/class/net/*; do
            for way in ingress egress; do tc filter show dev ${link##*/} $way 2>/dev/null; done
         done",
    ),
    (
        "eBPF",
        "bpftool prog list | sed -n 's/^[0-9]*: \\([^ ]*  *name [^ ]*\\).*/program \\1/p' | grep -v ' sd_'
         bpftool map list | sed -n 's/^[0-9]*: \\([^ ]*  *name [^ ]*\\).*/map \\1/p'
         find /sys/fs/bpf",
    ),
    ("sysctls", "sysctl -a 2>/dev/null | grep -E '^net\\.ipv[46]\\.(conf|neigh)\\.'"),
    (
        "files",
        "find / -xdev \\( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /mnt -o -path /var/log \
            -o -path /var/cache -o -path /var/tmp -o -path /var/lib/dpkg -o -path /var/lib/systemd -o -path /var/lib/NetworkManager \
            -o -path /lost+found -o -path '/etc/*-' \\) -prune -o \\( -type d -printf '%p %m %u:%g\\n' \\) \
            -o -printf '%p %m %u:%g %s %l\\n'
         find /run/nicteam 2>/dev/null || true",
    ),
];

/// What a guest was like at one time.
#[derive(Debug)]
pub(super) struct Snapshot(Vec<BTreeSet<String>>);

impl Snapshot {
    /// Looks; of this device nothing is noted.
    pub(super) fn of(guest: &mut Guest, without: &str) -> Result<Snapshot, Failure> {
        let mut kinds = Vec::new();
        for (_, script) in KINDS {
            let text = guest.run(script)?.text;
            let lines = text.lines().filter(|line| !line.contains(without));
            kinds.push(lines.map(|line| line.trim().to_owned()).collect());
        }
        Ok(Snapshot(kinds))
    }

    /// In what another one, later, differs: a figure for each kind.
    pub(super) fn differences(&self, later: &Snapshot, what: &str) -> Vec<Figure> {
        let mut figures = Vec::new();
        for ((kind, _), (before, after)) in KINDS.into_iter().zip(self.0.iter().zip(&later.0)) {
            let gone = before.difference(after).map(|line| format!("- {line}"));
            let come = after.difference(before).map(|line| format!("+ {line}"));
            let changed: Vec<String> = gone.chain(come).collect();
            changed.iter().for_each(|line| eprintln!("service: {what}, {kind}: {line}"));
            let figure =
                Figure::count(format!("{what}, {kind}: differences"), changed.len() as u64, changed.len().to_string());
            figures.push(figure.peer(format!("{} looked at", before.len())));
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_come_and_what_has_gone_counts() {
        let snapshot = |lines: &[&str]| {
            let mut kinds = vec![BTreeSet::new(); KINDS.len()];
            kinds[0] = lines.iter().map(|&line| line.to_owned()).collect();
            Snapshot(kinds)
        };
        let figures = snapshot(&["a", "b"]).differences(&snapshot(&["b", "c"]), "x");
        assert_eq!(figures.len(), KINDS.len());
        assert_eq!((figures[0].measured.as_str(), figures[0].holds), ("2", Some(false)));
        assert!(figures[1..].iter().all(|figure| figure.holds == Some(true)));
    }
}

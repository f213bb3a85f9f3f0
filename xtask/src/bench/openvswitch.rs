//! Instructions per packet: our eBPF beside Open vSwitch's kernel datapath, in a guest whose clock counts instructions.
//!
//! The kernel's packet generator sends by the team, and by the port of the bridge that is the host's own. In Open vSwitch the
//! first packet of each flow goes through its daemon, all others through the kernel's flow table alone; these are counted.
//! Where LACP is needed, the kernel's own bond at the far ends of the cables speaks it with both.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use nicteam_oracle::{Generated, Guest, Refusal};

use crate::bench::instructions::{MEMBERS, REPEATS, Spread, added, cable, far, near, per_packet, words};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::part::{Context, Part};
use crate::side::{self, Side};
use crate::tools::{self, Tool};
use nicteam_statistics::median;

/// Instructions per packet beside Open vSwitch's kernel datapath.
pub(super) const PART: Part<()> = Part {
    tools: &TOOLS,
    ..Part::new(
        "ovs-instructions",
        "instructions per packet beside Open vSwitch's kernel datapath, in a guest that counts them: 4 members, packets of \
         one source and 1,000 ports, all made anew",
        measure,
    )
};

const TOOLS: [Tool; 2] = [side::TOOLS[0], ("ovs-vswitchd", "openvswitch-switch")];
/// Looked at so seldom that it is not counted with the packets.
const MIIMON: (&str, &str) = ("miimon", "1000");

/// A mode of theirs, with ours of the same name behind `ovs-`.
struct Mode {
    name: &'static str,
    spread: Spread,
    /// By LACP.
    negotiates: bool,
}

const MODES: [Mode; 3] = [
    Mode { name: "active-backup", spread: Spread::One, negotiates: false },
    Mode { name: "balance-slb", spread: Spread::One, negotiates: false },
    Mode { name: "balance-tcp", spread: Spread::Several, negotiates: true },
];
/// The kernel's bond.
const PARTNER: &str = "bond1";
const PARTNERS_OPTIONS: [(&str, &str); 3] = [("mode", "802.3ad"), ("miimon", "1000"), ("lacp_rate", "fast")];
/// Packets before those that are counted: enough for every flow to be known to Open vSwitch's datapath.
const KNOWN: u64 = 2_000;
/// How often something is looked for that takes a while, and how long each look waits.
const LOOKS: usize = 1000;
const LOOK: Duration = Duration::from_millis(10);

/// Where the programs are here; in the guest all are in `/bin`.
const PROGRAMS: [&str; 3] =
    ["/usr/lib/openvswitch-switch/ovs-vswitchd", "/usr/sbin/ovsdb-server", "/usr/bin/ovs-vsctl"];
const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";
const DATABASE: &str = "ovs.db";
const SOCKET: &str = "unix:/tmp/db.sock";
const BRIDGE: &str = "br0";

/// Instructions per packet, one figure a repeat.
#[derive(Debug, Default)]
struct Counts {
    raw: Vec<f64>,
    /// By mode: theirs, ours.
    modes: [[Vec<f64>; 2]; MODES.len()],
}

/// Measures all in one guest.
fn measure(context: &Context<'_, ()>) -> Result<Vec<Figure>, Failure> {
    let database = context.scratch.path().join(DATABASE);
    tools::output(Command::new("ovsdb-tool").arg("create").arg(&database).arg(SCHEMA))?;
    let files = PROGRAMS.iter().map(|path| Path::new(path).to_owned()).chain([database]).collect::<Vec<PathBuf>>();
    side::in_guest(context.product, files, |guest| {
        start(guest)?;
        let counts = count(guest)?;
        Ok(counts.figures(guest.kernel()))
    })
}

/// Starts the daemons; they go with the guest.
fn start(guest: &mut Guest) -> Result<(), Refusal> {
    guest.load_module("openvswitch")?;
    // It counts the processors every ten seconds of the machine's uptime, so that a daemon that starts sooner finds none, and has no
    // thread for first packets (lib/ovs-thread.c, count_cpu_cores).
    until("the guest to have run for ten seconds", || {
        guest.read("/proc/uptime").is_ok_and(|said| uptime_s(&said) > 10.0)
    })?;
    let files = |name: &str| {
        let file = |kind| format!("/tmp/{name}.{kind}");
        [
            format!("--unixctl={}", file("ctl")),
            format!("--pidfile={}", file("pid")),
            format!("--log-file={}", file("log")),
        ]
    };
    let run = |guest: &mut Guest, program: &str, first: &[&str]| {
        let files = files(program);
        let arguments: Vec<&str> =
            first.iter().copied().chain(files.iter().map(String::as_str)).chain(["--detach"]).collect();
        guest.run(&format!("/bin/{program}"), &arguments).map(drop)
    };
    run(guest, "ovsdb-server", &[&format!("/bin/{DATABASE}"), &format!("--remote=p{SOCKET}")])?;
    vsctl(guest, "--no-wait init")?;
    run(guest, "ovs-vswitchd", &[SOCKET])
}

fn vsctl(guest: &mut Guest, words: &str) -> Result<(), Refusal> {
    let database = format!("--db={SOCKET}");
    let arguments: Vec<&str> = [database.as_str(), "--timeout=60"].into_iter().chain(words.split(' ')).collect();
    guest.run("/bin/ovs-vsctl", &arguments).map(drop)
}

/// The raw veth is the first cable, as long as it belongs to nobody.
fn count(guest: &mut Guest) -> Result<Counts, Refusal> {
    cable(guest)?;
    let mut counts = Counts::default();
    for repeat in 1..=REPEATS {
        eprintln!("instructions per packet beside Open vSwitch: {repeat} of {REPEATS}");
        side::set_up(guest, &near(0), true)?;
        counts.raw.push(per_packet(guest, &near(0), Spread::One)?);
        for (mode, [theirs, ours]) in MODES.iter().zip(&mut counts.modes) {
            theirs.push(count_theirs(guest, mode)?);
            ours.push(count_ours(guest, mode)?);
        }
    }
    Ok(counts)
}

fn count_theirs(guest: &mut Guest, mode: &Mode) -> Result<f64, Refusal> {
    let members = members();
    for member in &members {
        side::set_up(guest, member, true)?;
    }
    let lacp = if mode.negotiates { " lacp=active other_config:lacp-time=fast" } else { "" };
    let (name, members) = (mode.name, members.join(" "));
    vsctl(guest, &format!("add-br {BRIDGE} -- add-bond {BRIDGE} bond0 {members} bond_mode={name}{lacp}"))?;
    side::set_up(guest, BRIDGE, true)?;
    let counted = mode.per_packet(guest, BRIDGE)?;
    vsctl(guest, &format!("del-br {BRIDGE}"))?;
    Ok(counted)
}

fn count_ours(guest: &mut Guest, mode: &Mode) -> Result<f64, Refusal> {
    let name = format!("ovs-{}", mode.name);
    let lacp: &[_] = if mode.negotiates { &[("lacp", "active"), ("lacp-time", "fast")] } else { &[] };
    Side::Ours.add(guest, &[&[("mode", name.as_str()), MIIMON], lacp].concat(), &members())?;
    let counted = mode.per_packet(guest, Side::Ours.device())?;
    Side::Ours.remove(guest)?;
    Ok(counted)
}

impl Mode {
    /// What each packet takes that is sent by a device, once links and flows are known.
    fn per_packet(&self, guest: &mut Guest, device: &str) -> Result<f64, Refusal> {
        if !self.negotiates {
            return per_packet(guest, device, self.spread);
        }
        let far_ends: Vec<String> = (0..MEMBERS).map(far).collect();
        for end in &far_ends {
            side::set_up(guest, end, false)?;
        }
        guest.add_bond(PARTNER, &PARTNERS_OPTIONS, &far_ends);
        until("LACP to be negotiated", || guest.distributing(&far_ends) == [true; MEMBERS])?;
        until("every flow to be known", || Generated::by(guest, device, KNOWN, &far_ends).is_ok())?;
        let counted = per_packet(guest, device, self.spread)?;
        guest.remove_bond(PARTNER);
        for end in &far_ends {
            side::set_up(guest, end, true)?;
        }
        Ok(counted)
    }
}

/// Waits for something.
fn until(what: &str, mut holds: impl FnMut() -> bool) -> Result<(), Refusal> {
    for _ in 0..LOOKS {
        if holds() {
            return Ok(());
        }
        thread::sleep(LOOK);
    }
    Err(Refusal { errno: None, what: format!("waited in vain for {what}") })
}

/// The first number of `/proc/uptime`.
fn uptime_s(said: &str) -> f64 {
    said.split(' ').next().and_then(|seconds| seconds.parse().ok()).unwrap_or_default()
}

fn members() -> Vec<String> {
    (0..MEMBERS).map(near).collect()
}

impl Counts {
    fn figures(&self, kernel: &str) -> Vec<Figure> {
        let raw = Figure::text("raw veth", words(&self.raw), "-", None).peer(format!("Linux {kernel}"));
        let modes = MODES.iter().zip(&self.modes).map(|(mode, [theirs, ours])| {
            let bound = median(theirs);
            let holds = Bound::AtMost(bound).holds(median(ours));
            let [theirs_added, ours_added] = [theirs, ours].map(|samples| words(&added(samples, &self.raw)));
            let peer = format!(
                "Open vSwitch {}; added to the raw veth: ours {ours_added}, theirs {theirs_added}",
                words(theirs)
            );
            Figure::text(
                format!("{}, ours", mode.name),
                words(ours),
                &format!("<= {bound:.0}, Open vSwitch's"),
                Some(holds),
            )
            .peer(peer)
        });
        std::iter::once(raw).chain(modes).collect()
    }
}

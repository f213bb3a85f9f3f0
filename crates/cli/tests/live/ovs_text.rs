//! The same network twice, one run by a real `ovs-vswitchd`, one by nicteam: the texts of `bond/*` and `lacp/*` are equal.
//!
//! Masked are identifiers (recirculation, ports and keys, LACP's system, which is the bridge's address there and a
//! member's here), the order of a hash table in `bond/list`, and times. Devices have the same addresses in both.

use std::process::Output;

use nicteam_sys::packet::PacketSocket;
use nicteam_testnet::{Host, OpenVSwitch, cable, eventually, is_soak};

use crate::common::teams::TeamHost;

/// Who runs a bond.
enum Engine {
    Real(Box<OpenVSwitch>),
    Ours(TeamHost),
}

/// A host with a bond of `eth0` to `eth2`, whose cables end at `p0` to `p2` of another, and a guest.
struct World {
    engine: Engine,
    far: Host,
    guest: PacketSocket,
    _guest: Host,
}

impl World {
    fn new(engine: Engine) -> World {
        let mut world = engine;
        let (mut far, mut guest) = (Host::quiet(), Host::quiet());
        let host = world.host();
        for number in 0..3_u8 {
            let (near, port) = (format!("eth{number}"), format!("p{number}"));
            cable(host, &near, &mut far, &port);
            let index = host.index(&near);
            host.netlink.set_mac(index, [2, 0, 0, 0, 5, number]).unwrap();
        }
        cable(host, "g0", &mut guest, "eth0");
        let socket = guest.packet_socket("eth0");
        World { engine: world, far, guest: socket, _guest: guest }
    }

    fn vsctl(&self, line: &str) -> Output {
        let words: Vec<&str> = line.split(' ').collect();
        match &self.engine {
            Engine::Real(real) => real.try_vsctl(&words),
            Engine::Ours(ours) => ours.nicteam(&[&["ovs", "vsctl"][..], &words].concat()).output().unwrap(),
        }
    }

    /// Exit code, standard output, first line of what is said.
    fn appctl(&self, line: &str) -> (i32, String, String) {
        let words: Vec<&str> = line.split(' ').collect();
        let output = match &self.engine {
            Engine::Real(real) => real.try_appctl(&words),
            Engine::Ours(ours) => ours.nicteam(&[&["ovs"][..], &words].concat()).output().unwrap(),
        };
        let said = String::from_utf8(output.stderr).unwrap();
        let first = said.lines().next().unwrap_or_default();
        let first = first.strip_prefix("nicteam: ").unwrap_or(first).to_owned();
        (output.status.code().unwrap(), masked(&String::from_utf8(output.stdout).unwrap()), first)
    }
}

impl Engine {
    fn host(&mut self) -> &mut Host {
        match self {
            Engine::Real(real) => &mut real.host,
            Engine::Ours(ours) => &mut ours.host,
        }
    }
}

/// A text without identifiers and times.
fn masked(text: &str) -> String {
    text.lines().map(|line| masked_line(line) + "\n").collect()
}

fn masked_line(line: &str) -> String {
    const IDENTIFIERS: [&str; 5] = ["sys_id: ", "port_id: ", "key: ", "PDUs: ", "Recirc-ID : "];
    const TIMES: [&str; 2] = ["expires in ", "next rebalance: "];
    if let Some(name) = TIMES.iter().find(|name| line.contains(*name)) {
        return line.split_inclusive(name).next().map(|begin| format!("{begin}... ms")).unwrap_or_default();
    }
    if let [bond, mode, _, members] = line.split('\t').collect::<Vec<_>>()[..] {
        let mut members: Vec<&str> = members.split(", ").collect();
        members.sort_unstable();
        return format!("{bond}\t{mode}\t.\t{}", members.join(", "));
    }
    let found = IDENTIFIERS.iter().find_map(|name| line.find(name).map(|place| place + name.len()));
    match found {
        // Whether there is one is told.
        Some(end) if !line.ends_with("-1") => format!("{}.", &line[..end]),
        _ => line.to_owned(),
    }
}

/// Both worlds.
struct Twins {
    real: World,
    ours: World,
}

impl Twins {
    /// With a bridge that has a bond with these settings, and a guest.
    fn new(settings: &str) -> Option<Twins> {
        let real = World::new(Engine::Real(Box::new(OpenVSwitch::start_or_skip()?)));
        let ours = World::new(Engine::Ours(TeamHost::new(Host::quiet())));
        let twins = Twins { real, ours };
        twins.vsctl("add-br my_test -- set bridge my_test datapath_type=netdev");
        twins.vsctl(&format!("add-bond my_test bond0 eth0 eth1 eth2{settings} -- add-port my_test g0"));
        // Which one the real one begins with depends on a hash table.
        if !settings.contains("lacp=") {
            twins.activate("eth0");
        }
        Some(twins)
    }

    #[track_caller]
    fn vsctl(&self, line: &str) {
        for world in [&self.real, &self.ours] {
            let output = world.vsctl(line);
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }

    fn set_up(&mut self, port: &str, up: bool) {
        self.real.far.set_up(port, up);
        self.ours.far.set_up(port, up);
    }

    /// The same frame from both guests.
    fn send(&self, frame: &[u8]) {
        assert!(self.real.guest.send_frame(frame) && self.ours.guest.send_frame(frame));
    }

    /// Makes a member the active one, once all are enabled.
    #[track_caller]
    fn activate(&self, member: &str) {
        for world in [&self.real, &self.ours] {
            let all = || world.appctl("bond/show bond0").1.matches(": enabled").count() == 3;
            eventually("three members are enabled", all);
            let (code, said, _) = world.appctl(&format!("bond/set-active-member bond0 {member}"));
            assert!(code == 0 && ["done\n", "no change\n"].contains(&said.as_str()), "{said}");
        }
    }

    /// The same outcome, once the real one's contains this.
    #[track_caller]
    fn agree(&self, line: &str, once: &str) {
        self.agree_but(line, once, |text| text);
    }

    /// The same but for what is taken out.
    #[track_caller]
    fn agree_but(&self, line: &str, once: &str, but: fn(String) -> String) {
        let mut last = None;
        eventually_or(&mut || {
            let asked = |world: &World| {
                let (code, said, refused) = world.appctl(line);
                (code, but(said), refused)
            };
            let (theirs, ours) = (asked(&self.real), asked(&self.ours));
            let equal = theirs == ours && theirs.1.contains(once);
            last = Some((theirs, ours));
            equal
        });
        let Some((theirs, ours)) = last else { return };
        assert_eq!(ours, theirs, "{line}: ours, then theirs\n{}\n{}", ours.1, theirs.1);
        assert!(theirs.1.contains(once), "{line}: no `{once}` in {}", theirs.1);
    }

    #[track_caller]
    fn all_agree(&self, once: &str) {
        self.agree("bond/show", once);
        for line in ["bond/list", "bond/show bond0", "lacp/show", "lacp/show bond0", "lacp/show-stats bond0"] {
            self.agree(line, "");
        }
    }
}

/// Waits as [`eventually`] does; the caller says what did not come about.
fn eventually_or(condition: &mut dyn FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !condition() && start.elapsed() < std::time::Duration::from_secs(10) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn active_backup_and_balance_slb() {
    let Some(mut twins) = Twins::new("") else { return };
    twins.all_agree("active member mac: 02:00:00:00:05:00(eth0)");
    twins.set_up("p1", false);
    twins.all_agree("member eth1: disabled");
    twins.agree("bond/set-active-member bond0 eth0", "no change");
    twins.agree("bond/set-active-member bond0 eth2", "done");
    twins.all_agree("active member mac: 02:00:00:00:05:02(eth2)");
    twins.agree("bond/migrate bond0 5 eth2", "");
    twins.vsctl("set port bond0 bond_mode=balance-slb bond_updelay=60000 bond_downdelay=70000");
    twins.vsctl("set port bond0 other_config:bond-hash-basis=9 other_config:bond-primary=eth0");
    twins.vsctl("set port bond0 other_config:bond-rebalance-interval=90000");
    twins.all_agree("bond-hash-basis: 9\n");
    twins.set_up("p1", true);
    twins.all_agree("updelay expires in ... ms");
    twins.set_up("p0", false);
    twins.all_agree("downdelay expires in ... ms");
    twins.vsctl("set port bond0 bond_mode=active-backup other_config:bond-primary=nope");
    twins.all_agree("active-backup primary: nope (no such member)");
    twins.vsctl("set port bond0 bond_mode=balance-slb");
    twins.agree("bond/enable-member bond0 eth1", "enabled");
    // Which one takes over for the active one would depend on a hash table.
    twins.agree("bond/set-active-member bond0 eth1", "done");
    twins.agree("bond/disable-slave bond0 eth2", "disabled");
    twins.all_agree("member eth1: enabled");
    twins.agree("bond/disable-member bond0 eth0", "disabled");
    twins.vsctl("set port bond0 bond_downdelay=0 other_config:all-members-active=true");
    twins.agree("bond/show", "downdelay: 0 ms");
    twins.set_up("p2", false);
    twins.set_up("p1", false);
    twins.all_agree("active member mac: 00:00:00:00:00:00(none)");
}

#[test]
fn loads_of_buckets() {
    let Some(twins) = Twins::new(" bond_mode=balance-slb other_config:bond-rebalance-interval=900000") else { return };
    twins.all_agree("member eth2: enabled");
    for (source, size, member) in
        [(1, 1000, "eth0"), (2, 500, "eth1"), (3, 1400, "eth2"), (4, 700, "eth1"), (5, 60, "eth2")]
    {
        let mac = [2, 0, 0, 0, 7, source];
        let bucket = nicteam_team::hash::slb::bucket(nicteam_wire::Mac(mac), 0, 0);
        twins.agree(&format!("bond/migrate bond0 {bucket} {member}"), "migrated");
        let mut frame = vec![0; size];
        frame[..14].copy_from_slice(&[2, 0, 0, 0, 9, 9, 2, 0, 0, 0, 7, source, 0x88, 0xb5]);
        (0..10).for_each(|_| twins.send(&frame));
    }
    twins.all_agree(" kB load\n");
}

#[test]
fn refusals() {
    let Some(twins) = Twins::new("") else { return };
    twins.all_agree("member eth2: enabled");
    let lines = [
        "bond/show nope",
        "lacp/show nope",
        "lacp/show bond0",
        "lacp/show-stats nope",
        "bond/list x",
        "bond/show a b",
        "bond/hash",
        "bond/migrate bond0 5",
        "bond/set-active-slave bond0",
        "bond/disable-member",
        "lacp/show a b",
        "lacp/show-stats a b",
        "bond/migrate nope 5 eth0",
        "bond/migrate bond0 5 eth0",
        "bond/migrate bond0 x nope",
        "bond/set-active-member nope eth0",
        "bond/set-active-member bond0 nope",
        "bond/set-active-slave bond0 eth1",
        "bond/enable-member nope eth0",
        "bond/enable-member bond0 nope",
        "bond/enable-slave bond0 eth0",
        "bond/disable-member nope eth0",
        "bond/disable-member bond0 nope",
    ];
    lines.iter().for_each(|line| twins.agree(line, ""));
    twins.vsctl("set port bond0 bond_mode=balance-slb");
    twins.all_agree("bond_mode: balance-slb");
    let lines = [
        "bond/migrate bond0 5 eth1",
        "bond/migrate bond0 5 nope",
        "bond/migrate bond0 x nope",
        "bond/migrate bond0 5x eth1",
        "bond/migrate bond0 x eth1",
        "bond/migrate bond0 + eth1",
        "bond/migrate bond0 0x5 eth1",
    ];
    lines.iter().for_each(|line| twins.agree(line, ""));
    for line in ["bond/migrate bond0 256 eth1", "bond/migrate bond0 99999999999999999999 eth1"] {
        // Here with a warning.
        assert_eq!(twins.ours.appctl(line).1, twins.real.appctl(line).1);
    }
    // Or it would be enabled again at once.
    twins.vsctl("set port bond0 bond_updelay=60000");
    twins.agree("bond/show", "updelay: 60000 ms");
    twins.agree("bond/disable-member bond0 eth2", "disabled");
    twins.agree("bond/show", "member eth2: disabled");
    twins.agree("bond/migrate bond0 5 eth2", "");
}

/// Without what ports say of themselves. While no partner answers the real one says that it collects and distributes,
/// though nothing is sent; here it is said when it is so.
fn without_actor(text: String) -> String {
    text.lines().filter(|line| !line.contains("actor state:")).map(|line| format!("{line}\n")).collect()
}

/// A team in mode 802.3ad at the other end of each bond.
fn with_partners(twins: &mut Twins) -> [TeamHost; 2] {
    [&mut twins.real, &mut twins.ours].map(|world| {
        let partner = TeamHost::new(std::mem::take(&mut world.far));
        let members = ["--mode", "802.3ad", "--members", "p0,p1,p2", "--mac", "02:00:00:00:06:00"];
        let options = ["-o", "miimon=20", "-o", "aggregate_wait=0", "-o", "lacp_rate=fast", "--dataplane", "packet"];
        partner.run(&[&["add", "team0"][..], &members, &options].concat());
        partner
    })
}

#[test]
fn lacp_negotiated() {
    let Some(mut twins) = Twins::new(" bond_mode=balance-tcp lacp=active other_config:lacp-time=fast") else { return };
    let partners = with_partners(&mut twins);
    twins.activate("eth1");
    twins.all_agree("lacp_status: negotiated");
    twins.agree("bond/list", "balance-tcp");
    twins.agree("lacp/show", "status: active negotiated");
    twins.agree("lacp/show", "member: eth2: current attached");
    twins.agree("bond/migrate bond0 5 eth1", "");
    for partner in &partners {
        let output = partner.nicteam(&["ovs", "lacp/show", "team0"]).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(shown.contains("  status: active negotiated\n  sys_id: 02:00:00:00:06:00\n"), "{shown}");
        assert!(shown.contains("\nmember: p1: current attached\n"), "mode 802.3ad, too: {shown}");
    }
    if is_soak() {
        partners.iter().for_each(|partner| partner.crash("team0"));
        twins.agree_but("lacp/show", "member: eth1: expired", without_actor);
        twins.agree("bond/show", "lacp_status: configured");
        twins.agree_but("lacp/show", "member: eth1: defaulted", without_actor);
        twins.vsctl("set port bond0 other_config:lacp-fallback-ab=true");
        twins.activate("eth2");
        twins.agree("bond/show", "lacp_fallback_ab: true");
    }
}

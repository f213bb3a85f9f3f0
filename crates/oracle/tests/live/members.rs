//! Options that speak of members, `active_slave` and `queue_id`: the kernel's bond
//! with three cables, one of them mostly pulled, against a [`Team`] with the same.
//!
//! What differs on purpose stands in `docs/kernel-differences.md`.

use std::path::Path;

use nicteam_oracle::frames::{self, Random};
use nicteam_oracle::protocol::Request;
use nicteam_oracle::{Bench, Guest, Image, Way, seed};
use nicteam_team::{Action, Config, ConfigError, Duplex, MemberLink, Mode, PlanState, Team, TeamError, Time};
use nicteam_wire::{Frame, Mac};

const AGENT: &str = env!("CARGO_BIN_EXE_nicteam-oracle-agent");
const MEMBERS: usize = 3;
/// The guest sees the files of the host.
const TC: &str = "/usr/sbin/tc";
/// The member whose cable is pulled.
const DOWN: usize = 2;
const TRIALS: usize = 60;
const FRAMES: usize = 200;

const EPERM: i32 = 1;
const EACCES: i32 = 13;
const EINVAL: i32 = 22;
const ENODEV: i32 = 19;

/// Members, the one that is down, a device that is none, no device, and nobody.
const NAMES: [&str; 6] = ["a0", "a1", "a2", "b0", "zz9", "\n"];

#[test]
fn active_slave_is_granted_and_refused_as_in_the_kernel() {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    let mut random = Random(seed());
    let (mut tried, mut differences, mut harmless) = (0, Vec::new(), 0);
    for mode in Mode::ALL.into_iter().filter(|mode| mode.number().is_some()) {
        let options = [("mode", mode.name()), ("miimon", "20")];
        let (bench, mut team) = (pulled(&mut guest, &options), team(&options));
        for value in (0..TRIALS).map(|_| random.pick(&NAMES)) {
            let kernel = match guest.set_option(Bench::BOND, "active_slave", value) {
                Ok(()) => Ok(guest.option(Bench::BOND, "active_slave").unwrap().trim().to_owned()),
                Err(refusal) => Err(refusal.errno),
            };
            let ours = set(&mut team, "active_slave", value).map(|()| active(&team));
            tried += 1;
            match (&kernel, &ours) {
                (Ok(kernel), Ok(ours)) if kernel == ours => {}
                (Err(Some(EACCES)), Err(TeamError::Config(ConfigError::Conflict(_)))) => {}
                // `defaults-of-another-mode`.
                (Err(Some(EACCES)), Ok(_)) if !mode.uses_primary() && value == "\n" => harmless += 1,
                (Err(Some(EINVAL)), Err(TeamError::NotUp { .. } | TeamError::NotAMember(_))) => {}
                (Err(Some(ENODEV)), Err(TeamError::NotAMember(_))) => {}
                _ => differences.push(format!("{mode}: active_slave={value:?}: kernel {kernel:?}, ours {ours:?}")),
            }
        }
        bench.remove(&mut guest);
    }
    eprintln!("active_slave against Linux {}: {tried} tried, {harmless} differ on purpose", guest.kernel());
    assert!(differences.is_empty(), "seed {}:\n{}", seed(), differences.join("\n"));
}

#[test]
fn queue_id_is_taken_and_refused_as_in_the_kernel() {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    let mut random = Random(seed());
    let (mut tried, mut differences, mut absent) = (0, Vec::new(), 0);
    for mode in [Mode::BalanceRr, Mode::ActiveBackup, Mode::BalanceXor] {
        let options = [("mode", mode.name()), ("miimon", "20")];
        let (bench, mut team) = (pulled(&mut guest, &options), team(&options));
        for _ in 0..TRIALS {
            let number = random.pick(&["0", "1", "2", "3", "15", "16", "17", "-1", "x", ""]);
            let value = format!("{}:{number}", random.pick(&["a0", "a1", "a2", "a0", "a1", "a2", "zz9", "a/b", ""]));
            let kernel = match guest.set_option(Bench::BOND, "queue_id", &value) {
                Ok(()) => Ok(queues(&guest.option(Bench::BOND, "queue_id").unwrap())),
                Err(refusal) => Err(refusal.errno),
            };
            let before = team.config().clone();
            let ours = set(&mut team, "queue_id", &value).map(|()| queues(&option(&team, "queue_id")));
            tried += 1;
            match (&kernel, &ours) {
                (Ok(kernel), Ok(ours)) if kernel == ours => {}
                (Err(Some(EPERM)), Err(TeamError::Config(_))) => {}
                // `queues-of-members-to-be`.
                (Err(Some(EPERM)), Ok(_)) if value.starts_with("zz9:") => {
                    absent += 1;
                    team.set_config(before, Time::ZERO).unwrap();
                    while team.poll_effect().is_some() {}
                }
                _ => differences.push(format!("{mode}: queue_id={value:?}: kernel {kernel:?}, ours {ours:?}")),
            }
        }
        bench.remove(&mut guest);
    }
    eprintln!("queue_id against Linux {}: {tried} tried, {absent} differ on purpose", guest.kernel());
    assert!(differences.is_empty(), "seed {}:\n{}", seed(), differences.join("\n"));
}

/// The kernel's frames are marked as a user marks them, by a filter of the bond.
#[test]
fn marked_frames_leave_as_in_the_kernel() {
    if !Path::new(TC).exists() {
        eprintln!("SKIPPED: marked_frames_leave_as_in_the_kernel: no {TC}; install iproute2");
        return;
    }
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    let modules = ["sch_ingress", "cls_matchall", "act_skbedit"].map(str::to_owned).into();
    let folder = Image::obtain().unwrap().modules;
    guest.must(Request::Load { folder, modules });
    let frames: Vec<Vec<u8>> = frames::frames(seed(), FRAMES).into_iter().map(|frame| frame.bytes).collect();
    let mut differences = Vec::new();
    for mode in [Mode::BalanceRr, Mode::ActiveBackup, Mode::BalanceXor] {
        let options = [("mode", mode.name()), ("miimon", "20")];
        let bench = Bench::new(&mut guest, &options, MEMBERS);
        guest.keep(frames.clone());
        let (mut team, mut state) = (team_with(&options, &[true; MEMBERS]), PlanState::new(0));
        for queue_id in ["a1:1", "a2:3"] {
            guest.set_option(Bench::BOND, "queue_id", queue_id).unwrap();
            set(&mut team, "queue_id", queue_id).unwrap();
        }
        tc(&mut guest, "qdisc add dev bond0 clsact");
        for queue in [1, 3, 2] {
            let mark = format!("action skbedit queue_mapping {queue} pass");
            tc(&mut guest, &format!("filter add dev bond0 egress matchall {mark}"));
            let departures = bench.send(&mut guest, Way::Sent);
            tc(&mut guest, "filter del dev bond0 egress");
            for (bytes, &left) in frames.iter().zip(&departures.members) {
                let planned = team.plan().choose_queued(queue, &Frame::parse(bytes).unwrap(), &mut state);
                let planned = if let Action::Send(members) = planned { members.bits() } else { 0 };
                if left != planned {
                    differences.push(format!("{mode}, queue {queue}: kernel {left:b}, ours {planned:b}: {bytes:02x?}"));
                }
            }
        }
        bench.remove(&mut guest);
    }
    eprintln!("queues against Linux {}: {} frames a mode, {} differ", guest.kernel(), 3 * FRAMES, differences.len());
    assert!(differences.is_empty(), "seed {}:\n{}", seed(), differences[..differences.len().min(5)].join("\n"));
}

/// Runs `tc` in the guest.
fn tc(guest: &mut Guest, arguments: &str) {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    guest.run(TC, &arguments).unwrap_or_else(|refusal| panic!("tc {arguments:?}: {refusal}"));
}

/// A bond whose last member has lost its cable, and knows it.
fn pulled(guest: &mut Guest, options: &[(&str, &str)]) -> Bench {
    let bench = Bench::new(guest, options, MEMBERS);
    guest.must(Request::SetUp { name: bench.far_ends()[DOWN].clone(), up: false });
    let path = format!("/sys/class/net/{}/bonding_slave/mii_status", bench.members()[DOWN]);
    let is_down = |guest: &mut Guest| guest.read(&path).unwrap().trim() == "down";
    assert!((0..3000).any(|_| is_down(guest) || pause()), "the guest does not notice a pulled cable");
    bench
}

/// A short wait; false, for use in a condition.
fn pause() -> bool {
    std::thread::sleep(std::time::Duration::from_millis(10));
    false
}

/// A team with the same members, in the same state.
fn team(options: &[(&str, &str)]) -> Team {
    team_with(options, &std::array::from_fn::<bool, MEMBERS, _>(|member| member != DOWN))
}

/// A team whose members have these carriers.
fn team_with(options: &[(&str, &str)], carriers: &[bool]) -> Team {
    let mut config = Config::default();
    options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
    let mut team = Team::new(config, Mac([2, 0, 0, 0, 0, 1]), Time::ZERO).unwrap();
    for (member, &carrier) in carriers.iter().enumerate() {
        let link = MemberLink { carrier, speed_mbps: Some(10_000), duplex: Some(Duplex::Full) };
        team.add_member(&format!("a{member}"), link, Time::ZERO).unwrap();
        while team.poll_effect().is_some() {}
    }
    team
}

fn set(team: &mut Team, option: &str, value: &str) -> Result<(), TeamError> {
    let mut config = team.config().clone();
    config.set(option, value)?;
    let set = team.set_config(config, Time::ZERO);
    while team.poll_effect().is_some() {}
    set
}

/// The active member, as `active_slave` shows it.
fn active(team: &Team) -> String {
    let active = team.members().into_iter().find(|member| team.active() == Some(member.id));
    active.map(|member| member.name).unwrap_or_default()
}

fn option(team: &Team, name: &str) -> String {
    team.config().option(name).unwrap()
}

/// The queues that a text lists, without those that are none.
fn queues(text: &str) -> Vec<String> {
    let entries = text.split([' ', ',', '\n']).map(str::trim);
    let mut queues: Vec<String> =
        entries.filter(|entry| !entry.is_empty() && !entry.ends_with(":0")).map(str::to_owned).collect();
    queues.sort();
    queues
}

//! Cables that are pulled, and cables that fall silent, in runs of the lab.

use nicteam_record::{Event, EventKind, Run};
use nicteam_testnet::may_make_networks;

use crate::common::lab::run;

/// Datagrams from `a` to `b`, and what happens meanwhile.
fn faults(name: &str, network: &str, event: &str) -> Run {
    let file = format!(
        "title = \"Faults\"\ndefaults = {{ rate = \"100mbit\", warmup = \"200ms\", interval = \"20ms\" }}\n{network}\n\
         workloads.w = {{ kind = \"udp\", from = \"a\", to = \"b\", rate = \"1mbit\", size = 64 }}\n\
         [[runs]]\nname = \"r\"\nworkloads = \"w\"\nevents = [{{ at = \"300ms\", for = \"400ms\", {event} }}]\n"
    );
    let (_, told, record) = run(&format!("faults-{name}"), &file);
    record.unwrap_or_else(|| panic!("{told}")).runs.swap_remove(0)
}

/// The beginning and the end of the fault.
fn fault(run: &Run) -> [&Event; 2] {
    let faults: Vec<_> = run.events.iter().filter(|event| event.kind == EventKind::Fault).collect();
    faults.try_into().unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// The longest time in which no datagram came, milliseconds.
fn silence_ms(run: &Run) -> f64 {
    let datagrams = run.connections[0].datagrams.unwrap();
    assert!(datagrams.received > 100, "{datagrams:?}");
    datagrams.longest_silence_us as f64 / 1e3
}

const BARE: &str = "hosts = { a = {}, b = {} }\nlinks = [{ between = [\"a\", \"b\"] }]";
const SWITCHED: &str = "hosts = { a = {}, b = {} }\nswitches.sw = {}\nlinks = [{ between = [[\"a\", \"b\"], \"sw\"] }]";
const TEAMS: &str = "hosts = { a = { team = \"t\" }, b = { team = \"t\" } }\n\
    teams.t = { mode = \"active-backup\", miimon = 20, primary = \"eth0\" }\n\
    switches.sw = {}\nlinks = [{ between = [[\"a\", \"b\"], \"sw\"], count = 2 }]";

#[test]
fn a_cable_of_a_bare_link_carries_nothing_while_it_is_pulled() {
    if !may_make_networks() {
        return;
    }
    let links =
        [("bare", BARE, "[\"a\", \"b\"]", "pulled at b"), ("switched", SWITCHED, "[\"sw\", \"a\"]", "pulled at sw")];
    for (name, network, link, words) in links {
        let run = faults(name, network, &format!("kind = \"cable\", link = {link}"));
        let [pulled, plugged] = fault(&run);
        assert!(pulled.text.contains(words) && plugged.text.contains("plugged in again"), "{pulled:?} {plugged:?}");
        assert_eq!((pulled.node.as_str(), pulled.member.as_deref()), ("a", Some("eth0")));
        // It carries again after a moment in which addresses are asked for.
        assert!(silence_ms(&run) >= 350.0, "{name}: {}", silence_ms(&run));
    }
}

#[test]
fn a_team_rides_over_a_cable_that_is_pulled() {
    if !may_make_networks() {
        return;
    }
    let run = faults("team", TEAMS, "kind = \"cable\", link = [\"a\", \"sw\"], end = \"a\"");
    let [pulled, _] = fault(&run);
    assert_eq!((pulled.team.as_deref(), pulled.member.as_deref()), (Some("team0"), Some("eth0")));
    let carried = |member: &str| {
        let found = run.members.iter().find(|of| of.host == "a" && of.member == member).unwrap();
        found.tx_frames
    };
    assert!(carried("eth1") > 50 && carried("eth0") > 50, "{:?}", run.members);
    assert!(silence_ms(&run) < 350.0, "{}", silence_ms(&run));
}

#[test]
fn a_silent_link_keeps_its_carrier_and_loses_what_is_sent() {
    if !may_make_networks() {
        return;
    }
    // A team that trusts carriers alone sends into it.
    for (name, network, link) in [("silent-bare", BARE, "[\"a\", \"b\"]"), ("silent-team", TEAMS, "[\"a\", \"sw\"]")] {
        let run = faults(name, network, &format!("kind = \"silence\", link = {link}"));
        let [silent, carries] = fault(&run);
        assert!(silent.text.contains("keeps its carrier") && carries.text.contains("carries again"));
        // A busy machine sets the fault late, and ends it in time.
        assert!((200.0..1200.0).contains(&silence_ms(&run)), "{name}: {}", silence_ms(&run));
        let lost: Vec<_> = run.events.iter().filter(|event| event.kind == EventKind::Team).collect();
        assert!(lost.iter().all(|event| event.t_ms < 0.0), "a carrier was lost: {lost:?}");
        assert!(run.relayed.iter().any(|way| way.cut > 50), "{:?}", run.relayed);
    }
}

//! Faults of every kind in runs of the lab, on both dataplanes.

use nicteam_record::{EventKind, Run};
use nicteam_testnet::{is_soak, may_make_networks};

use crate::common::lab::run_with;

const BARE: &str = "hosts = { a = {}, b = {} }\nlinks = [{ between = [\"a\", \"b\"] }]";
const SWITCHED: &str = "hosts = { a = {}, b = {} }\nswitches.sw = {}\nlinks = [{ between = [[\"a\", \"b\"], \"sw\"] }]";
const TEAMS: &str = "hosts = { a = { team = \"t\" }, b = { team = \"t\" } }\n\
    teams.t = { mode = \"active-backup\", miimon = 20, primary = \"eth0\" }\n\
    switches.sw = {}\nlinks = [{ between = [[\"a\", \"b\"], \"sw\"], count = 2 }]";
const LACP: &str = "hosts = { a = { team = \"t\" }, b = { team = \"t\" } }\n\
    teams.t = { mode = \"802.3ad\", lacp_rate = \"fast\", miimon = 20 }\n\
    switches.sw = { spread = \"layer2\", lacp_rate = \"fast\" }\nlinks = [{ between = [[\"a\", \"b\"], \"sw\"], count = 2 }]";
const UDP: &str = "kind = \"udp\", rate = \"1mbit\", size = 64";
const DATAPLANES: [&str; 2] = ["bpf", "packet"];

/// The first dataplane; in a soak both.
fn dataplanes() -> &'static [&'static str] {
    &DATAPLANES[..if is_soak() { DATAPLANES.len() } else { 1 }]
}

/// A run of 1.5 s with this traffic from `a` to `b`, in which this happens; none if the machine lacks the dataplane.
fn faults(name: &str, dataplane: &str, network: &str, traffic: &str, event: &str) -> Option<Run> {
    lasting("1500ms", name, dataplane, network, traffic, event)
}

fn lasting(duration: &str, name: &str, dataplane: &str, network: &str, traffic: &str, event: &str) -> Option<Run> {
    let file = format!(
        "title = \"Faults\"\ndefaults = {{ rate = \"100mbit\", warmup = \"200ms\", interval = \"20ms\" }}\n{network}\n\
         impairments.bad = {{ loss = \"50%\", duplicate = \"20%\" }}\n\
         workloads.w = {{ {traffic}, from = \"a\", to = \"b\" }}\n\
         [[runs]]\nname = \"r\"\nworkloads = \"w\"\nevents = [{{ at = \"300ms\", {event} }}]\n"
    );
    let arguments = ["--duration", duration, "--dataplane", dataplane];
    let (output, record) = run_with(&format!("{name}-{dataplane}"), &file, &arguments);
    if dataplane == "bpf" && output.status.code() == Some(3) {
        return None;
    }
    let mut record = record.unwrap_or_else(|| panic!("{name}, {dataplane}: {output:?}"));
    let run = record.runs.swap_remove(0);
    let trouble: Vec<_> = run.events.iter().filter(|event| event.kind == EventKind::Trouble).collect();
    assert!(trouble.is_empty(), "{name}, {dataplane}: {trouble:?}");
    Some(run)
}

/// When the faults began and ended, milliseconds.
fn times(run: &Run) -> Vec<f64> {
    run.events.iter().filter(|event| event.kind == EventKind::Fault).map(|event| event.t_ms).collect()
}

/// What teams of `a` reported since the measurement began.
fn of_teams(run: &Run) -> Vec<(f64, &str)> {
    let own = |event: &&nicteam_record::Event| event.kind == EventKind::Team && event.node == "a" && event.t_ms > 0.0;
    run.events.iter().filter(own).map(|event| (event.t_ms, event.text.as_str())).collect()
}

/// The longest time in which no datagram came, milliseconds.
fn silence_ms(run: &Run) -> f64 {
    let datagrams = run.connections[0].datagrams.unwrap();
    assert!(datagrams.received > 100, "{datagrams:?}");
    datagrams.longest_silence_us as f64 / 1e3
}

#[test]
fn one_direction_of_a_cable_falls_silent() {
    if !may_make_networks() {
        return;
    }
    // What `b` sends is not missed here.
    for (from, is_missed) in [("a", true), ("b", false)] {
        let event = format!("kind = \"silence\", link = [\"a\", \"b\"], from = \"{from}\", for = \"600ms\"");
        let run = faults(&format!("from-{from}"), "packet", BARE, UDP, &event).unwrap();
        assert_eq!(silence_ms(&run) > 400.0, is_missed, "{from}: {}", silence_ms(&run));
    }
}

#[test]
fn a_cable_flaps_and_the_team_goes_on() {
    if !may_make_networks() {
        return;
    }
    let event = "kind = \"cable\", link = [\"a\", \"sw\"], for = \"100ms\", every = \"300ms\"";
    for &dataplane in dataplanes() {
        let Some(run) = faults("flaps", dataplane, TEAMS, UDP, event) else { continue };
        assert_eq!(times(&run).len(), 8, "300, 600, 900 and 1200 ms, and 100 ms later each: {:?}", times(&run));
        let went_down = of_teams(&run).iter().filter(|(_, text)| text.contains("(eth0): up -> down")).count();
        assert!(went_down >= 2, "{dataplane}: {:?}", of_teams(&run));
        assert!(silence_ms(&run) < 400.0, "{dataplane}: {}", silence_ms(&run));
        let lasted: Vec<f64> = run.faults.iter().map(|fault| fault.over_ms.unwrap() - fault.t_ms).collect();
        assert!(lasted.len() == 4 && lasted.iter().all(|ms| (50.0..250.0).contains(ms)), "{lasted:?}");
    }
}

#[test]
fn a_cable_is_impaired_for_a_while() {
    if !may_make_networks() {
        return;
    }
    let event = "kind = \"impair\", link = [\"a\", \"b\"], impair = \"bad\", from = \"a\", for = \"400ms\"";
    let run = faults("impair", "packet", BARE, UDP, event).unwrap();
    let of = |node: &str| run.relayed.iter().find(|way| way.node == node).unwrap();
    // 1 Mbit/s in datagrams of 64 bytes: 780 in 400 ms.
    let (a, b) = (of("a"), of("b"));
    assert!((100..700).contains(&a.lost) && a.duplicated > 20, "{a:?}");
    assert_eq!((b.lost, b.duplicated), (0, 0), "the other direction");
    let lost = run.connections[0].datagrams.unwrap().lost;
    assert!(lost.abs_diff(a.lost) < 100, "{lost}: {a:?}");
}

#[test]
fn a_cable_gets_another_rate_and_its_own_again() {
    if !may_make_networks() {
        return;
    }
    let event = "kind = \"rate\", link = [\"a\", \"b\"], rate = \"5mbit\", from = \"a\", for = \"600ms\"";
    let traffic = "kind = \"udp\", rate = \"20mbit\", size = 1000";
    let run = faults("rate", "packet", BARE, traffic, event).unwrap();
    // 900 ms with 20 Mbit/s and 600 ms with less than 5; what waits in the queue (200 KB) comes later.
    assert!((9e6..19e6).contains(&run.delivered_bps), "{}", run.delivered_bps);
    let [fault] = run.faults.as_slice() else { panic!("{:?}", run.faults) };
    assert!(fault.before_bps.unwrap() > 15e6 && fault.during_bps.unwrap() < 8e6, "{fault:?}");
    assert!(fault.after_bps.unwrap() > 12e6 && fault.full_share_ms.unwrap() > 300.0, "{fault:?}");
}

#[test]
fn a_smaller_mtu_drops_large_packets_alone() {
    if !may_make_networks() {
        return;
    }
    let event = "kind = \"mtu\", link = [\"sw\", \"b\"], mtu = 1000, for = \"600ms\"";
    for (size, is_dropped) in [(1400, true), (800, false)] {
        let traffic = format!("kind = \"udp\", rate = \"20mbit\", size = {size}");
        let run = faults(&format!("mtu-{size}"), "packet", SWITCHED, &traffic, event).unwrap();
        assert_eq!(silence_ms(&run) > 400.0, is_dropped, "{size}: {}", silence_ms(&run));
        assert_eq!(run.faults[0].full_share_ms.unwrap() > 400.0, is_dropped, "{:?}", run.faults);
    }
}

#[test]
fn a_team_repairs_the_filters_of_a_member() {
    if !may_make_networks() {
        return;
    }
    // The packet dataplane has none, and nothing happens.
    for &dataplane in dataplanes() {
        let event = "kind = \"filters\", link = [\"a\", \"sw\"]";
        let Some(run) = faults("filters", dataplane, TEAMS, UDP, event) else { continue };
        assert_eq!((times(&run).len(), run.faults[0].member.as_deref()), (1, Some("eth0")));
        assert!(silence_ms(&run) < 300.0, "{}", silence_ms(&run));
    }
}

#[test]
fn a_hung_switch_carries_nothing_and_its_ports_stay_up() {
    if !may_make_networks() {
        return;
    }
    let event = "kind = \"hang\", switch = \"sw\", for = \"400ms\"";
    let most = if is_soak() { 3 } else { 2 };
    for (dataplane, name, network) in
        [("packet", "hang", SWITCHED), ("bpf", "hang-t", TEAMS), ("packet", "hang-t", TEAMS)].into_iter().take(most)
    {
        let Some(run) = faults(name, dataplane, network, UDP, event) else { continue };
        assert_eq!(times(&run).len(), 2);
        assert!((200.0..1200.0).contains(&silence_ms(&run)), "{name} {dataplane}: {}", silence_ms(&run));
        let [fault] = run.faults.as_slice() else { panic!("{:?}", run.faults) };
        assert_eq!((fault.kind.as_str(), fault.node.as_str()), ("hang", "sw"));
        assert!(fault.over_ms.unwrap() - fault.t_ms > 300.0 && fault.until_ms > 1400.0, "{fault:?}");
        assert!(fault.silence_ms.unwrap() > 200.0 && fault.lost.unwrap() > 100, "{fault:?}");
        assert!(fault.full_share_ms.unwrap() > 200.0, "{fault:?}");
        assert_eq!(of_teams(&run), [], "no carrier was lost");
    }
}

#[test]
fn a_restarted_switch_takes_its_ports_down_and_up() {
    if !may_make_networks() {
        return;
    }
    let event = "kind = \"restart\", switch = \"sw\", for = \"400ms\"";
    for &dataplane in dataplanes() {
        // Addresses are asked for again, which takes up to a second.
        let Some(run) = lasting("3s", "restart", dataplane, TEAMS, UDP, event) else { continue };
        assert!(silence_ms(&run) > 300.0, "{dataplane}: {}", silence_ms(&run));
        for member in ["eth0", "eth1"] {
            let words = format!("({member}): up -> down");
            assert!(of_teams(&run).iter().any(|(_, text)| text.contains(&words)), "{dataplane}: {:?}", of_teams(&run));
        }
        let sent = run.members.iter().filter(|of| of.host == "a").map(|of| of.tx_frames).sum::<u64>();
        assert!(sent > 800, "of about 2900, 290 of them before; it carries again: {:?}", run.members);
    }
}

#[test]
fn a_switch_that_sends_no_lacpdus_loses_its_partner() {
    if !may_make_networks() {
        return;
    }
    let event = "kind = \"lacp\", switch = \"sw\"";
    for &dataplane in dataplanes() {
        let Some(run) = lasting("5s", "lacp", dataplane, LACP, UDP, event) else { continue };
        // At the fast rate what was heard is believed for three seconds.
        let told = of_teams(&run);
        let first = told.first().unwrap_or_else(|| panic!("{dataplane}: nothing was noticed"));
        assert!((2000.0..4800.0).contains(&first.0), "{dataplane}: {told:?}");
        let cut = run.relayed.iter().filter(|way| way.node == "sw").map(|way| way.cut).sum::<u64>();
        assert!(cut >= 8, "four cables, a LACPDU a second each: {cut}");
        assert!(run.relayed.iter().filter(|way| way.node != "sw").all(|way| way.cut == 0), "{:?}", run.relayed);
    }
}

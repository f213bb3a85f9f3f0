//! Faults of hosts, and of single bits, in runs of the lab.

use nicteam_record::{EventKind, Run};
use nicteam_testnet::may_make_networks;

use crate::common::lab::run_with;

/// A run of 1.8 s in which this happens after 400 ms.
fn faults(name: &str, event: &str) -> Run {
    let file = format!(
        "title = \"Faults\"\ndefaults = {{ rate = \"100mbit\", warmup = \"200ms\", interval = \"20ms\" }}\n\
         hosts = {{ a = {{ team = \"t\" }}, b = {{ team = \"t\" }} }}\n\
         teams.t = {{ mode = \"active-backup\", miimon = 20, primary = \"eth0\" }}\n\
         switches.sw = {{}}\nlinks = [{{ between = [[\"a\", \"b\"], \"sw\"], count = 2 }}]\n\
         impairments.bad = {{ corrupt = \"50%\" }}\n\
         workloads.w = {{ kind = \"udp\", rate = \"1mbit\", size = 64, from = \"a\", to = \"b\" }}\n\
         [[runs]]\nname = \"r\"\nworkloads = \"w\"\nevents = [{{ at = \"400ms\", {event}, for = \"400ms\" }}]\n"
    );
    let (output, record) = run_with(name, &file, &["--duration", "1800ms", "--dataplane", "packet"]);
    record.unwrap_or_else(|| panic!("{name}: {output:?}")).runs.swap_remove(0)
}

/// True if a team of this host reported these words while the run was measured.
fn reported(run: &Run, host: &str, words: &str) -> bool {
    let own = |event: &&nicteam_record::Event| event.kind == EventKind::Team && event.node == host && event.t_ms > 0.0;
    run.events.iter().filter(own).any(|event| event.text.contains(words))
}

#[test]
fn a_packet_team_carries_nothing_while_its_process_is_stopped_or_killed() {
    if !may_make_networks() {
        return;
    }
    for kind in ["stop", "kill"] {
        let run = faults(&format!("host-{kind}"), &format!("kind = \"{kind}\", host = \"a\""));
        let [fault] = run.faults.as_slice() else { panic!("{:?}", run.faults) };
        assert_eq!((fault.node.as_str(), fault.team.as_deref(), fault.member.as_deref()), ("a", Some("team0"), None));
        assert!(fault.silence_ms.unwrap() > 250.0, "{kind}: {fault:?}");
        assert!(fault.after_bps.unwrap() > fault.before_bps.unwrap() / 2.0, "{kind}: {fault:?}");
        // What waits for a stopped process is sent late; what comes to none is lost.
        assert_eq!(reported(&run, "a", "taken over"), kind == "kill", "{:?}", run.events);
        let open: Vec<i64> =
            run.resources.iter().map(|it| it.descriptors[1] as i64 - it.descriptors[0] as i64).collect();
        assert!(run.resources.len() >= 3 && open.iter().all(|more| more.abs() <= 8), "{:?}", run.resources);
    }
}

#[test]
fn a_host_that_is_rebooted_is_back_with_its_team() {
    if !may_make_networks() {
        return;
    }
    let run = faults("host-reboot", "kind = \"reboot\", host = \"b\"");
    let [fault] = run.faults.as_slice() else { panic!("{:?}", run.faults) };
    assert!(fault.silence_ms.unwrap() > 250.0 && fault.lost.unwrap() > 100, "{fault:?}");
    assert!(fault.after_bps.unwrap() > fault.before_bps.unwrap() / 2.0, "{fault:?}");
    assert!(reported(&run, "b", "active member: none -> 0"), "{:?}", run.events);
}

#[test]
fn a_busy_program_does_not_end_a_team() {
    if !may_make_networks() {
        return;
    }
    let run = faults("host-busy", "kind = \"busy\", host = \"a\"");
    let [fault] = run.faults.as_slice() else { panic!("{:?}", run.faults) };
    assert!(fault.over_ms.is_some() && fault.after_bps.unwrap() > fault.before_bps.unwrap() / 2.0, "{fault:?}");
}

#[test]
fn a_corrupted_packet_is_lost_to_its_checksum() {
    if !may_make_networks() {
        return;
    }
    let run = faults("corrupt", "kind = \"impair\", link = [\"a\", \"sw\"], impair = \"bad\"");
    let corrupted: u64 = run.relayed.iter().map(|way| way.corrupted).sum();
    let datagrams = run.connections[0].datagrams.unwrap();
    // Of about 390 that cross the link meanwhile. A bit of padding, or of an address that nobody has, is not seen as such.
    assert!(corrupted > 50, "{:?}", run.relayed);
    assert!(datagrams.lost > corrupted / 2 && datagrams.lost < 2 * corrupted + 100, "{datagrams:?}, {corrupted}");
}

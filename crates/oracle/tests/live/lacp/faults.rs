//! Links that are cut, partners that freeze and restart.

use std::process::Command;

use nicteam_testnet::eventually;

use crate::live::lacp::meeting::{Meeting, Options, pause};

const FAST: Options<'static> = &[("lacp_rate", "fast"), ("aggregate_wait", "0")];
const KERNELS: Options<'static> = &[("lacp_rate", "fast")];

#[test]
fn a_cut_link_is_left_by_both_ends_and_taken_back() {
    let Some(mut meeting) = Meeting::of(FAST, KERNELS) else { return };
    meeting.settles([true, true], "at first");
    meeting.plug(1, false);
    eventually("one member", || meeting.ours() == [true, false] && meeting.kernels() == [true, false]);
    meeting.reaches("by one member");
    assert!(meeting.problems().contains("member eth1 has no carrier"), "{}", meeting.problems());
    meeting.plug(1, true);
    meeting.settles([true, true], "after the cut");
}

#[test]
fn a_frozen_kernel_is_silent_and_comes_back() {
    let strict = [FAST, &[("lacp_strict", "on")]].concat();
    let Some(mut meeting) = Meeting::of(&strict, KERNELS) else { return };
    meeting.settles([true, true], "at first");
    signal(meeting.guest.pid(), "-STOP");
    eventually("the silence", || meeting.problems().contains("eth0 does not aggregate: partner silent"));
    eventually("no member", || meeting.ours() == [false, false]);
    signal(meeting.guest.pid(), "-CONT");
    meeting.settles([true, true], "once it runs on");
}

#[test]
fn a_partner_that_restarts_is_found_again() {
    let Some(mut meeting) = Meeting::of(FAST, KERNELS) else { return };
    meeting.settles([true, true], "at first");
    meeting.guest.remove_bond("bond0");
    meeting.start_bond(&[KERNELS, &[("ad_actor_system", "02:00:00:00:00:77"), ("ad_user_port_key", "5")]].concat());
    meeting.settles([true, true], "the kernel as another system");
    meeting.stop_team();
    meeting.start_team(&[FAST, &[("ad_actor_system", "02:00:00:00:00:88")]].concat());
    meeting.settles([true, true], "our team as another system");
}

#[test]
fn min_links_take_the_carrier_at_both_ends() {
    let two = [("min_links", "2")];
    let Some(mut meeting) = Meeting::of(&[FAST, &two].concat(), &[KERNELS, &two].concat()) else { return };
    meeting.settles([true, true], "at first");
    let carriers = |meeting: &mut Meeting| {
        let kernels = meeting.guest.read("/sys/class/net/bond0/carrier").unwrap() == "1";
        [meeting.a.link("team0").carrier, kernels]
    };
    assert_eq!(carriers(&mut meeting), [true, true]);
    meeting.plug(0, false);
    let lost = (0..2000).any(|_| carriers(&mut meeting) == [false, false] || pause());
    assert!(lost, "{}", meeting.procs().join("\n"));
    meeting.plug(0, true);
    meeting.settles([true, true], "with both links again");
    assert_eq!(carriers(&mut meeting), [true, true]);
}

/// Sends a signal to the guest's kernel; its processes are traced by it and stand still with it.
fn signal(pid: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

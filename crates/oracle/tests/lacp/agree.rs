//! Who speaks, and how often.

use nicteam_testnet::eventually;

use crate::meeting::{Meeting, Options};

#[test]
fn active_and_passive_fast_and_slow_agree_with_the_kernel() {
    let Some(mut meeting) = Meeting::new() else { return };
    let cases: [[Options<'_>; 2]; 4] = [
        [&[], &[]],
        [&[("lacp_rate", "fast")], &[("lacp_active", "off")]],
        [&[("lacp_active", "off"), ("lacp_rate", "slow")], &[("lacp_rate", "fast")]],
        [&[("aggregate_wait", "0"), ("coupled_control", "off")], &[("lacp_rate", "fast")]],
    ];
    for [ours, kernels] in cases {
        meeting.start_bond(kernels);
        meeting.start_team(ours);
        meeting.settles([true, true], &format!("{ours:?} with the kernel's {kernels:?}"));
        assert_eq!(meeting.problems(), "");
        meeting.stop_team();
        meeting.guest.remove_bond("bond0");
    }
}

/// The kernel says a few words when it starts, passive or not, then nothing; we say nothing to a passive end.
#[test]
fn two_passive_ends_do_not_aggregate() {
    let passive = ("lacp_active", "off");
    let Some(mut meeting) = Meeting::of(&[passive, ("lacp_rate", "fast")], &[passive]) else { return };
    eventually("the silence", || meeting.problems().contains("does not aggregate: partner silent"));
    eventually("one member that serves", || meeting.ours().iter().filter(|active| **active).count() == 1);
    assert_eq!(meeting.kernels(), [false, false]);
    for (whose, proc) in ["ours", "the kernel's"].into_iter().zip(meeting.procs()) {
        assert!(proc.contains("\tPartner Mac Address: 00:00:00:00:00:00\n"), "{whose}: {proc}");
    }
    let members = meeting.team().handle().status().unwrap().members;
    assert!(members.iter().all(|member| member.lacp.as_ref().unwrap().lacpdus_sent == 0));
}

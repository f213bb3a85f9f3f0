//! Who speaks, and how often.

use nicteam_testnet::eventually;

use crate::live::lacp::meeting::{Meeting, Options};

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

/// The kernel shows the priorities that it received in the details of its partner. It cannot set the priorities of its
/// own ports in Linux 6.1.
#[test]
fn priorities_are_told_to_the_kernel() {
    let ours: Options<'_> = &[("actor_port_prio", "eth0:10,eth1:20"), ("ad_actor_sys_prio", "7")];
    let Some(mut meeting) = Meeting::of(ours, &[("ad_actor_sys_prio", "9")]) else { return };
    meeting.settles([true, true], "priorities");
    let [ours, kernels] = meeting.procs();
    let partner = |proc: &str, member: usize| -> Vec<String> {
        let member = proc.split("\nSlave Interface: ").nth(member + 1).unwrap_or_default();
        let (_, partner) = member.split_once("details partner lacp pdu:\n").unwrap_or_default();
        let priorities = partner.lines().filter(|line| line.contains("priority"));
        priorities.map(|line| line.trim().to_owned()).collect()
    };
    for (member, priority) in [(0, 10), (1, 20)] {
        assert_eq!(partner(&kernels, member), ["system priority: 7".to_owned(), format!("port priority: {priority}")]);
        assert_eq!(partner(&ours, member), ["system priority: 9", "port priority: 255"]);
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
    // What the kernel said when it started is forgotten in the end; one member serves all the while.
    let is_alone = |proc: &String| proc.contains("\tPartner Mac Address: 00:00:00:00:00:00\n");
    eventually("no partner at either end", || meeting.procs().iter().all(is_alone));
    let members = meeting.team().handle().status().unwrap().members;
    assert!(members.iter().all(|member| member.lacp.as_ref().unwrap().lacpdus_sent == 0));
}

//! Which links aggregate where they are unlike.

use nicteam_oracle::protocol::Request;
use nicteam_testnet::eventually;

use crate::live::lacp::meeting::{Meeting, Options, pause};

const FAST: Options<'static> = &[("lacp_rate", "fast"), ("aggregate_wait", "0")];
const KERNELS: Options<'static> = &[("lacp_rate", "fast"), ("ad_select", "bandwidth")];

#[test]
fn a_member_of_another_speed_stands_by_at_both_ends() {
    let Some(mut meeting) = Meeting::new() else { return };
    // Who has the lower identifier decides; both orders must end with one link in use at both ends.
    for (priority, slow) in [("1", 1), ("1", 0), ("65535", 1), ("65535", 0)] {
        for n in 0..2 {
            let speed_mbps = if n == slow { 1000 } else { 10_000 };
            meeting.guest.must(Request::SetSpeed { name: format!("a{n}"), speed_mbps });
        }
        meeting.start_bond(&[KERNELS, &[("ad_actor_sys_prio", "100")]].concat());
        meeting.start_team(&[FAST, &[("ad_actor_sys_prio", priority)]].concat());
        let uses = [slow != 0, slow != 1];
        meeting.settles(uses, &format!("a{slow} is slow, our priority {priority}, the kernel's 100"));
        assert!(meeting.problems().contains("keys differ"), "{}", meeting.problems());
        meeting.stop_team();
        meeting.guest.remove_bond("bond0");
    }
}

/// Both ends say after a minute that the port that we leave out is churned. In a soak alone.
#[test]
fn a_port_that_stays_out_of_sync_is_churned_at_both_ends() {
    if !nicteam_oracle::is_soak() {
        return;
    }
    let Some(mut meeting) = Meeting::new() else { return };
    let common = [&[("mode", "802.3ad"), ("miimon", "20")], KERNELS].concat();
    // The first that is there is chosen.
    meeting.guest.add_bond("bond1", &common, &["a0".to_owned()]);
    meeting.start_team(FAST);
    eventually("the first bond is chosen", || meeting.ours() == [true, false]);
    meeting.guest.add_bond("bond0", &common, &["a1".to_owned()]);
    let churn = |proc: &str, member: usize, end: &str| {
        let member = proc.split("\nSlave Interface: ").nth(member + 1).unwrap_or_default();
        let line = member.lines().find_map(|line| line.strip_prefix(&format!("{end} Churn State: ")));
        line.unwrap_or_default().to_owned()
    };
    let mut seen = Vec::new();
    let churned = (0..20_000).any(|_| {
        let [ours, kernels] = meeting.procs();
        seen = ["Actor", "Partner"].map(|end| churn(&ours, 1, end)).to_vec();
        seen.extend(["Partner", "Actor"].map(|end| churn(&kernels, 0, end)));
        seen == ["churned", "none", "churned", "none"] || pause()
    });
    assert!(churned, "ours of us and of the kernel, the kernel's of us and of itself: {seen:?}");
}

#[test]
fn of_two_bonds_one_is_chosen() {
    let Some(mut meeting) = Meeting::new() else { return };
    let bond = |name: &str, port: &str, more: Options<'_>, meeting: &mut Meeting| {
        let options = [&[("mode", "802.3ad"), ("miimon", "20")], KERNELS, more].concat();
        meeting.guest.add_bond(name, &options, &[port.to_owned()]);
    };
    let same = ("ad_actor_system", "02:00:00:00:00:77");
    let cases: [(Options<'_>, Options<'_>, &str); 2] = [
        (&[same, ("ad_user_port_key", "1")], &[same, ("ad_user_port_key", "2")], "keys differ"),
        (&[], &[], "partner in another system"),
    ];
    for (one, other, reason) in cases {
        bond("bond0", "a0", one, &mut meeting);
        bond("bond1", "a1", other, &mut meeting);
        meeting.start_team(FAST);
        eventually(reason, || meeting.problems().contains(reason));
        let chosen = |meeting: &mut Meeting| (meeting.ours(), meeting.kernels());
        // The port that we leave out does not attach at the kernel's end either.
        let agreed = (0..2000).any(|_| {
            let (ours, kernels) = chosen(&mut meeting);
            ours == kernels && ours.iter().filter(|active| **active).count() == 1 || pause()
        });
        assert!(agreed, "{reason}: {:?}\n{}", chosen(&mut meeting), meeting.problems());
        meeting.stop_team();
        ["bond0", "bond1"].into_iter().for_each(|name| meeting.guest.remove_bond(name));
    }
}

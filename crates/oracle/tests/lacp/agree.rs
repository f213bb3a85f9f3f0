//! Who speaks, and how often.

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

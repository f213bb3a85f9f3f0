//! The two directions of a member's traffic.

use nicteam_findings::view::MemberView;

use crate::series::Interval;

/// One of the two directions.
pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) of_interval: fn(&Interval) -> f64,
    pub(super) of_member: fn(&MemberView<'_>) -> f64,
    pub(super) load: fn(&MemberView<'_>) -> f64,
}

pub(super) const SENT: Way = Way {
    name: "sent",
    of_interval: |interval| interval.tx_bps,
    of_member: |member| member.tx_bps,
    load: |member| member.tx_load(),
};

pub(super) const RECEIVED: Way = Way {
    name: "received",
    of_interval: |interval| interval.rx_bps,
    of_member: |member| member.rx_bps,
    load: |member| member.rx_load(),
};

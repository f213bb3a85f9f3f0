//! The command, run as a user would run it.

mod advise;
mod common;
mod convert;
mod doctor;
mod licences;
mod list;
mod ovs;
mod package;
mod predict;
/// The published configurations, which crate `formats` reads in its tests.
#[path = "../../formats/tests/published.rs"]
mod published;
mod report;
mod sweep;
mod which;
mod words;

/// Measures a ratio or a time: nothing beside it.
mod alone {
    mod hostile;
    mod notices;
    mod t3;
}

/// Emulates a processor: one at a time, beside what waits.
mod guest {
    mod bonding;
    mod explained;
    mod kernel_bonds;
    mod linux_6_1;
    mod moved;
    mod vlan;
}

/// Mostly waits: many at once.
mod live {
    mod addressing;
    mod advise;
    mod capture;
    mod check;
    mod cleanup;
    mod copies;
    mod doctor_path;
    mod engines;
    mod explain;
    mod fault_by_hand;
    mod faults;
    mod gateways;
    mod guests;
    mod host;
    mod lab_lacp;
    mod lab_pagp;
    mod lacp;
    mod options;
    mod ovs;

    mod ovs_text;
    mod ovs_vsctl;
    mod ping;
    mod programs;
    mod published;
    mod running;
    mod service;
    mod ssh;
    mod storage;
    mod storage_faults;
    mod t2;
    mod tagged;
    mod targets;
    mod team;
    mod testbed;
    mod traffic_test;
    mod tune;
    mod watch;
}

/// Counts lost frames at moments that a busy machine would move: a few at once, and nothing that computes beside them.
mod quiet {
    mod chaos;
    mod fault_kinds;
    mod host_faults;
    mod impaired;
    mod kill;
    mod many_hosts;
    mod planted;
    mod stall;
    mod stopped;
    mod t5;
}

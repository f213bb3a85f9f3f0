//! Options of Open vSwitch's modes.

use nicteam_lacp::LacpRate;
use nicteam_options::{BondOptions, Config, DetectMode, LacpMode, Mode};
use nicteam_wire::Mac;

use super::with;

#[test]
fn open_vswitchs_names_are_taken_for_its_options_and_for_the_kernels() {
    let config = with(&[
        ("mode", "balance-slb"),
        ("bond-updelay", "300"),
        ("bond_downdelay", "200"),
        ("bond-miimon-interval", "50"),
        ("bond-detect-mode", "miimon"),
        ("bond-primary", "eth1"),
        ("bond-hash-basis", "7"),
        ("bond-rebalance-interval", "500"),
        ("lacp", "passive"),
        ("lacp-time", "fast"),
        ("lacp-fallback-ab", "true"),
        ("lacp-system-id", "02:00:00:00:00:aa"),
        ("lacp-system-priority", "5"),
        ("all-members-active", "true"),
        ("all-slaves-active", "true"),
    ]);
    assert_eq!(config.check(), Ok(()));
    assert_eq!(config.mode, Mode::OvsBalanceSlb);
    assert_eq!((config.updelay_ms, config.downdelay_ms, config.miimon_ms), (300, 200, 50));
    assert_eq!((config.primary.as_deref(), config.all_slaves_active), (Some("eth1"), true));
    assert_eq!((config.lacp.rate, config.lacp.actor_sys_prio), (LacpRate::Fast, Some(5)));
    assert_eq!(config.lacp.actor_system, Some(Mac([2, 0, 0, 0, 0, 0xaa])));
    let bond = BondOptions {
        lacp: LacpMode::Passive,
        lacp_fallback_ab: true,
        hash_basis: 7,
        rebalance_interval_ms: 500,
        detect_mode: DetectMode::Miimon,
    };
    assert_eq!(config.bond, bond);
    assert_eq!("balance-tcp".parse(), Ok(Mode::OvsBalanceTcp));
    // The kernel has this name; Open vSwitch's rules are asked for by the other one.
    assert_eq!("active-backup".parse(), Ok(Mode::ActiveBackup));
    assert_eq!("ovs-active-backup".parse(), Ok(Mode::OvsActiveBackup));
}

#[test]
fn options_that_mean_nothing_in_a_mode_are_refused() {
    let refused = |options: &[(&str, &str)]| with(options).check().unwrap_err().to_string();
    for (option, value) in [
        ("lacp", "active"),
        ("lacp_fallback_ab", "1"),
        ("bond_hash_basis", "1"),
        ("bond_rebalance_interval", "1000"),
        ("bond_detect_mode", "miimon"),
    ] {
        let message = refused(&[("mode", "active-backup"), (option, value)]);
        let works_in = "works in modes ovs-active-backup, ovs-balance-slb and ovs-balance-tcp alone";
        assert_eq!(message, format!("`{option} {value}` {works_in}; the mode is active-backup"));
    }
    for (option, value) in [
        ("lacp_active", "off"),
        ("ad_user_port_key", "1"),
        ("coupled_control", "off"),
        ("lacp_strict", "on"),
        ("broadcast_neighbor", "on"),
        ("aggregate_wait", "0"),
    ] {
        let message = refused(&[("mode", "ovs-balance-tcp"), ("lacp", "active"), (option, value)]);
        assert_eq!(message, format!("`{option} {value}` works in mode 802.3ad alone; the mode is ovs-balance-tcp"));
    }
    for mode in ["ovs-active-backup", "ovs-balance-slb", "ovs-balance-tcp"] {
        assert!(refused(&[("mode", mode), ("prio", "eth0:1")]).contains("works in modes active-backup, "), "{mode}");
        assert!(refused(&[("mode", mode), ("miimon", "0")]).contains("does not go with"), "{mode}");
        // As in Open vSwitch: kept for the day when LACP is spoken.
        assert_eq!(with(&[("mode", mode), ("lacp_rate", "fast"), ("lacp", "off")]).check(), Ok(()));
    }
}

#[test]
fn lacps_priorities_are_by_default_those_of_the_modes_kind() {
    let (kernels, theirs) = (with(&[("mode", "802.3ad")]), with(&[("mode", "balance-tcp")]));
    assert_eq!((kernels.actor_sys_prio(), kernels.port_prio("eth0")), (65_535, 255));
    assert_eq!((theirs.actor_sys_prio(), theirs.port_prio("eth0")), (65_534, 65_535));
    let shown = |config: &Config| config.option("ad_actor_sys_prio");
    assert_eq!(shown(&theirs).as_deref(), Some("65534"));
    let named = with(&[("mode", "balance-tcp"), ("lacp-system-priority", "65535"), ("actor_port_prio", "eth0:255")]);
    assert_eq!((named.actor_sys_prio(), named.port_prio("eth0"), named.port_prio("eth1")), (65_535, 255, 65_535));
}

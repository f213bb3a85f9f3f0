//! Texts that `ovs-appctl` 3.1 printed, and the states that print the same here. The command's live tests compare more
//! states with the real one.

use serde_json::json;

use super::{bond_list, bond_show, lacp_show, lacp_show_stats};
use crate::show::openvswitch::{LacpMember, LacpView};
use crate::{BondState, PortState};

/// A bond with these differences to a new one.
fn bond(differences: serde_json::Value) -> BondState {
    let mut state = json!({
        "mode": "active-backup", "hash_basis": 0, "all_members_active": false, "updelay_ms": 0, "downdelay_ms": 0,
        "next_rebalance_ms": null, "lacp_status": "off", "lacp_fallback_ab": false, "primary": null,
        "active": "eth0", "active_mac": "16:80:14:de:12:50", "lacp": null,
        "members": [member("eth2", json!({})), member("eth0", json!({"active": true})), member("eth1", json!({}))],
    });
    merge(&mut state, differences);
    serde_json::from_value(state).unwrap()
}

fn member(name: &str, differences: serde_json::Value) -> serde_json::Value {
    let mut state = json!({
        "name": name, "enabled": true, "may_enable": true, "active": false, "delay_ms": null, "lacp_may_enable": true,
        "lacp_attached": true, "buckets": [],
    });
    merge(&mut state, differences);
    state
}

fn merge(state: &mut serde_json::Value, differences: serde_json::Value) {
    let differences = differences.as_object().unwrap().clone();
    state.as_object_mut().unwrap().extend(differences);
}

#[test]
fn active_backup() {
    let theirs = "\
---- bond0 ----
bond_mode: active-backup
bond may use recirculation: no, Recirc-ID : -1
bond-hash-basis: 0
lb_output action: disabled, bond-id: -1
updelay: 0 ms
downdelay: 0 ms
lacp_status: off
lacp_fallback_ab: false
active-backup primary: <none>
active member mac: 16:80:14:de:12:50(eth0)

member eth0: enabled
  active member
  may_enable: true

member eth1: enabled
  may_enable: true

member eth2: enabled
  may_enable: true

";
    assert_eq!(bond_show("bond0", &bond(json!({}))), theirs);
    let bonds = [("bond0", &bond(json!({})))];
    assert_eq!(
        bond_list(bonds),
        "bond\ttype\trecircID\tmembers\nbond0\tactive-backup\t0\teth2, eth0, eth1\n",
        "by place"
    );
    assert_eq!(bond_list([]), "bond\ttype\trecircID\tmembers\n");
}

#[test]
fn balance_slb_with_loads_and_delays() {
    let slb = bond(json!({
        "mode": "balance-slb", "updelay_ms": 5000, "next_rebalance_ms": 9034,
        "members": [
            member("eth0", json!({"active": true, "delay_ms": 70, "may_enable": false,
                "buckets": [{"bucket": 5, "bytes": 1023}, {"bucket": 144, "bytes": 5119}]})),
            member("eth2", json!({"enabled": false, "delay_ms": 4694})),
        ],
    }));
    let theirs = "\
---- bond0 ----
bond_mode: balance-slb
bond may use recirculation: no, Recirc-ID : -1
bond-hash-basis: 0
lb_output action: disabled, bond-id: -1
all members active: false
updelay: 5000 ms
downdelay: 0 ms
next rebalance: 9034 ms
lacp_status: off
lacp_fallback_ab: false
active-backup primary: <none>
active member mac: 16:80:14:de:12:50(eth0)

member eth0: enabled
  active member
  downdelay expires in 70 ms
  may_enable: false
  hash 144: 4 kB load

member eth2: disabled
  updelay expires in 4694 ms
  may_enable: true

";
    assert_eq!(bond_show("bond0", &slb), theirs);
}

#[test]
fn recirculation_and_primary() {
    let shown = |differences| bond_show("bond0", &bond(differences));
    let tcp = json!({"mode": "balance-tcp", "lacp_status": "negotiated", "next_rebalance_ms": 1, "primary": "eth1"});
    let negotiated = shown(tcp);
    assert!(negotiated.contains("recirculation: yes, Recirc-ID : 0\n") && negotiated.contains("primary: <none>\n"));
    let fallback =
        json!({"mode": "balance-tcp", "lacp_status": "configured", "lacp_fallback_ab": true, "primary": "x"});
    let fallback = shown(fallback);
    assert!(fallback.contains("recirculation: no, Recirc-ID : -1\n"), "{fallback}");
    assert!(fallback.contains("active-backup primary: x (no such member)\n"), "{fallback}");
    assert!(shown(json!({"primary": "eth1"})).contains("active-backup primary: eth1\n"));
}

fn port(receive: &str, partner_system: &str, actor_state: u8) -> PortState {
    let end = |system: &str, state: u8| json!({"system_priority": 65534, "system": system, "key": 1, "port_priority": 65535, "port": 3, "state": state});
    let state = json!({
        "aggregator": 1, "receive": receive, "mux": "distributing", "why_not": null,
        "actor": end("0a:a5:72:f4:d8:4b", actor_state), "partner": end(partner_system, 0x3d),
        "actor_churn": "none", "partner_churn": "none", "actor_churned": 0, "partner_churned": 0,
        "lacpdus_received": 7, "lacpdus_sent": 4, "malformed_received": 2, "markers_received": 1, "expired": 3,
        "defaulted": 5, "carrier_changes": 6,
    });
    serde_json::from_value(state).unwrap()
}

#[test]
fn lacp() {
    let known = port("current", "02:00:00:00:06:00", 0x3f);
    let (expired, lost) =
        (port("expired", "00:00:00:00:00:00", 0x87), port("port disabled", "00:00:00:00:00:00", 0x47));
    let member = |name, port, is_good| LacpMember { name, attached: is_good, may_enable: is_good, port };
    let view = LacpView {
        name: "bond0",
        active: true,
        negotiated: true,
        system: "0a:a5:72:f4:d8:4b",
        system_priority: 65534,
        key: Some(1),
        fast: true,
        members: vec![member("b", &expired, false), member("a", &known, true), member("c", &lost, false)],
    };
    let theirs = "\
---- bond0 ----
  status: active negotiated
  sys_id: 0a:a5:72:f4:d8:4b
  sys_priority: 65534
  aggregation key: 1
  lacp_time: fast

member: a: current attached
  port_id: 3
  port_priority: 65535
  may_enable: true

  actor sys_id: 0a:a5:72:f4:d8:4b
  actor sys_priority: 65534
  actor port_id: 3
  actor port_priority: 65535
  actor key: 1
  actor state: activity timeout aggregation synchronized collecting distributing

  partner sys_id: 02:00:00:00:06:00
  partner sys_priority: 65534
  partner port_id: 3
  partner port_priority: 65535
  partner key: 1
  partner state: activity aggregation synchronized collecting distributing

member: b: expired detached
  port_id: 3
  port_priority: 65535
  may_enable: false

  actor sys_id: 0a:a5:72:f4:d8:4b
  actor sys_priority: 65534
  actor port_id: 3
  actor port_priority: 65535
  actor key: 1
  actor state: activity timeout aggregation expired

  partner sys_id: 00:00:00:00:00:00
  partner sys_priority: 0
  partner port_id: 0
  partner port_priority: 0
  partner key: 0
  partner state: timeout

member: c: defaulted detached
";
    let shown = lacp_show(&view);
    assert!(shown.starts_with(theirs), "{shown}");
    assert!(shown.ends_with("  actor state: activity timeout aggregation defaulted\n\n  partner sys_id: 00:00:00:00:00:00\n  partner sys_priority: 0\n  partner port_id: 0\n  partner port_priority: 0\n  partner key: 0\n  partner state:\n"), "{shown}");
    let none =
        LacpView { active: false, negotiated: false, key: None, fast: false, members: Vec::new(), ..view.clone() };
    let head = "---- bond0 ----\n  status: passive\n  sys_id: 0a:a5:72:f4:d8:4b\n  sys_priority: 65534\n  aggregation key: none\n  lacp_time: slow\n";
    assert_eq!(lacp_show(&none), head);
    let stats = "\
---- bond0 statistics ----

member: a:
  TX PDUs: 4
  RX PDUs: 10
  RX Bad PDUs: 2
  RX Marker Request PDUs: 1
  Link Expired: 3
  Link Defaulted: 5
  Carrier Status Changed: 6

member: b:
";
    assert!(lacp_show_stats(&view).starts_with(stats));
}

//! A team in one of Open vSwitch's modes, as Open vSwitch's own commands show it.

use std::time::Duration;

use nicteam_bundles::Problem;
use nicteam_team::openvswitch::{BondMember, Negotiation};
use nicteam_team::{Config, LacpMode, MemberId, Team, Time};
use nicteam_wire::Mac;
use serde::{Deserialize, Serialize};

/// What `bond/show` and `lacp/show` print about a bond (Open vSwitch 3.1, ofproto/bond.c `bond_print_details`,
/// lib/lacp.c `lacp_print_details`). Ports and their counters are in [`MemberState::lacp`](crate::MemberState::lacp).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BondState {
    /// `active-backup`, `balance-slb` or `balance-tcp`.
    pub mode: String,
    /// `bond-hash-basis`.
    pub hash_basis: u32,
    /// `all-members-active`, which matters in balance-slb alone.
    pub all_members_active: bool,
    /// `bond_updelay`, milliseconds.
    pub updelay_ms: u32,
    /// `bond_downdelay`, milliseconds.
    pub downdelay_ms: u32,
    /// Until buckets change members by their loads, milliseconds; none: they do not.
    pub next_rebalance_ms: Option<u64>,
    /// `negotiated`, `configured` or `off`.
    pub lacp_status: String,
    /// `lacp-fallback-ab`.
    pub lacp_fallback_ab: bool,
    /// `bond-primary`.
    pub primary: Option<String>,
    /// The active member.
    pub active: Option<String>,
    /// The address that it has of its own; zeros without one.
    pub active_mac: String,
    /// LACP, if it is spoken.
    pub lacp: Option<BondLacp>,
    /// The members, by place.
    pub members: Vec<BondMemberState>,
}

/// A bond's LACP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BondLacp {
    /// This end speaks first.
    pub active: bool,
    /// Address of the system; zeros before the first member has joined.
    pub system: String,
    /// Priority of the system.
    pub system_priority: u16,
    /// The key of its ports.
    pub key: u16,
    /// The partner is asked to speak each second, not each 30.
    pub fast: bool,
}

/// A member of a bond.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BondMemberState {
    /// Its device.
    pub name: String,
    /// It may send.
    pub enabled: bool,
    /// Its link and LACP let it.
    pub may_enable: bool,
    /// It is the active one.
    pub active: bool,
    /// Until it is disabled (if it is enabled) or enabled, milliseconds; none: it waits for neither.
    pub delay_ms: Option<u64>,
    /// LACP alone lets it send.
    pub lacp_may_enable: bool,
    /// Its port belongs to the aggregate that carries the traffic, or serves as one without a partner.
    pub lacp_attached: bool,
    /// Its buckets that carried something.
    pub buckets: Vec<BucketLoad>,
}

/// What a bucket carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BucketLoad {
    /// The bucket.
    pub bucket: u8,
    /// Bytes, those before each run of rebalancing halved.
    pub bytes: u64,
}

impl BondState {
    /// That of a team, if its mode is one of Open vSwitch's. `device` tells the name and the own address of a member.
    pub fn of(team: &Team, now: Time, device: impl Fn(MemberId) -> (String, Mac)) -> Option<BondState> {
        let bond = team.bond(now)?;
        let config = team.config();
        let active = team.active().map(&device);
        let members = bond.members.iter().map(|member| BondMemberState::of(team, member, device(member.id).0));
        Some(BondState {
            mode: own_name(config).to_owned(),
            hash_basis: config.bond.hash_basis,
            all_members_active: config.all_slaves_active,
            updelay_ms: config.updelay_ms,
            downdelay_ms: config.downdelay_ms,
            next_rebalance_ms: bond.next_rebalance.map(millis),
            lacp_status: bond.negotiation.to_string(),
            lacp_fallback_ab: config.bond.lacp_fallback_ab,
            primary: config.primary.clone(),
            active_mac: active.as_ref().map(|(_, mac)| *mac).unwrap_or_default().to_string(),
            active: active.map(|(name, _)| name),
            lacp: (bond.negotiation != Negotiation::Off).then(|| BondLacp::of(team)),
            members: members.collect(),
        })
    }

    /// What keeps the bond of a team from carrying what its members could. `needs_lacp`: its mode works with LACP alone.
    pub fn problem(&self, team: &str, needs_lacp: bool, has_carrier: impl Fn(&str) -> bool) -> Option<Problem> {
        let (text, hint) = match (self.lacp_status.as_str(), self.lacp_fallback_ab) {
            ("off", _) if needs_lacp => (
                format!("balance-tcp works with LACP alone, and `lacp` is off, so {team} carries nothing"),
                format!(
                    "`nicteam team set {team} lacp=active` and LACP at the switch, or mode=ovs-balance-slb without either"
                ),
            ),
            ("configured", false) if self.members.iter().any(|member| has_carrier(&member.name)) => (
                format!("no partner answers by LACP, so {team} carries nothing"),
                format!(
                    "switch LACP on at the other end (one end has to be active), or let one member carry all without it: \
                     `nicteam team set {team} lacp_fallback_ab=1`"
                ),
            ),
            ("configured", true) => (
                format!(
                    "no partner answers by LACP, so {} carries all that {team} carries (lacp_fallback_ab)",
                    self.active.as_deref().unwrap_or("one member")
                ),
                "switch LACP on at the other end (one end has to be active)".to_owned(),
            ),
            _ => return None,
        };
        Some(Problem { text, hint })
    }
}

impl BondLacp {
    fn of(team: &Team) -> BondLacp {
        let (config, lacp) = (team.config(), team.lacp());
        BondLacp {
            active: config.bond.lacp == LacpMode::Active,
            system: lacp.map(|lacp| lacp.config().ad_actor_system).unwrap_or_default().to_string(),
            system_priority: config.actor_sys_prio(),
            key: lacp.and_then(|lacp| lacp.ports().first().map(|port| port.actor.key)).unwrap_or(0),
            fast: config.lacp.rate == nicteam_team::lacp::LacpRate::Fast,
        }
    }
}

impl BondMemberState {
    fn of(team: &Team, member: &BondMember, name: String) -> BondMemberState {
        let in_sync = |mux| mux >= nicteam_team::lacp::MuxState::Attached;
        let ports = team.lacp().map(|lacp| lacp.ports()).unwrap_or_default();
        let attached = ports.iter().any(|port| port.member == member.id && in_sync(port.mux));
        BondMemberState {
            name,
            enabled: member.enabled,
            may_enable: member.may_enable,
            active: member.active,
            delay_ms: member.delay.map(millis),
            lacp_may_enable: member.lacp_may_enable,
            lacp_attached: attached || member.lacp_may_enable,
            buckets: member.buckets.iter().map(|&(bucket, bytes)| BucketLoad { bucket, bytes }).collect(),
        }
    }
}

/// The mode's name in Open vSwitch.
fn own_name(config: &Config) -> &'static str {
    let name = config.mode.name();
    name.strip_prefix("ovs-").unwrap_or(name)
}

fn millis(of: Duration) -> u64 {
    u64::try_from(of.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use nicteam_team::Mode;
    use nicteam_team::mode::Sends;
    use serde_json::json;

    use super::*;
    use crate::{TeamStatus, show};

    fn status(mode: &str, lacp: &str, fallback: bool) -> TeamStatus {
        let member = |name: &str, buckets| {
            let bytes = |bucket: u8| json!({"bucket": bucket, "bytes": 5000});
            let buckets: Vec<_> = (0..buckets).map(bytes).collect();
            json!({
                "name": name, "enabled": true, "may_enable": true, "active": name == "eth0", "delay_ms": null,
                "lacp_may_enable": true, "lacp_attached": true, "buckets": buckets,
            })
        };
        let spoken =
            json!({"active": true, "system": "02:00:00:00:00:01", "system_priority": 65534, "key": 1, "fast": false});
        let status = json!({
            "schema": 1, "nicteam": "", "team": "team0", "index": 1, "mac": "", "mtu": 1500, "admin_up": true,
            "carrier": true, "mode": mode, "options": {}, "active": "eth0", "dataplane": "packet", "generation": 1,
            "uptime_ms": 0, "pid": 1, "unsent_frames": 0, "failover_in_kernel": true, "problems": [],
            "members": [{
                "place": 0, "name": "eth0", "index": 2, "state": "up", "active": true, "admin_up": true, "carrier": true,
                "speed_mbps": 1000, "duplex": "full", "permanent_mac": "", "mac": "", "link_failures": 0, "tx_frames": 0,
                "tx_bytes": 0, "tx_drops": 0, "rx_frames": 0, "rx_bytes": 0, "rx_drops": 0,
            }],
            "openvswitch": {
                "mode": "balance-slb", "hash_basis": 0, "all_members_active": false, "updelay_ms": 0, "downdelay_ms": 0,
                "next_rebalance_ms": 6500, "lacp_status": lacp, "lacp_fallback_ab": fallback, "primary": null,
                "active": "eth0", "active_mac": "02:00:00:00:00:01", "lacp": if lacp == "off" { json!(null) } else { spoken },
                "members": [member("eth0", 3), member("eth1", 1)],
            },
        });
        serde_json::from_value(status).unwrap()
    }

    fn problem(status: &TeamStatus) -> Option<Problem> {
        let mode: Mode = status.mode.parse().unwrap();
        let has_carrier = |name: &str| status.members.iter().any(|member| member.name == name && member.carrier);
        let needs_lacp = mode.traits().sends == Sends::ByFlow;
        status.openvswitch.as_ref().unwrap().problem(&status.team, needs_lacp, has_carrier)
    }

    #[test]
    fn what_lacp_keeps_from_being_carried_is_said_with_the_cure() {
        let said = |mode, lacp, fallback| problem(&status(mode, lacp, fallback)).map(|problem| problem.text);
        for mode in ["ovs-active-backup", "ovs-balance-slb"] {
            assert_eq!(said(mode, "off", false), None);
        }
        let off = said("ovs-balance-tcp", "off", false).unwrap();
        assert_eq!(off, "balance-tcp works with LACP alone, and `lacp` is off, so team0 carries nothing");
        for mode in ["ovs-active-backup", "ovs-balance-slb", "ovs-balance-tcp"] {
            assert_eq!(said(mode, "negotiated", false), None);
            assert_eq!(
                said(mode, "configured", false).unwrap(),
                "no partner answers by LACP, so team0 carries nothing"
            );
            let fallback = problem(&status(mode, "configured", true)).unwrap();
            assert!(fallback.text.contains("so eth0 carries all that team0 carries"), "{fallback:?}");
        }
        let hint = problem(&status("ovs-balance-tcp", "configured", false)).unwrap().hint;
        assert!(hint.contains("lacp_fallback_ab=1"), "{hint}");
    }

    #[test]
    fn people_see_lacp_and_the_buckets() {
        let shown = show::text(&status("ovs-balance-slb", "negotiated", false));
        assert!(
            shown.starts_with("team0: ovs-balance-slb, carrier, 1 of 1 members up, active eth0, LACP negotiated\n"),
            "{shown}"
        );
        assert!(shown.contains("  buckets    with traffic: eth0 3, eth1 1; rebalanced in 7 s\n"), "{shown}");
        assert!(!show::text(&status("ovs-active-backup", "off", false)).contains("buckets"));
    }
}

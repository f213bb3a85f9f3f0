//! What Open vSwitch says of a bond: `bond/show` and `lacp/show` (3.1; ofproto/bond.c, `bond_print_details`; lib/lacp.c,
//! `lacp_print_details`).

use nicteam_record::{BucketMember, Port};

/// A bond as `bond/show` prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bond {
    /// `active-backup`, `balance-slb` or `balance-tcp`.
    pub(super) mode: String,
    /// `negotiated`, `configured` or `off`.
    pub(super) lacp: String,
    /// In the order of their names.
    pub(super) members: Vec<Member>,
}

/// A member of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) enabled: bool,
    /// Buckets that it has and that carried something of late.
    pub(super) buckets: Vec<u8>,
}

impl Bond {
    /// Reads it; lines that it does not know it passes over.
    pub(super) fn read(text: &str) -> Bond {
        let mut bond = Bond::default();
        for line in text.lines() {
            let indented = line.starts_with(' ');
            let Some((key, value)) = line.trim().split_once(':') else { continue };
            let value = value.trim();
            match (key, key.split_once(' ')) {
                ("bond_mode", _) => value.clone_into(&mut bond.mode),
                ("lacp_status", _) => value.clone_into(&mut bond.lacp),
                (_, Some(("member" | "slave", name))) if !indented => {
                    let (name, enabled) = (name.to_owned(), value == "enabled");
                    bond.members.push(Member { name, enabled, buckets: Vec::new() });
                }
                (_, Some(("hash", bucket))) => {
                    if let (Some(member), Ok(bucket)) = (bond.members.last_mut(), bucket.parse()) {
                        member.buckets.push(bucket);
                    }
                }
                _ => {}
            }
        }
        bond
    }

    /// Which member each bucket has, of those that carried something.
    pub(super) fn buckets(&self, team: &str) -> Vec<BucketMember> {
        let of = |member: &Member| {
            let one = |bucket: &u8| BucketMember {
                host: String::new(),
                team: team.to_owned(),
                bucket: *bucket,
                member: member.name.clone(),
            };
            member.buckets.iter().map(one).collect::<Vec<_>>()
        };
        self.members.iter().flat_map(of).collect()
    }
}

/// The ports of a bond with LACP, by what `lacp/show` prints of it.
pub(super) fn ports(lacp: &str, bond: &Bond, team: &str) -> Vec<Port> {
    let mut ports: Vec<Port> = Vec::new();
    for line in lacp.lines() {
        let Some((key, value)) = line.trim().split_once(':') else { continue };
        let value = value.trim();
        match key {
            "member" | "slave" => {
                let (name, status) = value.split_once(':').unwrap_or((value, ""));
                let aggregates = bond.members.iter().any(|member| member.name == name && member.enabled);
                let why_not = (!aggregates).then(|| format!("Open vSwitch has it {}", status.trim()));
                let (team, member) = (team.to_owned(), name.to_owned());
                ports.push(Port { host: String::new(), team, member, aggregates, partner: None, why_not });
            }
            // Zero of a partner that has not spoken.
            "partner sys_id" if value != "00:00:00:00:00:00" => {
                if let Some(port) = ports.last_mut() {
                    port.partner = Some(value.to_owned());
                }
            }
            _ => {}
        }
    }
    ports
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Open vSwitch 3.1.0, its hash lines after some traffic.
    const BOND: &str = "---- bond0 ----\nbond_mode: balance-slb\nbond may use recirculation: no, Recirc-ID : -1\n\
        bond-hash-basis: 0\nlb_output action: disabled, bond-id: -1\nupdelay: 0 ms\ndowndelay: 0 ms\n\
        next rebalance: 9985 ms\nlacp_status: off\nlacp_fallback_ab: false\nactive-backup primary: <none>\n\
        active member mac: 12:f1:5d:96:44:7f(eth1)\n\nmember eth0: disabled\n  may_enable: false\n\n\
        member eth1: enabled\n  active member\n  may_enable: true\n  hash 71: 1207 kB load\n  hash 144: 3 kB load\n\n";
    const LACP: &str = "---- bond0 ----\n  status: active negotiated\n  sys_id: 02:00:00:00:00:01\n  sys_priority: 65534\n  \
        aggregation key: 1\n  lacp_time: fast\n\nmember: eth0: defaulted detached\n  port_id: 1\n  partner sys_id: \
        00:00:00:00:00:00\n\nmember: eth1: current attached\n  port_id: 2\n  actor state: activity\n  \
        partner sys_id: 12:f1:5d:96:44:00\n";

    #[test]
    fn members_and_buckets_are_read() {
        let bond = Bond::read(BOND);
        assert_eq!((bond.mode.as_str(), bond.lacp.as_str()), ("balance-slb", "off"));
        let states: Vec<_> = bond.members.iter().map(|member| (member.name.as_str(), member.enabled)).collect();
        assert_eq!(states, [("eth0", false), ("eth1", true)]);
        let buckets = bond.buckets("team0");
        assert_eq!(
            buckets.iter().map(|one| (one.bucket, &*one.member)).collect::<Vec<_>>(),
            [(71, "eth1"), (144, "eth1")]
        );
        assert_eq!(Bond::read("nonsense\n  hash x: y\n"), Bond::default());
    }

    #[test]
    fn ports_have_their_partner_or_say_why_not() {
        let ports = ports(LACP, &Bond::read(BOND), "team0");
        let [without, with] = &ports[..] else { panic!("{ports:?}") };
        assert_eq!((without.aggregates, &without.partner), (false, &None));
        assert_eq!(without.why_not.as_deref(), Some("Open vSwitch has it defaulted detached"));
        assert_eq!((with.aggregates, with.partner.as_deref()), (true, Some("12:f1:5d:96:44:00")));
        assert_eq!(with.why_not, None);
    }
}

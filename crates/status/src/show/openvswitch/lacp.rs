//! LACP of a team, as Open vSwitch would see it: also that of mode 802.3ad.

use nicteam_bundles::PortEnd;
use nicteam_wire::{LacpState, Mac};
use serde::Serialize;

use crate::{MemberState, PortState, TeamStatus};

/// A team's LACP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LacpView<'a> {
    /// The team.
    pub name: &'a str,
    /// This end speaks first.
    pub active: bool,
    /// A partner answers.
    pub negotiated: bool,
    /// Address of the system.
    pub system: &'a str,
    /// Priority of the system.
    pub system_priority: u16,
    /// The key of the aggregate; none without ports.
    pub key: Option<u16>,
    /// The partner is asked to speak each second, not each 30.
    pub fast: bool,
    /// The ports, by place.
    pub members: Vec<LacpMember<'a>>,
}

/// A member as a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LacpMember<'a> {
    /// Its device.
    pub name: &'a str,
    /// It belongs to the aggregate that carries the traffic.
    pub attached: bool,
    /// LACP lets it send.
    pub may_enable: bool,
    /// The port.
    pub port: &'a PortState,
}

impl<'a> LacpView<'a> {
    /// That of a team, if LACP is spoken on it.
    pub fn of(status: &'a TeamStatus) -> Option<LacpView<'a>> {
        LacpView::of_bond(status).or_else(|| LacpView::of_aggregation(status))
    }

    /// Open vSwitch's modes.
    fn of_bond(status: &'a TeamStatus) -> Option<LacpView<'a>> {
        let bond = status.openvswitch.as_ref()?;
        let lacp = bond.lacp.as_ref()?;
        let member = |member: &'a MemberState| {
            let of = bond.members.iter().find(|of| of.name == member.name)?;
            let port = member.lacp.as_ref()?;
            // One port serves without a partner, and would be attached; the real one's is only where it may send then.
            let attached = of.lacp_may_enable || of.lacp_attached && !is_unknown(&port.partner);
            Some(LacpMember { name: &member.name, attached, may_enable: of.lacp_may_enable, port })
        };
        Some(LacpView {
            name: &status.team,
            active: lacp.active,
            negotiated: bond.lacp_status == "negotiated",
            system: &lacp.system,
            system_priority: lacp.system_priority,
            key: Some(lacp.key).filter(|_| !status.members.is_empty()),
            fast: lacp.fast,
            members: status.members.iter().filter_map(member).collect(),
        })
    }

    /// Mode 802.3ad.
    fn of_aggregation(status: &'a TeamStatus) -> Option<LacpView<'a>> {
        let lacp = status.lacp.as_ref()?;
        let is_current = |port: &PortState| matches!(port.receive.as_str(), "current" | "expired");
        let member = |member: &'a MemberState| {
            let port = member.lacp.as_ref()?;
            let attached = matches!(port.mux.as_str(), "attached" | "collecting" | "distributing");
            Some(LacpMember { name: &member.name, attached, may_enable: member.active, port })
        };
        let members: Vec<LacpMember<'a>> = status.members.iter().filter_map(member).collect();
        Some(LacpView {
            name: &status.team,
            active: status.option("lacp_active") == "on",
            negotiated: lacp.has_partner() && members.iter().any(|member| is_current(member.port)),
            system: &lacp.system,
            system_priority: lacp.system_priority,
            key: lacp.active.as_ref().map(|active| active.actor_key),
            fast: status.option("lacp_rate") == "fast",
            members,
        })
    }
}

impl LacpMember<'_> {
    /// `current`, `expired` or `defaulted`: whether the partner is heard, was, or is given up. A port without link has
    /// given it up.
    pub(super) fn status(&self) -> &'static str {
        match self.port.receive.as_str() {
            "current" => "current",
            "expired" => "expired",
            _ => "defaulted",
        }
    }

    /// The two ends. What is assumed of a partner that was not heard is not told: the real one assumes nothing
    /// (`member_set_defaulted`) but that it is to be spoken to often at first (`member_set_expired`).
    pub(super) fn ends(&self) -> [(&'static str, PortEnd); 2] {
        let partner = match is_unknown(&self.port.partner) {
            true => PortEnd {
                system_priority: 0,
                system: Mac::default().to_string(),
                key: 0,
                port_priority: 0,
                port: 0,
                state: if self.status() == "expired" { LacpState::TIMEOUT.0 } else { 0 },
            },
            false => self.port.partner.clone(),
        };
        [("actor", self.port.actor.clone()), ("partner", partner)]
    }
}

/// True of what is assumed of a partner that was not heard.
fn is_unknown(partner: &PortEnd) -> bool {
    partner.system == Mac::default().to_string()
}

//! A bundle and its members.

use std::collections::BTreeMap;

use nicteam_options::Mode;
use serde::{Deserialize, Serialize};

/// Who runs a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// nicteam.
    #[default]
    Nicteam,
    /// The kernel's bonding driver.
    Kernel,
    /// Open vSwitch.
    OpenVSwitch,
    /// teamd, with the kernel's team driver.
    Teamd,
}

/// Several links used as one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// Its name.
    pub name: String,
    /// Who runs it.
    pub kind: Kind,
    /// Its network device; Open vSwitch's bonds have none of their own.
    pub device: Option<String>,
    /// Interface index of that device.
    pub index: Option<u32>,
    /// Its mode, by the name that its program gives it; empty if unknown.
    pub mode: String,
    /// By what a frame's member is chosen, where a hash chooses it and the program says which: `layer2`, `layer3+4`.
    pub hash_policy: Option<String>,
    /// Options by the names of its program.
    pub options: BTreeMap<String, String>,
    /// Address of its device.
    pub mac: Option<String>,
    /// MTU of its device, bytes.
    pub mtu: Option<u32>,
    /// Its device is set up.
    pub admin_up: bool,
    /// It can carry frames.
    pub carrier: bool,
    /// The member that carries everything, in modes that have one.
    pub active: Option<String>,
    /// LACP, where it is spoken.
    pub lacp: Option<Lacp>,
    /// Its members, in its own order.
    pub members: Vec<Member>,
    /// Queueing disciplines of its device that hold frames back, or lose them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapers: Vec<Shaper>,
    /// What its own program says is wrong.
    pub problems: Vec<Problem>,
    /// What could not be read of it, each as a sentence.
    pub unseen: Vec<String>,
}

/// LACP of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lacp {
    /// Address of this end's system.
    pub system: Option<String>,
    /// Priority of this end's system.
    pub system_priority: Option<u16>,
    /// The aggregator that carries the traffic.
    pub aggregator: Option<u32>,
    /// How many ports that has.
    pub ports: Option<u32>,
    /// The key of its ports at this end.
    pub actor_key: Option<u16>,
    /// And at the other end.
    pub partner_key: Option<u16>,
    /// Address of the partner's system; none without a partner.
    pub partner: Option<String>,
    /// A partner answers; none if that is unknown.
    pub negotiated: Option<bool>,
}

/// A link of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its device.
    pub name: String,
    /// Interface index of the device, if it is in this network namespace.
    pub index: Option<u32>,
    /// The bundle counts on its link.
    pub up: bool,
    /// The device is set up.
    pub admin_up: bool,
    /// The driver sees a carrier.
    pub carrier: bool,
    /// The bundle sends by it.
    pub active: bool,
    /// Mbit/s, if the driver says.
    pub speed_mbps: Option<u32>,
    /// True for full duplex, if the driver says.
    pub full_duplex: Option<bool>,
    /// MTU of the device, bytes.
    pub mtu: Option<u32>,
    /// The address that it has now.
    pub mac: Option<String>,
    /// The address that it has of its own.
    pub permanent_mac: Option<String>,
    /// How often its link failed since it joined, if the program counts.
    pub link_failures: Option<u64>,
    /// LACP of its port.
    pub lacp: Option<Port>,
    /// Queueing disciplines of the device that hold frames back, or lose them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapers: Vec<Shaper>,
    /// Filters of other programs that see what the device receives before the bundle does: `u32`, by kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
}

/// A queueing discipline that holds frames back, or loses them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shaper {
    /// Its kind: `htb`, `tbf`, `netem`.
    pub kind: String,
    /// Frames that it dropped, since it is there.
    pub drops: u64,
    /// How often it held frames back because of its limit, since it is there.
    pub overlimits: u64,
}

/// A member as a port of LACP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// Number of its aggregator.
    pub aggregator: Option<u32>,
    /// It is in the aggregator that carries the traffic.
    pub attached: bool,
    /// What this end says; none where it may not be read.
    pub actor: Option<PortEnd>,
    /// What the other end says; none where it may not be read.
    pub partner: Option<PortEnd>,
    /// `monitoring`, `none` or `churned`; empty if unknown.
    pub actor_churn: String,
    /// The same of the partner.
    pub partner_churn: String,
    /// Why it does not aggregate, in the words of its program.
    pub why_not: Option<Problem>,
}

/// One end of a link, by what LACPDUs say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortEnd {
    /// Priority of the system.
    pub system_priority: u16,
    /// Address of the system.
    pub system: String,
    /// Key of the port.
    pub key: u16,
    /// Priority of the port.
    pub port_priority: u16,
    /// Number of the port.
    pub port: u16,
    /// The eight bits of [`state`].
    pub state: u8,
}

/// Something that is wrong, in the words of the program that runs the bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What.
    pub text: String,
    /// What to do; empty if the program does not say.
    pub hint: String,
}

/// The bits of a port's state (IEEE 802.1AX-2014, figure 6-8).
pub mod state {
    /// LACP_Activity.
    pub const ACTIVITY: u8 = 1;
    /// LACP_Timeout: short.
    pub const TIMEOUT: u8 = 1 << 1;
    /// Aggregation: not individual.
    pub const AGGREGATION: u8 = 1 << 2;
    /// Synchronization.
    pub const SYNCHRONIZATION: u8 = 1 << 3;
    /// Collecting.
    pub const COLLECTING: u8 = 1 << 4;
    /// Distributing.
    pub const DISTRIBUTING: u8 = 1 << 5;
    /// Defaulted: nothing was heard of the other end.
    pub const DEFAULTED: u8 = 1 << 6;
    /// Expired.
    pub const EXPIRED: u8 = 1 << 7;
    /// The bits by their names in Open vSwitch's words, lowest first.
    pub const NAMES: [&str; 8] =
        ["activity", "timeout", "aggregation", "synchronized", "collecting", "distributing", "defaulted", "expired"];
}

impl Kind {
    /// Its program, for people.
    pub const fn title(self) -> &'static str {
        match self {
            Kind::Nicteam => "nicteam",
            Kind::Kernel => "the kernel's bonding driver",
            Kind::OpenVSwitch => "Open vSwitch",
            Kind::Teamd => "teamd",
        }
    }
}

impl Bundle {
    /// The member of this name.
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// The devices whose counters show its traffic: its members, and its own device if it has one.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str()).chain(self.device.as_deref())
    }
}

impl Bundle {
    /// Of a bond of the kernel: which members send, by the states of links and ports.
    pub fn find_senders(&mut self) {
        let aggregator = self.lacp.as_ref().and_then(|lacp| lacp.aggregator);
        let has_active = self.mode.parse::<Mode>().is_ok_and(Mode::uses_primary);
        for member in &mut self.members {
            member.active = member.up;
            if has_active && self.active.is_some() {
                member.active = self.active.as_ref() == Some(&member.name);
            }
            if let Some(port) = &mut member.lacp {
                port.attached = member.up && port.aggregator.is_some() && port.aggregator == aggregator;
                let distributes = port.actor.as_ref().is_none_or(|actor| actor.has(state::DISTRIBUTING));
                member.active = port.attached && distributes;
            }
        }
    }
}

impl PortEnd {
    /// True if all these bits of its state are set.
    pub const fn has(&self, bits: u8) -> bool {
        self.state & bits == bits
    }

    /// True for an end of which nothing was heard.
    pub fn is_unknown(&self) -> bool {
        self.system.is_empty() || self.system.bytes().all(|byte| matches!(byte, b'0' | b':'))
    }
}

//! What frames are hashed by, and when the primary takes over.

/// What a hash is made of.
///
/// The first six are the kernel's `xmit_hash_policy`, the last are illumos
/// `aggr`'s; those between are what switches offer for their link aggregation
/// groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HashPolicy {
    /// Last bytes of both MAC addresses and the EtherType.
    #[default]
    Layer2,
    /// The same and the IP addresses.
    Layer23,
    /// IP addresses and ports.
    Layer34,
    /// As [`HashPolicy::Layer23`], of the packet inside a tunnel.
    Encap23,
    /// As [`HashPolicy::Layer34`], of the packet inside a tunnel.
    Encap34,
    /// VLAN tag and source MAC address.
    VlanSrcMac,
    /// Switch: source MAC address.
    SrcMac,
    /// Switch: destination MAC address.
    DstMac,
    /// Switch: both MAC addresses.
    SrcDstMac,
    /// Switch: both IP addresses; both MAC addresses where there is no IP.
    SrcDstIp,
    /// Switch: IP addresses and ports; as far up as the frame goes.
    SrcDstPort,
    /// Switch: last byte of the source IP address; of the source MAC address where there is no IP.
    SrcIp,
    /// Switch: last byte of the destination IP address; of the destination MAC address where there is no IP.
    DstIp,
    /// Switch: last bytes of both IP addresses; of both MAC addresses where there is no IP.
    SrcXorDstIp,
    /// illumos `dladm create-aggr -P`: these layers together.
    Aggr(AggrLayers),
}

impl HashPolicy {
    /// Whether the hash of a frame of IP is made of its source and of its destination MAC address.
    pub const fn hashes_macs(self) -> (bool, bool) {
        match self {
            HashPolicy::Layer2 | HashPolicy::Layer23 | HashPolicy::Encap23 | HashPolicy::SrcDstMac => (true, true),
            HashPolicy::SrcMac | HashPolicy::VlanSrcMac => (true, false),
            HashPolicy::DstMac => (false, true),
            HashPolicy::Layer34
            | HashPolicy::Encap34
            | HashPolicy::SrcDstIp
            | HashPolicy::SrcDstPort
            | HashPolicy::SrcIp
            | HashPolicy::DstIp
            | HashPolicy::SrcXorDstIp => (false, false),
            HashPolicy::Aggr(layers) => (layers.contains(AggrLayers::L2), layers.contains(AggrLayers::L2)),
        }
    }
}

/// The layers of an illumos `aggr` policy: L2, L3, L4, at least one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AggrLayers(u8);

impl AggrLayers {
    /// MAC addresses.
    pub const L2: AggrLayers = AggrLayers(nicteam_machine::constants::AGGR_L2);
    /// IP addresses.
    pub const L3: AggrLayers = AggrLayers(nicteam_machine::constants::AGGR_L3);
    /// Ports.
    pub const L4: AggrLayers = AggrLayers(nicteam_machine::constants::AGGR_L4);
    /// Every combination.
    pub const ALL: [AggrLayers; 7] = {
        let (l2, l3, l4) = (Self::L2, Self::L3, Self::L4);
        [l2, l3, l4, l2.and(l3), l2.and(l4), l3.and(l4), l2.and(l3).and(l4)]
    };

    /// These layers and those.
    #[must_use]
    pub const fn and(self, other: AggrLayers) -> AggrLayers {
        AggrLayers(self.0 | other.0)
    }

    /// True if all of those are among these.
    pub const fn contains(self, other: AggrLayers) -> bool {
        self.0 & other.0 == other.0
    }

    /// A bit for each layer, L2 the lowest: 1 to 7 (`MAC_PKT_HASH_L2` ...).
    pub const fn bits(self) -> u8 {
        self.0
    }
}

/// When the primary takes over from a working active member (`primary_reselect`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrimaryReselect {
    /// 0: whenever it comes back.
    #[default]
    Always,
    /// 1: if it is faster, or as fast with the better duplex.
    Better,
    /// 2: only if the active member fails.
    Failure,
}

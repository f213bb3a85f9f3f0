//! The modes, and what is true of each: one table.
//!
//! All other code asks for a trait ([`Mode::traits`]) and names no mode. So a mode is added by a variant and a line of the table
//! here, and a file of its own where it does what no other does. A test (`crates/team/tests/sources/places.rs`) holds the exact list of files
//! that name a mode.

/// How a team spreads its frames (Linux `Documentation/networking/bonding.rst`, `mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// 0: frames by the members in turn.
    #[default]
    BalanceRr,
    /// 1: one member carries all, the others stand by.
    ActiveBackup,
    /// 2: the member by a hash of the frame's addresses.
    BalanceXor,
    /// 3: every frame by every member.
    Broadcast,
    /// 4: 802.3ad, link aggregation as agreed by LACP; the member by a hash, as in balance-xor.
    Ad,
    /// 5: one member receives, all send, by load or by hash.
    BalanceTlb,
    /// 6: the same, and all receive: each neighbour is told one member's address.
    BalanceAlb,
    /// Not the kernel's: each frame to a peer that stripes, too, by the path by
    /// which it arrives first; to all others as in balance-alb.
    Stripe,
    /// Open vSwitch's active-backup: one member carries all, its rules say which.
    OvsActiveBackup,
    /// Open vSwitch's balance-slb: the member by the frame's source address and VLAN, by 256 buckets.
    OvsBalanceSlb,
    /// Open vSwitch's balance-tcp: the member by addresses and ports, by 256 buckets; with LACP alone.
    OvsBalanceTcp,
}

/// What is true of a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// The mode.
    pub mode: Mode,
    /// The kernel's name.
    pub name: &'static str,
    /// The kernel's number; none of modes that it does not have.
    pub number: Option<u32>,
    /// Other names, in any case: those of Intel's Advanced Network Services, and Open vSwitch's own.
    pub aliases: &'static [&'static str],
    /// What `/proc/net/bonding/NAME` calls it (Linux bond_main.c, `bond_mode_name`).
    pub title: &'static str,
    /// teamd's runner that does the same, and the mode of the kernel's team driver behind it; none: teamd has no such.
    pub runner: Option<(&'static str, &'static str)>,
    /// How a frame from the stack finds its member.
    pub sends: Sends,
    /// Whose frames the team takes.
    pub receives: Receives,
    /// Which addresses members have.
    pub addresses: Addresses,
    /// `xmit_hash_policy` has an effect. (In balance-alb it has one without `tlb_dynamic_lb` alone.)
    pub hashes: bool,
    /// One member is the active one, which `primary` may name (the kernel's `bond_mode_uses_primary`).
    pub has_active: bool,
    /// Whether LACP agrees with the other end which members send and receive; [`Traits::aggregates`] says of a
    /// configuration whether it does.
    pub agrees: Agrees,
    /// Which members may send, and which one is the active one, is decided as in Open vSwitch (ofproto/bond.c); with
    /// the options that it has and the kernel has not.
    pub openvswitch: bool,
    /// Carrier has to be monitored: `miimon` cannot be 0.
    pub needs_miimon: bool,
    /// The ARP monitor can decide which members work (Linux `bond_mode_uses_arp`).
    pub uses_arp: bool,
    /// `queue_id` has an effect (Linux bonding.h, `bond_should_override_tx_queue`).
    pub uses_queues: bool,
    /// `all_slaves_active` has an effect.
    pub standbys_may_receive: bool,
    /// A team with members may change to another such mode without losing a frame: the members
    /// carry the team's address, and nothing is agreed with the other end.
    pub is_static: bool,
    /// A switch has to treat the links as one group (Linux `Documentation/networking/bonding.rst`, "Switch
    /// Configuration"): else it would send frames to members that do not take them, or learn addresses at the wrong ones.
    /// Where LACP agrees it has to, too: [`Traits::needs_group`] says of a configuration.
    pub needs_group: bool,
}

/// Whether LACP agrees with the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agrees {
    /// It never does.
    Never,
    /// It always does.
    Always,
    /// As the option `lacp` says.
    ByOption,
}

/// How a frame from the stack finds its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    /// By the members in turn.
    InTurn,
    /// By the active member.
    ByActive,
    /// By a hash, over the members that may send.
    ByHash,
    /// By each member, a copy each.
    ByAll,
    /// By buckets, each with its member, as far as they take it.
    ByBuckets(Eligible),
    /// By the path by which it arrives first, towards a peer that stripes; else by buckets.
    Striped,
    /// By the bucket of its source address and VLAN.
    BySource,
    /// By the bucket of its addresses and ports.
    ByFlow,
}

/// Whose frames the team takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receives {
    /// Those of every member that is not down; where LACP agrees, of those that collect.
    ByAll,
    /// Those of the active member.
    ByActive,
    /// Those of the active member, and of each other one what is sent to its own address: neighbours are told one member's
    /// address each.
    ByAddress,
    /// Those of every member, but for what the team sent itself and a switch brought back by another member; what goes to a
    /// group is taken from the active member alone.
    UnlessReflected,
}

/// Which addresses members have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// All have the team's.
    Team,
    /// As the option `fail_over_mac` says.
    FailOverMac,
    /// All devices have the team's; frames of those that are not active have the member's own as their source.
    OwnInFrames,
    /// The active one has the team's, the others their own.
    Own,
}

/// Which frames load sharing by buckets takes: the table of `nicteam_plan::balance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eligible {
    /// As balance-tlb has it.
    Tlb,
    /// As balance-alb has it.
    Alb,
}

/// What most of the kernel's modes have in common: static, every member sends and receives.
const STATIC: Traits = Traits {
    mode: Mode::BalanceRr,
    name: "",
    number: None,
    aliases: &[],
    title: "",
    runner: None,
    sends: Sends::InTurn,
    receives: Receives::ByAll,
    addresses: Addresses::Team,
    hashes: false,
    has_active: false,
    agrees: Agrees::Never,
    openvswitch: false,
    needs_miimon: false,
    uses_arp: true,
    uses_queues: false,
    standbys_may_receive: false,
    is_static: true,
    needs_group: true,
};

/// What balance-tlb and its kin have in common: an active member, and no switch that has to know.
const BALANCED: Traits = Traits { has_active: true, uses_arp: false, is_static: false, needs_group: false, ..STATIC };

/// What Open vSwitch's modes have in common.
const BONDED: Traits = Traits {
    has_active: true,
    agrees: Agrees::ByOption,
    openvswitch: true,
    needs_miimon: true,
    uses_arp: false,
    needs_group: false,
    ..STATIC
};

/// The table: each mode at the place of its variant.
const TABLE: &[Traits; 11] = &[
    Traits {
        mode: Mode::BalanceRr,
        name: "balance-rr",
        number: Some(0),
        title: "load balancing (round-robin)",
        runner: Some(("roundrobin", "roundrobin")),
        uses_queues: true,
        ..STATIC
    },
    Traits {
        mode: Mode::ActiveBackup,
        name: "active-backup",
        number: Some(1),
        aliases: &["AFT", "SFT"],
        title: "fault-tolerance (active-backup)",
        runner: Some(("activebackup", "activebackup")),
        sends: Sends::ByActive,
        receives: Receives::ByActive,
        addresses: Addresses::FailOverMac,
        has_active: true,
        uses_queues: true,
        standbys_may_receive: true,
        needs_group: false,
        ..STATIC
    },
    Traits {
        mode: Mode::BalanceXor,
        name: "balance-xor",
        number: Some(2),
        aliases: &["SLA"],
        title: "load balancing (xor)",
        runner: Some(("loadbalance", "loadbalance")),
        sends: Sends::ByHash,
        hashes: true,
        ..STATIC
    },
    Traits {
        mode: Mode::Broadcast,
        name: "broadcast",
        number: Some(3),
        title: "fault-tolerance (broadcast)",
        runner: Some(("broadcast", "broadcast")),
        sends: Sends::ByAll,
        ..STATIC
    },
    Traits {
        mode: Mode::Ad,
        name: "802.3ad",
        number: Some(4),
        title: "IEEE 802.3ad Dynamic link aggregation",
        runner: Some(("lacp", "loadbalance")),
        sends: Sends::ByHash,
        hashes: true,
        agrees: Agrees::Always,
        needs_miimon: true,
        uses_arp: false,
        standbys_may_receive: true,
        is_static: false,
        ..STATIC
    },
    Traits {
        mode: Mode::BalanceTlb,
        name: "balance-tlb",
        number: Some(5),
        title: "transmit load balancing",
        sends: Sends::ByBuckets(Eligible::Tlb),
        receives: Receives::ByActive,
        addresses: Addresses::OwnInFrames,
        hashes: true,
        ..BALANCED
    },
    Traits {
        mode: Mode::BalanceAlb,
        name: "balance-alb",
        number: Some(6),
        aliases: &["ALB", "RLB"],
        title: "adaptive load balancing",
        sends: Sends::ByBuckets(Eligible::Alb),
        receives: Receives::ByAddress,
        addresses: Addresses::Own,
        ..BALANCED
    },
    Traits {
        mode: Mode::Stripe,
        name: "stripe",
        title: "striping (nicteam)",
        sends: Sends::Striped,
        receives: Receives::ByAddress,
        addresses: Addresses::Own,
        ..BALANCED
    },
    Traits {
        mode: Mode::OvsActiveBackup,
        name: "ovs-active-backup",
        title: "active-backup (Open vSwitch)",
        sends: Sends::ByActive,
        receives: Receives::ByActive,
        ..BONDED
    },
    Traits {
        mode: Mode::OvsBalanceSlb,
        name: "ovs-balance-slb",
        aliases: &["balance-slb"],
        title: "balance-slb (Open vSwitch)",
        sends: Sends::BySource,
        receives: Receives::UnlessReflected,
        standbys_may_receive: true,
        ..BONDED
    },
    Traits {
        mode: Mode::OvsBalanceTcp,
        name: "ovs-balance-tcp",
        aliases: &["balance-tcp"],
        title: "balance-tcp (Open vSwitch)",
        sends: Sends::ByFlow,
        needs_group: true,
        ..BONDED
    },
];

impl Traits {
    /// Which frames load sharing by buckets takes, where frames are sent so.
    pub const fn buckets(&self) -> Option<Eligible> {
        match self.sends {
            Sends::ByBuckets(eligible) => Some(eligible),
            Sends::Striped => Some(Eligible::Alb),
            Sends::InTurn | Sends::ByActive | Sends::ByHash | Sends::ByAll | Sends::BySource | Sends::ByFlow => None,
        }
    }

    /// Cisco's `channel-group ... mode` at the ports of a switch that members of such a team lead to; none: they belong to
    /// no channel group. `lacp`: the team speaks it.
    pub const fn channel_group(&self, lacp: bool) -> Option<&'static str> {
        match (self.agrees, self.needs_group) {
            _ if lacp => Some("active"),
            // It does nothing without LACP.
            (Agrees::Always | Agrees::ByOption, true) => Some("active"),
            (Agrees::Never, true) => Some("on"),
            (_, false) => None,
        }
    }

    /// True where the hash alone chooses among the members, so that it may have a number of buckets of its own.
    pub const fn has_hash_buckets(&self) -> bool {
        matches!(self.sends, Sends::ByHash) && !self.balances_receiving()
    }

    /// True if a frame's bucket decides its member as in Open vSwitch.
    pub const fn bonds_by_buckets(&self) -> bool {
        matches!(self.sends, Sends::BySource | Sends::ByFlow)
    }

    /// True if members are known on the wire by addresses of their own, which their switches have to learn.
    pub const fn has_own_addresses(&self) -> bool {
        matches!(self.addresses, Addresses::OwnInFrames | Addresses::Own)
    }

    /// True if neighbours are told one member's address each.
    pub const fn balances_receiving(&self) -> bool {
        matches!(self.receives, Receives::ByAddress)
    }

    /// True if frames to peers that stripe, too, are striped.
    pub const fn stripes(&self) -> bool {
        matches!(self.sends, Sends::Striped)
    }
}

impl Mode {
    /// Every mode, by the kernel's number; then stripe and Open vSwitch's.
    pub const ALL: [Mode; TABLE.len()] = {
        let mut all = [Mode::BalanceRr; TABLE.len()];
        let mut place = 0;
        while place < all.len() {
            all[place] = TABLE[place].mode;
            assert!(all[place] as usize == place, "a mode's line stands at its place");
            place += 1;
        }
        all
    };

    /// What is true of it.
    pub const fn traits(self) -> &'static Traits {
        &TABLE[self as usize]
    }

    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        self.traits().name
    }

    /// The kernel's number, if it has the mode.
    pub const fn number(self) -> Option<u32> {
        self.traits().number
    }

    /// Whether `xmit_hash_policy` has an effect in it. (In balance-alb it has
    /// one without `tlb_dynamic_lb` alone.)
    pub const fn hashes(self) -> bool {
        self.traits().hashes
    }

    /// Whether one member is the active one, which `primary` may name (the
    /// kernel's `bond_mode_uses_primary`).
    pub const fn uses_primary(self) -> bool {
        self.traits().has_active
    }

    /// Whether frames are sent by buckets, which `tlb_dynamic_lb` assigns by load: balance-tlb and
    /// balance-alb (the kernel's `bond_is_lb`), and stripe.
    pub const fn balances_load(self) -> bool {
        self.traits().buckets().is_some()
    }

    /// Whether members also receive by addresses of their own, one of which
    /// each neighbour is told: balance-alb and stripe.
    pub const fn balances_receiving(self) -> bool {
        self.traits().balances_receiving()
    }

    /// Whether frames to peers that stripe, too, are striped.
    pub const fn stripes(self) -> bool {
        self.traits().stripes()
    }

    /// Whether the ARP monitor can decide which of its members work (Linux `bond_mode_uses_arp`).
    pub const fn uses_arp(self) -> bool {
        self.traits().uses_arp
    }

    /// True if a team with members may change from this mode to that one
    /// without losing a frame: both let the members carry the team's address,
    /// and neither negotiates with the other end.
    ///
    /// The kernel refuses every change of the mode while there are members
    /// (`BOND_OPTFLAG_NOSLAVES`). What the switch or the other host is set to
    /// has to fit the new mode, there as here.
    pub const fn changes_live(self, to: Mode) -> bool {
        self.traits().is_static && to.traits().is_static
    }
}

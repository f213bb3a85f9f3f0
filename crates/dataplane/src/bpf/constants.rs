//! The numbers that this process and the eBPF programs (`bpf/`) have between them.
//!
//! This is their one source: the build script includes this file by itself and writes a C header from [`IN_MAPS`] and
//! [`BESIDE`]. So nothing here refers to the rest of the crate.
#![allow(dead_code, reason = "some are for C alone")]

macro_rules! constants {
    ($all:ident: $($(#[$meta:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[$meta])* pub const $name: $type = $value;)*

        /// The name, the type and the value of each.
        pub const $all: &[(&str, &str, i128)] = &[$((stringify!($name), stringify!($type), $name as i128)),*];
    };
}

// Numbers that stand in the maps, and so are part of their layout: a process that has others does not take the maps over.
constants! {
    IN_MAPS:

    /// Slots for plans; a power of two. How they take turns stands in `slots.rs`, and at `active_slot()` in `bpf/maps.h`.
    PLAN_SLOTS: u32 = 16;
    /// A power of two above the highest `queue_id` (`nicteam_team::MAX_QUEUE_ID`).
    QUEUES: usize = 32;
    /// Bytes of a frame with a LACPDU, without check sequence.
    LACPDU_FRAME_LEN: usize = 124;

    /// How a frame from the stack finds its member: no member sends it.
    CHOOSE_NOBODY: u32 = 0;
    /// `table[0]`.
    CHOOSE_ONE: u32 = 1;
    /// `table[hash % table_len]`.
    CHOOSE_HASH: u32 = 2;
    /// `table[turn % table_len]`.
    CHOOSE_ROUND_ROBIN: u32 = 3;
    /// Every bit of `all`.
    CHOOSE_ALL: u32 = 4;
    /// As `CHOOSE_HASH`, or `other`; `bpf/balance.h` says which.
    CHOOSE_BALANCE: u32 = 5;
    /// As `CHOOSE_HASH`; ARP and neighbour discovery to every bit of `all`.
    CHOOSE_HASH_OR_ALL: u32 = 6;
    /// By the paths of a peer, `all` for groups, or as `CHOOSE_BALANCE`; `bpf/stripe.h`.
    CHOOSE_STRIPE: u32 = 7;
    /// Beside one of these: as long as the lease runs; `bpf/lease.h`.
    CHOOSE_LEASED: u32 = 8;
    /// And: some queues leave by members of their own.
    CHOOSE_QUEUED: u32 = 16;
    /// Alone, or beside the lowest three bits of these: the frame's source is noted first, then it is as `behind` says; `bpf/sources.h`.
    CHOOSE_SOURCES: u32 = 32;
    /// The bits of all above but `CHOOSE_LEASED`, `CHOOSE_QUEUED` and `CHOOSE_SOURCES`.
    CHOOSE_WAY: u32 = 7;
    /// By buckets; `bpf/buckets.h`.
    CHOOSE_BUCKETS: u32 = 64;
    /// Set in those that look at what a frame is.
    CHOOSE_BY_KIND: u32 = 1;

    /// Frames are balanced as balance-alb does, else as balance-tlb.
    BALANCE_ALB: u32 = 1;
    /// By the IP destination, else by `policy`.
    BALANCE_DESTINATION: u32 = 2;
    /// Bytes are counted by bucket.
    BALANCE_COUNT: u32 = 4;
    /// The stack's ARP goes to the control side.
    BALANCE_PUNT: u32 = 8;
    /// And its neighbour discovery.
    BALANCE_PUNT_ND: u32 = 16;
    /// Some frames to peers go twice; `bpf/redundant.h`.
    STRIPE_REDUNDANT: u32 = 32;

    /// `CHOOSE_BUCKETS`: by the flow's hash, else by the source's.
    BUCKETS_BY_FLOW: u32 = 64;

    /// A member without carrier is left; `bpf/failover.h`.
    FAILOVER_ON: u32 = 1;
    /// One member, `other`, receives for the team.
    FAILOVER_ACTIVE: u32 = 2;
    /// And others have addresses of their own.
    FAILOVER_OWN: u32 = 4;
    /// `other` receives frames for groups.
    FAILOVER_GROUPS: u32 = 8;

    /// What the hash is made of; `bpf/hash.h` says how.
    POLICY_LAYER2: u32 = 0;
    /// `layer2+3`.
    POLICY_LAYER23: u32 = 1;
    /// `layer3+4`.
    POLICY_LAYER34: u32 = 2;
    /// The source address.
    POLICY_SRC_MAC: u32 = 3;
    /// The destination address.
    POLICY_DST_MAC: u32 = 4;
    /// Both addresses.
    POLICY_SRC_DST_MAC: u32 = 5;
    /// Both IP addresses.
    POLICY_SRC_DST_IP: u32 = 6;
    /// And ports.
    POLICY_SRC_DST_PORT: u32 = 7;
    /// `encap2+3`.
    POLICY_ENCAP23: u32 = 8;
    /// `encap3+4`.
    POLICY_ENCAP34: u32 = 9;
    /// `vlan+srcmac`.
    POLICY_VLAN_SRCMAC: u32 = 10;
    /// illumos `aggr`; with a bit for each layer (`AGGR_L2` and the others).
    POLICY_AGGR: u32 = 16;

    /// What a member receives goes to the team's stack.
    MEMBER_DELIVER: u32 = 1;
    /// It sends with other addresses.
    MEMBER_REWRITE: u32 = 2;
    /// What is sent to `own` goes to the team's stack with the team's address.
    MEMBER_OWN: u32 = 4;
    /// `CHOOSE_STRIPE`: hellos are the control side's, peers' frames get their team's address.
    MEMBER_STRIPES: u32 = 8;
    /// What it receives goes to the team's stack, but for frames to groups and for reflections; `bpf/sources.h`.
    MEMBER_UNMOVED: u32 = 16;
    /// And frames to groups.
    MEMBER_GROUPS: u32 = 32;

    /// In `table`: the dataplane chooses one.
    NO_PLACE: u8 = 0xff;
    /// In `ranks`: the member does not take over.
    NO_RANK: u8 = 0xff;
    /// An address of a peer that no receiver of it has.
    NO_RECEIVER: u8 = 0xff;
}

constants! {
    BESIDE:

    /// Part of the layout's number (`build/layout.rs`). Raised when what is in the maps comes to mean something else, and
    /// neither a map, nor a structure, nor a number above shows it.
    LAYOUT_EPOCH: u32 = 1;
    /// A process that has not been heard of for so long is spoken for. It renews its lease each 150 ms
    /// (`crates/daemon/src/shell/mod.rs`), and a partner with the short timeout has to be spoken to within 3 s and
    /// speaks each second.
    STALLED_NS: u64 = 400_000_000;
}

//! The numbers of a team that the eBPF programs (`bpf/`) need, too.
//!
//! This is their one source: the build of `nicteam-dataplane` includes this file by itself and writes a C header from
//! [`ALL`]. So nothing here refers to the rest of the crate. Who uses a number says beside its own name for it what it means.

macro_rules! constants {
    ($($(#[$meta:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[$meta])* pub const $name: $type = $value;)*

        /// The name, the type and the value of each.
        pub const ALL: &[(&str, &str, i128)] = &[$((stringify!($name), stringify!($type), $name as i128)),*];
    };
}

constants! {
    /// The most members of a team.
    MAX_MEMBERS: usize = 32;
    /// The longest table that a hash can choose from.
    MAX_BUCKETS: usize = 256;

    /// illumos `aggr`: the bit of each layer in its policy.
    AGGR_L2: u8 = 1;
    /// IP addresses.
    AGGR_L3: u8 = 2;
    /// Ports.
    AGGR_L4: u8 = 4;
    /// The most extension headers of IPv6 that its hash passes, not counting authentication headers.
    MOST_EXTENSIONS: usize = 8;
    /// And the most authentication headers.
    MOST_AUTHENTICATIONS: usize = 4;
    /// The flow dissector: headers that it passes.
    MOST_STEPS: usize = 15 + 1;
    /// And tags.
    MOST_TAGS: usize = 7;

    /// Open vSwitch's hash of flows: the most extension headers of IPv6 that it passes.
    MOST_FLOW_EXTENSIONS: usize = 8;

    /// The longest frame that is punted, bytes from the destination address on without a tag. RFC 826 and RFC 4861 need fewer.
    MAX_PUNTED: usize = 256;

    /// The most sources that are remembered.
    MAX_SOURCES: usize = 2048;
    /// A source that was silent for so long is forgotten.
    SOURCE_IDLE_NS: u64 = 300_000_000_000;
    /// So long a gratuitous ARP that was sent is expected back.
    SOURCE_LOCK_NS: u64 = 5_000_000_000;
    /// What was noted of a source counts for so long before it is renewed.
    SOURCE_RENEW_NS: u64 = 1_000_000_000;

    /// Mode stripe: the most paths to one peer.
    MAX_PATHS: usize = 64;
    /// The most peers. `bpf/plan.h` has another `MAX_PEERS` in programs without stripe.
    MOST_PEERS: usize = 1024;
    /// Addresses of a peer, on average at most.
    ADDRESSES_PER_PEER: usize = 8;
    /// All ends of a path.
    BOTH_ENDS: u32 = 2;
    /// A wire counts as taken for this long at most.
    LEAD_NS: u64 = 100_000_000;

    /// What goes by several members towards hosts that do not stripe (`StripePlain`): nothing.
    PLAIN_OFF: u32 = 0;
    /// TCP.
    PLAIN_TCP: u32 = 1;
    /// Every IP flow.
    PLAIN_ALL: u32 = 2;

    /// Buckets of flows; a power of two.
    FLOW_BUCKETS: usize = 1024;
    /// After such a pause, or for such an advantage, a flow may take another path.
    SLACK_NS: u64 = 4_000_000;
    /// How long a flow's frames are added up.
    FLOW_WINDOW_NS: u64 = 20_000_000;
    /// With more of a window on the wire a flow is wide from then on.
    FLOW_WIDE_NS: u64 = FLOW_WINDOW_NS * 3 / 4;
    /// Eighths of a window: a wide flow with less is none any more.
    FLOW_NARROW_EIGHTHS: u64 = 3;

    /// Bits of the hash that say which bucket of gaps.
    GAP_BUCKET_BITS: u32 = 10;
    /// A path that brought nothing for one to two of these is none of the connection's.
    GAP_TURN_NS: u64 = 20_000_000;
    /// A settled gap is reported at this part of its age.
    GAP_SETTLED: u64 = 2;
    /// So long after a gap was to be reported its bucket is another flow's.
    GAP_FORGOTTEN_NS: u64 = 100_000_000;
    /// Bytes behind the Ethernet header: shorter frames are acknowledgements, mostly.
    GAP_SHORTEST: usize = 114;

    /// So long after a gap was reported the peer retransmits.
    LOSS_RECOVERY_NS: u64 = 20_000_000;
    /// So long after its last segment a connection's numbers may be another's.
    SENT_FORGOTTEN_NS: u64 = 60_000_000_000;

    /// Buckets of plain hosts; a power of two.
    PLAIN_HOSTS: usize = 1024;
    /// Frames of a connection of which the member is remembered; a power of two.
    PLAIN_FRAMES: usize = 256;
    /// No frame is longer.
    PLAIN_LONGEST: u32 = 0x10_0000;
    /// Over so long the use of members, and what a plain host acknowledges, are added up.
    PLAIN_WINDOW_NS: u64 = 20_000_000;
    /// And for so many round trips: one connection measures one at a time.
    PLAIN_WINDOW_TRIPS: u64 = 4;
    /// A window of a trial lasts at least so long.
    PLAIN_TRIAL_NS: u64 = 5_000_000;
    /// A member is busy with so much of 1024 parts of a window.
    PLAIN_BUSY: u32 = 896;
    /// A round trip that is longer than the shortest by this stood in a queue.
    PLAIN_QUEUE_NS: u64 = 2_000_000;
    /// And this part of the shortest.
    PLAIN_QUEUE_PART: u64 = 4;
    /// So many round trips are needed to say so.
    PLAIN_ROUND_TRIPS: u32 = 3;
    /// Those of a flow that has so much of a window on the wire.
    PLAIN_SAMPLED_NS: u64 = FLOW_WINDOW_NS / 16;
    /// The shortest round trip of a flow is forgotten after this.
    PLAIN_SHORTEST_NS: u64 = 10_000_000_000;
    /// So long a width stays, at first, after more of it gained nothing.
    PLAIN_HOLD_NS: u64 = 1_000_000_000;
    /// And at most.
    PLAIN_HOLD_MOST_NS: u64 = 64_000_000_000;
    /// A host that nothing was sent to for so long begins anew.
    PLAIN_IDLE_NS: u64 = 30_000_000_000;
    /// One that nothing was sent to for so long leaves its bucket to another.
    PLAIN_LEAVES_NS: u64 = 1_000_000_000;
    /// A narrow flow leaves its member where another is free earlier by this.
    PLAIN_SLACK_NS: u64 = 1_000_000;
    /// So long after a host was sent to by several members gaps that it reports may come of that.
    PLAIN_AFTER_NS: u64 = 100_000_000;
    /// Windows in a row that make a width that is not used a smaller one.
    PLAIN_STRIKES: u32 = 3;

    /// Probes of which the least late counts.
    LATE_PROBES: u32 = 4;
    /// For how long what was found of a path counts.
    LATE_LASTS_NS: u64 = 200_000_000;
    /// The most that is put on a wire at once.
    LATE_MOST_NS: u64 = 4_000_000;
    /// Of what a path has over the quickest, one part in so many is put on a wire.
    LATE_PART: u64 = 2;
    /// An echo whose probe was due longer ago is none of ours.
    LATE_PROBE_NS: u64 = 1_000_000_000;
    /// What differs by more from the quickest path is no queue.
    LATE_PLAUSIBLE_NS: i64 = 1_000_000_000;

    /// After a contradiction no report of a lost carrier is obeyed for so long.
    LOST_DISTRUST_NS: u64 = 1_000_000_000;
    /// So long a report with a token counts.
    LOST_HELD_NS: u64 = 10_000_000_000;

    /// Between two echoes to one address.
    ECHO_INTERVAL_NS: u64 = 50_000;
    /// Echoes to one address at once.
    ECHO_BURST: u32 = 20_000;

    /// The most ports of a class of frames that go twice.
    REDUNDANT_PORTS: usize = 16;
    /// The shortest payload of such a frame.
    REDUNDANT_PAYLOAD: usize = 20;
    /// The most peers of which numbers are remembered.
    MAX_STREAMS: usize = 256;
    /// Numbers of a word; a power of two.
    REDUNDANT_BLOCK: usize = 64;
    /// Words of a stream; a power of two.
    REDUNDANT_WORDS: usize = 512;
    /// So many numbers before the newest one are behind it; all others are ahead.
    REDUNDANT_HISTORY: usize = (REDUNDANT_WORDS - 1) * REDUNDANT_BLOCK;
    /// A peer of whom no frame was handed on for so long begins anew.
    RECOVERY_RESET_NS: u64 = 2_000_000_000;
}

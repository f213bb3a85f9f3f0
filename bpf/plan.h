/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What the loader and the programs share. The numbers come from constants.h, which the build writes from src/constants.rs of
 * crates/wire and crates/machine and from crates/dataplane/src/bpf/constants.rs; they say what they mean. Of most structures
 * crates/dataplane/src/bpf has a twin in Rust, which the build holds to the same fields (crates/dataplane/src/bpf/abi.rs).
 * Any change here makes the layout another one: a process that takes a team over then loads programs of its own.
 */
#ifndef NICTEAM_PLAN_H
#define NICTEAM_PLAN_H

#include <linux/bpf.h>
#include <linux/types.h>

#include "constants.h"

/*
 * The team's programs are compiled with stripe and without. Without it nothing reads the maps of stripe; a
 * successor looks for them all the same, so they are there, and as small as the code lets them be.
 */
#ifdef NICTEAM_STRIPE
#define STRIPE 1
#define MAX_PEERS MOST_PEERS
#define STRIPE_FLOWS FLOW_BUCKETS
#define STRIPE_GAP_BITS GAP_BUCKET_BITS
#define MAX_PLAIN_HOSTS PLAIN_HOSTS
#define MAX_PLAIN_FRAMES PLAIN_FRAMES
#else
#define STRIPE 0
#define MAX_PEERS 1
#define STRIPE_FLOWS 1
#define STRIPE_GAP_BITS 1
#define MAX_PLAIN_HOSTS 1
#define MAX_PLAIN_FRAMES 1
#endif
/* Of peers, and a few for our own: nicteam_team::stripe::MAX_ADDRESSES, and MAX_MEMBERS + 1. */
#define MAX_ADDRESSES (MAX_PEERS * ADDRESSES_PER_PEER + MAX_MEMBERS + 1)
#define STRIPE_GAPS (1 << STRIPE_GAP_BITS)
/* In struct stripe_entry: the address is one of the team's own. */
#define OWN_ADDRESS MAX_PEERS

/* illumos aggr: what POLICY_AGGR goes with. */
#define AGGR_LAYERS (AGGR_L2 | AGGR_L3 | AGGR_L4)

/* Both addresses of a frame, the destination first, as on the wire. */
struct macs {
	__u32 words[3];
};

/* One place of a team, as a plan sees it. */
struct plan_member {
	__u32 ifindex;	  /* 0: nobody has this place */
	__u32 flags;	  /* MEMBER_... */
	struct macs keep; /* bits of the stack's addresses that stay */
	struct macs put;  /* bits written in their place */
	__u8 own[8];	  /* its address, and two zeros */
	__u32 rate_mbps;  /* CHOOSE_STRIPE; 0: it does not send */
	__u8 path[8];	  /* CHOOSE_STRIPE: its address towards peers, and two zeros */
	__u8 token[8];	  /* CHOOSE_STRIPE: with what its lost carrier is reported; lost.h */
};

/* A plan (nicteam_team::Plan). */
struct plan {
	__u64 generation;
	__u32 choose;		  /* CHOOSE_..., and CHOOSE_LEASED */
	__u32 policy;		  /* POLICY_...; CHOOSE_BUCKETS: the basis */
	__u32 table_len;	  /* 0 to MAX_BUCKETS; CHOOSE_BUCKETS: of `enabled`; 0 drops */
	__u32 packets_per_member; /* 0: at random */
	__u32 igmp;		  /* place that IPv4 IGMP takes in round robin */
	__u32 all;		  /* a bit for each place, place 0 the lowest; CHOOSE_BUCKETS: who may send */
	__u32 balance;		  /* BALANCE_... */
	__u32 other;		  /* CHOOSE_ONE: the place; else that of the frames that are not balanced */
	__u8 team[8];		  /* the team's address, and two zeros */
	__u8 table[MAX_BUCKETS];  /* places; CHOOSE_BUCKETS: NO_PLACE where the dataplane chooses one */
	struct plan_member members[MAX_MEMBERS];
	__u64 lease_ns; /* how long it is executed (CHOOSE_LEASED), or punts, without its process; 0: for ever */
	__u8 queues[QUEUES]; /* by queue: one more than the place it leaves by; 0: as `choose` says */
	__u64 sack_delay_ns; /* CHOOSE_STRIPE: how old a gap is that is told; 0: however old */
	__u64 downdelay_ns;  /* how long a member has no carrier before it is left */
	__u64 updelay_ns;    /* and how long it has carrier before it is used again */
	__u32 failover;	     /* FAILOVER_... */
	__u32 fallback_len;  /* 0 to MAX_MEMBERS */
	__u8 fallback[MAX_MEMBERS]; /* places that take over, the best first */
	__u8 ranks[MAX_MEMBERS];    /* by place: where in `fallback`; NO_RANK: nowhere */
	__u8 enabled[MAX_MEMBERS];  /* CHOOSE_BUCKETS: the first `table_len` are the places that may send, in turn */
	__u32 behind;		    /* CHOOSE_SOURCES: what stands for `choose` when the source was noted */
	__u32 plain_kind;	    /* CHOOSE_STRIPE: PLAIN_..., what goes to plain hosts by several members */
	__u32 plain_len;	    /* 0 to MAX_MEMBERS: so many of `plain` */
	__u8 plain[MAX_MEMBERS];    /* the places that it goes by, in turn */
	__u32 zero;
};

/* What frames have met at a member in the plan of a slot. */
struct failover_seen {
	__u64 since_ns;
	__u32 state; /* enum seen (failover.h) */
	__u32 zero;
};

/* The members' devices, and what became of them. */
struct failover {
	__u64 armed[PLAN_SLOTS][MAX_MEMBERS]; /* as `devices`; 0: it is to be looked at closely */
	__u64 devices[MAX_MEMBERS];	      /* by place: where the kernel keeps it; 0: not known */
	struct failover_seen seen[PLAN_SLOTS][MAX_MEMBERS];
};

/* What the loader tells the programs, and its successor. */
struct control {
	__u32 layout;	    /* the number of all that is in the maps (crates/dataplane/build/layout.rs) */
	__u32 active;	    /* the slot of the plan in force */
	__u32 behind_ifindex; /* the end behind the team device: by it members' frames get there */
	__u32 own_clsact;   /* the loader made the team device's clsact */
};

/* What the process of the team renews while it runs. */
struct lease {
	__u64 renewed_ns; /* when it last did, by bpf_ktime_get_ns() (CLOCK_MONOTONIC) */
};

/* What a LACPDU says of its sender, in the order of the wire, and a zero. */
struct port_info {
	__u64 words[2];
};

/* What a member tells its partner while the process of the team does not; by place. */
struct answer {
	__u64 heard_ns;		  /* when the partner last said `partner`; 0: since then it, or the program, said something else */
	__u64 answered_ns;	  /* when the program last answered */
	struct port_info partner; /* what the partner said of itself in the PDU that is answered */
	__u8 frame[LACPDU_FRAME_LEN];
	__u16 used;	  /* 0: there is no answer */
	__u16 last_words; /* how often the partner was told that the lease is over */
};

/* CHOOSE_STRIPE: a way from a member of ours to one of a peer's, by their places. */
struct stripe_path {
	__u8 sender;
	__u8 receiver;
	__u16 delay_us;	 /* beyond the quickest path's */
	__u32 rate_mbps; /* the lower one of both */
};

/* A member of a peer's. */
struct stripe_receiver {
	__u8 mac[8]; /* and two zeros */
	__u32 share_mbps; /* of its rate what is ours while others send there, too */
	__u8 token[8];	  /* with what its lost carrier is reported; zeros: without; lost.h */
};

/* A peer in a plan; by slot and number. */
struct stripe_peer {
	__u64 system;	   /* which run of it (nicteam_wire::Hello::system) */
	__u8 team[8];	   /* its team's address, and two zeros */
	__u16 takes_rtags; /* frames may go to it twice */
	__u16 keeps_flows; /* crates/plan/src/stripe/flows.rs */
	__u32 paths_len;   /* 0 to MAX_PATHS; 0: as any other host */
	__u32 sharers;	   /* teams that may correct the same queue, at least 1 (`Peer::sharers` in crates/plan/src/stripe) */
	__u32 spreading;   /* a bit for each place of ours from which more than one path leads to it */
	struct stripe_path paths[MAX_PATHS];
	struct stripe_receiver receivers[MAX_MEMBERS];
};

/* An address of a peer, or of our own, in the plan of a slot. */
struct stripe_key {
	__u8 mac[6];
	__u16 slot;
};

struct stripe_entry {
	__u32 number;	 /* below MAX_PEERS, or OWN_ADDRESS */
	__u8 team[6];	 /* the peer's team */
	__u8 receiver;	 /* place among the peer's receivers, or of our member; NO_RECEIVER: of none */
	__u8 group_from; /* one more than the place that takes its group-addressed frames; 0: any */
	__u8 shared;	 /* more than one path leads to this receiver */
	__u8 zero[3];
	__u8 path[MAX_MEMBERS]; /* by our place: one more than that of the path among the peer's; 0: there is none */
};

/* What happened to a peer's frames since the process looked last; by slot and number. */
struct stripe_note {
	__u32 sent;		  /* 1: some were striped to it */
	__u32 heard[MAX_MEMBERS]; /* by its receivers' places: a bit for each place of ours that received their frames */
};

/* A host without nicteam that frames go to, by its address (crates/plan/src/stripe/plain/mod.rs). */
struct plain_host {
	__u8 mac[8];		 /* and two zeros */
	__u64 used_ns;		 /* when a frame went to it last */
	__u64 striped_ns;	 /* when one did that had several members to choose from */
	__u64 since_ns;		 /* since when what it acknowledges is added up, */
	__u64 acked;		 /* in bytes */
	__u64 rtt_ns;		 /* its last round trip */
	__u64 queue_ns;		 /* the least that round trips since then stood in queues beyond our members; -1: none was seen */
	__u64 queue_limit_ns;	 /* more than this is a queue */
	__u64 trial_ns;		 /* since when it is tried whether more width gains anything */
	__u64 held_until_ns;	 /* until then it is not tried again */
	__u64 hold_ns;		 /* and so long the next time */
	__u32 width;		 /* how many members are used, from `home` on; 0: nothing is known */
	__u32 proven;		 /* how many of these gained something */
	__u32 home;		 /* place in plan.plain */
	__u32 strikes;		 /* windows in a row in which the last member gained nothing */
	__u32 delivered_mbps;	 /* what it acknowledged in the last window */
	__u32 striped;		 /* 1: since the process looked last */
	__u32 round_trips;	 /* of which queue_ns is the least */
	__u32 zero;
};

/* What went to plain hosts by a member, and what of it was sent again: segments; by place. */
struct plain_count {
	__u64 sent;
	__u64 resent;
};

/* What the process reads. */
struct plain_seen {
	struct plain_host hosts[MAX_PLAIN_HOSTS];
	struct plain_count counts[MAX_MEMBERS];
};

/* Which frames go twice, in the plan of a slot (STRIPE_REDUNDANT). */
struct redundant_class {
	__u64 dscp; /* a bit for each code point */
	__u32 all;  /* whatever they are */
	__u32 zero;
	__u32 ports[REDUNDANT_PORTS]; /* protocol in the upper half, port; 0: none */
};

/* The tagged frames to and from a peer; by its team's address and two zeros. Outlives plans and processes. */
struct redundant_stream {
	struct bpf_spin_lock lock;
	__u32 zero;
	__u64 sent;	 /* frames that were numbered */
	__u64 system;	 /* by which run of the peer the rest is */
	__u64 passed_ns; /* when a frame was handed on last, by bpf_ktime_get_ns() */
	__u64 newest;	 /* the highest number, extended; 0: none */
	__u64 passed;
	__u64 duplicates;
	/* Which numbers of one block were received, and of which block: apart, so that a stream fits into 8 KB with what the map adds. */
	__u64 bits[REDUNDANT_WORDS];
	__u32 blocks[REDUNDANT_WORDS];
};

/* Where a device is in its team. */
struct place {
	__u32 place;
	__u32 own_clsact; /* the loader made this device's clsact */
};

/* A frame for the control side (crates/dataplane/src/bpf/punts.rs). */
struct punted {
	__u16 len;	    /* of `frame` */
	__be16 tag_protocol; /* of the tag beside it; 0: there is none */
	__be16 tag_tci;
	__u16 zero;
	__u8 frame[MAX_PUNTED];
};

/* What one place carried, on one CPU. */
struct counters {
	__u64 tx_frames;
	__u64 tx_bytes;
	__u64 tx_drops;
	__u64 rx_frames;
	__u64 rx_bytes;
	__u64 rx_drops;
};

/* What the team remembers from frame to frame, on one CPU. */
struct tally {
	__u64 unsent;	   /* frames from the stack that no member could send */
	__u64 round_robin; /* frames that took part; the lower 32 bits count turns */
	__u64 answered;	   /* LACPDUs of partners that were answered for the process */
	__u64 withheld;	   /* acknowledgements that spoke of a gap alone; gaps.h */
};

/* CHOOSE_BUCKETS: what outlives plans. */
struct buckets {
	__u32 turn;		      /* how often a bucket was given a member */
	__u32 members[MAX_BUCKETS]; /* one more than the place that sent the bucket's last frame; 0: none did */
};

/* A source that the stack sent. */
struct source_key {
	__u8 mac[6];
	__u16 vlan; /* 0: none */
};

/* What is known of it, by bpf_ktime_get_coarse_ns(). */
struct source {
	__u64 sent_ns;	       /* when that was last renewed */
	__u64 locked_until_ns; /* until then its gratuitous ARP is a reflection */
};

/* What the stack sent, on one CPU: bytes by bucket, and at last those not balanced. */
struct loads {
	__u64 bytes[MAX_BUCKETS + 1];
};

#endif

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* The maps of one team. Filters hold them, so they outlive the loader. */
#ifndef NICTEAM_MAPS_H
#define NICTEAM_MAPS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "plan.h"

/*
 * Data, not maps to be searched: every frame reads both, and each search is about
 * a dozen instructions. To the loader each is a map with one entry.
 */
volatile struct control control SEC(".data.control");
struct plan plans[PLAN_SLOTS] SEC(".data.plans");
/*
 * Set before the programs are loaded. Where it is 0, the verifier takes the code that it is for as dead and leaves it
 * out. Only a program that reads the kernel's own view of a frame (Linux 6.2) can report a lost carrier. On older
 * kernels the verifier takes minutes for a choice that heeds such a report.
 */
struct made_for {
	__u32 lost;
};
const volatile struct made_for made_for SEC(".rodata.programs");
/* The loader maps it into its memory: it is renewed by a store. */
volatile struct lease lease SEC(".data.lease");
/* By slot * MAX_PEERS + number. It maps this one, too. Not in the object: it would be megabytes of zeros. */
volatile struct stripe_note stripe_notes[PLAN_SLOTS * MAX_PEERS] SEC(".bss.notes");

/* A bit for each place whose device had no carrier when a frame was to leave by it last. */
volatile __u32 without_carrier SEC(".data.carrier");

/* The loader maps it into its memory: it clears what belongs to a slot before the slot's plan comes into force. */
volatile struct failover failover SEC(".data.failover");

/* The loader reads it from its memory. */
volatile struct buckets buckets SEC(".data.buckets");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_SOURCES);
	__type(key, struct source_key);
	__type(value, struct source);
} sources SEC(".maps");

/* By interface index. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_MEMBERS);
	__type(key, __u32);
	__type(value, struct place);
} places SEC(".maps");

/* By place. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MAX_MEMBERS);
	__type(key, __u32);
	__type(value, struct counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tally);
} tally SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct loads);
} loads SEC(".maps");

/* By place. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_MEMBERS);
	__type(key, __u32);
	__type(value, struct answer);
} answers SEC(".maps");

/* Each a struct punted. A multiple of every page size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} punts SEC(".maps");

/* By slot * MAX_PEERS + number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLAN_SLOTS * MAX_PEERS);
	__type(key, __u32);
	__type(value, struct stripe_peer);
} stripe_peers SEC(".maps");

/* All addresses of all peers and of our own, of all slots. The loader sees to it that there is room. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PLAN_SLOTS *MAX_ADDRESSES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct stripe_key);
	__type(value, struct stripe_entry);
} stripe_index SEC(".maps");

/* A flow, or those of one bucket (crates/plan/src/stripe/flows.rs), to a peer or to a plain host. */
struct stripe_flow {
	__u64 since_ns; /* since when its frames are added up, */
	__u64 taken_ns; /* so much on the wire */
	__u64 last_ns;	/* when it sent last */
	__u32 path;	/* as take_path() or take_member() answers, and above it the number of the peer or host */
	__u32 wide;
};

/* A gap in what a TCP connection received (crates/plan/src/stripe/gaps.rs). */
struct stripe_gap {
	__u64 since_ns; /* 0: there is none */
	__u64 heard_ns;
	__u32 flow;
	__u32 ack;
	__u32 sequence; /* of the last report, and its window */
	__u32 window;
	__u32 told_to; /* gaps before this number were told */
	__u32 zero;
	__u64 frank_until_ns; /* until then nothing is kept back */
	__u64 passed;	   /* a bit for each path that has brought something from behind it, */
	__u64 passed_twice; /* and two */
	__u64 used;	   /* and for each that brought something at all since `turned_ns`, */
	__u64 used_before; /* and in the turn before, of all flows here */
	__u64 turned_ns;
};

/* How far a TCP connection has sent (`Sent` in crates/plan/src/stripe). */
struct stripe_sent {
	__u32 flow;
	__u32 end;
	__u64 at_ns; /* when it did last */
};

/* The queueing-delay estimate of a path (`Found` in crates/plan/src/stripe). */
struct stripe_late {
	__u32 path;   /* one more than take_path() answers; 0: none yet */
	__u32 probes; /* since the last finding, and the least late of them */
	__s64 least_ns;
	__s64 found_ns;	   /* the last finding, */
	__u64 found_at_ns; /* and when it was made; 0: never */
};

/* Which members have no carrier, as a peer was told, and told (crates/plan/src/stripe/lost.rs). */
struct stripe_lost {
	__u64 until_ns; /* so long, */
	__u32 slot;	/* and in the plan of this slot alone */
	__u32 zero;
	__u32 senders;	 /* a bit for each place of ours */
	__u32 receivers; /* and for each among the peer's receivers */
};

/* What is known of reports that a peer's member has no carrier (the same). */
struct stripe_report {
	__u64 stamp;	      /* of the first probe that left for it since the report; 0: none did */
	__u64 distrust_until_ns; /* until then none is obeyed */
	__u8 used[8];	      /* the token that came last */
};

/* Until when whose wires are taken, by bpf_ktime_get_ns(). */
struct stripe_state {
	struct bpf_spin_lock lock;
	__u32 turn;
	/*
	 * The best path so far. Here and not in registers: what the verifier learns of a
	 * register in one turn of a loop makes the next turn another one, of a map nothing.
	 */
	__u64 best_ns;
	__u64 best_start_ns;
	__u64 best_wire_ns;
	__u64 kept_start_ns;
	__u64 kept_wire_ns;
	__u32 kept;
	__u32 chosen;
	__u64 senders[MAX_MEMBERS];		 /* by place */
	/* What each frame reads comes first: up to 32 KB from the start it takes no instruction to get there. */
	struct stripe_lost lost[MAX_PEERS]; /* by number */
	__u32 heard[MAX_PEERS]; /* by number, outside the lock: the path by which a frame of the peer's came last */
	__u64 receivers[MAX_PEERS][MAX_MEMBERS]; /* by number and place among the peer's receivers */
	struct stripe_report reports[MAX_PEERS][MAX_MEMBERS]; /* by number and place among the peer's receivers */
	struct stripe_late late[MAX_PEERS][MAX_PATHS]; /* by number and place among the peer's paths */
	struct stripe_flow flows[STRIPE_FLOWS];	 /* by hash */
	struct stripe_gap gaps[STRIPE_GAPS];	 /* by hash, outside the lock */
	struct stripe_sent sent[STRIPE_GAPS];	 /* the same */
	__u64 recovery_until_ns[MAX_PEERS]; /* by number, outside the lock: until when the peer is in loss recovery */
	__u64 used_since_ns;		   /* since when the use of members is added up, */
	__u64 used_ns[MAX_MEMBERS];	   /* by place, */
	__u32 busy[MAX_MEMBERS];	   /* and what it was in the window before, of 1024 parts */
};

/* A frame of a connection, and the member that carried it. */
struct plain_sent {
	__u32 start; /* the number of its first byte */
	__u32 place; /* one more than the member's; 0: none */
};

/* A connection to a plain host, or those of one bucket (crates/plan/src/stripe/plain/flows.rs). */
struct plain_flow {
	struct stripe_flow sends;
	__u64 sample_ns; /* when `sample` left; 0: none is on its way */
	__u64 sample_backlog_ns; /* what was before it at its member */
	__u64 backlog_ns;	 /* the same of the last frame */
	__u64 rtt_ns;	 /* the shortest round trip; 0: none was seen */
	__u64 rtt_at_ns; /* when it was */
	__u32 flow;
	__u32 end;    /* how far it has sent, */
	__u32 acked;  /* and how far that was acknowledged */
	__u32 sample; /* what is to be acknowledged */
	__u32 next;   /* in `frames` */
	__u32 counts; /* 1: what `sample` takes says something of queues */
	struct plain_sent frames[MAX_PLAIN_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STRIPE_GAPS);
	__type(key, __u32);
	__type(value, struct plain_flow);
} plain_flows SEC(".maps");

/* The loader maps it into its memory. */
struct plain_seen plain_seen SEC(".bss.plain");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stripe_state);
} stripe_state SEC(".maps");

/* By slot. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLAN_SLOTS);
	__type(key, __u32);
	__type(value, struct redundant_class);
} stripe_classes SEC(".maps");

/* By the address of a peer's team, and two zeros. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_STREAMS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u8[8]);
	__type(value, struct redundant_stream);
} stripe_streams SEC(".maps");

static __always_inline struct tally *team_tally(void)
{
	__u32 only = 0;

	return bpf_map_lookup_elem(&tally, &only);
}

static __always_inline struct loads *team_loads(void)
{
	__u32 only = 0;

	return bpf_map_lookup_elem(&loads, &only);
}

static __always_inline struct counters *member_counters(__u32 place)
{
	return bpf_map_lookup_elem(&counters, &place);
}

/*
 * The slot of the plan in force. The loader never changes the slot that is in
 * force (it writes the bytes that are there): it fills another one and then
 * stores its number, of which only the lowest byte ever differs, so a reader
 * sees the old number or the new one. A reader that took the old one may still
 * be at work: the loader fills no slot again before an RCU grace period has
 * passed since that slot was in force.
 */
static __always_inline __u32 active_slot(void)
{
	return control.active;
}

/*
 * A place that is safe as an index. clang knows a smaller range than the
 * verifier does and would drop the mask as redundant; the empty asm hides it.
 */
static __always_inline __u32 bounded_place(__u32 place)
{
	asm volatile("" : "+r"(place));
	return place & (MAX_MEMBERS - 1);
}

/*
 * The plan of a slot, whatever the number. The first empty asm is there for the
 * reason given above, the second keeps clang from computing the address at every use.
 */
static __always_inline const struct plan *plan_in(__u32 slot)
{
	asm volatile("" : "+r"(slot));
	const struct plan *plan = &plans[slot & (PLAN_SLOTS - 1)];

	asm volatile("" : "+r"(plan));
	return plan;
}

#endif

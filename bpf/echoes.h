/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How fast probes go back, as crates/plan/src/stripe/echoes.rs, whose module text is the specification; a change
 * there is a change here. may_echo() is the twin of TokenBucket (crates/machine/src/token_bucket.rs) in C.
 */
#ifndef NICTEAM_ECHOES_H
#define NICTEAM_ECHOES_H

#include "maps.h"
#include "plan.h"
#include "stripe.h"

#define ECHOES_AT_ONCE_NS (ECHO_BURST * ECHO_INTERVAL_NS)
/* For each peer one of each receiver, and one of its other addresses. */
#define ECHO_BUCKETS (MAX_MEMBERS + 1)

/* When the buckets are full again; by number * ECHO_BUCKETS + place among the peer's receivers. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PEERS *ECHO_BUCKETS);
	__type(key, __u32);
	__type(value, __u64);
} stripe_echoes SEC(".maps");

/* 1: a probe from this address of a peer may go back now. Two CPUs at once may count two as one: that is bound enough. */
static __always_inline int may_echo(const struct stripe_entry *from, __u64 now)
{
	__u32 place = from->receiver == NO_RECEIVER ? MAX_MEMBERS : from->receiver & (MAX_MEMBERS - 1);
	__u32 bucket = (from->number & (MAX_PEERS - 1)) * ECHO_BUCKETS + place;
	__u64 *full = bpf_map_lookup_elem(&stripe_echoes, &bucket);

	if (!full)
		return 0;
	__u64 after = later(now, *full) + ECHO_INTERVAL_NS;

	if (after > now + ECHOES_AT_ONCE_NS)
		return 0;
	*full = after;
	return 1;
}

#endif

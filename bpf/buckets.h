/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How Open vSwitch's balance-slb and balance-tcp choose, as crates/plan/src/buckets.rs, whose module text is
 * the specification; a change there is a change here.
 */
#ifndef NICTEAM_BUCKETS_H
#define NICTEAM_BUCKETS_H

#include "hash_ovs.h"
#include "maps.h"
#include "plan.h"

/* A bucket that is safe as an index, as bounded_place(). */
static __always_inline __u32 bounded_bucket(__u32 bucket)
{
	asm volatile("" : "+r"(bucket));
	return bucket & (MAX_BUCKETS - 1);
}

/* The bucket of a frame. A function of its own, as send_copy(). */
__attribute__((noinline)) __u32 bucket_of(struct __sk_buff *skb, __u32 basis, __u32 by_flow)
{
	return (by_flow ? flow_hash(skb, basis) : source_hash(skb, basis)) & (MAX_BUCKETS - 1);
}

/* True if what stands in `buckets` is a member that may send. */
static __always_inline int may_send(const struct plan *plan, __u32 member)
{
	return member && plan->all >> bounded_place(member - 1) & 1;
}

/*
 * The place of a bucket's member where the plan names none: the one that sent last, or the next. Processors that
 * give the same bucket a member at once agree on one. A function of its own, as send_copy().
 */
__attribute__((noinline)) __u32 give_bucket(__u32 slot, __u32 bucket)
{
	const struct plan *plan = plan_in(slot);

	bucket = bounded_bucket(bucket);
	__u32 last = buckets.members[bucket];

	if (may_send(plan, last))
		return bounded_place(last - 1);
	__u32 len = plan->table_len;
	__u32 turn = __sync_fetch_and_add(&buckets.turn, 1);
	__u32 place = len ? plan->enabled[bounded_place(turn % len)] : 0;
	__u32 found = __sync_val_compare_and_swap(&buckets.members[bucket], last, place + 1);

	return found != last && may_send(plan, found) ? bounded_place(found - 1) : place;
}

#endif

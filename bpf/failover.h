/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What becomes of frames for a member without carrier, as crates/plan/src/failover.rs, whose
 * module text is the specification; a change there is a change here.
 *
 * The team device's program has to know another device's carrier. The address of each member's
 * device is noted when it joins (note_device), and what is there is read as the kernel's own programs
 * may: a read at an address that is no longer anybody's gives some number, and no fault. Of a healthy member a frame
 * costs one such read; all else is behind failover_way(), which notes in `armed` where that read is to be.
 *
 * It needs bpf_rdonly_cast() (Linux 6.2) and the kernel's types; without NICTEAM_FAILOVER nothing here looks at a carrier.
 */
#ifndef NICTEAM_FAILOVER_H
#define NICTEAM_FAILOVER_H

#include "branchless.h"
#include "frame.h"
#include "maps.h"
#include "plan.h"

/* Beside what failover_way() answers: the member sends in the place of the active one, from the team's address. */
#define AS_ACTIVE MAX_MEMBERS

#ifdef NICTEAM_FAILOVER
#define LOOKS_AT_CARRIERS 1

#include "netdev.h"

#define LINK_STATE_ALL (LINK_STATE_START | LINK_STATE_PRESENT | LINK_STATE_NOCARRIER)

/* True if the device at this address can send; of nothing at 0 the kernel reads 0. */
static __always_inline int can_send(__u64 address)
{
	const struct net_device *device =
		bpf_rdonly_cast((const void *)address, bpf_core_type_id_kernel(struct net_device));

	return (device->state & LINK_STATE_ALL) == (LINK_STATE_START | LINK_STATE_PRESENT);
}

/* True if nothing is wrong with a member: nearly always. */
static __always_inline int is_healthy(__u32 slot, __u32 place)
{
	asm volatile("" : "+r"(slot)); /* as in bounded_place() */
	return can_send(failover.armed[slot & (PLAN_SLOTS - 1)][bounded_place(place)]);
}

/* How a member was found. */
enum found {
	FOUND_USED = 0,
	FOUND_BACK = 1, /* it was left, and has carrier again */
	FOUND_LEFT = 2, /* it has no carrier, and was left */
};

/* struct failover_seen. */
enum seen {
	SEEN_USED = 0,
	SEEN_FAILING = 1, /* no carrier, and `downdelay` is not over */
	SEEN_LEFT = 2,
	SEEN_BACK = 3, /* carrier again, and `updelay` is not over */
};

/* Looks at a member. A function of its own, as send_copy(). */
__attribute__((noinline)) int failover_look(__u32 slot, __u32 place)
{
	const struct plan *plan = plan_in(slot);

	asm volatile("" : "+r"(slot)); /* as in bounded_place() */
	slot &= PLAN_SLOTS - 1;
	place = bounded_place(place);
	__u64 device = failover.devices[place];
	volatile struct failover_seen *seen = &failover.seen[slot][place];
	__u32 before = seen->state;

	if (!device)
		return FOUND_USED;
	if (can_send(device)) {
		if (before == SEEN_LEFT && plan->updelay_ns) {
			seen->since_ns = bpf_ktime_get_ns();
			seen->state = SEEN_BACK;
			return FOUND_BACK;
		}
		if (before == SEEN_BACK && bpf_ktime_get_ns() - seen->since_ns < plan->updelay_ns)
			return FOUND_BACK;
		seen->state = SEEN_USED;
		failover.armed[slot][place] = device;
		return FOUND_USED;
	}
	failover.armed[slot][place] = 0;
	if (before == SEEN_USED && plan->downdelay_ns) {
		seen->since_ns = bpf_ktime_get_ns();
		seen->state = SEEN_FAILING;
		return FOUND_USED;
	}
	if (before == SEEN_FAILING && bpf_ktime_get_ns() - seen->since_ns < plan->downdelay_ns)
		return FOUND_USED;
	seen->state = SEEN_LEFT;
	return FOUND_LEFT;
}

/*
 * The place by which a frame of this number leaves that was chosen for another one. A function of its own, as
 * send_copy().
 */
__attribute__((noinline)) __u32 failover_place(__u32 slot, __u32 chosen, __u32 number)
{
	const struct plan *plan = plan_in(slot);
	__u32 len = plan->fallback_len, back = MAX_MEMBERS;
	int found;

	chosen = bounded_place(chosen);
	found = failover_look(slot, chosen);
	if (found == FOUND_USED || !(plan->failover & FAILOVER_ON))
		return chosen;
	__u32 rank = plan->ranks[chosen];

	len -= below(rank, len) & 1;
	if (!len)
		return chosen;
	if (found == FOUND_BACK)
		back = chosen;
	__u32 first = number % len;

#pragma clang loop unroll(disable)
	for (__u32 tried = 0; tried < MAX_MEMBERS; tried++) {
		if (tried >= len)
			break;
		__u32 at = wrapped(first + tried, len);

		at += 1 + below(at, rank);
		__u32 other = plan->fallback[bounded_place(at)];

		found = failover_look(slot, other);
		if (found == FOUND_USED)
			return other;
		back += (other - back) & -(equal(found, FOUND_BACK) & equal(back, MAX_MEMBERS));
	}
	return back == MAX_MEMBERS ? chosen : back;
}

/* The same, and perhaps AS_ACTIVE. */
__attribute__((noinline)) __u32 failover_way(__u32 slot, __u32 chosen, __u32 number)
{
	const struct plan *plan = plan_in(slot);
	__u32 place = failover_place(slot, chosen, number);

	if (!(plan->failover & FAILOVER_ACTIVE) || place == plan->other || failover_place(slot, plan->other, 0) != place)
		return place;
	return place | AS_ACTIVE;
}

/* True if the member in this place, which the plan has drop what it receives, receives for the team now. */
static __always_inline int receives_now(__u32 slot, const struct plan *plan, __u32 place)
{
	return plan->failover & FAILOVER_ACTIVE && place != plan->other && failover_place(slot, plan->other, 0) == place;
}

/* True if the member in this place takes frames for groups in place of `other` now. */
static __always_inline int takes_groups_now(__u32 slot, const struct plan *plan, __u32 place)
{
	return plan->failover & FAILOVER_GROUPS && failover_place(slot, plan->other, 0) == place;
}

/*
 * Gives a frame for the own address of another member that was left to the team; 0: it is none. Of the member in
 * this place, which receives for the team. A function of its own, as send_copy().
 */
__attribute__((noinline)) int take_for_lost(struct __sk_buff *skb, __u32 slot, __u32 place)
{
	const struct plan *plan = plan_in(slot);
	__u8 copy[ETH_ALEN];
	const __u8 *dst = header(skb, 0, copy, sizeof(copy));
	__u32 lost = MAX_MEMBERS;

	if (!dst || failover_place(slot, plan->other, 0) != place)
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 other = 0; other < MAX_MEMBERS; other++) {
		const struct plan_member *member = &plan->members[bounded_place(other)];

		if (member->flags & MEMBER_OWN && !(member->flags & MEMBER_DELIVER) && same_mac(dst, member->own)) {
			lost = other;
			break;
		}
	}
	if (lost == MAX_MEMBERS || lost == place || failover_look(slot, lost) == FOUND_USED)
		return 0;
	return !bpf_skb_store_bytes(skb, 0, plan->team, ETH_ALEN, 0);
}

/* Notes where the kernel keeps the device of a member. Run by the loader, on a frame that is none. */
SEC("tc")
int note_device(struct __sk_buff *skb)
{
	struct sk_buff *own = bpf_cast_to_kern_ctx(skb);
	__u32 ifindex = skb->ifindex;
	const struct place *member = bpf_map_lookup_elem(&places, &ifindex);

	if (!member)
		return TC_ACT_UNSPEC;
	failover.devices[bounded_place(member->place)] = (__u64)own->dev;
	return TC_ACT_OK;
}

#else
#define LOOKS_AT_CARRIERS 0

static __always_inline int is_healthy(__u32 slot, __u32 place)
{
	return 1;
}

static __always_inline __u32 failover_way(__u32 slot, __u32 chosen, __u32 number)
{
	return chosen;
}

static __always_inline int receives_now(__u32 slot, const struct plan *plan, __u32 place)
{
	return 0;
}

static __always_inline int takes_groups_now(__u32 slot, const struct plan *plan, __u32 place)
{
	return 0;
}

static __always_inline int take_for_lost(struct __sk_buff *skb, __u32 slot, __u32 place)
{
	return 0;
}

#endif

#endif

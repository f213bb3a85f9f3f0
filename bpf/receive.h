/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* Whether the team gets a frame that a member received. */
#ifndef NICTEAM_RECEIVE_H
#define NICTEAM_RECEIVE_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include "failover.h"
#include "frame.h"
#include "maps.h"
#include "plan.h"
#include "redundant.h"
#include "sources.h"

/*
 * What is said to the port at the other end of a link: 01:80:c2:00:00:00 to 0f, which no bridge forwards (IEEE 802.1Q,
 * table 8-1), and 01:00:0c:cc:cc:cc, where Cisco's switches send PAgP. Other frames pay for the first byte alone.
 */
static __always_inline int is_for_port(struct __sk_buff *skb)
{
	__u8 copy[ETH_ALEN];
	const __u8 *dst = header(skb, 0, copy, sizeof(copy));

	if (!dst || dst[0] != 0x01)
		return 0;
	if (dst[1] == 0x80)
		return dst[2] == 0xc2 && !dst[3] && !dst[4] && dst[5] <= 0x0f;
	return !dst[1] && dst[2] == 0x0c && dst[3] == 0xcc && dst[4] == 0xcc && dst[5] == 0xcc;
}

/* Gives a frame for a member's own address to the team; 0: it is none. */
static __always_inline int take_own(struct __sk_buff *skb, const struct plan *plan, __u32 place)
{
	const struct plan_member *member = &plan->members[place];
	__u8 copy[ETH_ALEN];
	const __u8 *dst = header(skb, 0, copy, sizeof(copy));

	if (!dst || !same_mac(dst, member->own))
		return 0;
	return !bpf_skb_store_bytes(skb, 0, plan->team, ETH_ALEN, 0);
}

/*
 * True if the team gets a frame that a member of balance-slb received: of those for groups what the active member
 * receives, or the one that stands in for it, and of all no reflections. A function of its own, as send_copy().
 */
__attribute__((noinline)) int take_unmoved(struct __sk_buff *skb, __u32 slot, __u32 place)
{
	const struct plan *plan = plan_in(slot);
	__u32 flags = plan->members[bounded_place(place)].flags;
	__u8 copy[ETH_ALEN];
	const __u8 *dst = header(skb, 0, copy, sizeof(copy));

	if (!dst)
		return 0;
	if (is_multicast(dst) && !(flags & MEMBER_GROUPS) && !takes_groups_now(slot, plan, place))
		return 0;
	return !is_reflection(skb);
}

/* True if it is sent to the team's address, or to a group. */
static __always_inline int for_team(struct __sk_buff *skb, const struct plan *plan)
{
	__u8 copy[ETH_ALEN];
	const __u8 *dst = header(skb, 0, copy, sizeof(copy));

	return !dst || is_multicast(dst) || same_mac(dst, plan->team);
}

/*
 * True if the team gets a frame for which the member in this place stands in: all of the active member, if
 * that was left, and those for the own address of another one, to which the team's is given.
 */
static __always_inline int stands_in(struct __sk_buff *skb, const struct plan *plan, __u32 slot, __u32 place)
{
	if (plan->failover & FAILOVER_OWN && !for_team(skb, plan) && take_for_lost(skb, slot, place))
		return 1;
	return !(plan->members[place].flags & MEMBER_DELIVER) && receives_now(slot, plan, place);
}

/* Gives a frame with a redundancy tag to the team, if it is the first of two. */
static __always_inline int deliver_once(struct __sk_buff *skb, __u32 slot, struct counters *sums)
{
	__u32 bytes = skb->len;
	int found = take_once(skb, slot);

	if (found == RECOVERED_UNUSABLE) {
		sums->rx_drops++;
		return TC_ACT_SHOT;
	}
	sums->rx_frames++;
	sums->rx_bytes += bytes;
	return found == RECOVERED_DUPLICATE ? TC_ACT_SHOT : bpf_redirect(control.behind_ifindex, 0);
}

#endif

// SPDX-License-Identifier: (MIT OR GPL-2.0-only)
/*
 * On each member of a team that stripes: probes say when they are due, and what it is to send while it has no
 * carrier leaves by another member. The process hears of a lost carrier some
 * time after, the peer's process later still; until their next plans, and without a process, this keeps
 * frames, sees to it that the peer's next ones leave by others, and tells the peer.
 *
 * An object of its own: it reads the kernel's own view of a frame, for which
 * bpf_cast_to_kern_ctx() is needed (Linux 6.2) and the kernel's types. Where they
 * are not, a team works without it.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include "constants.h"
#include "frame.h"
#include "lost.h"
#include "maps.h"
#include "netdev.h"
#include "plan.h"
#include "queueing_delay.h"
#include "stripe.h"

static __always_inline int has_carrier(struct __sk_buff *skb)
{
	struct sk_buff *own = bpf_cast_to_kern_ctx(skb);

	return !(own->dev->state & LINK_STATE_NOCARRIER);
}

/* A path to a peer by a member that had carrier; NO_PATH: there is none. */
static __always_inline __u32 other_path(__u32 slot, __u32 number)
{
	const struct stripe_peer *peer = peer_line(slot, number);

	if (!peer)
		return NO_PATH;
#pragma clang loop unroll(disable)
	for (__u32 at = 0; at < MAX_PATHS; at++) {
		if (at >= peer->paths_len)
			break;
		__u32 sender = peer->paths[at].sender & (MAX_MEMBERS - 1);

		if (!(without_carrier >> sender & 1))
			return (peer->paths[at].receiver & (MAX_MEMBERS - 1)) << PATH_RECEIVER_SHIFT | sender;
	}
	return NO_PATH;
}

/* Sends a frame for a peer by another member, and a report of the one in this place behind it. */
static __always_inline int send_to_peer(struct __sk_buff *skb, __u32 slot, __u32 place, __u32 number)
{
	__u32 path = other_path(slot, number);

	if (path == NO_PATH || !address_path(skb, slot, number, path))
		return TC_ACT_UNSPEC;
	__u32 ifindex = plan_in(slot)->members[bounded_place(path)].ifindex;

	lose_sender(slot, number, 1U << bounded_place(place));
	if (!ifindex || bpf_clone_redirect(skb, ifindex, 0) || !say_lost(skb, slot, place))
		return TC_ACT_SHOT;
	return bpf_redirect(ifindex, 0);
}

/* Sends a frame that is no peer's by another member, from that one's address where it was from this one's. */
static __always_inline int send_by_other(struct __sk_buff *skb, __u32 slot, __u32 place, const __u8 *src)
{
	const struct plan *plan = plan_in(slot);
	__u32 other = other_member(slot);

	if (other == MAX_MEMBERS || !plan->members[bounded_place(other)].ifindex)
		return TC_ACT_UNSPEC;
	const struct plan_member *heir = &plan->members[bounded_place(other)];

	if (same_mac(src, plan->members[bounded_place(place)].path) &&
	    bpf_skb_store_bytes(skb, ETH_ALEN, heir->path, ETH_ALEN, 0))
		return TC_ACT_UNSPEC;
	return bpf_redirect(heir->ifindex, 0);
}

SEC("tc")
int member_egress(struct __sk_buff *skb)
{
	int carrier = has_carrier(skb);

	if (carrier && !without_carrier && skb->protocol != bpf_htons(TYPE_HELLO)) /* nearly always */
		return TC_ACT_UNSPEC;
	__u32 ifindex = skb->ifindex, slot = active_slot();
	const struct place *member = bpf_map_lookup_elem(&places, &ifindex);

	if (!member)
		return TC_ACT_UNSPEC;
	__u32 bit = 1U << bounded_place(member->place);

	if (carrier) {
		if (without_carrier & bit)
			__sync_fetch_and_and(&without_carrier, ~bit);
		if (skb->protocol == bpf_htons(TYPE_HELLO))
			say_when_due(skb, slot, member->place);
		return TC_ACT_UNSPEC;
	}
	__sync_fetch_and_or(&without_carrier, bit);
	const struct plan *plan = plan_in(slot);
	__u8 copy[2 * ETH_ALEN];
	const __u8 *macs = header(skb, 0, copy, sizeof(copy));

	/* What the control side says of a member is that member's alone. */
	if ((plan->choose & 7) != CHOOSE_STRIPE || !macs || skb->protocol == bpf_htons(TYPE_HELLO))
		return TC_ACT_UNSPEC;
	const struct stripe_entry *peer = peer_of(slot, macs);

	if (peer)
		return send_to_peer(skb, slot, member->place, peer->number);
	if (skb->protocol != bpf_htons(ETH_P_IP) && skb->protocol != bpf_htons(ETH_P_IPV6))
		return TC_ACT_UNSPEC;
	/* It left on every segment; another member would say it twice on its own. */
	if (is_multicast(macs) && plan->all & (plan->all - 1))
		return TC_ACT_UNSPEC;
	return send_by_other(skb, slot, member->place, macs + ETH_ALEN);
}

char _license[] SEC("license") = "Dual MIT/GPL";

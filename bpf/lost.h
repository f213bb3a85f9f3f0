/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * A lost carrier, from where it is seen to whom it concerns, as
 * crates/team/src/stripe/lost.rs, whose module text is the specification; a change there is a
 * change here. Only who knows the kernel's own view of a frame sees it (carrier.bpf.c).
 */
#ifndef NICTEAM_LOST_H
#define NICTEAM_LOST_H

#include "frame.h"
#include "hello.h"
#include "maps.h"
#include "plan.h"
#include "stripe.h"

/* What follows the addresses of a hello of this kind, up to where it ends. */
struct lost_hello {
	__be16 type;
	__u8 version;
	__u8 kind;
	__u8 nothing[HELLO_LOST_MAC - HELLO_KIND - 1];
	__u8 mac[ETH_ALEN];
	/* Here a checksum may stand that a device computes for what the frame was before. */
	__u8 rest[HELLO_TIMES_END - HELLO_LOST_MAC - ETH_ALEN];
};

_Static_assert(sizeof(struct lost_hello) == HELLO_TIMES_END - 2 * ETH_ALEN, "no gaps");

/* Between us and a peer these are lost, too: bits of members of ours, and of its receivers. */
static __always_inline void add_lost(__u32 slot, __u32 number, __u32 senders, __u32 receivers)
{
	__u32 only = 0;
	struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);
	__u64 now = bpf_ktime_get_ns();

	if (!state)
		return;
	struct stripe_lost *lost = &state->lost[number & (MAX_PEERS - 1)];

	bpf_spin_lock(&state->lock);
	if (lost->slot != slot || now >= lost->until_ns) {
		lost->slot = slot;
		lost->senders = 0;
		lost->receivers = 0;
		lost->until_ns = now + LEAD_NS;
	}
	lost->senders |= senders;
	lost->receivers |= receivers;
	bpf_spin_unlock(&state->lock);
}

/*
 * Makes a word to a peer about our member in this place, of a frame that has the addresses of a
 * path to it; 0: it cannot.
 */
static __always_inline int say_lost(struct __sk_buff *skb, __u32 slot, __u32 place)
{
	struct lost_hello hello = {.type = bpf_htons(TYPE_HELLO), .version = 1, .kind = HELLO_LOST};

	__builtin_memcpy(hello.mac, plan_in(slot)->members[bounded_place(place)].path, ETH_ALEN);
	if (skb->vlan_present && bpf_skb_vlan_pop(skb))
		return 0;
	return !bpf_skb_change_tail(skb, HELLO_TIMES_END, 0) &&
	       !bpf_skb_store_bytes(skb, 2 * ETH_ALEN, &hello, sizeof(hello), 0);
}

/*
 * A hello that the member in this place received; 1: it was such a word, and if it came from a peer about
 * one of its own members, nothing is sent there for now. A function of its own for the reason given at send_copy().
 */
__attribute__((noinline)) int take_lost(struct __sk_buff *skb, __u32 slot, __u32 place)
{
	__u8 copy[HELLO_LOST_MAC + ETH_ALEN];
	const __u8 *head = header(skb, 0, copy, sizeof(copy));

	if (!head || skb->vlan_present || !head[HELLO_VERSION] || head[HELLO_KIND] != HELLO_LOST)
		return 0;
	if (!same_mac(head, plan_in(slot)->members[bounded_place(place)].path))
		return 1;
	const struct stripe_entry *peer = peer_of(slot, head + ETH_ALEN);
	const struct stripe_entry *lost = peer_of(slot, head + HELLO_LOST_MAC);

	if (!peer || !lost || lost->number != peer->number || lost->receiver == NO_RECEIVER)
		return 1;
	add_lost(slot, lost->number, 0, 1U << (lost->receiver & (MAX_MEMBERS - 1)));
	return 1;
}

#endif

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Reports of a lost carrier, written where it is seen and obeyed at both ends, as
 * crates/plan/src/stripe/lost.rs, whose module text is the specification; a change there is a
 * change here. Only a program that reads the kernel's own view of a frame sees it (carrier.bpf.c).
 */
#ifndef NICTEAM_LOST_H
#define NICTEAM_LOST_H

#include "constants.h"
#include "frame.h"
#include "maps.h"
#include "plan.h"
#include "stripe.h"

/* What follows the addresses of a hello of this kind, up to where it ends. */
struct lost_hello {
	__be16 type;
	__u8 version;
	__u8 kind;
	__u8 nothing[HELLO_LOST_TOKEN - HELLO_KIND - 1];
	__u8 token[HELLO_LOST_MAC - HELLO_LOST_TOKEN];
	__u8 mac[ETH_ALEN];
	/* Here a checksum may stand that a device computes for what the frame was before. */
	__u8 rest[HELLO_TIMES_END - HELLO_LOST_MAC - ETH_ALEN];
};

_Static_assert(sizeof(struct lost_hello) == HELLO_TIMES_END - 2 * ETH_ALEN, "no gaps");

static __always_inline int same_token(const __u8 *a, const __u8 *b)
{
	__u64 x, y;

	__builtin_memcpy(&x, a, sizeof(x));
	__builtin_memcpy(&y, b, sizeof(y));
	return x == y;
}

/* Whatever was said before of this plan is over, or of another. */
static __always_inline int is_over(const struct stripe_lost *lost, __u32 slot, __u64 now)
{
	return lost->slot != slot || now >= lost->until_ns;
}

/* Between us and a peer these are lost, too: bits of members of ours, and of its receivers. */
static __always_inline void add_lost(struct stripe_lost *lost, __u32 slot, __u32 senders, __u32 receivers, __u64 now,
				     __u64 counts_ns)
{
	if (is_over(lost, slot, now)) {
		lost->slot = slot;
		lost->senders = 0;
		lost->receivers = 0;
		lost->until_ns = now + counts_ns;
	}
	lost->senders |= senders;
	lost->receivers |= receivers;
}

/* A member of ours, whose bit this is, was to send to a peer and had no carrier. */
static __always_inline void lose_sender(__u32 slot, __u32 number, __u32 bit)
{
	__u32 only = 0;
	struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);
	__u64 now = bpf_ktime_get_ns();

	if (!state)
		return;
	bpf_spin_lock(&state->lock);
	add_lost(&state->lost[number & (MAX_PEERS - 1)], slot, bit, 0, now, LEAD_NS);
	bpf_spin_unlock(&state->lock);
}

/* A peer reports, with this token, that this receiver of its has none (LostReceivers::add). */
static __always_inline void lose_receiver(__u32 slot, __u32 number, __u32 receiver, const __u8 *token)
{
	static const __u8 none[8];
	__u32 only = 0;
	struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);
	const struct stripe_peer *peer = peer_line(slot, number);
	__u64 now = bpf_ktime_get_ns();

	if (!state || !peer)
		return;
	receiver = bounded_place(receiver);
	struct stripe_lost *lost = &state->lost[number & (MAX_PEERS - 1)];
	struct stripe_report *report = &state->reports[number & (MAX_PEERS - 1)][receiver];
	const __u8 *wanted = peer->receivers[receiver].token;
	int proves = !same_token(wanted, none), may = !proves || same_token(token, wanted);

	bpf_spin_lock(&state->lock);
	if (may && now >= report->distrust_until_ns && !(proves && same_token(report->used, wanted))) {
		if (proves)
			__builtin_memcpy(report->used, wanted, sizeof(report->used));
		if (is_over(lost, slot, now) || !(lost->receivers >> receiver & 1))
			report->stamp = 0;
		add_lost(lost, slot, 0, 1U << receiver, now, proves ? LOST_HELD_NS : LEAD_NS);
	}
	bpf_spin_unlock(&state->lock);
}

/*
 * A probe with this stamp leaves for a peer's receiver, or came back from it: the first that left since
 * it was reported lost, and is back, contradicts that. A function of its own for the reason given at send_copy().
 */
__attribute__((noinline)) int note_probe(__u32 slot, __u32 number, __u32 receiver, __u64 stamp, __u32 is_back)
{
	__u32 only = 0;
	struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);
	__u64 now = bpf_ktime_get_ns();

	if (!state)
		return 0;
	receiver = bounded_place(receiver);
	struct stripe_lost *lost = &state->lost[number & (MAX_PEERS - 1)];
	struct stripe_report *report = &state->reports[number & (MAX_PEERS - 1)][receiver];

	if (!(lost->receivers >> receiver & 1)) /* nearly always */
		return 0;
	bpf_spin_lock(&state->lock);
	if (!is_over(lost, slot, now) && stamp) {
		if (!is_back && !report->stamp)
			report->stamp = stamp;
		if (is_back && report->stamp == stamp) {
			lost->receivers &= ~(1U << receiver);
			report->distrust_until_ns = now + LOST_DISTRUST_NS;
		}
	}
	bpf_spin_unlock(&state->lock);
	return 0;
}

/*
 * Makes a report to a peer about our member in this place, of a frame that has the addresses of a
 * path to it; 0: it cannot.
 */
static __always_inline int say_lost(struct __sk_buff *skb, __u32 slot, __u32 place)
{
	struct lost_hello hello = {.type = bpf_htons(TYPE_HELLO), .version = 1, .kind = HELLO_LOST};

	const struct plan_member *member = &plan_in(slot)->members[bounded_place(place)];

	__builtin_memcpy(hello.mac, member->path, ETH_ALEN);
	__builtin_memcpy(hello.token, member->token, sizeof(hello.token));
	if (skb->vlan_present && bpf_skb_vlan_pop(skb))
		return 0;
	return !bpf_skb_change_tail(skb, HELLO_TIMES_END, 0) &&
	       !bpf_skb_store_bytes(skb, 2 * ETH_ALEN, &hello, sizeof(hello), 0);
}

/*
 * A hello that the member in this place received; 1: it was such a report, and if it came from a peer about
 * one of its own members, and is to be obeyed, nothing is sent there for now. A function of its own for the reason given at send_copy().
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
	lose_receiver(slot, lost->number, lost->receiver, head + HELLO_LOST_TOKEN);
	return 1;
}

#endif

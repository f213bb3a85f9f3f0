/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* Sends a frame by the member or members that were chosen, and to peers that stripe by the best path. */
#ifndef NICTEAM_SEND_H
#define NICTEAM_SEND_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include "constants.h"
#include "failover.h"
#include "frame.h"
#include "gaps.h"
#include "maps.h"
#include "plan.h"
#include "redundant.h"
#include "retransmissions.h"
#include "stripe.h"

/* Beside a place: the frame itself goes there. */
#define LAST_COPY MAX_MEMBERS

static __always_inline int drop_unsent(void)
{
	struct tally *sums = team_tally();

	if (sums)
		sums->unsent++;
	return TC_ACT_SHOT;
}

/* A frame that the control side has: taken, not dropped. */
#define PUNTED TC_ACT_QUEUED

_Static_assert(!(MAX_PUNTED & (MAX_PUNTED - 1)), "a mask");

/*
 * Gives a frame to the control side; 0: it takes none that is so long, or does not keep up. A function of its own,
 * as send_copy().
 */
__attribute__((noinline)) int punt(struct __sk_buff *skb)
{
	__u32 last = skb->len - 1; /* the number of its last byte */

	if (last >= MAX_PUNTED)
		return 0;
	struct punted *punted = bpf_ringbuf_reserve(&punts, sizeof(*punted), 0);

	if (!punted)
		return 0;
	punted->len = last + 1;
	punted->tag_protocol = skb->vlan_present ? skb->vlan_proto : 0;
	punted->tag_tci = bpf_htons(skb->vlan_tci);
	asm volatile("" : "+r"(last)); /* as in bounded_place() */
	if (bpf_skb_load_bytes(skb, 0, punted->frame, (last & (MAX_PUNTED - 1)) + 1)) {
		bpf_ringbuf_discard(punted, 0);
		return 0;
	}
	bpf_ringbuf_submit(punted, 0);
	return 1;
}

/* As if it had been sent: the sender does not learn of it. */
static __always_inline int count_withheld(void)
{
	struct tally *sums = team_tally();

	if (sums)
		sums->withheld++;
	return TC_ACT_STOLEN;
}

static __always_inline void count_sent(__u32 place, __u32 bytes)
{
	struct counters *sums = member_counters(place);

	if (sums) {
		sums->tx_frames++;
		sums->tx_bytes += bytes;
	}
}

static __always_inline void count_not_sent(__u32 place)
{
	struct counters *sums = member_counters(place);

	if (sums)
		sums->tx_drops++;
}

/*
 * Writes the member's addresses over those of the stack. All bytes are
 * written, kept ones too: a frame that goes to several members still carries
 * what the one before wrote.
 */
static __always_inline void rewrite(struct __sk_buff *skb, const struct plan_member *member, const struct macs *stack)
{
	struct macs out;

	out.words[0] = (stack->words[0] & member->keep.words[0]) | member->put.words[0];
	out.words[1] = (stack->words[1] & member->keep.words[1]) | member->put.words[1];
	out.words[2] = (stack->words[2] & member->keep.words[2]) | member->put.words[2];
	bpf_skb_store_bytes(skb, 0, &out, sizeof(out), 0);
}

/* Sends the frame by one member, which was chosen by this number, or if that has no carrier by another one. */
static __always_inline int send(struct __sk_buff *skb, const struct plan *plan, __u32 slot, __u32 place, __u32 number)
{
	struct macs macs;
	__u32 as_active = 0;

	/* Of members of a plan that stripes carrier.bpf.c takes care, and none of them is found healthy here. */
	if (!is_healthy(slot, place) && !(STRIPE && plan->choose == CHOOSE_STRIPE)) {
		place = failover_way(slot, place, number);
		as_active = place & AS_ACTIVE;
	}
	place = bounded_place(place);
	const struct plan_member *member = &plan->members[place];

	if (!member->ifindex)
		return drop_unsent();
	if (member->flags & MEMBER_REWRITE && !as_active) {
		if (bpf_skb_load_bytes(skb, 0, &macs, sizeof(macs)))
			return drop_unsent();
		rewrite(skb, member, &macs);
	}
	count_sent(place, skb->len);
	return bpf_redirect(member->ifindex, 0);
}

/* Sends by table[number % table_len]. */
static __always_inline int send_by(struct __sk_buff *skb, const struct plan *plan, __u32 slot, __u32 number)
{
	if (!plan->table_len)
		return drop_unsent();
	__u32 bucket = number % plan->table_len;

	asm volatile("" : "+r"(bucket)); /* as in bounded_place() */
	return send(skb, plan, slot, plan->table[bucket & (MAX_BUCKETS - 1)], number);
}

/*
 * Sends in turn. The count is this CPU's own, as the kernel's is (Linux 6.1
 * bond_main.c, bond_rr_gen_slave_id): CPUs do not wait for each other, and each
 * spreads its own frames evenly.
 */
static __always_inline int send_in_turn(struct __sk_buff *skb, const struct plan *plan, __u32 slot)
{
	struct tally *sums;

	if (frame_is_igmp(skb))
		return send(skb, plan, slot, plan->igmp, 0);
	if (!plan->packets_per_member)
		return send_by(skb, plan, slot, bpf_get_prandom_u32());
	sums = team_tally();
	if (!sums)
		return TC_ACT_SHOT;
	sums->round_robin++;
	return send_by(skb, plan, slot, (__u32)sums->round_robin / plan->packets_per_member);
}

/*
 * Sends a copy by one member, or, if it is the last, leaves the frame ready for
 * it. Returns its interface index, 0 if nobody has the place. `macs01` and
 * `macs2` are the stack's addresses.
 *
 * A function of its own, not inlined and not static: so the verifier walks it
 * once, not once for each member, and a team is set up in a fourth of the time.
 */
__attribute__((noinline)) __u32 send_copy(struct __sk_buff *skb, __u32 slot, __u32 place_and_last, __u64 macs01,
					  __u32 macs2)
{
	struct macs macs = {{macs01, macs01 >> 32, macs2}};
	const struct plan *plan = plan_in(slot);
	__u32 place = bounded_place(place_and_last);

	if (!plan->members[place].ifindex)
		return 0;
	const struct plan_member *member = &plan->members[place];

	rewrite(skb, member, &macs);
	if (place_and_last & LAST_COPY)
		count_sent(place, skb->len);
	else if (bpf_clone_redirect(skb, member->ifindex, 0))
		count_not_sent(place);
	else
		count_sent(place, skb->len);
	return member->ifindex;
}

/* A copy to every member but the last, to which the frame itself goes. A function of its own, as send_copy(). */
__attribute__((noinline)) int send_to_all(struct __sk_buff *skb, __u32 slot, __u32 all)
{
	struct macs macs;
	__u32 sent = 0;

	if (!all || bpf_skb_load_bytes(skb, 0, &macs, sizeof(macs)))
		return drop_unsent();
	__u64 macs01 = macs.words[0] | (__u64)macs.words[1] << 32;

	for (__u32 place = 0; place < MAX_MEMBERS; place++) {
		__u32 rest = all >> place;

		if (!(rest & 1))
			continue;
		if (rest == 1) {
			__u32 ifindex = send_copy(skb, slot, place | LAST_COPY, macs01, macs.words[2]);

			if (ifindex)
				return bpf_redirect(ifindex, 0);
			break;
		}
		sent |= send_copy(skb, slot, place, macs01, macs.words[2]);
	}
	/* The last one is not attached: the copies were all there was to send. */
	return sent ? TC_ACT_SHOT : drop_unsent();
}

/* What send_striped() says of a frame that is like any other. */
#define NOT_STRIPED -1

/* Puts a tag and a path's addresses into a frame that has room for the tag; the member's interface index, or 0. */
static __always_inline __u32 address_tagged(struct __sk_buff *skb, __u32 slot, const struct stripe_peer *peer,
					    __u32 path, __u16 number)
{
	const struct plan_member *sender = &plan_in(slot)->members[bounded_place(path)];
	struct tagged_head head = {.tag = bpf_htons(TYPE_RTAG), .sequence = bpf_htons(number)};

	__builtin_memcpy(head.dst, peer->receivers[bounded_place(path >> PATH_RECEIVER_SHIFT)].mac, ETH_ALEN);
	__builtin_memcpy(head.src, sender->path, ETH_ALEN);
	return bpf_skb_store_bytes(skb, 0, &head, sizeof(head), 0) ? 0 : sender->ifindex;
}

/*
 * Sends a frame by two paths to a peer, or by the only one, with a tag. NOT_STRIPED: it goes once, as
 * others do; so does a GSO frame that the team device did not cut, for its offloads were switched on again.
 *
 * A function of its own, as send_copy().
 */
__attribute__((noinline)) int send_twice(struct __sk_buff *skb, __u32 slot, __u32 number)
{
	const struct stripe_peer *peer = peer_line(slot, number);

	if (!peer || !peer->takes_rtags || skb->gso_size || !is_redundant(skb, slot))
		return NOT_STRIPED;
	struct redundant_stream *stream = bpf_map_lookup_elem(&stripe_streams, peer->team);

	if (!stream)
		return NOT_STRIPED;
	__u32 last = take_path(skb, slot, number, NO_PATH, RTAG_LEN);

	if (last == NO_PATH)
		return NOT_STRIPED;
	__u32 second = take_path(skb, slot, number, last, RTAG_LEN), ifindex, sent = 0;
	__u16 sequence = next_number(stream);

	note_sent(slot, number);
	if (bpf_skb_change_head(skb, RTAG_LEN, 0))
		return drop_unsent();
	if (second != NO_PATH) {
		ifindex = address_tagged(skb, slot, peer, last, sequence);
		if (ifindex && !bpf_clone_redirect(skb, ifindex, 0)) {
			count_sent(bounded_place(last), skb->len);
			sent = 1;
		} else if (ifindex) {
			count_not_sent(bounded_place(last));
		}
		last = second;
	}
	ifindex = address_tagged(skb, slot, peer, last, sequence);
	if (!ifindex)
		return sent ? TC_ACT_SHOT : drop_unsent();
	count_sent(bounded_place(last), skb->len);
	return bpf_redirect(ifindex, 0);
}

/* Sends by the path to a peer by which the frame arrives first. */
static __always_inline int send_once(struct __sk_buff *skb, const struct plan *plan, __u32 slot, __u32 number)
{
	const struct stripe_peer *peer = peer_line(slot, number);

	if (!peer)
		return NOT_STRIPED;
	int has_paths = peer->paths_len > 1;
	enum told told = plan->sack_delay_ns && has_paths ? tell_gap(skb, plan->sack_delay_ns) : NO_REPORT;

	if (told == TOLD_NOTHING)
		return count_withheld();
	__u32 with = peer->keeps_flows ? flow_of(skb) : 0;

	if (has_paths && mends(skb, number, told == TOLD_ALL))
		with |= WITH_HEARD;
	__u32 path = take_path(skb, slot, number, with ? with : NO_PATH, 0);

	if (path == NO_PATH)
		return NOT_STRIPED;
	const struct plan_member *sender = &plan->members[bounded_place(path)];

	if (!sender->ifindex || !address_path(skb, slot, number, path))
		return drop_unsent();
	note_sent(slot, number);
	count_sent(bounded_place(path), skb->len);
	return bpf_redirect(sender->ifindex, 0);
}

/* Sends by the path to a peer by which the frame arrives first, to groups by one member a segment. */
static __always_inline int send_striped(struct __sk_buff *skb, const struct plan *plan, __u32 slot, int own)
{
	__u8 copy[2 * ETH_ALEN];
	const __u8 *macs = header(skb, 0, copy, sizeof(copy));

	if (!macs)
		return NOT_STRIPED;
	if (is_multicast(macs))
		return send_to_all(skb, slot, plan->all);
	const struct stripe_entry *peer = own ? peer_of(slot, macs) : 0;

	if (!peer)
		return NOT_STRIPED;
	__u32 number = peer->number;

	if (plan->balance & STRIPE_REDUNDANT) {
		int action = send_twice(skb, slot, number);

		if (action != NOT_STRIPED)
			return action;
	}
	return send_once(skb, plan, slot, number);
}

#endif

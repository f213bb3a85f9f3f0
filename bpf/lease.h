/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What holds while the process of the team does not run. Some plans (802.3ad)
 * are right only as long as somebody talks to the partners: they are executed
 * for so long after the process was last heard of, and no longer. Meanwhile the
 * members' program answers each partner, which speaks on by itself; then it
 * says a few times that the member is not in sync, and no more.
 */
#ifndef NICTEAM_LEASE_H
#define NICTEAM_LEASE_H

#include <linux/if_ether.h>

#include "frame.h"
#include "maps.h"
#include "plan.h"

/* Two stalled ends do not answer each other's answers faster than this. */
#define ANSWER_INTERVAL_NS 300000000ULL

#define SLOW_PROTOCOLS_LAST 0x02 /* byte of 01:80:c2:00:00:02 */
/* How often a partner is told that the lease is over; then it hears nothing more. */
#define LAST_WORDS 3

#define SUBTYPE_LACP 1
#define INFO_LEN 20
#define STATE_OFFSET 32 /* of the actor's state in a frame */
#define STATE_CARRIES (0x08 | 0x10 | 0x20) /* synchronization, collecting, distributing */

/* The front of a frame with a LACPDU. */
struct lacpdu_head {
	__u8 dst[ETH_ALEN];
	__u8 src[ETH_ALEN];
	__be16 type;
	__u8 subtype;
	__u8 version;
	__u8 actor_type;
	__u8 actor_len;
};

/* How long the process has not been heard of. */
static __always_inline __u64 silence_ns(__u64 now)
{
	__u64 renewed = lease.renewed_ns;

	return now > renewed ? now - renewed : 0;
}

/* Not inlined: plans without a lease shall not pay for what it needs. */
__attribute__((noinline)) int lease_is_over(__u32 slot)
{
	return silence_ns(bpf_ktime_get_ns()) > plan_in(slot)->lease_ns;
}

/* What the sender of a LACPDU says of itself; 0: this frame to a link-local address is none. */
static __always_inline int read_actor(struct __sk_buff *skb, struct port_info *actor)
{
	struct lacpdu_head head;

	if (skb->vlan_present || skb->len < LACPDU_FRAME_LEN || bpf_skb_load_bytes(skb, 0, &head, sizeof(head)))
		return 0;
	if (head.type != bpf_htons(TYPE_SLOW) || head.subtype != SUBTYPE_LACP || head.actor_len != INFO_LEN)
		return 0;
	if (head.dst[ETH_ALEN - 1] != SLOW_PROTOCOLS_LAST || bpf_skb_load_bytes(skb, sizeof(head), actor, sizeof(*actor)))
		return 0;
	((__u8 *)actor)[sizeof(*actor) - 1] = 0; /* reserved */
	return 1;
}

/* Writes the answer over the frame. */
static __always_inline int write_answer(struct __sk_buff *skb, struct answer *answer, int is_over)
{
	__u8 state = answer->frame[STATE_OFFSET] & ~STATE_CARRIES;

	if (skb->len != LACPDU_FRAME_LEN && bpf_skb_change_tail(skb, LACPDU_FRAME_LEN, 0))
		return 0;
	if (bpf_skb_store_bytes(skb, 0, answer->frame, LACPDU_FRAME_LEN, 0))
		return 0;
	return !is_over || !bpf_skb_store_bytes(skb, STATE_OFFSET, &state, sizeof(state), 0);
}

/*
 * Turns a LACPDU that a member received into the answer to it, if the process
 * does not answer; 0: it does, or would say something else than it last did.
 * Listening sockets have had the frame before.
 *
 * A function of its own for the reason given at send_copy().
 */
__attribute__((noinline)) int answer_partner(struct __sk_buff *skb, __u32 place, __u64 lease_ns)
{
	struct answer *answer = bpf_map_lookup_elem(&answers, &place);
	struct tally *sums = team_tally();
	struct port_info actor;
	__u64 now = bpf_ktime_get_ns();
	__u64 silence = silence_ns(now);
	int is_over = silence > lease_ns;

	if (!answer || !sums || !answer->used || !read_actor(skb, &actor))
		return 0;
	if (actor.words[0] != answer->partner.words[0] || actor.words[1] != answer->partner.words[1]) {
		answer->heard_ns = 0;
		return 0;
	}
	answer->heard_ns = is_over ? 0 : now;
	if (silence < STALLED_NS || now - answer->answered_ns < ANSWER_INTERVAL_NS)
		return 0;
	if (is_over && answer->last_words >= LAST_WORDS)
		return 0;
	if (!write_answer(skb, answer, is_over))
		return 0;
	answer->answered_ns = now;
	answer->last_words += is_over;
	sums->answered++;
	return 1;
}

#endif

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What a frame would lose on its way through the team device.
 *
 * Its priority, which __dev_forward_skb() clears, is read again of the socket that sent it.
 *
 * Its queue, which a filter gave it, goes in the frame's tc_index, which nothing on this way changes: a program on the
 * team device puts it there, while a plan has queues, and the program at the end behind takes it out.
 */
#ifndef NICTEAM_SKB_FIELDS_H
#define NICTEAM_SKB_FIELDS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "constants.h"

/* tc_run() leaves the minor number of a class in tc_index after another program's filter: an unlikely one. */
#define QUEUE_PATTERN 0xa500
#define QUEUE_BITS 0xff

_Static_assert(QUEUES - 1 <= QUEUE_BITS, "a queue has room beside the pattern");

static __always_inline void put_queue(struct __sk_buff *skb)
{
	__u32 queue = skb->queue_mapping;

	if (queue && queue < QUEUES)
		skb->tc_index = QUEUE_PATTERN | queue;
}

/* The frame's queue; 0: none. */
static __always_inline __u32 take_queue(struct __sk_buff *skb)
{
	__u32 index = skb->tc_index;

	if ((index & ~QUEUE_BITS) != QUEUE_PATTERN)
		return 0;
	skb->tc_index = 0;
	return index & QUEUE_BITS;
}

/* Gives a frame the priority of the socket that sent it (SO_PRIORITY, IP_TOS). */
static __always_inline void restore_priority(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;

	if (!sk)
		return;
	sk = bpf_sk_fullsock(sk);
	if (sk && sk->priority)
		skb->priority = sk->priority;
}

#endif

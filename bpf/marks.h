/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What a frame would lose on its way through the team device: its priority, which __dev_forward_skb() clears, and the
 * queue that a filter gave it, instead of which it gets one of the device's own. The team device's program puts
 * both into the frame's tc_index, which nothing on this way changes, and the program at the end behind takes them out.
 *
 * tc_index has 16 bits: a pattern, 5 bits of queue, 7 of priority. A higher priority is a traffic class
 * (TC_H_MAKE) of the team device's own queueing discipline, and means nothing at a member.
 */
#ifndef NICTEAM_MARKS_H
#define NICTEAM_MARKS_H

#include <linux/bpf.h>

#include "constants.h"

/* tc_run() leaves the minor number of a class here after another program's filter: an unlikely one. */
#define MARKS_PATTERN 0xa000
#define MARKS_PATTERN_BITS 0xf000
#define MARKS_QUEUE_SHIFT 7
#define MARKS_QUEUE_BITS 0x1f
#define MARKS_PRIORITY_BITS 0x7f

_Static_assert(QUEUES - 1 <= MARKS_QUEUE_BITS, "a queue has room among the marks");

/* Puts them into the frame. */
static __always_inline void put_marks(struct __sk_buff *skb)
{
	__u32 queue = skb->queue_mapping, priority = skb->priority;

	if (!(queue | priority))
		return;
	if (queue >= QUEUES)
		queue = 0;
	if (priority > MARKS_PRIORITY_BITS)
		priority = 0;
	skb->tc_index = MARKS_PATTERN | queue << MARKS_QUEUE_SHIFT | priority;
}

/* Takes them out, gives the frame its priority again and returns its queue. */
static __always_inline __u32 take_marks(struct __sk_buff *skb)
{
	__u32 marks = skb->tc_index;

	if ((marks & MARKS_PATTERN_BITS) != MARKS_PATTERN)
		return 0;
	skb->tc_index = 0;
	skb->priority = marks & MARKS_PRIORITY_BITS;
	return marks >> MARKS_QUEUE_SHIFT & MARKS_QUEUE_BITS;
}

#endif

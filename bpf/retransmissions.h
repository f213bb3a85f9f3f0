/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Which path retransmissions take, and acknowledgements for a loss recovery, as in the file of the
 * same name in crates/plan/src/stripe; a change there is a change here.
 */
#ifndef NICTEAM_RETRANSMISSIONS_H
#define NICTEAM_RETRANSMISSIONS_H

#include "gaps.h"
#include "maps.h"
#include "plan.h"
#include "stripe.h"

/* True if the segment begins before the end of what its connection sent already. */
static __always_inline int is_sent_again(struct stripe_state *state, const struct segment *segment, __u64 now)
{
	/* Without the lock: two processors at once may take a new segment for a retransmission, or the reverse. */
	struct stripe_sent *sent = &state->sent[flow_bucket(segment->flow)];
	int is_mine = sent->flow == segment->flow && now < sent->at_ns + SENT_FORGOTTEN_NS;
	int is_again = is_mine && is_ahead(sent->end, segment->sequence);

	if (!is_again || is_ahead(segment->end, sent->end))
		sent->end = segment->end;
	sent->flow = segment->flow;
	sent->at_ns = now;
	return is_again;
}

/*
 * True if the frame to a peer is to go by the path that brought the peer's last frame (`path_of` in
 * crates/plan/src/stripe); `tells`: it reports a gap to the peer. A function of its own for the
 * reason given at send_copy().
 */
__attribute__((noinline)) int mends(struct __sk_buff *skb, __u32 number, int tells)
{
	__u32 only = 0;
	struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);
	__u64 now = bpf_ktime_get_ns();
	struct segment segment;

	if (!state)
		return 0;
	__u64 *until = &state->recovery_until_ns[number & (MAX_PEERS - 1)];

	if (tells)
		*until = now + LOSS_RECOVERY_NS;
	if (skb->len < SEGMENT_SHORTEST)
		return now < *until;
	return read_segment(skb, &segment) && is_sent_again(state, &segment, now);
}

#endif

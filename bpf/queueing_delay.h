/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Sends the probes of peers back with their time of arrival, and estimates queueing delays from the
 * echoes of our own. The file of the same name in crates/plan/src/stripe does the latter, and its
 * module text is the specification; a change there is a change here.
 */
#ifndef NICTEAM_QUEUEING_DELAY_H
#define NICTEAM_QUEUEING_DELAY_H

#include "constants.h"
#include "echoes.h"
#include "frame.h"
#include "lost.h"
#include "maps.h"
#include "plan.h"
#include "stripe.h"

/* In the ends of a path, its receiver or its sender. */
#define ENDS_RECEIVER (0xffU << PATH_RECEIVER_SHIFT)
#define ENDS_SENDER 0xffU
/* Later than any. */
#define LATE_NEVER_NS (1LL << 61)

enum reflected {
	REFLECTED_NOT,	/* it is no such probe */
	REFLECTED,
	REFLECTED_TOO_MANY, /* one too many: nobody gets it */
};

/*
 * Makes a peer's probe its own echo, which says when it arrived, for the member that received it to send
 * back (crates/plan/src/stripe/receiving.rs, receive_hello() and bound_echo()). Here and not in
 * the process: one that is slow, or gone, makes no path a dead one.
 */
static __always_inline enum reflected reflect(struct __sk_buff *skb, const __u8 *own, __u32 slot)
{
	__u8 copy[HELLO_KIND + 1], macs[2 * ETH_ALEN], kind = HELLO_ECHO;
	const __u8 *head = header(skb, 0, copy, sizeof(copy));

	if (!head || skb->vlan_present || !head[HELLO_VERSION] || head[HELLO_KIND] != HELLO_PROBE)
		return REFLECTED_NOT;
	if (skb->len != HELLO_TIMES_END || !same_mac(head, own))
		return REFLECTED_NOT;
	const struct stripe_entry *from = peer_of(slot, head + ETH_ALEN);
	__u64 now = bpf_ktime_get_ns();
	__be64 arrived = bpf_cpu_to_be64(now);

	if (!from)
		return REFLECTED_NOT;
	if (!may_echo(from, now))
		return REFLECTED_TOO_MANY;
	__builtin_memcpy(macs, head + ETH_ALEN, ETH_ALEN);
	__builtin_memcpy(macs + ETH_ALEN, head, ETH_ALEN);
	bpf_skb_store_bytes(skb, HELLO_ARRIVED, &arrived, sizeof(arrived), 0);
	if (bpf_skb_store_bytes(skb, 0, macs, sizeof(macs), 0) ||
	    bpf_skb_store_bytes(skb, HELLO_KIND, &kind, sizeof(kind), 0))
		return REFLECTED_NOT;
	return REFLECTED;
}

/*
 * A probe leaves by the member in this place: says when the wires of its path are
 * reckoned to be free (crates/plan/src/stripe/state.rs, due()).
 */
static __always_inline void say_when_due(struct __sk_buff *skb, __u32 slot, __u32 place)
{
	__u8 copy[HELLO_STAMP + sizeof(__u64)];
	__u32 only = 0;
	__u64 stamp;
	const __u8 *head = header(skb, 0, copy, sizeof(copy));
	const struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);

	if (!head || !state || head[HELLO_KIND] != HELLO_PROBE || skb->len < HELLO_TIMES_END)
		return;
	const struct stripe_entry *peer = peer_of(slot, head);

	__builtin_memcpy(&stamp, head + HELLO_STAMP, sizeof(stamp));

	if (!peer || peer->receiver == NO_RECEIVER)
		return;
	__u64 receiver = state->receivers[peer->number & (MAX_PEERS - 1)][peer->receiver & (MAX_MEMBERS - 1)];
	__u64 sender = state->senders[place & (MAX_MEMBERS - 1)];
	__be64 due = bpf_cpu_to_be64(later(bpf_ktime_get_ns(), later(sender, receiver)));

	note_probe(slot, peer->number, peer->receiver, stamp, 0);
	bpf_skb_store_bytes(skb, HELLO_DUE, &due, sizeof(due), 0);
}

/* How late a probe of so many bits, times 1000, was by this path, beside what its way takes anyhow. */
static __always_inline __s64 late_by(const struct stripe_path *path, __s64 late_ns, __u64 kilobits)
{
	__u64 wire_ns = kilobits / (path->rate_mbps ? path->rate_mbps : 1);

	return late_ns - wire_ns - (__u64)path->delay_us * 1000;
}

/* Of a path a probe was so late; 1: that makes a finding. */
static __always_inline __u32 find_late(struct stripe_late *late, __u32 path, __s64 late_ns, __u64 now)
{
	if (late->path != path + 1) {
		late->path = path + 1;
		late->probes = 0;
		late->found_at_ns = 0;
	}
	if (!late->probes || late_ns < late->least_ns)
		late->least_ns = late_ns;
	if (++late->probes < LATE_PROBES)
		return 0;
	late->probes = 0;
	late->found_ns = late->least_ns;
	late->found_at_ns = now;
	return 1;
}

/*
 * The least of what was lately found of paths to a peer, of those whose ends are these where the mask says so.
 * Without branches, and a function of its own: the verifier follows each branch in each turn of a loop, and a loop
 * from wherever it is come to.
 */
__attribute__((noinline)) __u64 least_late(__u32 number, __u64 now, __u32 ends, __u32 mask)
{
	__u32 only = 0;
	const struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);
	__s64 least = LATE_NEVER_NS;

	if (!state)
		return least;
#pragma clang loop unroll(disable)
	for (__u32 at = 0; at < MAX_PATHS; at++) {
		const struct stripe_late *late = &state->late[number & (MAX_PEERS - 1)][at];
		__s64 is_old = (__s64)(late->found_at_ns + LATE_LASTS_NS - now) >> 63;
		__s64 is_other = -(__s64)(((late->path - 1) ^ ends) & mask) >> 63;
		__s64 leave_out = is_old | is_other;
		__s64 less = ((late->found_ns & ~leave_out) | (LATE_NEVER_NS & leave_out)) - least;

		least += less & less >> 63;
	}
	return least;
}

/*
 * True if an echo that says so can be one of ours: when its probe was due is by our own clock, and what it
 * says of the queues of its path is near what the quickest one has, if there is one. No tag covers either.
 */
static __always_inline int is_plausible(__u64 due, __s64 late_ns, __u32 number, __u64 now)
{
	__s64 least = least_late(number, now, 0, 0), beyond = late_ns - least;

	if (due > now + LEAD_NS || due + LATE_PROBE_NS <= now)
		return 0;
	return least == LATE_NEVER_NS || (beyond <= LATE_PLAUSIBLE_NS && beyond >= -LATE_PLAUSIBLE_NS);
}

/* A part of what a path has over the quickest one. Less than nothing is what another CPU finds meanwhile. */
static __always_inline __u64 excess_of(__s64 late_ns, __u32 sharers)
{
	if (late_ns <= 0)
		return 0;
	__u64 excess = (__u64)late_ns / LATE_PART / (sharers ? sharers : 1);

	return excess < LATE_MOST_NS ? excess : LATE_MOST_NS;
}

/* Adds so much to the transmit backlog of a wire. */
static __always_inline void put_on(__u64 *taken, __u64 excess, __u64 now)
{
	if (!excess)
		return;
	excess += later(*taken, now);
	*taken = excess < now + LEAD_NS ? excess : now + LEAD_NS;
}

/*
 * A hello that the member in this place received: if it is the echo of a probe of ours that says how
 * late it was, beside what the clocks differ by, what that says of its path's queues is put
 * on the path's wires. A function of its own for the reason given at send_copy().
 */
__attribute__((noinline)) int take_echo(struct __sk_buff *skb, __u32 slot, __u32 place)
{
	__u8 copy[HELLO_TIMES_END];
	const __u8 *head = header(skb, 0, copy, sizeof(copy));
	__be64 due, arrived;
	__u64 stamp;
	__u32 only = 0, sender = bounded_place(place);

	if (!head || skb->vlan_present || head[HELLO_KIND] != HELLO_ECHO ||
	    !same_mac(head, plan_in(slot)->members[sender].path))
		return 0;
	const struct stripe_entry *entry = peer_of(slot, head + ETH_ALEN);
	struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);

	__builtin_memcpy(&due, head + HELLO_DUE, sizeof(due));
	__builtin_memcpy(&arrived, head + HELLO_ARRIVED, sizeof(arrived));
	__builtin_memcpy(&stamp, head + HELLO_STAMP, sizeof(stamp));
	if (!entry || !state || entry->receiver == NO_RECEIVER)
		return 0;
	if (made_for.lost)
		note_probe(slot, entry->number, entry->receiver, stamp, 1);
	if (!entry->path[sender] || !due || !arrived)
		return 0;
	const struct stripe_peer *peer = peer_line(slot, entry->number);
	__u32 number = entry->number & (MAX_PEERS - 1), receiver = entry->receiver & (MAX_MEMBERS - 1);
	__u32 at = (entry->path[sender] - 1) & (MAX_PATHS - 1);
	__u64 now = bpf_ktime_get_ns(), kilobits = (__u64)wire_bytes(skb) * 8000;

	if (!peer)
		return 0;
	struct stripe_late *late = &state->late[number][at];
	__s64 late_ns = late_by(&peer->paths[at], bpf_be64_to_cpu(arrived) - bpf_be64_to_cpu(due), kilobits);
	__u32 ends = receiver << PATH_RECEIVER_SHIFT | sender, at_receiver = entry->shared;

	if (!is_plausible(bpf_be64_to_cpu(due), late_ns, number, now) || !find_late(late, ends, late_ns, now))
		return 0;
	__u64 least = least_late(number, now, 0, 0), common = 0;

	if (at_receiver)
		common = least_late(number, now, ends, ENDS_RECEIVER) - least;
	else if (peer->spreading >> sender & 1)
		common = least_late(number, now, ends, ENDS_SENDER) - least;
	__u64 own = excess_of(late->found_ns - least - common, peer->sharers);
	__u64 shared = excess_of(common, peer->sharers);

	bpf_spin_lock(&state->lock);
	put_on(&state->senders[sender], at_receiver ? own : shared, now);
	put_on(&state->receivers[number][receiver], at_receiver ? shared : own, now);
	bpf_spin_unlock(&state->lock);
	return 0;
}

#endif

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How stripe chooses, as crates/plan/src/stripe/mod.rs, whose module text is
 * the specification; a change there is a change here.
 */
#ifndef NICTEAM_STRIPE_H
#define NICTEAM_STRIPE_H

#include "balance.h"
#include "branchless.h"
#include "frame.h"
#include "hash.h"
#include "maps.h"
#include "plan.h"
#include "wire.h"

/* What take_path() answers: the receiver's place in the upper bits, or nothing. */
#define NO_PATH 0xffffffff
#define PATH_RECEIVER_SHIFT 8
/* Above it in a flow's, and in that by which a frame came: the peer's number. */
#define PATH_NUMBER_SHIFT 16
/* To take_path(), for a path: the bucket of a flow. */
#define WITH_FLOW 0x40000000
/* The same, for the path that brought the peer's last frame (stripe_state.heard). */
#define WITH_HEARD 0x20000000
/* Of a path beside others the ends shared with them count more than when the frame arrives. One with both is none. */
#define RANK_SHIFT 62
#define FAR_RANK ((__u64)BOTH_ENDS << RANK_SHIFT)
/* In stripe_state.heard: there is one, in the plan of the slot above it. */
#define HEARD 0x80000000
#define HEARD_SLOT_SHIFT 16

/* What the plan of a slot says of an address: a peer's team's or its member's, or of our own. */
static __always_inline const struct stripe_entry *entry_of(__u32 slot, const __u8 *mac)
{
	struct stripe_key key = {{mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]}, slot & (PLAN_SLOTS - 1)};

	return bpf_map_lookup_elem(&stripe_index, &key);
}

/* A peer in the plan of a slot. */
static __always_inline const struct stripe_peer *peer_line(__u32 slot, __u32 number)
{
	__u32 key = (slot & (PLAN_SLOTS - 1)) * MAX_PEERS + (number & (MAX_PEERS - 1));

	return bpf_map_lookup_elem(&stripe_peers, &key);
}

static __always_inline __u64 later(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/* A frame takes so long on a member's wire: the member's transmit backlog grows by it. With the lock. */
static __always_inline void grow_backlog(struct stripe_state *state, __u32 of, __u64 wire_ns, __u64 now)
{
	__u64 sent = later(state->senders[of], now) + wire_ns;

	state->senders[of] = sent < now + LEAD_NS ? sent : now + LEAD_NS;
	state->used_ns[of] += wire_ns;
}

/* When a wire is free again after a frame of so many bits, times 1000. */
static __always_inline __u64 taken_until(__u64 taken, __u64 now, __u64 kilobits, __u32 rate_mbps)
{
	return later(taken, now) + kilobits / (rate_mbps ? rate_mbps : 1);
}

/* What a peer's receivers have over one another stays. */
static __always_inline void take_back(__u64 *receivers)
{
#pragma clang loop unroll(disable)
	for (__u32 place = 0; place < MAX_MEMBERS; place++) {
		receivers[place] = greater64(receivers[place], LEAD_NS / 2) - LEAD_NS / 2;
	}
}

/* The flow that a frame belongs to, for take_path(). A function of its own for the reason given at send_copy(). */
__attribute__((noinline)) __u32 flow_of(struct __sk_buff *skb)
{
	/* The stack's own sockets have one that tells flows apart as well, and is there already. */
	__u32 hash = skb->hash ? skb->hash : frame_hash(skb, POLICY_LAYER34);

	return WITH_FLOW | (hash & (STRIPE_FLOWS - 1));
}

/* The flow's frames are added up anew if its window is over; one that took little of it is wide no more. */
static __always_inline void turn_flow(struct stripe_flow *flow, __u64 now)
{
	__u64 elapsed = now > flow->since_ns ? now - flow->since_ns : 0;

	if (elapsed < FLOW_WINDOW_NS)
		return;
	if (flow->taken_ns * 8 < elapsed * FLOW_NARROW_EIGHTHS)
		flow->wide = 0;
	flow->since_ns = now;
	flow->taken_ns = 0;
}

/* The path that a frame of the flow to this peer or host is to keep, if it still is one; NO_PATH: any. */
static __always_inline __u32 kept_path(const struct stripe_flow *flow, __u32 number, __u64 now)
{
	if (flow->wide || now >= flow->last_ns + SLACK_NS || flow->path >> PATH_NUMBER_SHIFT != number)
		return NO_PATH;
	return flow->path & 0xffff;
}

/* A frame of the flow goes by this path, and takes so long on its wire. */
static __always_inline void note_path(struct stripe_flow *flow, __u32 number, __u32 path, __u64 wire_ns, __u64 now)
{
	flow->taken_ns += wire_ns;
	if (flow->taken_ns > FLOW_WIDE_NS)
		flow->wide = 1;
	flow->last_ns = now;
	flow->path = number << PATH_NUMBER_SHIFT | path;
}

/* What take_path() was told. */
static __always_inline int is_with(__u32 with, __u32 bit)
{
	return with != NO_PATH && with & bit;
}

/*
 * The path to a peer by which the frame, and `more` bytes, arrives first: place of
 * our member, and of the peer's; its ends are taken for as long as it takes on the wire. With
 * a flow it is the one that the flow keeps, if it does, or the one that brought something last. With a
 * path, which the frame takes already, it is one that shares no end with it, else one of them. NO_PATH: there is none.
 *
 * A function of its own for the reason given at send_copy().
 */
__attribute__((noinline)) __u32 take_path(struct __sk_buff *skb, __u32 slot, __u32 number, __u32 with, __u32 more)
{
	const struct plan *plan = plan_in(slot);
	/* Not by peer_line(): as that is compiled here, Linux 6.1's verifier takes minutes for it. */
	__u32 key = (slot & (PLAN_SLOTS - 1)) * MAX_PEERS + (number & (MAX_PEERS - 1)), only = 0;
	const struct stripe_peer *peer = bpf_map_lookup_elem(&stripe_peers, &key);
	struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);
	__u64 kilobits = (__u64)(wire_bytes(skb) + more) * 8000, now = bpf_ktime_get_ns();

	if (!peer || !state || !peer->paths_len)
		return NO_PATH;
	__u64 *senders = state->senders, *receivers = state->receivers[number & (MAX_PEERS - 1)];
	struct stripe_flow *flow = &state->flows[with & (STRIPE_FLOWS - 1)];
	__u32 len = peer->paths_len, first, chosen, kept = NO_PATH, beside = with;
	__u32 heard = state->heard[number & (MAX_PEERS - 1)];

	bpf_spin_lock(&state->lock);
	if (is_with(with, WITH_FLOW)) {
		beside = NO_PATH;
		turn_flow(flow, now);
		kept = kept_path(flow, number & (MAX_PEERS - 1), now);
	}
	if (is_with(with, WITH_HEARD)) {
		beside = NO_PATH;
		if (heard >> HEARD_SLOT_SHIFT == (HEARD >> HEARD_SLOT_SHIFT | slot))
			kept = heard & 0xffff;
	}
	/* Or the verifier walks the loop for each that it knows of. */
	beside = forgotten(beside, now);
	with = forgotten(with, now);
	first = ++state->turn % len;
	state->kept = kept;
	state->kept_start_ns = ~0ULL;
	state->best_ns = FAR_RANK;
	state->chosen = NO_PATH;
	__u32 lost_senders = 0, lost_receivers = 0;

	if (made_for.lost) {
		const struct stripe_lost *lost = &state->lost[number & (MAX_PEERS - 1)];
		/* Of this slot, and not over; without branches, as the verifier would take each through the whole loop. */
		__u32 counts = (__s64)(now - lost->until_ns) >> 63 & ((__s64)(lost->slot ^ slot) - 1) >> 63;

		lost_senders = lost->senders & counts;
		lost_receivers = lost->receivers & counts;
	}
#pragma clang loop unroll(disable)
	for (__u32 tried = 0; tried < MAX_PATHS; tried++) {
		if (tried >= len)
			break;
		const struct stripe_path *path = &peer->paths[wrapped(first + tried, len) & (MAX_PATHS - 1)];
		__u32 sender = path->sender & (MAX_MEMBERS - 1), receiver = path->receiver & (MAX_MEMBERS - 1);
		__u32 ends = receiver << PATH_RECEIVER_SHIFT | sender;
		__u64 start = greater64(now, greater64(senders[sender], receivers[receiver]));
		__u64 wire_ns = kilobits / divisor(path->rate_mbps);

		if (made_for.lost)
			start += ((lost_senders >> sender | lost_receivers >> receiver) & 1) * LEAD_NS;
		/* What NO_PATH has in the place of these is nobody's. */
		__u64 shared = equal(sender, beside & 0xff) + equal(receiver, beside >> PATH_RECEIVER_SHIFT);
		__u64 rank = shared << RANK_SHIFT | (start + wire_ns + (__u64)path->delay_us * 1000);

		if (ends == state->kept) {
			state->kept_start_ns = start;
			state->kept_wire_ns = wire_ns;
		}
		if (rank < state->best_ns) {
			state->best_ns = rank;
			state->best_start_ns = start;
			state->best_wire_ns = wire_ns;
			state->chosen = ends;
		}
	}
	chosen = state->chosen;
	kept = state->kept;
	if (chosen != NO_PATH && kept != NO_PATH && state->kept_start_ns <= state->best_start_ns + SLACK_NS) {
		chosen = kept;
		state->best_wire_ns = state->kept_wire_ns;
	}
	if (chosen != NO_PATH) {
		if (is_with(with, WITH_FLOW))
			note_path(flow, number & (MAX_PEERS - 1), chosen, state->best_wire_ns, now);
		__u32 sender = chosen & (MAX_MEMBERS - 1);
		__u32 receiver = chosen >> PATH_RECEIVER_SHIFT & (MAX_MEMBERS - 1);

		__u32 rate_mbps = plan->members[sender].rate_mbps;

		grow_backlog(state, sender, kilobits / (rate_mbps ? rate_mbps : 1), now);
		receivers[receiver] = taken_until(receivers[receiver], now, kilobits, peer->receivers[receiver].share_mbps);
		if (receivers[receiver] > now + LEAD_NS)
			take_back(receivers);
	}
	bpf_spin_unlock(&state->lock);
	return chosen;
}

/* Writes a path's addresses over those of the frame; 0: it cannot. */
static __always_inline int address_path(struct __sk_buff *skb, __u32 slot, __u32 number, __u32 path)
{
	const struct stripe_peer *peer = peer_line(slot, number);
	const __u8 *src = plan_in(slot)->members[bounded_place(path)].path;
	__u8 macs[2 * ETH_ALEN];

	if (!peer)
		return 0;
	const __u8 *dst = peer->receivers[bounded_place(path >> PATH_RECEIVER_SHIFT)].mac;

	__builtin_memcpy(macs, dst, ETH_ALEN);
	__builtin_memcpy(macs + ETH_ALEN, src, ETH_ALEN);
	return !bpf_skb_store_bytes(skb, 0, macs, sizeof(macs), 0);
}

static __always_inline volatile struct stripe_note *note_of(__u32 slot, __u32 number)
{
	__u32 at = (slot & (PLAN_SLOTS - 1)) * MAX_PEERS + (number & (MAX_PEERS - 1));

	asm volatile("" : "+r"(at)); /* as in bounded_place() */
	return &stripe_notes[at & (PLAN_SLOTS * MAX_PEERS - 1)];
}

/* A frame was striped to a peer. Written once between two looks: CPUs do not fight for the line. */
static __always_inline void note_sent(__u32 slot, __u32 number)
{
	volatile struct stripe_note *note = note_of(slot, number);

	if (!note->sent)
		note->sent = 1;
}

/* A member received a frame of a peer's. */
static __always_inline void note_heard(__u32 slot, const struct stripe_entry *peer, __u32 place)
{
	volatile struct stripe_note *note = note_of(slot, peer->number);
	__u32 bit = 1U << bounded_place(place);

	if (peer->receiver == NO_RECEIVER)
		return;
	volatile __u32 *heard = &note->heard[bounded_place(peer->receiver)];

	if (!(*heard & bit))
		__sync_fetch_and_or(heard, bit);
}

/* The peer behind an address. */
static __always_inline const struct stripe_entry *peer_of(__u32 slot, const __u8 *mac)
{
	const struct stripe_entry *entry = entry_of(slot, mac);

	return entry && entry->number != OWN_ADDRESS ? entry : 0;
}

/* The team gets a frame that came by this path of a peer's. */
static __always_inline void note_path_heard(__u32 slot, __u32 path)
{
	__u32 only = 0, heard = HEARD | (slot & (PLAN_SLOTS - 1)) << HEARD_SLOT_SHIFT | (path & 0xffff);
	struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);
	__u32 number = path >> PATH_NUMBER_SHIFT & (MAX_PEERS - 1);

	/* Written where it changes something: CPUs do not fight for the line. */
	if (state && state->heard[number] != heard)
		state->heard[number] = heard;
}

/* What becomes of a frame that a member received. */
enum received {
	RECEIVED_UNICAST = 0, /* as in other modes */
	RECEIVED_GROUP = 1,   /* the stack gets it */
	RECEIVED_COPY = 2,    /* dropped: it came back, or comes by another member, too */
};

/*
 * Decides by its source what becomes of the frame, and puts the team's address in the place of a
 * peer's member's. `path` becomes the one by which it came, if that is known.
 */
static __always_inline enum received judge_source(struct __sk_buff *skb, const struct plan *plan, __u32 slot,
						  __u32 place, __u32 *path)
{
	__u8 copy[2 * ETH_ALEN];
	const __u8 *macs = header(skb, 0, copy, sizeof(copy));

	if (!macs)
		return RECEIVED_UNICAST;
	const struct stripe_entry *entry = entry_of(slot, macs + ETH_ALEN);
	int group = is_multicast(macs);

	if (entry && entry->number == OWN_ADDRESS)
		return RECEIVED_COPY;
	/* A frame for a group says that nobody sends to anybody: it is no traffic. */
	if (entry && !group)
		note_heard(slot, entry, place);
	if (entry && !group && entry->receiver != NO_RECEIVER)
		*path = entry->number << PATH_NUMBER_SHIFT | entry->receiver << PATH_RECEIVER_SHIFT | place;
	if (group && !(plan->all >> place & 1))
		return RECEIVED_COPY;
	if (group && entry && entry->group_from && entry->group_from != place + 1)
		return RECEIVED_COPY;
	if (entry)
		bpf_skb_store_bytes(skb, ETH_ALEN, entry->team, ETH_ALEN, 0);
	return group ? RECEIVED_GROUP : RECEIVED_UNICAST;
}

/* The first member that sends and had carrier; MAX_MEMBERS: there is none. A function of its own as least_late() is. */
__attribute__((noinline)) __u32 other_member(__u32 slot)
{
	const struct plan *plan = plan_in(slot);

#pragma clang loop unroll(disable)
	for (__u32 place = 0; place < MAX_MEMBERS; place++)
		if (plan->members[bounded_place(place)].rate_mbps && !(without_carrier >> place & 1))
			return place;
	return MAX_MEMBERS;
}

/*
 * Gives a frame for a member of ours that had no carrier to the team, if the one in this place
 * is to take it; 0: it is none. A switch that lost the link floods what it has for it. The active member
 * takes it, as it does by the next plan (Receive::DeliverAnd); if it is the lost one, the first that has carrier.
 */
static __always_inline int inherit(struct __sk_buff *skb, __u32 slot, __u32 place)
{
	const struct plan *plan = plan_in(slot);
	__u32 lost, active = bounded_place(plan->other);
	__u8 copy[ETH_ALEN];
	const __u8 *dst = header(skb, 0, copy, sizeof(copy));
	const struct stripe_entry *entry = dst ? entry_of(slot, dst) : 0;

	if (!entry || entry->number != OWN_ADDRESS || entry->receiver == NO_RECEIVER)
		return 0;
	lost = bounded_place(entry->receiver);
	if (!(without_carrier >> lost & 1))
		return 0;
	/* The active one takes what is sent to the team's address anyhow. */
	if (same_mac(dst, plan->team) && lost != active)
		return 0;
	return (without_carrier >> active & 1 ? other_member(slot) : active) == place &&
	       !bpf_skb_store_bytes(skb, 0, plan->team, ETH_ALEN, 0);
}

#endif

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Frames to hosts without nicteam, as crates/plan/src/stripe/plain/mod.rs, whose module text is
 * the specification; a change there is a change here.
 */
#ifndef NICTEAM_PLAIN_H
#define NICTEAM_PLAIN_H

#include "branchless.h"
#include "frame.h"
#include "gaps.h"
#include "hash.h"
#include "maps.h"
#include "plan.h"
#include "retransmissions.h"
#include "stripe.h"

/* In place of a place. */
#define NO_MEMBER MAX_MEMBERS
/* In plain_host.queue_ns. */
#define NO_ROUND_TRIP (~0ULL)

static __always_inline struct plain_host *plain_host(__u32 number)
{
	asm volatile("" : "+r"(number)); /* as in bounded_place() */
	return &plain_seen.hosts[number & (MAX_PLAIN_HOSTS - 1)];
}

static __always_inline struct plain_count *plain_count(__u32 place)
{
	return &plain_seen.counts[bounded_place(place)];
}

/* Where a host with this address is. */
static __always_inline __u32 host_bucket(const __u8 *mac)
{
	__u32 high = mac[0] << 8 | mac[1];
	__u32 low = (__u32)mac[2] << 24 | mac[3] << 16 | mac[4] << 8 | mac[5];

	return ((low ^ high * 0x85ebca6b) * 0x9e3779b1) >> 16 & (MAX_PLAIN_HOSTS - 1);
}

/* The number of the host with this address, which a frame goes to; MAX_PLAIN_HOSTS: its place is another's. */
static __always_inline __u32 host_number(const __u8 *mac, __u32 len, __u64 now)
{
	__u32 number = host_bucket(mac);
	struct plain_host *host = plain_host(number);
	int is_mine = same_mac(host->mac, mac);
	__u64 silence = now > host->used_ns ? now - host->used_ns : 0;

	if (!is_mine && host->width && silence < PLAIN_LEAVES_NS)
		return MAX_PLAIN_HOSTS;
	if (!is_mine || !host->width || silence >= PLAIN_IDLE_NS) {
		__builtin_memcpy(host->mac, mac, ETH_ALEN);
		host->striped_ns = 0;
		host->since_ns = now;
		host->acked = 0;
		host->rtt_ns = 0;
		host->queue_ns = NO_ROUND_TRIP;
		host->round_trips = 0;
		host->queue_limit_ns = PLAIN_QUEUE_NS;
		host->trial_ns = now;
		host->held_until_ns = 0;
		host->hold_ns = PLAIN_HOLD_NS;
		/* A connection that begins is not to come to rest at what one member carries. */
		host->width = len;
		host->proven = 1;
		host->home = number;
		host->strikes = 0;
		host->delivered_mbps = 0;
		host->striped = 0;
	}
	host->used_ns = now;
	return number;
}

/* Where a connection is, or the one of its two places that was used less lately. */
static __always_inline __u32 plain_bucket(__u32 flow)
{
	__u32 first = flow_bucket(flow), second = first ^ 1;
	const struct plain_flow *one = bpf_map_lookup_elem(&plain_flows, &first);
	const struct plain_flow *other = bpf_map_lookup_elem(&plain_flows, &second);

	if (!one || !other || one->flow == flow)
		return first;
	return other->flow == flow || other->sends.last_ns < one->sends.last_ns ? second : first;
}

/*
 * One more than the place of the member that carried this byte of a connection; 0: it is not known. Without
 * branches, and a function of its own: see least_late().
 */
__attribute__((noinline)) __u32 carrier_of(__u32 bucket, __u32 sequence)
{
	const struct plain_flow *flow = bpf_map_lookup_elem(&plain_flows, &bucket);
	__u64 best = (__u64)PLAIN_LONGEST << 8;

	if (!flow)
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 at = 0; at < MAX_PLAIN_FRAMES; at++) {
		const struct plain_sent *sent = &flow->frames[at];
		/* How far it lies behind the frame's start, and the member: the least of these is the frame's. */
		__u64 behind = (__u64)(sequence - sent->start) << 8 | (sent->place & 0xff);
		__u64 less = (behind - best) & (__u64)((__s64)(behind - best) >> 63);

		best += less;
	}
	return best < (__u64)PLAIN_LONGEST << 8 ? best & 0xff : 0;
}

/* What members carried in the last window becomes how busy they were. A function of its own for the reason given at send_copy(). */
__attribute__((noinline)) int turn_window(void)
{
	__u32 only = 0;
	struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);
	__u64 now = bpf_ktime_get_ns();

	if (!state)
		return 0;
	bpf_spin_lock(&state->lock);
	__u64 since = state->used_since_ns, elapsed = now > since ? now - since : 0;

	if (elapsed >= PLAIN_WINDOW_NS) {
		state->used_since_ns = now;
#pragma clang loop unroll(disable)
		for (__u32 place = 0; place < MAX_MEMBERS; place++) {
			state->busy[place] = state->used_ns[place] * 1024 / elapsed;
			state->used_ns[place] = 0;
		}
	}
	bpf_spin_unlock(&state->lock);
	return 0;
}

/* The member of those that are used from `home` on by which the frame arrives first, and how long the kept one would take. With the lock. */
static __always_inline void look_for_member(const struct plan *plan, struct stripe_state *state, __u32 home, __u32 width,
					    __u64 kilobits, __u32 avoid, __u64 now)
{
	__u32 first = ++state->turn % width, lost = without_carrier;

	state->chosen = NO_MEMBER;
	state->best_ns = ~0ULL;
	state->best_start_ns = 0;
	state->best_wire_ns = 0;
	state->kept_start_ns = ~0ULL;
	state->kept_wire_ns = 0;
#pragma clang loop unroll(disable)
	for (__u32 tried = 0; tried < MAX_MEMBERS; tried++) {
		if (tried >= width)
			break;
		/* Each time another one is the first. */
		__u32 at = wrapped(home + wrapped(tried + first, width), plan->plain_len);
		__u32 of = bounded_place(plan->plain[bounded_place(at)]);
		__u64 penalty = ((lost >> of & 1) | equal(of + 1, avoid)) * LEAD_NS;
		__u64 start = greater64(now, state->senders[of]) + penalty;
		__u64 wire_ns = kilobits / divisor(plan->members[of].rate_mbps);

		if (of == state->kept) {
			state->kept_start_ns = start;
			state->kept_wire_ns = wire_ns;
		}
		if (start + wire_ns < state->best_ns) {
			state->best_ns = start + wire_ns;
			state->best_start_ns = start;
			state->best_wire_ns = wire_ns;
			state->chosen = of;
		}
	}
}

/*
 * The place of the member by which a frame to this host goes; NO_MEMBER: there is none. That member's transmit backlog grows by the
 * frame. `avoid`: one more than the place of a member that others are better than. A function of its own for the reason
 * given at send_copy().
 */
__attribute__((noinline)) __u32 take_member(struct __sk_buff *skb, __u32 slot, __u32 number, __u32 bucket, __u32 avoid)
{
	const struct plan *plan = plan_in(slot);
	struct plain_host *host = plain_host(number);
	struct plain_flow *flow = bpf_map_lookup_elem(&plain_flows, &bucket);
	__u32 only = 0;
	struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);
	__u64 kilobits = (__u64)wire_bytes(skb) * 8000, now = bpf_ktime_get_ns();
	__u32 len = plan->plain_len, width = host->width, home, place, kept;

	if (!state || !flow || len < 1 || len > MAX_MEMBERS || !width)
		return NO_MEMBER;
	width = lesser(width, len);
	home = host->home % len;
	kept = kept_path(&flow->sends, number, now);

	bpf_spin_lock(&state->lock);
	state->kept = kept;
	look_for_member(plan, state, home, width, kilobits, avoid, now);
	place = state->chosen;
	kept = state->kept;
	if (place < MAX_MEMBERS && state->kept_start_ns <= state->best_start_ns + PLAIN_SLACK_NS) {
		place = kept;
		state->best_wire_ns = state->kept_wire_ns;
	}
	if (place < MAX_MEMBERS)
		grow_backlog(state, bounded_place(place), state->best_wire_ns, now);
	__u64 wire_ns = state->best_wire_ns, since = state->used_since_ns;
	__u64 start = place == kept ? state->kept_start_ns : state->best_start_ns;
	bpf_spin_unlock(&state->lock);

	if (place >= MAX_MEMBERS)
		return NO_MEMBER;
	if (now >= since + PLAIN_WINDOW_NS)
		turn_window();
	turn_flow(&flow->sends, now);
	note_path(&flow->sends, number, place, wire_ns, now);
	flow->backlog_ns = start > now ? start - now : 0;
	if (width > 1) {
		host->striped_ns = now;
		if (!host->striped)
			host->striped = 1;
	}
	return place;
}

/* So many members are used from now on, and no more is tried for a while, each time longer. */
static __always_inline void hold_width(struct plain_host *host, __u32 width, __u64 now)
{
	host->width = width ? width : 1;
	if (host->proven > host->width)
		host->proven = host->width;
	host->strikes = 0;
	host->held_until_ns = now + host->hold_ns;
	host->hold_ns = host->hold_ns * 2 < PLAIN_HOLD_MOST_NS ? host->hold_ns * 2 : PLAIN_HOLD_MOST_NS;
}

/* What is known of the members of a host, from its home on. */
struct plain_use {
	__u32 home_mbps;     /* the rate of the first one, */
	__u32 capacity_mbps; /* and of all that were looked at together */
	__u32 worth;	     /* so many of them gain something */
	__u32 busy;	     /* of 1024 parts, the least busy one that is used, */
	__u32 idle;	     /* and the least busy one of all: this, and its place in plan.plain */
};

/* More than any share of a window. */
#define NEVER_BUSY 0x7fffffff

/* To the end: of a loop that ends early the verifier follows each end. */
static __always_inline void look_at_members(const struct plan *plan, const struct plain_host *host, __u32 len,
					    const struct stripe_state *state, struct plain_use *use)
{
	__u32 home = host->home % len, width = host->width, mbps = host->delivered_mbps;

	use->home_mbps = plan->members[bounded_place(plan->plain[bounded_place(home)])].rate_mbps;
#pragma clang loop unroll(disable)
	for (__u32 from_home = 0; from_home < MAX_MEMBERS; from_home++) {
		__u32 at = wrapped(home + from_home, len), of = bounded_place(plan->plain[bounded_place(at)]);
		__u32 is_there = below(from_home, len), rate = plan->members[of].rate_mbps & is_there;
		__u32 busy = lesser(state->busy[of], 0xffff) | (NEVER_BUSY & ~is_there);
		/* What those before it carry, and a fourth of what it does, is delivered. */
		__u32 short_of = below64((__u64)mbps * 4, (__u64)use->capacity_mbps * 4 + rate);

		use->worth += (1 + short_of) & is_there;
		use->capacity_mbps += rate;
		use->busy = lesser(use->busy, busy | (NEVER_BUSY & ~below(from_home, width)));
		use->idle = lesser(use->idle, (busy & 0xffff) << 8 | at | (NEVER_BUSY & ~is_there));
	}
}

/* Looks whether a host's width is right, once in a window. A function of its own for the reason given at send_copy(). */
__attribute__((noinline)) int judge_width(__u32 slot, __u32 number)
{
	const struct plan *plan = plan_in(slot);
	struct plain_host *host = plain_host(number);
	__u64 now = bpf_ktime_get_ns(), elapsed = now > host->since_ns ? now - host->since_ns : 0;
	__u64 least = host->width > host->proven ? PLAIN_TRIAL_NS : PLAIN_WINDOW_NS;
	__u32 only = 0, len = plan->plain_len;
	const struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);
	struct plain_use use = {.busy = NEVER_BUSY, .idle = NEVER_BUSY};

	if (!state || !len || len > MAX_MEMBERS || elapsed < later(least, host->rtt_ns * PLAIN_WINDOW_TRIPS))
		return 0;
	__u64 mbps = host->acked * 8000 / elapsed;

	host->since_ns = now;
	host->acked = 0;
	host->delivered_mbps = mbps;
	host->width = lesser(host->width, len);
	host->proven = lesser(host->proven, host->width);
	look_at_members(plan, host, len, state, &use);
	int is_queue = host->round_trips >= PLAIN_ROUND_TRIPS && host->queue_ns > host->queue_limit_ns;

	host->queue_ns = NO_ROUND_TRIP;
	host->round_trips = 0;
	__u32 worth = lesser(use.worth ? use.worth : 1, host->width);
	int is_busy = use.busy >= PLAIN_BUSY;

	if (worth > host->proven) {
		host->proven = worth;
		host->hold_ns = PLAIN_HOLD_NS;
	}
	int is_trial = host->width > host->proven;

	if (is_trial && is_queue) {
		hold_width(host, host->proven, now);
		return 0;
	}
	if (!is_trial && is_queue && !is_busy && worth < host->width) {
		if (++host->strikes >= PLAIN_STRIKES)
			hold_width(host, worth, now);
		return 0;
	}
	host->strikes = 0;
	if (!is_busy)
		return 0;
	if (host->width == 1 && mbps && mbps * 10 < (__u64)use.home_mbps * 8 &&
	    (use.idle >> 8) + mbps * 1024 / (use.home_mbps ? use.home_mbps : 1) <= 1024) {
		host->home = use.idle & 0xff;
		return 0;
	}
	if (host->width < len && now >= host->held_until_ns) {
		host->width++;
		host->trial_ns = now;
	}
	return 0;
}

/* A frame of a connection leaves by a member: what is remembered of it. */
static __always_inline void note_plain(struct plain_flow *flow, const struct segment *segment, __u32 place, __u32 segments,
				       int is_again, __u32 carrier, __u64 now)
{
	if (flow->flow != segment->flow) {
		flow->flow = segment->flow;
		flow->acked = segment->sequence;
		flow->sample_ns = 0;
		flow->rtt_ns = 0;
		flow->end = segment->sequence;
	}
	if (is_again) {
		if (carrier)
			__sync_fetch_and_add(&plain_count(carrier - 1)->resent, segments);
		flow->sample_ns = 0;
		return;
	}
	__sync_fetch_and_add(&plain_count(place)->sent, segments);
	flow->end = segment->end;
	__u32 next = flow->next++ & (MAX_PLAIN_FRAMES - 1);

	flow->frames[next].start = segment->sequence;
	flow->frames[next].place = place + 1;
	if (!flow->sample_ns || now - flow->sample_ns >= PLAIN_LEAVES_NS) {
		flow->sample = segment->end;
		/* Of few frames the acknowledgement may be delayed. */
		flow->counts = flow->sends.taken_ns >= PLAIN_SAMPLED_NS;
		flow->sample_backlog_ns = flow->backlog_ns;
		flow->sample_ns = now;
	}
}

/* A frame that is not striped leaves by this member, whose transmit backlog grows. A function of its own for the reason given at send_copy(). */
__attribute__((noinline)) int take_wire(struct __sk_buff *skb, __u32 slot, __u32 place)
{
	__u32 only = 0, of = bounded_place(place), rate = plan_in(slot)->members[of].rate_mbps;
	struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);
	__u64 wire_ns = (__u64)wire_bytes(skb) * 8000 / (rate ? rate : 1), now = bpf_ktime_get_ns();

	if (!state)
		return 0;
	bpf_spin_lock(&state->lock);
	grow_backlog(state, of, wire_ns, now);
	bpf_spin_unlock(&state->lock);
	return 0;
}

/* The place of the member by which a frame to a host without nicteam goes; NO_MEMBER: it goes as in balance-alb. */
__attribute__((noinline)) __u32 plain_place(struct __sk_buff *skb, __u32 slot)
{
	const struct plan *plan = plan_in(slot);
	__u8 copy[ETH_ALEN];
	const __u8 *mac = header(skb, 0, copy, sizeof(copy));
	struct segment segment = {0};
	__u64 now = bpf_ktime_get_ns();
	__u32 carrier = 0;

	if (!mac || plan->plain_kind == PLAIN_OFF || plan->plain_len < 2 || is_multicast(mac))
		return NO_MEMBER;
	/* Whatever goes there, the host is one that is used. */
	__u32 number = host_number(mac, plan->plain_len, now);
	int is_numbered = read_segment(skb, &segment);

	if (number >= MAX_PLAIN_HOSTS || (!is_numbered && plan->plain_kind != PLAIN_ALL))
		return NO_MEMBER;
	__u32 bucket = is_numbered ? plain_bucket(segment.flow) : flow_of(skb) & (STRIPE_GAPS - 1);
	struct plain_flow *flow = bpf_map_lookup_elem(&plain_flows, &bucket);

	if (!flow)
		return NO_MEMBER;
	int carries = is_numbered && segment.end != segment.sequence;
	int is_again = carries && flow->flow == segment.flow && is_ahead(flow->end, segment.sequence);

	if (is_again)
		carrier = carrier_of(bucket, segment.sequence);
	__u32 place = take_member(skb, slot, number, bucket, carrier);

	if (place >= NO_MEMBER)
		return NO_MEMBER;
	if (carries)
		note_plain(flow, &segment, place, skb->gso_segs > 1 ? skb->gso_segs : 1, is_again, carrier, now);
	judge_width(slot, number);
	return place;
}

/* What a plain host acknowledges of what was sent to it. */
static __always_inline void take_ack(struct plain_flow *flow, struct plain_host *host, __u32 ack, __u64 now)
{
	if (!is_ahead(ack, flow->acked) || is_ahead(ack, flow->end))
		return;
	__sync_fetch_and_add(&host->acked, ack - flow->acked);
	flow->acked = ack;
	__u64 left = flow->sample_ns;

	if (!left || is_ahead(flow->sample, ack))
		return;
	__u64 rtt = now > left ? now - left : 0;

	flow->sample_ns = 0;
	if (!flow->rtt_ns || rtt < flow->rtt_ns || now - flow->rtt_at_ns >= PLAIN_SHORTEST_NS) {
		flow->rtt_ns = rtt;
		flow->rtt_at_ns = now;
	}
	__u64 own = flow->rtt_ns + flow->sample_backlog_ns, beyond = rtt > own ? rtt - own : 0;

	host->rtt_ns = rtt;
	host->queue_limit_ns = PLAIN_QUEUE_NS + flow->rtt_ns / PLAIN_QUEUE_PART;
	if (left < host->trial_ns || !flow->counts)
		return;
	host->round_trips++;
	if (beyond < host->queue_ns)
		host->queue_ns = beyond;
}

/*
 * A frame that the team gets from a host without nicteam; TOLD_NOTHING: it is dropped, for it says nothing but
 * that frames overtook each other. A function of its own for the reason given at send_copy().
 */
__attribute__((noinline)) enum told take_plain(struct __sk_buff *skb, __u32 slot)
{
	const struct plan *plan = plan_in(slot);
	struct tcp_view copy;
	struct ip_view ip = {0};
	__u8 macs_copy[2 * ETH_ALEN];
	__u64 now = bpf_ktime_get_ns();

	if (plan->plain_kind == PLAIN_OFF || plan->plain_len < 2 || !read_tcp(skb, &ip))
		return NO_REPORT;
	const struct tcp_view *tcp = header(skb, ip.transport, &copy, TCP_LEN);

	if (!tcp || !(tcp->flags & TCP_ACK))
		return NO_REPORT;
	__u32 of = of_addresses(&ip) ^ le32(tcp->ports), bucket = plain_bucket(of), ack = bpf_ntohl(tcp->ack);
	struct plain_flow *flow = bpf_map_lookup_elem(&plain_flows, &bucket);
	const __u8 *macs = header(skb, 0, macs_copy, sizeof(macs_copy));

	if (!flow || !macs)
		return NO_REPORT;
	int is_known = flow->flow == of;
	__u32 number = is_known ? flow->sends.path >> PATH_NUMBER_SHIFT : host_bucket(macs + ETH_ALEN);
	struct plain_host *host = plain_host(number);

	if (is_known)
		take_ack(flow, host, ack, now);
	else if (!same_mac(host->mac, macs + ETH_ALEN))
		return NO_REPORT;
	if (!plan->sack_delay_ns || now >= host->striped_ns + PLAIN_AFTER_NS)
		return NO_REPORT;
	return tell_gap(skb, plan->sack_delay_ns);
}

#endif

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Suppresses the reports of young gaps, as crates/plan/src/stripe/gaps.rs, and reads such a report
 * from a segment, as crates/wire/src/gap.rs; a change there is a change here.
 */
#ifndef NICTEAM_GAPS_H
#define NICTEAM_GAPS_H

#include <linux/in.h>

#include "frame.h"
#include "hash_ip.h"
#include "maps.h"
#include "plan.h"
#include "stripe.h"

#define TCP_LEN 20
#define TCP_FIN_SYN_RST 0x07
#define TCP_PSH 0x08
#define TCP_ACK 0x10
/* With the two options before them that do nothing. */
#define TCP_TIMESTAMPS_LEN 12
#define TCP_NOP 1
#define TCP_SACK 5
#define TCP_TIMESTAMPS 8
/* Shorter frames are acknowledgements, mostly, and are not noted. */
#define SEGMENT_SHORTEST (ETH_HLEN + GAP_SHORTEST)

struct tcp_view {
	__u32 ports;
	__be32 sequence;
	__be32 ack;
	__u8 offset; /* in words, in the upper half */
	__u8 flags;
	__be16 window;
	__be16 checksum;
	__be16 urgent;
	__u8 options[TCP_TIMESTAMPS_LEN]; /* the shortest that speak of a gap */
};

/* With one block of what was received. */
struct sack_view {
	__u8 options[4];
	__be32 left;
	__be32 end;
};
#define TCP_BLOCK_LEN 8

/* GapReport */
struct gap_report {
	__u32 flow;
	__u32 ack;
	__u32 sequence;
	__u32 end;
	__u32 window;
	__u32 at; /* from the destination address */
	__u8 len;
	__u8 is_bare;
};

static __always_inline int is_ahead(__u32 number, __u32 of)
{
	return (__s32)(number - of) > 0;
}

/* 0: the frame is no TCP segment. */
static __always_inline int read_tcp(struct __sk_buff *skb, struct ip_view *ip)
{
	struct ethhdr copy;
	const struct ethhdr *eth = header(skb, 0, &copy, sizeof(copy));

	return eth && read_ip(skb, eth->h_proto, ETH_HLEN, ip) && ip->protocol == IPPROTO_TCP;
}

/* A flow's number but for its ports, in which most of its bits are (ADDRESSES). */
static __always_inline __u32 of_addresses(const struct ip_view *ip)
{
	return bpf_ntohl(ip->addresses) * 0x85ebca6b;
}

static __always_inline int read_gap(struct __sk_buff *skb, struct gap_report *report)
{
	struct tcp_view copy;
	struct sack_view sack;
	struct ip_view ip = {0};

	if (!read_tcp(skb, &ip))
		return 0;
	const struct tcp_view *tcp = header(skb, ip.transport, &copy, sizeof(copy));

	if (!tcp || (tcp->flags & (TCP_FIN_SYN_RST | TCP_ACK)) != TCP_ACK)
		return 0;
	__u32 end = ip.transport + (tcp->offset >> 4) * 4, at = ip.transport + TCP_LEN;

	if (tcp->options[0] == TCP_NOP && tcp->options[1] == TCP_NOP && tcp->options[2] == TCP_TIMESTAMPS)
		at += TCP_TIMESTAMPS_LEN;
	/* Most segments have no more than the timestamps. */
	if (at >= end || skb->len < end)
		return 0;
	report->flow = of_addresses(&ip) ^ le32(tcp->ports);
	report->ack = bpf_ntohl(tcp->ack);
	report->window = bpf_ntohs(tcp->window);
	report->at = at;
	report->is_bare = skb->len == end && (tcp->flags & ~TCP_PSH) == TCP_ACK && !(tcp->offset & 0xf);
	report->sequence = bpf_ntohl(tcp->sequence);
	if (bpf_skb_load_bytes(skb, at, &sack, sizeof(sack)))
		return 0;
	__u32 left = bpf_ntohl(sack.left);

	report->end = bpf_ntohl(sack.end);
	report->len = sack.options[3];
	if (sack.options[0] != TCP_NOP || sack.options[1] != TCP_NOP || sack.options[2] != TCP_SACK ||
	    report->len <= 2 || (report->len & 7) != 2 || at + 2 + report->len != end || !is_ahead(left, report->ack))
		return 0;
	if (report->len == 2 + TCP_BLOCK_LEN)
		return 1;
	/* Does the first block lie in the second? */
	if (bpf_skb_load_bytes(skb, at + TCP_BLOCK_LEN, &sack, sizeof(sack)))
		return 0;
	return is_ahead(bpf_ntohl(sack.left), left) || is_ahead(report->end, bpf_ntohl(sack.end));
}

/* What becomes of a report. */
enum told {
	NO_REPORT = 0, /* the segment is none */
	TOLD_ALL = 1,
	TOLD_WITHOUT_GAP = 2,
	TOLD_NOTHING = 3,
};

/* Where a flow has what is known of it. */
static __always_inline __u32 flow_bucket(__u32 flow)
{
	return (flow * 0x9e3779b1) >> (32 - STRIPE_GAP_BITS) & (STRIPE_GAPS - 1);
}

/* Where a flow has its gap. */
static __always_inline struct stripe_gap *gap_of(__u32 flow)
{
	__u32 only = 0;
	struct stripe_state *state = bpf_map_lookup_elem(&stripe_state, &only);

	return state ? &state->gaps[flow_bucket(flow)] : 0;
}

/* True if each path has brought two frames from behind it (Gap::is_overtaken). */
static __always_inline int is_overtaken(const struct stripe_gap *gap)
{
	__u64 passed = gap->passed_twice;

	return passed && !((gap->used | gap->used_before) & ~passed);
}

static __always_inline enum told judge_gap(const struct gap_report *report, __u64 delay_ns)
{
	/* Without the lock: if two processors mix two reports up, one passes at once, or later. */
	struct stripe_gap *gap = gap_of(report->flow);
	__u64 now = bpf_ktime_get_ns();

	if (!gap)
		return TOLD_ALL;
	__u64 since = gap->since_ns, heard = gap->heard_ns;
	__u64 age = now > since ? now - since : 0, silence = now > heard ? now - heard : 0;
	int is_free = !since || silence >= delay_ns + GAP_FORGOTTEN_NS, is_mine = since && gap->flow == report->flow;
	int is_told = is_ahead(gap->told_to, report->ack);
	__u64 settled = delay_ns / GAP_SETTLED;

	if (is_mine && (gap->ack == report->ack || (!is_free && is_told))) {
		int says_more = !report->is_bare || gap->window != report->window || gap->sequence != report->sequence;

		gap->window = report->window;
		gap->sequence = report->sequence;
		gap->heard_ns = now;
		int is_due = age >= delay_ns || (age >= settled && is_overtaken(gap)) || silence >= settled;

		if (is_due)
			gap->frank_until_ns = now + (age < GAP_FORGOTTEN_NS ? age : GAP_FORGOTTEN_NS);
		if (!is_due && !is_told && now >= gap->frank_until_ns)
			return says_more ? TOLD_WITHOUT_GAP : TOLD_NOTHING;
		/* A report that is late itself has less. */
		if (is_ahead(report->end, gap->told_to) && !is_ahead(gap->ack, report->ack))
			gap->told_to = report->end;
		return TOLD_ALL;
	}
	int begins = is_free || (is_mine && is_ahead(report->ack, gap->ack));

	if (!begins)
		return TOLD_ALL;
	int is_frank = is_mine && now < gap->frank_until_ns;

	gap->since_ns = now;
	gap->heard_ns = now;
	gap->passed = 0;
	gap->passed_twice = 0;
	gap->flow = report->flow;
	gap->ack = report->ack;
	gap->sequence = report->sequence;
	gap->window = report->window;
	gap->told_to = is_frank ? report->end : report->ack;
	if (!is_mine)
		gap->frank_until_ns = 0;
	return is_frank ? TOLD_ALL : TOLD_WITHOUT_GAP;
}

/*
 * Takes out of a segment what it says of a gap that is not to be told yet; TOLD_NOTHING: it says
 * nothing else, and does not go. A function of its own for the reason given at send_copy().
 */
__attribute__((noinline)) enum told tell_gap(struct __sk_buff *skb, __u64 delay_ns)
{
	struct gap_report report;

	if (!read_gap(skb, &report))
		return NO_REPORT;
	enum told told = judge_gap(&report, delay_ns);

	if (told == TOLD_WITHOUT_GAP) {
		/* The options end before it, and the words' sum is as it was. */
		__u16 rest = TCP_NOP << 8 | TCP_NOP;
		__be16 words[2] = {0, bpf_htons(rest + (TCP_SACK << 8 | report.len))};

		bpf_skb_store_bytes(skb, report.at, words, sizeof(words), 0);
	}
	return told;
}

/* The head of a TCP segment. */
struct segment_view {
	__u32 ports;
	__be32 sequence;
	__be32 ack;
	__u8 offset; /* in words, in the upper half */
	__u8 rest[TCP_LEN - 13];
};

/* Segment */
struct segment {
	__u32 flow;
	__u32 sequence;
	__u32 end;
};

static __always_inline int read_segment(struct __sk_buff *skb, struct segment *segment)
{
	struct segment_view copy;
	struct ip_view ip = {0};

	if (!read_tcp(skb, &ip))
		return 0;
	const struct segment_view *tcp = header(skb, ip.transport, &copy, sizeof(copy));

	if (!tcp)
		return 0;
	__u32 ports = le32(tcp->ports);

	segment->flow = of_addresses(&ip) ^ (ports >> 16 | ports << 16);
	segment->sequence = bpf_ntohl(tcp->sequence);
	segment->end = segment->sequence + skb->len - ip.transport - (tcp->offset >> 4) * 4;
	return 1;
}

/*
 * The team gets a frame that came by a path: take_path()'s, with a place of ours for the
 * sender's (Gaps::note). A function of its own for the reason given at send_copy().
 */
__attribute__((noinline)) int note_arrival(struct __sk_buff *skb, __u32 path)
{
	struct segment segment;

	if (!read_segment(skb, &segment))
		return 0;
	__u64 bit = 1ULL << (((path >> PATH_RECEIVER_SHIFT) * 8 + (path & (MAX_MEMBERS - 1))) & 63);
	__u64 now = bpf_ktime_get_ns(), turned;
	struct stripe_gap *gap = gap_of(segment.flow);

	if (!gap)
		return 0;
	turned = gap->turned_ns;
	if (now > turned && now - turned >= GAP_TURN_NS) {
		gap->used_before = now - turned < 2 * GAP_TURN_NS ? gap->used : 0;
		gap->used = 0;
		gap->turned_ns = now;
	}
	/* Written where it changes something: CPUs do not fight for the line. */
	if (!(gap->used & bit))
		gap->used |= bit;
	if (gap->flow == segment.flow && is_ahead(segment.sequence, gap->ack) && !(gap->passed_twice & bit)) {
		gap->passed_twice |= gap->passed & bit;
		gap->passed |= bit;
	}
	return 0;
}

#endif

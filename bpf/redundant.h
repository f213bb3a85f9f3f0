/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Frames that go twice, and the one of two that is taken, as
 * crates/plan/src/stripe/redundant.rs, whose module text is the specification; a
 * change there is a change here.
 */
#ifndef NICTEAM_REDUNDANT_H
#define NICTEAM_REDUNDANT_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>

#include "frame.h"
#include "maps.h"
#include "plan.h"
#include "stripe.h"

#define FRAGMENT_OFFSET 0x1fff

/* The front of a frame with a tag. */
struct tagged_head {
	__u8 dst[ETH_ALEN];
	__u8 src[ETH_ALEN];
	__be16 tag;
	__be16 reserved;
	__be16 sequence;
};

/* What a received number is. */
enum recovered {
	RECOVERED_FIRST = 0,
	RECOVERED_DUPLICATE = 1,
	RECOVERED_UNUSABLE = 2, /* its tag cannot be taken off */
};

/* True if the port is of the class. */
static __always_inline int holds_port(const struct redundant_class *class, __u32 port)
{
	__u32 found = 0;

#pragma clang loop unroll(disable)
	for (__u32 at = 0; at < REDUNDANT_PORTS; at++)
		found |= class->ports[at] == port;
	return found;
}

/* True if the frame is of the class of a slot (Classes::holds). A function of its own, as send_copy(). */
__attribute__((noinline)) int is_redundant(struct __sk_buff *skb, __u32 slot)
{
	struct ethhdr eth_copy;
	struct iphdr ip_copy;
	__u32 key = slot & (PLAN_SLOTS - 1), ports_at = 0, copy;
	const struct redundant_class *class = bpf_map_lookup_elem(&stripe_classes, &key);
	const struct ethhdr *eth = header(skb, 0, &eth_copy, sizeof(eth_copy));
	__u8 traffic_class, protocol;

	if (!class || !eth || skb->len < ETH_HLEN + REDUNDANT_PAYLOAD)
		return 0;
	if (class->all)
		return 1;
	__be16 type = eth->h_proto;
	/* Of IPv6 no more than these bytes are there for sure, nor needed. */
	const struct iphdr *ip = header(skb, ETH_HLEN, &ip_copy, sizeof(ip_copy));

	if (!ip)
		return 0;
	if (type == bpf_htons(ETH_P_IP)) {
		traffic_class = ip->tos;
		protocol = ip->protocol;
		if (!(ip->frag_off & bpf_htons(FRAGMENT_OFFSET)))
			ports_at = ETH_HLEN + ip->ihl * 4;
	} else if (type == bpf_htons(ETH_P_IPV6)) {
		const __u8 *bytes = (const __u8 *)ip;

		traffic_class = bytes[0] << 4 | bytes[1] >> 4;
		protocol = bytes[6];
		ports_at = ETH_HLEN + 40;
	} else {
		return 0;
	}
	if (class->dscp >> (traffic_class >> 2) & 1)
		return 1;
	if (!ports_at || (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP))
		return 0;
	const __be16 *ports = header(skb, ports_at, &copy, sizeof(copy));

	return ports && (holds_port(class, protocol << 16 | bpf_ntohs(ports[0])) ||
			 holds_port(class, protocol << 16 | bpf_ntohs(ports[1])));
}

/* The number of the next frame to a peer. */
static __always_inline __u16 next_number(struct redundant_stream *stream)
{
	__u64 number;

	bpf_spin_lock(&stream->lock);
	number = stream->sent++;
	bpf_spin_unlock(&stream->lock);
	return number;
}

/* What a number is that this run of the peer sent (Recovery::recover). */
static __always_inline enum recovered recover(struct redundant_stream *stream, __u64 system, __u16 sequence)
{
	__u64 now = bpf_ktime_get_ns(), number, bit;
	enum recovered found = RECOVERED_FIRST;

	bpf_spin_lock(&stream->lock);
	__u64 newest = stream->newest;
	/* Another CPU may have been later. */
	__u64 silence = now > stream->passed_ns ? now - stream->passed_ns : 0;
	int begins = !newest || stream->system != system || silence >= RECOVERY_RESET_NS;

	if (begins)
		number = ((newest >> 16) + 2) << 16 | sequence;
	else
		number = newest - REDUNDANT_HISTORY + (__u16)(sequence - (__u16)(newest - REDUNDANT_HISTORY));
	bit = 1ULL << (number & (REDUNDANT_BLOCK - 1));
	__u32 block = number / REDUNDANT_BLOCK, word = block & (REDUNDANT_WORDS - 1);

	if (stream->blocks[word] != block) {
		stream->blocks[word] = block;
		stream->bits[word] = 0;
	}
	if (stream->bits[word] & bit) {
		stream->duplicates++;
		found = RECOVERED_DUPLICATE;
	} else {
		stream->bits[word] |= bit;
		stream->passed++;
		stream->system = system;
		stream->passed_ns = now;
		if (begins || number > newest)
			stream->newest = number;
	}
	bpf_spin_unlock(&stream->lock);
	return found;
}

/*
 * Takes the tag off: the EtherType behind it stands where its own was. The kernel
 * takes bytes out of a frame that it holds for IP, and holds it for that once a
 * VLAN tag before that EtherType was taken off: so one is put in and taken off.
 * One that is beside the frame already is the first of the two that this needs.
 */
static __always_inline int take_rtag_off(struct __sk_buff *skb, __be16 inner)
{
	__be16 ip = bpf_htons(ETH_P_IP);
	int beside = skb->vlan_present;

	if (bpf_skb_store_bytes(skb, 2 * ETH_ALEN, &ip, sizeof(ip), 0))
		return 0;
	if (!beside && bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), 0))
		return 0;
	if (bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), 0) || bpf_skb_vlan_pop(skb))
		return 0;
	if (!beside && bpf_skb_vlan_pop(skb))
		return 0;
	if (bpf_skb_store_bytes(skb, 2 * ETH_ALEN, &inner, sizeof(inner), 0))
		return 0;
	return !bpf_skb_adjust_room(skb, -RTAG_LEN, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_NO_CSUM_RESET);
}

/*
 * What becomes of a frame with a tag that goes to the team's stack; the first of
 * two loses its tag. A function of its own, as send_copy().
 */
__attribute__((noinline)) int take_once(struct __sk_buff *skb, __u32 slot)
{
	struct tagged_head head;
	__be16 inner;
	enum recovered found = RECOVERED_FIRST;

	if (skb->len < ETH_HLEN + RTAG_LEN + REDUNDANT_PAYLOAD || bpf_skb_load_bytes(skb, 0, &head, sizeof(head)) ||
	    bpf_skb_load_bytes(skb, sizeof(head), &inner, sizeof(inner)))
		return RECOVERED_FIRST;
	if (!same_mac(head.dst, plan_in(slot)->team))
		return RECOVERED_FIRST;
	const struct stripe_entry *entry = peer_of(slot, head.src);
	const struct stripe_peer *peer = entry ? peer_line(slot, entry->number) : 0;
	struct redundant_stream *stream = peer ? bpf_map_lookup_elem(&stripe_streams, peer->team) : 0;

	/* Nobody known: what is there twice is better than not at all. */
	if (stream)
		found = recover(stream, peer->system, bpf_ntohs(head.sequence));
	if (found == RECOVERED_FIRST && !take_rtag_off(skb, inner))
		return RECOVERED_UNUSABLE;
	return found;
}

#endif

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The policies of illumos aggr, word for word as crates/plan/src/hash/aggr.rs,
 * whose module text is the specification; a change there is a change here.
 */
#ifndef NICTEAM_HASH_AGGR_H
#define NICTEAM_HASH_AGGR_H

#include <linux/in.h>

#include "frame.h"
#include "hash_ip.h"
#include "plan.h"

#define AGGR_FRAGMENT_OFFSET 0x1fff
#define AH_HEADER_LEN 12

/* An IP packet, as far as a policy looks. */
struct aggr_packet {
	__u32 addresses; /* words, XORed; their bytes are not yet */
	__u32 fragment;	 /* the identification, likewise */
	__u32 is_fragment;
	__u32 protocol;
	__u32 transport; /* offset of the transport header */
};

static __always_inline __u32 xor_bytes(__u32 x)
{
	x ^= x >> 16;
	return (x ^ x >> 8) & 0xff;
}

static __always_inline int aggr_ipv4(struct __sk_buff *skb, __u32 offset, struct aggr_packet *packet)
{
	struct iphdr ip;

	if (bpf_skb_load_bytes(skb, offset, &ip, sizeof(ip)))
		return 0;
	packet->addresses = ip.saddr ^ ip.daddr;
	packet->fragment = ip.id;
	packet->is_fragment = !!(ip.frag_off & bpf_htons(AGGR_FRAGMENT_OFFSET));
	packet->protocol = ip.protocol;
	packet->transport = offset + ip.ihl * 4;
	return 1;
}

/* Over one extension header; 0 if it is not there whole. */
static __always_inline int aggr_extension(struct __sk_buff *skb, struct aggr_packet *packet)
{
	__u8 head[2];
	__u32 units = 0;

	if (bpf_skb_load_bytes(skb, packet->transport, head, sizeof(head)))
		return 0;
	if (packet->protocol != IPV6_FRAGMENT)
		units = head[1];
	else if (bpf_skb_load_bytes(skb, packet->transport + 4, &packet->fragment, sizeof(packet->fragment)))
		return 0;
	else
		packet->is_fragment = 1;
	packet->protocol = head[0];
	packet->transport += (units + 1) * 8;
	return packet->transport <= skb->len;
}

static __always_inline int aggr_ipv6(struct __sk_buff *skb, __u32 offset, struct aggr_packet *packet)
{
	struct ipv6hdr ip;

	if (bpf_skb_load_bytes(skb, offset, &ip, sizeof(ip)))
		return 0;
	packet->addresses = ip.saddr.s6_addr32[3] ^ ip.daddr.s6_addr32[3];
	packet->protocol = ip.nexthdr;
	packet->transport = offset + sizeof(ip);
	for (int extensions = 0; extensions <= MOST_EXTENSIONS; extensions++) {
		if (packet->protocol != IPV6_HOP_BY_HOP && packet->protocol != IPV6_ROUTING &&
		    packet->protocol != IPV6_DESTINATION && packet->protocol != IPV6_FRAGMENT)
			return 1;
		if (!aggr_extension(skb, packet))
			return 0;
	}
	return 0;
}

/* The packet behind the outermost tag; 0 if there is none. */
static __always_inline int aggr_read(struct __sk_buff *skb, __be16 ethertype, struct aggr_packet *packet)
{
	__u32 offset = ETH_HLEN;

	if (skb->vlan_present) {
		if (skb->vlan_proto != bpf_htons(ETH_P_8021Q))
			return 0;
	} else if (ethertype == bpf_htons(ETH_P_8021Q)) {
		if (bpf_skb_load_bytes(skb, offset + 2, &ethertype, sizeof(ethertype)))
			return 0;
		offset += 4;
	}
	if (ethertype == bpf_htons(ETH_P_IP))
		return aggr_ipv4(skb, offset, packet);
	if (ethertype == bpf_htons(ETH_P_IPV6))
		return aggr_ipv6(skb, offset, packet);
	return 0;
}

/* The first four bytes of what L4 reads; 0 where there are none. */
static __always_inline __u32 aggr_ports(struct __sk_buff *skb, const struct aggr_packet *packet)
{
	__u32 protocol = packet->protocol, offset = packet->transport, ports;
	__u8 head[AH_HEADER_LEN];

	for (int authentications = 0; authentications <= MOST_AUTHENTICATIONS; authentications++) {
		switch (protocol) {
		case IPPROTO_TCP:
		case IPPROTO_UDP:
		case IPPROTO_ESP:
		case IPPROTO_SCTP:
			return bpf_skb_load_bytes(skb, offset, &ports, sizeof(ports)) ? 0 : ports;
		case IPPROTO_AH:
			if (bpf_skb_load_bytes(skb, offset, head, sizeof(head)))
				return 0;
			protocol = head[0];
			offset += (__u32)head[1] * 4 + 8;
			break;
		default:
			return 0;
		}
	}
	return 0;
}

/* The hash by these layers. Not inlined: the other policies do not pay for it. */
__attribute__((noinline)) __u32 aggr_hash(struct __sk_buff *skb, __u32 layers)
{
	struct aggr_packet packet = {};
	struct ethhdr eth;
	__u32 hash = 0;

	if (bpf_skb_load_bytes(skb, 0, &eth, sizeof(eth)))
		return 0;
	if (layers & AGGR_L2) {
		for (int i = 0; i < ETH_ALEN; i++)
			hash ^= eth.h_dest[i] ^ eth.h_source[i];
	}
	if (layers == AGGR_L2 || !aggr_read(skb, eth.h_proto, &packet))
		return hash;
	if (packet.is_fragment)
		return hash ^ xor_bytes(packet.addresses ^ packet.fragment);
	if (layers & AGGR_L3)
		hash ^= xor_bytes(packet.addresses);
	if (layers & AGGR_L4)
		hash ^= xor_bytes(aggr_ports(skb, &packet));
	return hash;
}

#endif

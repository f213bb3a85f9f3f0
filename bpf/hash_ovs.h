/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Open vSwitch's hashes, word for word as crates/plan/src/hash/slb.rs and flow.rs, whose module texts are the
 * specification; a change there is a change here.
 */
#ifndef NICTEAM_HASH_OVS_H
#define NICTEAM_HASH_OVS_H

#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "constants.h"
#include "frame.h"
#include "murmur.h"
#include "tagged.h"

#define FLOW_FINAL 42
#define IP_OFFSET 0x1fff
#define FRAGMENT6_OFFSET 0xfff8
#define EXTENSION_SHORTEST 8
#define TCP_SHORTEST 20
#define TCP_DATA_OFFSET 12
#define SCTP_SHORTEST 12
/* Of UDP, ICMP and ICMPv6. */
#define OTHERS_SHORTEST 8

/* By source and VLAN. */
static __always_inline __u32 source_hash(struct __sk_buff *skb, __u32 basis)
{
	struct tagged tagged = read_tagged(skb);
	__u8 copy[ETH_ALEN];
	const __u8 *src = header(skb, ETH_ALEN, copy, sizeof(copy));

	if (!src)
		return 0;
	__u32 low = (__u32)src[2] << 24 | src[3] << 16 | src[4] << 8 | src[5];
	__u32 high = tagged.vlan << 16 | src[0] << 8 | src[1];

	return murmur_finish(murmur_add(murmur_add(basis, low), high), 8);
}

/* What stands for the ports of a transport header. */
struct flow_ports {
	__u32 word;
	__u32 counted; /* the protocol has some */
	__u32 whole;   /* all of the header is there */
};

/* Of `size` bytes at `at`. */
static __always_inline struct flow_ports read_flow_ports(struct __sk_buff *skb, __u32 protocol, __u32 at, __u32 size)
{
	struct flow_ports out = {.counted = 1};
	__u32 shortest = OTHERS_SHORTEST;

	if (protocol == IPPROTO_TCP)
		shortest = TCP_SHORTEST;
	else if (protocol == IPPROTO_SCTP)
		shortest = SCTP_SHORTEST;
	else if (protocol != IPPROTO_UDP && protocol != IPPROTO_ICMP && protocol != IPPROTO_ICMPV6)
		return (struct flow_ports){};
	if (size < shortest || bpf_skb_load_bytes(skb, at, &out.word, sizeof(out.word)))
		return (struct flow_ports){.counted = 1};
	if (protocol == IPPROTO_TCP) {
		__u8 offset;

		if (bpf_skb_load_bytes(skb, at + TCP_DATA_OFFSET, &offset, sizeof(offset)))
			return (struct flow_ports){.counted = 1};
		__u32 length = (__u32)(offset >> 4) * 4;

		if (length < TCP_SHORTEST || size < length)
			return (struct flow_ports){.counted = 1};
	} else if (protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6) {
		__u32 type_and_code = bpf_ntohl(out.word) >> 16;

		/* 0, type, 0, code, as on the wire. */
		out.word = bpf_htonl((type_and_code & 0xff00) << 8 | (type_and_code & 0xff));
	}
	out.word = le32(out.word);
	out.whole = 1;
	return out;
}

static __always_inline __u32 flow_finish(__u32 hash, __u32 protocol, const struct flow_ports *ports)
{
	hash = murmur_add(hash, protocol);
	if (ports->counted)
		hash = murmur_add(hash, ports->word);
	return murmur_finish(hash, FLOW_FINAL);
}

static __always_inline __u32 ipv4_flow(struct __sk_buff *skb, __u32 offset)
{
	struct flow_ports ports = {};
	__u32 size = skb->len - offset, hash = 0;
	struct iphdr ip = {};

	if (bpf_skb_load_bytes(skb, offset, &ip, sizeof(ip)))
		__builtin_memset(&ip, 0, sizeof(ip));
	__u32 length = ip.ihl * 4, total = bpf_ntohs(ip.tot_len);

	if (length < sizeof(ip) || total > size || length > total) {
		ip.saddr = ip.daddr = 0;
		ip.protocol = 0;
	} else {
		__u32 first = !(ip.frag_off & bpf_htons(IP_OFFSET));

		ports = read_flow_ports(skb, ip.protocol, offset + length, first ? total - length : 0);
	}
	hash = murmur_add(murmur_add(hash, le32(ip.saddr)), le32(ip.daddr));
	return flow_finish(hash, ip.protocol, &ports);
}

static __always_inline __u32 arp_flow(struct __sk_buff *skb, __u32 offset)
{
	__u8 arp[ARP_LEN];
	__u32 from = 0, to = 0, operation = 0;
	struct flow_ports ports = {};

	if (!bpf_skb_load_bytes(skb, offset, arp, sizeof(arp)) && is_arp(arp)) {
		__builtin_memcpy(&from, arp + 14, sizeof(from));
		__builtin_memcpy(&to, arp + 24, sizeof(to));
		operation = arp[6] ? 0 : arp[7];
		ports = read_flow_ports(skb, operation, 0, 0);
	}
	return flow_finish(murmur_add(murmur_add(0, le32(from)), le32(to)), operation, &ports);
}

static __always_inline int is_extension(__u32 protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING || protocol == IPPROTO_FRAGMENT ||
	       protocol == IPPROTO_AH || protocol == IPPROTO_DSTOPTS;
}

/* The protocol behind the extension headers in `size` bytes at `at`, and its ports; 0 where they end too early. */
static __always_inline __u32 ipv6_transport(struct __sk_buff *skb, __u32 next, __u32 at, __u32 size, struct flow_ports *ports)
{
	__u8 head[4];

#pragma clang loop unroll(disable)
	for (int passed = 0; passed <= MOST_FLOW_EXTENSIONS; passed++) {
		if (!is_extension(next)) {
			*ports = read_flow_ports(skb, next, at, size);
			return next;
		}
		if (size < EXTENSION_SHORTEST || bpf_skb_load_bytes(skb, at, head, sizeof(head)))
			return 0;
		__u32 length = next == IPPROTO_FRAGMENT ? EXTENSION_SHORTEST :
			       next == IPPROTO_AH	? (head[1] + 2) * 4 :
							  (head[1] + 1) * 8;

		if (length > size)
			return 0;
		if (next == IPPROTO_FRAGMENT && (head[2] << 8 | head[3]) & FRAGMENT6_OFFSET)
			return IPPROTO_FRAGMENT;
		at += length;
		size -= length;
		next = head[0];
	}
	return 0;
}

static __always_inline __u32 ipv6_flow(struct __sk_buff *skb, __u32 offset)
{
	struct flow_ports ports = {};
	__u32 size = skb->len - offset, protocol = 0, hash = 0;
	struct ipv6hdr ip = {};

	if (bpf_skb_load_bytes(skb, offset, &ip, sizeof(ip)) || bpf_ntohs(ip.payload_len) > size - sizeof(ip)) {
		__builtin_memset(&ip, 0, sizeof(ip));
	} else {
		protocol = ipv6_transport(skb, ip.nexthdr, offset + sizeof(ip), bpf_ntohs(ip.payload_len), &ports);
		if (ports.whole && (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP))
			protocol = ip.nexthdr;
	}
#pragma clang loop unroll(full)
	for (int word = 0; word < 4; word++)
		hash = murmur_add(hash, le32(ip.saddr.s6_addr32[word]));
#pragma clang loop unroll(full)
	for (int word = 0; word < 4; word++)
		hash = murmur_add(hash, le32(ip.daddr.s6_addr32[word]));
	return flow_finish(hash, protocol, &ports);
}

/* By addresses, protocol and ports. */
static __always_inline __u32 flow_hash(struct __sk_buff *skb, __u32 basis)
{
	struct tagged tagged = read_tagged(skb);
	__u32 hash;

	if (tagged.type == ETH_P_IP)
		hash = ipv4_flow(skb, tagged.offset);
	else if (tagged.type == ETH_P_IPV6)
		hash = ipv6_flow(skb, tagged.offset);
	else if (tagged.type == ETH_P_ARP)
		hash = arp_flow(skb, tagged.offset);
	else
		hash = murmur_finish(0, FLOW_FINAL);
	return murmur_finish(murmur_add(murmur_add(hash, 0), basis), 8);
}

#endif

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* What the hash policies know of IP; see hash.h. */
#ifndef NICTEAM_HASH_IP_H
#define NICTEAM_HASH_IP_H

#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "frame.h"

/* In place of a protocol number: a fragment, whose ports are not looked at. */
#define NO_PROTOCOL 256
#define FRAGMENT_BITS 0x3fff /* more fragments, and the offset */
#define ICMP_HEADER_LEN 8

/* Extension headers. */
#define IPV6_HOP_BY_HOP 0
#define IPV6_ROUTING 43
#define IPV6_FRAGMENT 44
#define IPV6_DESTINATION 60

/* An IP header, as far as a policy looks. */
struct ip_view {
	__u32 addresses; /* all words of both, XORed, in the order of the wire */
	__u32 protocol;
	__u32 transport; /* offset of the transport header */
};

struct ports {
	__be16 src;
	__be16 dst;
};

struct icmp_view {
	__u8 type;
	__u8 code;
	__be16 checksum;
	__be16 id;
	__be16 sequence;
};

static __always_inline int read_ipv4(struct __sk_buff *skb, __u32 offset, struct ip_view *ip)
{
	struct iphdr copy;
	const struct iphdr *head = header(skb, offset, &copy, sizeof(copy));

	if (!head)
		return 0;
	ip->addresses = head->saddr ^ head->daddr;
	ip->protocol = head->frag_off & bpf_htons(FRAGMENT_BITS) ? NO_PROTOCOL : head->protocol;
	ip->transport = offset + (*(const __u8 *)head & 0xf) * 4;
	return 1;
}

/* All words of both addresses, XORed. */
static __always_inline __u32 ipv6_addresses(const struct ipv6hdr *head)
{
	const __be32 *src = head->saddr.s6_addr32, *dst = head->daddr.s6_addr32;

	return src[0] ^ src[1] ^ src[2] ^ src[3] ^ dst[0] ^ dst[1] ^ dst[2] ^ dst[3];
}

static __always_inline int read_ipv6(struct __sk_buff *skb, __u32 offset, struct ip_view *ip)
{
	struct ipv6hdr copy;
	const struct ipv6hdr *head = header(skb, offset, &copy, sizeof(copy));

	if (!head)
		return 0;
	ip->addresses = ipv6_addresses(head);
	ip->protocol = head->nexthdr;
	ip->transport = offset + sizeof(*head);
	return 1;
}

/* The IP header at `offset`; 0 if there is none. */
static __always_inline int read_ip(struct __sk_buff *skb, __be16 ethertype, __u32 offset, struct ip_view *ip)
{
	if (ethertype == bpf_htons(ETH_P_IP))
		return read_ipv4(skb, offset, ip);
	if (ethertype == bpf_htons(ETH_P_IPV6))
		return read_ipv6(skb, offset, ip);
	return 0;
}

/* In place of an offset: a protocol without ports. */
#define NO_PORTS 0xff

/* Where a protocol's header has its ports (proto_ports_offset). */
static __always_inline __u32 ports_offset(__u32 protocol)
{
	switch (protocol) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_DCCP:
	case IPPROTO_ESP:
	case IPPROTO_SCTP:
	case IPPROTO_UDPLITE:
		return 0;
	case IPPROTO_AH:
		return 4;
	default:
		return NO_PORTS;
	}
}

/* icmp_is_err, icmpv6_is_err. */
static __always_inline int icmp_is_error(__u32 protocol, __u8 type)
{
	if (protocol == IPPROTO_ICMPV6)
		return type >= 1 && type <= 4;
	return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

/* struct flow_dissector_key_icmp as one word; 0 for a message without identifier. */
static __always_inline __u32 icmp_word(const struct icmp_view *icmp)
{
	__u32 id = bpf_ntohs(icmp->id);

	switch (icmp->type) {
	case 0:
	case 8:
	case 13:
	case 14:
	case 128:
	case 129:
		return icmp->type | (__u32)icmp->code << 8 | (id ? id : 1) << 16;
	default:
		return 0;
	}
}

static __always_inline __u32 fold(__u32 x)
{
	x ^= x >> 16;
	return x ^ x >> 8;
}

#endif

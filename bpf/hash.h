/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Hash policies, word for word as crates/team/src/hash.rs, whose module text
 * is the specification; a change there is a change here.
 *
 * A VLAN tag beside the frame (skb->vlan_tci) takes no part, except with MPLS:
 * only the bytes are read, and skb->protocol is not. A tag among the bytes hides
 * the rest.
 */
#ifndef NICTEAM_HASH_H
#define NICTEAM_HASH_H

#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "frame.h"
#include "plan.h"

/* In place of a protocol number: a fragment, whose ports are not looked at. */
#define NO_PROTOCOL 256
#define FRAGMENT_BITS 0x3fff /* more fragments, and the offset */
#define ICMP_HEADER_LEN 8

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

static __always_inline int read_ipv6(struct __sk_buff *skb, __u32 offset, struct ip_view *ip)
{
	struct ipv6hdr copy;
	const struct ipv6hdr *head = header(skb, offset, &copy, sizeof(copy));

	if (!head)
		return 0;
	const __be32 *src = head->saddr.s6_addr32, *dst = head->daddr.s6_addr32;

	ip->addresses = src[0] ^ src[1] ^ src[2] ^ src[3] ^ dst[0] ^ dst[1] ^ dst[2] ^ dst[3];
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

/* Both ports as the kernel reads them (skb_flow_get_ports); of ESP and AH the index. */
static __always_inline __u32 flow_ports(struct __sk_buff *skb, const struct ip_view *ip)
{
	__u32 copy, offset = ip->transport;

	switch (ip->protocol) {
	case IPPROTO_AH:
		offset += 4;
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_DCCP:
	case IPPROTO_ESP:
	case IPPROTO_SCTP:
	case IPPROTO_UDPLITE:
		break;
	default:
		return 0;
	}
	const __u32 *ports = header(skb, offset, &copy, sizeof(copy));

	return ports ? le32(*ports) : 0;
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

/*
 * The header whose addresses the kernel hashes, and in `transport` what it
 * takes from the transport header (bond_flow_dissect): of an ICMP error those
 * of the packet it complains about. 0 if the frame is not IP.
 */
static __always_inline int read_flow(struct __sk_buff *skb, __be16 ethertype, struct ip_view *ip, __u32 *transport)
{
	struct icmp_view copy;
	const struct icmp_view *icmp;

	if (!read_ip(skb, ethertype, ETH_HLEN, ip))
		return 0;
	*transport = 0;
	if (ip->protocol != IPPROTO_ICMP && ip->protocol != IPPROTO_ICMPV6) {
		*transport = flow_ports(skb, ip);
		return 1;
	}
	icmp = header(skb, ip->transport, &copy, sizeof(copy));
	if (!icmp)
		return 1;
	if (!icmp_is_error(ip->protocol, icmp->type)) {
		*transport = icmp_word(icmp);
		return 1;
	}
	if (!read_ip(skb, ethertype, ip->transport + ICMP_HEADER_LEN, ip))
		return 0;
	*transport = flow_ports(skb, ip);
	return 1;
}

/* Source port XOR destination port of TCP, UDP and SCTP; 0 where there are none. */
static __always_inline __u32 ports_xor(struct __sk_buff *skb, const struct ip_view *ip)
{
	struct ports copy;
	const struct ports *ports;

	if (ip->protocol != IPPROTO_TCP && ip->protocol != IPPROTO_UDP && ip->protocol != IPPROTO_SCTP)
		return 0;
	ports = header(skb, ip->transport, &copy, sizeof(copy));
	return ports ? bpf_ntohs(ports->src ^ ports->dst) : 0;
}

static __always_inline __u32 fold(__u32 x)
{
	x ^= x >> 16;
	return x ^ x >> 8;
}

/* bond_eth_hash. Of MPLS with a tag beside it, the tag's protocol counts. */
static __always_inline __u32 ethernet_hash(struct __sk_buff *skb, const struct ethhdr *eth)
{
	__be16 ethertype = eth->h_proto;

	if (ethertype == bpf_htons(ETH_P_MPLS_UC) || ethertype == bpf_htons(ETH_P_MPLS_MC)) {
		if (skb->vlan_present)
			ethertype = skb->vlan_proto;
	}
	return eth->h_source[5] ^ eth->h_dest[5] ^ bpf_ntohs(ethertype);
}

/* The hash of a frame. */
static __always_inline __u32 frame_hash(struct __sk_buff *skb, __u32 policy)
{
	struct ethhdr copy;
	const struct ethhdr *eth = header(skb, 0, &copy, sizeof(copy));
	struct ip_view ip = {0};
	__u32 transport = 0;

	if (!eth)
		return 0;
	__u32 src = eth->h_source[5], dst = eth->h_dest[5];
	__be16 ethertype = eth->h_proto;
	__u32 ethernet = ethernet_hash(skb, eth);

	switch (policy) {
	case POLICY_LAYER2:
		return ethernet;
	case POLICY_SRC_MAC:
		return src;
	case POLICY_DST_MAC:
		return dst;
	case POLICY_SRC_DST_MAC:
		return src ^ dst;
	case POLICY_LAYER23:
	case POLICY_LAYER34:
		if (!read_flow(skb, ethertype, &ip, &transport))
			return ethernet;
		if (policy == POLICY_LAYER23)
			return fold(ethernet ^ le32(ip.addresses));
		return fold(transport ^ le32(ip.addresses)) >> 1;
	default:
		if (!read_ip(skb, ethertype, ETH_HLEN, &ip))
			return src ^ dst;
		if (policy == POLICY_SRC_DST_IP)
			return fold(bpf_ntohl(ip.addresses));
		return fold(bpf_ntohl(ip.addresses) ^ ports_xor(skb, &ip));
	}
}

/* True for IPv4 IGMP of which 20 bytes are there. */
static __always_inline int frame_is_igmp(struct __sk_buff *skb)
{
	struct ethhdr eth_copy;
	struct iphdr ip_copy;
	const struct ethhdr *eth = header(skb, 0, &eth_copy, sizeof(eth_copy));

	if (!eth || eth->h_proto != bpf_htons(ETH_P_IP))
		return 0;
	const struct iphdr *ip = header(skb, ETH_HLEN, &ip_copy, sizeof(ip_copy));

	return ip && ip->protocol == IPPROTO_IGMP;
}

#endif

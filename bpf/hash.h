/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Hash policies, word for word as crates/plan/src/hash.rs, whose module text
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

#include "frame.h"
#include "hash_aggr.h"
#include "hash_encap.h"
#include "hash_ip.h"
#include "hash_octets.h"
#include "plan.h"

/* Both ports as the kernel reads them (skb_flow_get_ports); of ESP and AH the index. */
static __always_inline __u32 flow_ports(struct __sk_buff *skb, const struct ip_view *ip)
{
	__u32 copy, offset = ports_offset(ip->protocol);

	if (offset == NO_PORTS)
		return 0;
	const __u32 *ports = header(skb, ip->transport + offset, &copy, sizeof(copy));

	return ports ? le32(*ports) : 0;
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

/* bond_eth_hash. Of MPLS with a tag beside it, the tag's protocol counts. */
static __always_inline __u32 ethernet_hash(struct __sk_buff *skb, const struct ethhdr *eth)
{
	__be16 ethertype = tag_put_back(skb, bpf_ntohs(eth->h_proto)) ? skb->vlan_proto : eth->h_proto;

	return eth->h_source[5] ^ eth->h_dest[5] ^ bpf_ntohs(ethertype);
}

/* bond_vlan_srcmac_hash. The tag of MPLS is among the bytes by then. */
static __always_inline __u32 vlan_srcmac_hash(struct __sk_buff *skb, const struct ethhdr *eth)
{
	const __u8 *src = eth->h_source;
	__u32 vendor = (__u32)src[0] << 16 | src[1] << 8 | src[2], device = (__u32)src[3] << 16 | src[4] << 8 | src[5];
	int beside = skb->vlan_present && !tag_put_back(skb, bpf_ntohs(eth->h_proto));

	return vendor ^ device ^ (beside ? skb->vlan_tci & 0xffff : 0);
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

	if (policy & POLICY_AGGR)
		return aggr_hash(skb, policy & AGGR_LAYERS);
	switch (policy) {
	case POLICY_LAYER2:
		return ethernet;
	case POLICY_ENCAP23:
	case POLICY_ENCAP34:
		return encap_hash(skb, policy, ethernet, bpf_ntohs(ethertype));
	case POLICY_VLAN_SRCMAC:
		return vlan_srcmac_hash(skb, eth);
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
		if (policy >= POLICY_SRC_IP)
			return octets_hash(skb, policy);
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

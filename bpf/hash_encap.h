/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What the kernel's flow dissector finds for encap2+3 and encap3+4, word for
 * word as crates/plan/src/hash/dissect.rs, whose module text is the
 * specification; a change there is a change here.
 *
 * Headers are copied out, not read in place: the place is found step by step,
 * and the verifier would want a bound for each.
 */
#ifndef NICTEAM_HASH_ENCAP_H
#define NICTEAM_HASH_ENCAP_H

#include <linux/in.h>

#include "frame.h"
#include "hash_ip.h"
#include "plan.h"

#define VLAN_HEADER_LEN 4

/* EtherTypes that linux/if_ether.h of some systems lacks. */
#define TYPE_PTP 0x88f7
#define TYPE_PRP 0x88fb
#define TYPE_HSR 0x892f
#define TYPE_TIPC 0x88ca
#define TYPE_BATMAN 0x4305
#define TYPE_PPP_IN_GRE 0x880b

#define PROTOCOL_MPLS 137

#define GRE_CHECKSUM 0x8000
#define GRE_ROUTING 0x4000
#define GRE_KEY 0x2000
#define GRE_SEQUENCE 0x1000
#define GRE_ACKNOWLEDGEMENT 0x0080
#define GRE_VERSION 0x0007

enum walk_step {
	WALK_ON,
	WALK_WELL,  /* ends, and the frame counts as IP */
	WALK_BADLY, /* ends, and it does not */
};

/* The walk from header to header. */
struct walk {
	__u32 offset;	 /* of the header that is next */
	__u32 ethertype; /* what it is, unless `in_ip`; host order */
	__u32 protocol;	 /* what it is behind an IP header */
	__u32 in_ip;	 /* 0, 4 or 6: `protocol` counts, in IPv4 or IPv6 */
	__u32 under_tag; /* the EtherType to which the first tag goes back; 0 for none */
	__u32 addresses; /* A, in the order of the wire */
	__u32 transport; /* T */
};

/* `len` bytes at the walk's place; 0 if they are there. */
static __always_inline int walk_load(struct __sk_buff *skb, const struct walk *walk, void *to, __u32 len)
{
	return bpf_skb_load_bytes(skb, walk->offset, to, len);
}

static __always_inline int walk_to_type(struct walk *walk, __u32 ethertype)
{
	walk->ethertype = ethertype;
	walk->in_ip = 0;
	return WALK_ON;
}

/* The EtherType at `offset` from the walk's place, and on behind it. */
static __always_inline int walk_past(struct __sk_buff *skb, struct walk *walk, __u32 offset)
{
	__be16 ethertype;

	if (bpf_skb_load_bytes(skb, walk->offset + offset, &ethertype, sizeof(ethertype)))
		return WALK_BADLY;
	walk->offset += offset + sizeof(ethertype);
	return walk_to_type(walk, bpf_ntohs(ethertype));
}

/* 0: neither IPv4 nor IPv6. */
static __always_inline __u32 ppp_ip(__u32 protocol)
{
	if (protocol == 0x21)
		return ETH_P_IP;
	return protocol == 0x57 ? ETH_P_IPV6 : 0;
}

static __always_inline int walk_pppoe(struct __sk_buff *skb, struct walk *walk)
{
	__u8 head[8];

	if (walk_load(skb, walk, head, sizeof(head)) || head[0] != 0x11 || head[1])
		return WALK_BADLY;
	__u32 protocol = (__u32)head[6] << 8 | head[7];

	walk->offset += sizeof(head);
	if (protocol == 0x0281 || protocol == 0x0283)
		return walk_to_type(walk, ETH_P_MPLS_UC);
	if (ppp_ip(protocol))
		return walk_to_type(walk, ppp_ip(protocol));
	return (protocol & 0x0101) == 1 ? WALK_WELL : WALK_BADLY;
}

static __always_inline int walk_gre(struct __sk_buff *skb, struct walk *walk)
{
	__be16 head[2];
	__u32 key;

	if (walk_load(skb, walk, head, sizeof(head)))
		return WALK_BADLY;
	__u32 flags = bpf_ntohs(head[0]), carried = bpf_ntohs(head[1]), version = flags & GRE_VERSION;

	if (flags & GRE_ROUTING || version > 1)
		return WALK_WELL;
	if (version == 1 && !(carried == TYPE_PPP_IN_GRE && flags & GRE_KEY))
		return WALK_WELL;
	walk->offset += flags & GRE_CHECKSUM ? 8 : 4;
	if (flags & GRE_KEY) {
		if (walk_load(skb, walk, &key, sizeof(key)))
			return WALK_BADLY;
		walk->offset += 4;
	}
	if (flags & GRE_SEQUENCE)
		walk->offset += 4;
	if (version == 1) {
		if (flags & GRE_ACKNOWLEDGEMENT)
			walk->offset += 4;
		if (walk_load(skb, walk, head, sizeof(head)))
			return WALK_BADLY;
		walk->offset += sizeof(head);
		__u32 ip = ppp_ip(bpf_ntohs(head[1]));

		return walk_to_type(walk, ip ? ip : carried);
	}
	if (carried == ETH_P_TEB)
		return walk_past(skb, walk, 2 * ETH_ALEN);
	return walk_to_type(walk, carried);
}

/* The first 4 bytes of what has ports, as the kernel reads them; else 0. */
static __always_inline __u32 walk_ports(struct __sk_buff *skb, const struct walk *walk, __u32 protocol)
{
	__u32 offset = ports_offset(protocol), ports;

	if (offset == NO_PORTS || bpf_skb_load_bytes(skb, walk->offset + offset, &ports, sizeof(ports)))
		return 0;
	return le32(ports);
}

/* What `protocol` names. */
static __always_inline int walk_ip(struct __sk_buff *skb, struct walk *walk)
{
	__u32 protocol = walk->protocol;
	struct icmp_view icmp;
	__u8 extension[8];

	walk->transport = 0;
	if (walk->in_ip == 6) {
		switch (protocol) {
		case IPV6_HOP_BY_HOP:
		case IPV6_ROUTING:
		case IPV6_DESTINATION:
			if (walk_load(skb, walk, extension, 2))
				return WALK_BADLY;
			walk->offset += ((__u32)extension[1] + 1) * 8;
			walk->protocol = extension[0];
			walk->transport = walk_ports(skb, walk, walk->protocol);
			return WALK_ON;
		case IPV6_FRAGMENT:
			return walk_load(skb, walk, extension, 8) ? WALK_BADLY : WALK_WELL;
		}
	}
	switch (protocol) {
	case IPPROTO_GRE:
		return walk_gre(skb, walk);
	case IPPROTO_IPIP:
		return walk_to_type(walk, ETH_P_IP);
	case IPPROTO_IPV6:
		return walk_to_type(walk, ETH_P_IPV6);
	case PROTOCOL_MPLS:
		return walk_to_type(walk, ETH_P_MPLS_UC);
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		if (!walk_load(skb, walk, &icmp, sizeof(icmp)))
			walk->transport = icmp_word(&icmp);
		return WALK_WELL;
	}
	walk->transport = walk_ports(skb, walk, protocol);
	return WALK_WELL;
}

static __always_inline int walk_ipv4(struct __sk_buff *skb, struct walk *walk)
{
	struct iphdr ip;

	if (walk_load(skb, walk, &ip, sizeof(ip)) || ip.ihl < 5)
		return WALK_BADLY;
	walk->offset += ip.ihl * 4;
	walk->addresses = ip.saddr ^ ip.daddr;
	if (ip.frag_off & bpf_htons(FRAGMENT_BITS))
		return WALK_WELL;
	walk->protocol = ip.protocol;
	walk->in_ip = 4;
	return walk_ip(skb, walk);
}

static __always_inline int walk_ipv6(struct __sk_buff *skb, struct walk *walk)
{
	struct ipv6hdr ip;

	if (walk_load(skb, walk, &ip, sizeof(ip)))
		return WALK_BADLY;
	walk->offset += sizeof(ip);
	walk->addresses = ipv6_addresses(&ip);
	walk->protocol = ip.nexthdr;
	walk->in_ip = 6;
	return walk_ip(skb, walk);
}

/* Whether the frame goes on for `len` bytes: well or badly. */
static __always_inline int walk_end(struct __sk_buff *skb, const struct walk *walk, __u32 len)
{
	return walk->offset + len <= skb->len ? WALK_WELL : WALK_BADLY;
}

/* What `ethertype` names. */
static __always_inline int walk_link(struct __sk_buff *skb, struct walk *walk)
{
	__u8 head[2];
	__u32 ethertype = walk->ethertype;

	switch (ethertype) {
	case ETH_P_IP:
		return walk_ipv4(skb, walk);
	case ETH_P_IPV6:
		return walk_ipv6(skb, walk);
	case ETH_P_8021Q:
	case ETH_P_8021AD:
		if (!walk->under_tag)
			return walk_past(skb, walk, 2);
		walk_to_type(walk, walk->under_tag);
		walk->under_tag = 0;
		return WALK_ON;
	case ETH_P_PPP_SES:
		return walk_pppoe(skb, walk);
	case TYPE_TIPC:
		return bpf_skb_load_bytes(skb, walk->offset + 12, &walk->addresses, 4) ? WALK_BADLY : WALK_WELL;
	case TYPE_BATMAN: /* a unicast packet of version 15 */
		if (walk_load(skb, walk, head, sizeof(head)) || head[0] != 0x40 || head[1] != 15)
			return WALK_BADLY;
		return walk_past(skb, walk, 10 + 2 * ETH_ALEN);
	case TYPE_HSR:
	case TYPE_PRP:
		return walk_past(skb, walk, 4);
	case ETH_P_FCOE:
		return walk_end(skb, walk, 38);
	case TYPE_PTP:
		return walk_end(skb, walk, 34);
	case ETH_P_ARP:
	case ETH_P_RARP:
	case ETH_P_MPLS_UC:
	case ETH_P_MPLS_MC:
		return WALK_WELL;
	default:
		return WALK_BADLY;
	}
}

/*
 * One step. A function of its own, not inlined and not static: so the verifier
 * walks it once, not once for each turn of the loop.
 */
__attribute__((noinline)) int walk_step(struct __sk_buff *skb, struct walk *walk)
{
	if (!walk) /* the verifier wants it */
		return WALK_BADLY;
	return walk->in_ip ? walk_ip(skb, walk) : walk_link(skb, walk);
}

/* Where the bytes behind the tags among them begin. */
static __always_inline __u32 behind_tags(struct __sk_buff *skb, __u32 ethertype)
{
	__u32 offset = ETH_HLEN;
	__be16 next;

	for (int tags = 0; tags <= MOST_TAGS; tags++) {
		if (!ethertype)
			return ETH_HLEN;
		if (ethertype != ETH_P_8021Q && ethertype != ETH_P_8021AD)
			return offset;
		if (bpf_skb_load_bytes(skb, offset + 2, &next, sizeof(next)))
			return ETH_HLEN;
		ethertype = bpf_ntohs(next);
		offset += VLAN_HEADER_LEN;
	}
	return ETH_HLEN;
}

/* The EtherType behind the tags among the bytes; 0 if the frame ends before, or has too many. */
static __always_inline __u32 network_protocol(struct __sk_buff *skb, __u32 ethertype)
{
	__u32 offset = ETH_HLEN;
	__be16 next;

	for (int tags = 0; tags <= MOST_TAGS; tags++) {
		if (ethertype != ETH_P_8021Q && ethertype != ETH_P_8021AD)
			return ethertype;
		if (bpf_skb_load_bytes(skb, offset + 2, &next, sizeof(next)))
			return 0;
		ethertype = bpf_ntohs(next);
		offset += VLAN_HEADER_LEN;
	}
	return 0;
}

/* True if the tag beside the frame is put back among the bytes, as the kernel does with MPLS. */
static __always_inline int tag_put_back(struct __sk_buff *skb, __u32 ethertype)
{
	if (!skb->vlan_present)
		return 0;
	__u32 network = network_protocol(skb, ethertype);

	return network == ETH_P_MPLS_UC || network == ETH_P_MPLS_MC;
}

static __always_inline void walk_begin(struct __sk_buff *skb, struct walk *walk, __u32 ethertype)
{
	walk->offset = ETH_HLEN;
	walk->ethertype = ethertype;
	if (!skb->vlan_present)
		walk->offset = behind_tags(skb, ethertype);
	else if (tag_put_back(skb, ethertype))
		walk->ethertype = bpf_ntohs(skb->vlan_proto);
	else
		walk->under_tag = ethertype;
}

/*
 * The hash of a frame whose layer2 hash is `ethernet`. Not inlined, for the
 * same reason: the other policies do not pay for it.
 */
__attribute__((noinline)) __u32 encap_hash(struct __sk_buff *skb, __u32 policy, __u32 ethernet, __u32 ethertype)
{
	struct walk walk = {};
	int step = WALK_ON;

	walk_begin(skb, &walk, ethertype);
	for (int steps = 0; steps < MOST_STEPS && step == WALK_ON; steps++)
		step = walk_step(skb, &walk);
	if (step == WALK_BADLY)
		return ethernet;
	if (policy == POLICY_ENCAP23)
		return fold(ethernet ^ le32(walk.addresses));
	return fold(walk.transport ^ le32(walk.addresses)) >> 1;
}

#endif

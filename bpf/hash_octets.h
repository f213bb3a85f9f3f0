/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The policies src-ip, dst-ip and src-xor-dst-ip, word for word as crates/plan/src/hash/octets.rs, whose module text
 * is the specification; a change there is a change here.
 */
#ifndef NICTEAM_HASH_OCTETS_H
#define NICTEAM_HASH_OCTETS_H

#include "frame.h"
#include "hash_ip.h"
#include "plan.h"

/* The hash by the last bytes of addresses. Not inlined: the other policies do not pay for it. */
__attribute__((noinline)) __u32 octets_hash(struct __sk_buff *skb, __u32 policy)
{
	struct ipv6hdr ipv6;
	struct iphdr ipv4;
	struct ethhdr eth;

	if (bpf_skb_load_bytes(skb, 0, &eth, sizeof(eth)))
		return 0;
	__u32 src = eth.h_source[5], dst = eth.h_dest[5];

	if (eth.h_proto == bpf_htons(ETH_P_IP) && !bpf_skb_load_bytes(skb, ETH_HLEN, &ipv4, sizeof(ipv4))) {
		src = bpf_ntohl(ipv4.saddr) & 0xff;
		dst = bpf_ntohl(ipv4.daddr) & 0xff;
	} else if (eth.h_proto == bpf_htons(ETH_P_IPV6) && !bpf_skb_load_bytes(skb, ETH_HLEN, &ipv6, sizeof(ipv6))) {
		src = ipv6.saddr.s6_addr[15];
		dst = ipv6.daddr.s6_addr[15];
	}
	switch (policy) {
	case POLICY_SRC_IP:
		return src;
	case POLICY_DST_IP:
		return dst;
	default:
		return src ^ dst;
	}
}

#endif

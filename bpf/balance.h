/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How balance-tlb and balance-alb choose, word for word as
 * crates/plan/src/balance.rs, whose module text is the specification; a change
 * there is a change here.
 */
#ifndef NICTEAM_BALANCE_H
#define NICTEAM_BALANCE_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "frame.h"
#include "hash_aggr.h"
#include "maps.h"
#include "plan.h"

#define NDISC_SOLICITATION 135
#define NDISC_ADVERTISEMENT 136
#define ICMPV6_HEADER_LEN 8

/* What a frame is to the two modes. */
enum kind {
	KIND_UNBALANCED = 0,
	KIND_BALANCED = 1,
	KIND_ARP = 2,	       /* not balanced */
	KIND_NDISC = 3,	       /* whole neighbour discovery: not balanced */
};

static __always_inline int is_multicast(const __u8 *mac)
{
	return mac[0] & 1;
}

static __always_inline int is_broadcast(const __u8 *mac)
{
	return (mac[0] & mac[1] & mac[2] & mac[3] & mac[4] & mac[5]) == 0xff;
}

/* 33:33:00:00:00:01 */
static __always_inline int is_all_nodes(const __u8 *mac)
{
	return mac[0] == 0x33 && mac[1] == 0x33 && !(mac[2] | mac[3] | mac[4]) && mac[5] == 1;
}

/* An IPv4 frame: balanced or not, and the simple hash of its destination. */
static __always_inline enum kind ipv4_kind(struct __sk_buff *skb, const struct plan *plan, const __u8 *dst,
					   __u32 *number)
{
	struct iphdr copy;

	if (!(plan->balance & BALANCE_ALB))
		return is_multicast(dst) ? KIND_UNBALANCED : KIND_BALANCED;
	const struct iphdr *ip = header(skb, ETH_HLEN, &copy, sizeof(copy));

	if (!ip || is_broadcast(dst) || ip->daddr == 0xffffffff || ip->protocol == IPPROTO_IGMP)
		return KIND_UNBALANCED;
	*number = xor_bytes(ip->daddr);
	return KIND_BALANCED;
}

/* The same of an IPv6 frame (alb_determine_nd). */
static __always_inline enum kind ipv6_kind(struct __sk_buff *skb, const struct plan *plan, const __u8 *dst,
					   __u32 *number)
{
	struct ipv6hdr copy;
	const struct ipv6hdr *ip = header(skb, ETH_HLEN, &copy, sizeof(copy));

	if (!ip)
		return KIND_UNBALANCED;
	const __be32 *from = ip->saddr.s6_addr32, *to = ip->daddr.s6_addr32;
	int unspecified = !(from[0] | from[1] | from[2] | from[3]);

	*number = xor_bytes(to[0] ^ to[1] ^ to[2] ^ to[3]);
	if (ip->nexthdr == IPPROTO_ICMPV6) {
		__u8 icmp_copy[ICMPV6_HEADER_LEN];
		const __u8 *icmp = header(skb, ETH_HLEN + sizeof(*ip), icmp_copy, sizeof(icmp_copy));

		if (!icmp)
			return KIND_UNBALANCED;
		if (icmp[0] == NDISC_SOLICITATION || icmp[0] == NDISC_ADVERTISEMENT)
			return KIND_NDISC;
	}
	if (!(plan->balance & BALANCE_ALB))
		return is_multicast(dst) ? KIND_UNBALANCED : KIND_BALANCED;
	if (is_broadcast(dst) || is_all_nodes(dst) || unspecified)
		return KIND_UNBALANCED;
	return KIND_BALANCED;
}

/*
 * What a frame is. `number` becomes the simple hash of its IP destination if it
 * is balanced by that, `own` is set if it comes from the team's address.
 */
static __always_inline enum kind frame_kind(struct __sk_buff *skb, const struct plan *plan, __u32 *number, int *own)
{
	struct ethhdr copy;
	const struct ethhdr *eth = header(skb, 0, &copy, sizeof(copy));

	if (!eth)
		return KIND_UNBALANCED;
	*own = same_mac(eth->h_source, plan->team);
	if (eth->h_proto == bpf_htons(ETH_P_IP))
		return ipv4_kind(skb, plan, eth->h_dest, number);
	if (eth->h_proto == bpf_htons(ETH_P_IPV6))
		return ipv6_kind(skb, plan, eth->h_dest, number);
	return eth->h_proto == bpf_htons(ETH_P_ARP) ? KIND_ARP : KIND_UNBALANCED;
}

/*
 * True for ARP and whole neighbour discovery, as frame_kind() has it
 * (crates/plan/src/balance.rs, is_resolution). A function of its own, as send_copy().
 */
__attribute__((noinline)) int is_resolution(struct __sk_buff *skb)
{
	struct ethhdr copy;
	struct ipv6hdr ip_copy;
	__u8 icmp_copy[ICMPV6_HEADER_LEN];
	const struct ethhdr *eth = header(skb, 0, &copy, sizeof(copy));

	if (!eth || eth->h_proto != bpf_htons(ETH_P_IPV6))
		return eth && eth->h_proto == bpf_htons(ETH_P_ARP);
	const struct ipv6hdr *ip = header(skb, ETH_HLEN, &ip_copy, sizeof(ip_copy));

	if (!ip || ip->nexthdr != IPPROTO_ICMPV6)
		return 0;
	const __u8 *icmp = header(skb, ETH_HLEN + sizeof(*ip), icmp_copy, sizeof(icmp_copy));

	return icmp && (icmp[0] == NDISC_SOLICITATION || icmp[0] == NDISC_ADVERTISEMENT);
}

/* Counts the frame in its bucket; MAX_BUCKETS: it is not balanced. */
static __always_inline void count_load(struct __sk_buff *skb, __u32 bucket)
{
	struct loads *sums = team_loads();

	if (sums && bucket <= MAX_BUCKETS)
		sums->bytes[bucket] += skb->len;
}

#endif

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* How many bytes a frame takes on the wire. */
#ifndef NICTEAM_WIRE_H
#define NICTEAM_WIRE_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <bpf/bpf_endian.h>

#include "constants.h"
#include "frame.h"
#include "hash_ip.h"

#define UDP_LEN 8
/* In bytes 12 and 13 of a TCP header the upper four bits: how many words it has. */
#define TCP_OFFSET_AT 12

/*
 * Bytes of the headers of a GSO frame, which each of its segments gets. wire_len does not say it at the end behind the
 * team device: at tc ingress the kernel sets it to the frame's own length (Linux 6.1, net/core/dev.c,
 * sch_handle_ingress). Of a tunnel's frames and of others whose headers are not read here it is what is certain: what
 * full segments leave. A function of its own for the reason given at send_copy().
 */
__attribute__((noinline)) __u32 segment_headers(struct __sk_buff *skb)
{
	__u32 len = skb->len, most = skb->gso_segs * skb->gso_size, certain = len > most ? len - most : 0, headers = 0;
	struct ethhdr copy;
	__u8 offset_copy;
	struct ip_view ip = {0};
	const struct ethhdr *eth = header(skb, 0, &copy, sizeof(copy));

	if (!eth || !read_ip(skb, eth->h_proto, ETH_HLEN, &ip))
		return certain;
	if (ip.protocol == IPPROTO_UDP)
		headers = ip.transport + UDP_LEN;
	if (ip.protocol == IPPROTO_TCP) {
		const __u8 *offset = header(skb, ip.transport + TCP_OFFSET_AT, &offset_copy, sizeof(offset_copy));

		headers = offset ? ip.transport + (*offset >> 4) * 4 : 0;
	}
	return headers > certain ? headers : certain;
}

/* Bytes that a frame takes on the wire; a GSO frame takes those of all its segments, each with its own headers. */
static __always_inline __u32 wire_bytes(struct __sk_buff *skb)
{
	__u32 frames = skb->gso_segs > 1 ? skb->gso_segs : 1, bytes = skb->len;

	if (frames > 1)
		bytes += (frames - 1) * segment_headers(skb);
	if (bytes < SHORTEST)
		bytes = SHORTEST;
	return bytes + frames * WIRE_OVERHEAD;
}

#endif

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* A frame as Open vSwitch reads it, as crates/plan/src/tagged.rs; a change there is a change here. */
#ifndef NICTEAM_TAGGED_H
#define NICTEAM_TAGGED_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "frame.h"

#define VLAN_ID 0x0fff
#define LOWEST_TYPE 0x0600
/* In place of an EtherType. */
#define NO_TYPE 0x05ff
#define TAG_LEN 4
#define ARP_LEN 28

/* What stands behind the addresses of a frame. */
struct tagged {
	__u32 vlan;   /* of the outermost tag, beside the frame or among its bytes; 0: none */
	__u32 type;   /* behind that, and behind a SNAP header */
	__u32 offset; /* of what follows it */
};

/* IEEE 802.2 LLC and SNAP, and an EtherType. */
struct snap {
	__u8 head[6];
	__be16 type;
} __attribute__((packed));

/* A tag behind its EtherType. */
struct tag {
	__be16 tci;
	__be16 type;
};

/* True of a frame with a SNAP header for an EtherType. */
static __always_inline int is_snap(const struct snap *snap)
{
	const __u8 *head = snap->head;

	return head[0] == 0xaa && head[1] == 0xaa && head[2] == 3 && !(head[3] | head[4] | head[5]);
}

/* ARP for Ethernet and IPv4: its first six bytes (crates/plan/src/sources.rs). */
static __always_inline int is_arp(const __u8 *arp)
{
	return !arp[0] && arp[1] == 1 && arp[2] == 8 && !arp[3] && arp[4] == 6 && arp[5] == 4;
}

static __always_inline struct tagged read_tagged(struct __sk_buff *skb)
{
	struct tagged out = {.type = NO_TYPE, .offset = ETH_HLEN};
	__be16 type_copy;
	const __be16 *type = header(skb, 2 * ETH_ALEN, &type_copy, sizeof(type_copy));

	if (!type)
		return out;
	out.type = bpf_ntohs(*type);
	if (skb->vlan_present) {
		out.vlan = skb->vlan_tci & VLAN_ID;
	} else if (out.type == ETH_P_8021Q || out.type == ETH_P_8021AD) {
		struct tag copy;
		const struct tag *tag = header(skb, ETH_HLEN, &copy, sizeof(copy));

		if (tag) {
			out.vlan = bpf_ntohs(tag->tci) & VLAN_ID;
			out.type = bpf_ntohs(tag->type);
			out.offset += TAG_LEN;
		}
	}
	if (out.type < LOWEST_TYPE) {
		struct snap copy;

		out.type = NO_TYPE;
		if (!bpf_skb_load_bytes(skb, out.offset, &copy, sizeof(copy)) && is_snap(&copy) &&
		    bpf_ntohs(copy.type) >= LOWEST_TYPE) {
			out.type = bpf_ntohs(copy.type);
			out.offset += sizeof(copy);
		}
	}
	return out;
}

#endif

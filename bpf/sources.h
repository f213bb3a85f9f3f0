/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The source addresses that went out through a team, and reflections of them, as crates/plan/src/sources.rs,
 * whose module text is the specification; a change there is a change here. One difference: which source gives way
 * when there is no room is the map's choice, one that was not looked up for long.
 */
#ifndef NICTEAM_SOURCES_H
#define NICTEAM_SOURCES_H

#include "balance.h"
#include "frame.h"
#include "maps.h"
#include "tagged.h"

#define ARP_REQUEST 1
#define ARP_REPLY 2

static __always_inline int is_gratuitous_arp(struct __sk_buff *skb, const __u8 *dst, const struct tagged *tagged)
{
	__u8 arp[ARP_LEN];

	if (tagged->type != ETH_P_ARP || !is_broadcast(dst) ||
	    bpf_skb_load_bytes(skb, tagged->offset, arp, sizeof(arp)) || !is_arp(arp) || arp[6])
		return 0;
	return arp[7] == ARP_REPLY ||
	       (arp[7] == ARP_REQUEST &&
		!((arp[14] ^ arp[24]) | (arp[15] ^ arp[25]) | (arp[16] ^ arp[26]) | (arp[17] ^ arp[27])));
}

/*
 * True if less than `limit_ns` have passed since `then`. Another processor may have renewed the note a moment after `now` was
 * read: then the difference is less than nothing.
 */
static __always_inline int is_within(__u64 now, __u64 then, __s64 limit_ns)
{
	return (__s64)(now - then) < limit_ns;
}

/* Whose frame it is. */
static __always_inline struct source_key source_of(const struct ethhdr *eth, const struct tagged *tagged)
{
	struct source_key key = {.vlan = tagged->vlan};

	__builtin_memcpy(key.mac, eth->h_source, ETH_ALEN);
	return key;
}

/* Notes the source of a frame that the stack sends. A function of its own, as send_copy(). */
__attribute__((noinline)) int note_source(struct __sk_buff *skb)
{
	struct ethhdr eth;

	if (bpf_skb_load_bytes(skb, 0, &eth, sizeof(eth)) || is_multicast(eth.h_source))
		return 0;
	struct tagged tagged = read_tagged(skb);
	struct source_key key = source_of(&eth, &tagged);
	int locks = is_gratuitous_arp(skb, eth.h_dest, &tagged);
	__u64 now = bpf_ktime_get_coarse_ns();
	struct source *known = bpf_map_lookup_elem(&sources, &key);
	int lasts = known && is_within(now, known->sent_ns, SOURCE_IDLE_NS);

	if (lasts && !locks && is_within(now, known->sent_ns, SOURCE_RENEW_NS))
		return 0;
	if (!known) {
		struct source source = {.sent_ns = now, .locked_until_ns = locks ? now + SOURCE_LOCK_NS : 0};

		/* Where there is no room at all, its reflections pass. */
		bpf_map_update_elem(&sources, &key, &source, BPF_ANY);
		return 1;
	}
	if (locks)
		known->locked_until_ns = now + SOURCE_LOCK_NS;
	else if (!lasts)
		known->locked_until_ns = 0;
	known->sent_ns = now;
	return 1;
}

/* True if a member got back what the team sent. A host that moved is forgotten. A function of its own, as send_copy(). */
__attribute__((noinline)) int is_reflection(struct __sk_buff *skb)
{
	struct ethhdr eth;

	if (bpf_skb_load_bytes(skb, 0, &eth, sizeof(eth)))
		return 0;
	struct tagged tagged = read_tagged(skb);
	struct source_key key = source_of(&eth, &tagged);
	struct source *known = bpf_map_lookup_elem(&sources, &key);

	if (!known)
		return 0;
	__u64 now = bpf_ktime_get_coarse_ns();

	if (!is_within(now, known->sent_ns, SOURCE_IDLE_NS))
		return 0;
	if (now < known->locked_until_ns || !is_gratuitous_arp(skb, eth.h_dest, &tagged))
		return 1;
	bpf_map_delete_elem(&sources, &key);
	return 0;
}

#endif

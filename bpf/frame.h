/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* Reading headers of a frame. Offsets count from the destination address. */
#ifndef NICTEAM_FRAME_H
#define NICTEAM_FRAME_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/*
 * `len` bytes at `offset`: where they are if they lie in the linear part,
 * else copied to `copy`; NULL if the frame ends before. `len` is a constant.
 */
static __always_inline const void *header(struct __sk_buff *skb, __u32 offset, void *copy, __u32 len)
{
	const void *here = (const void *)(long)skb->data + offset;

	if (here + len <= (const void *)(long)skb->data_end)
		return here;
	return bpf_skb_load_bytes(skb, offset, copy, len) ? (void *)0 : copy;
}

/* Four bytes, lowest first, as a number. */
static __always_inline __u32 le32(__u32 bytes)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap32(bytes);
#else
	return bytes;
#endif
}

/* True if both are the same address. */
static __always_inline int same_mac(const __u8 *a, const __u8 *b)
{
	return !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]) | (a[4] ^ b[4]) | (a[5] ^ b[5]));
}

#endif

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* MurmurHash3, as crates/plan/src/hash/murmur.rs; a change there is a change here. */
#ifndef NICTEAM_MURMUR_H
#define NICTEAM_MURMUR_H

#include <linux/types.h>
#include <bpf/bpf_helpers.h>

static __always_inline __u32 rotate_left(__u32 word, __u32 bits)
{
	return word << bits | word >> (32 - bits);
}

static __always_inline __u32 murmur_add(__u32 hash, __u32 word)
{
	word = rotate_left(word * 0xcc9e2d51, 15) * 0x1b873593;
	return rotate_left(hash ^ word, 13) * 5 + 0xe6546b64;
}

static __always_inline __u32 murmur_finish(__u32 hash, __u32 last)
{
	hash ^= last;
	hash = (hash ^ hash >> 16) * 0x85ebca6b;
	hash = (hash ^ hash >> 13) * 0xc2b2ae35;
	return hash ^ hash >> 16;
}

#endif

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Choices without branches, for loops: the verifier follows each branch in each turn of a loop, and whatever it knows of a
 * number at the loop's beginning is a walk of its own through all of it. That is most of the time in which a team is set up.
 */
#ifndef NICTEAM_BRANCHLESS_H
#define NICTEAM_BRANCHLESS_H

#include <linux/types.h>
#include <bpf/bpf_helpers.h>

/* All bits if a number is below another one, and both below 2^31. */
static __always_inline __u32 below(__u32 a, __u32 b)
{
	__u32 bits = a - b;

	asm volatile("" : "+r"(bits)); /* or clang makes a branch of it */
	bits >>= 31;
	asm volatile("" : "+r"(bits)); /* or an arithmetic shift, which Linux 6.18 follows both ways */
	return -bits;
}

static __always_inline __u32 lesser(__u32 a, __u32 b)
{
	return a + ((b - a) & below(b, a));
}

/* Less `len` if it is not below. */
static __always_inline __u32 wrapped(__u32 at, __u32 len)
{
	return at - (len & below(len - 1, at));
}

/* 1 if two numbers are equal, else 0; they differ in their lower 31 bits. */
static __always_inline __u32 equal(__u32 a, __u32 b)
{
	return below((a ^ b) & 0x7fffffff, 1) & 1;
}

/* All bits if a number is below another one, and both below 2^63. */
static __always_inline __u64 below64(__u64 a, __u64 b)
{
	__u64 bits = a - b;

	asm volatile("" : "+r"(bits)); /* as in below() */
	bits >>= 63;
	asm volatile("" : "+r"(bits));
	return -bits;
}

/* The greater one of two below 2^63. */
static __always_inline __u64 greater64(__u64 a, __u64 b)
{
	return a + ((b - a) & below64(a, b));
}

/* A number below 2^31, and 1 for 0: what may be divided by. */
static __always_inline __u32 divisor(__u32 number)
{
	return number + equal(number, 0);
}

/* The same number, of which the verifier knows nothing any more; `unknown` is one of which it knows nothing. */
static __always_inline __u32 forgotten(__u32 number, __u32 unknown)
{
	asm volatile("" : "+r"(unknown));
	number ^= unknown;
	asm volatile("" : "+r"(number));
	return number ^ unknown;
}

#endif

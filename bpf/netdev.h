/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What the programs read of the kernel's own types: the state of a network device.
 *
 * It needs the kernel's types and kernel functions of Linux 6.2; only what is loaded there includes it.
 */
#ifndef NICTEAM_NETDEV_H
#define NICTEAM_NETDEV_H

#include <linux/types.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* net_device.state, as masks (Linux include/linux/netdevice.h, enum netdev_state_t, has the bits' numbers). */
#define LINK_STATE_START (1UL << 0) /* set up */
#define LINK_STATE_PRESENT (1UL << 1)
#define LINK_STATE_NOCARRIER (1UL << 2)

struct net_device {
	unsigned long state;
} __attribute__((preserve_access_index));

struct sk_buff {
	struct net_device *dev;
} __attribute__((preserve_access_index));

extern void *bpf_cast_to_kern_ctx(void *) __ksym;
extern void *bpf_rdonly_cast(const void *, __u32) __ksym;

#endif

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* Where what stands in a hello that the programs read or write (docs/hello.md, crates/wire/src/hello.rs). */
#ifndef NICTEAM_HELLO_H
#define NICTEAM_HELLO_H

#include <linux/if_ether.h>

#define TYPE_HELLO 0x88b5

#define HELLO_VERSION 14
#define HELLO_KIND 15
#define HELLO_PROBE 2
#define HELLO_ECHO 3
#define HELLO_LOST 6

/* Of a probe and its echo: its times. */
#define HELLO_DUE 62
#define HELLO_ARRIVED 70
#define HELLO_TIMES_END 78

/* Of a probe and its echo: what brings it back. */
#define HELLO_STAMP 30

/* With what a lost carrier is reported, and which member lost it. */
#define HELLO_LOST_TOKEN 22
#define HELLO_LOST_MAC 30

#endif

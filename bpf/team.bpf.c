// SPDX-License-Identifier: (MIT OR GPL-2.0-only)
/*
 * The programs of a team: what the stack sends finds its members, what a member
 * receives goes to the stack.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include "balance.h"
#include "buckets.h"
#include "constants.h"
#include "failover.h"
#include "frame.h"
#include "gaps.h"
#include "hash.h"
#include "lateness.h"
#include "lease.h"
#include "lost.h"
#include "maps.h"
#include "mending.h"
#include "plan.h"
#include "redundant.h"
#include "sources.h"
#include "stripe.h"

/* Beside a place: the frame itself goes there. */
#define LAST_COPY MAX_MEMBERS

static __always_inline int drop_unsent(void)
{
	struct tally *sums = team_tally();

	if (sums)
		sums->unsent++;
	return TC_ACT_SHOT;
}

/* As if it had been sent: who sends knows nothing of it. */
static __always_inline int count_withheld(void)
{
	struct tally *sums = team_tally();

	if (sums)
		sums->withheld++;
	return TC_ACT_STOLEN;
}

static __always_inline void count_sent(__u32 place, __u32 bytes)
{
	struct counters *sums = member_counters(place);

	if (sums) {
		sums->tx_frames++;
		sums->tx_bytes += bytes;
	}
}

static __always_inline void count_not_sent(__u32 place)
{
	struct counters *sums = member_counters(place);

	if (sums)
		sums->tx_drops++;
}

/*
 * Writes the member's addresses over those of the stack. All bytes are
 * written, kept ones too: a frame that goes to several members still carries
 * what the one before wrote.
 */
static __always_inline void rewrite(struct __sk_buff *skb, const struct plan_member *member, const struct macs *stack)
{
	struct macs out;

	out.words[0] = (stack->words[0] & member->keep.words[0]) | member->put.words[0];
	out.words[1] = (stack->words[1] & member->keep.words[1]) | member->put.words[1];
	out.words[2] = (stack->words[2] & member->keep.words[2]) | member->put.words[2];
	bpf_skb_store_bytes(skb, 0, &out, sizeof(out), 0);
}

/* Sends the frame by one member, which was chosen by this number, or if that has no carrier by another one. */
static __always_inline int send(struct __sk_buff *skb, const struct plan *plan, __u32 slot, __u32 place, __u32 number)
{
	struct macs macs;
	__u32 as_active = 0;

	/* Of members of a plan that stripes carrier.bpf.c takes care, and none of them is found healthy here. */
	if (!is_healthy(slot, place) && !(STRIPE && plan->choose == CHOOSE_STRIPE)) {
		place = failover_way(slot, place, number);
		as_active = place & AS_ACTIVE;
	}
	place = bounded_place(place);
	const struct plan_member *member = &plan->members[place];

	if (!member->ifindex)
		return drop_unsent();
	if (member->flags & MEMBER_REWRITE && !as_active) {
		if (bpf_skb_load_bytes(skb, 0, &macs, sizeof(macs)))
			return drop_unsent();
		rewrite(skb, member, &macs);
	}
	count_sent(place, skb->len);
	return bpf_redirect(member->ifindex, 0);
}

/* Sends by table[number % table_len]. */
static __always_inline int send_by(struct __sk_buff *skb, const struct plan *plan, __u32 slot, __u32 number)
{
	if (!plan->table_len)
		return drop_unsent();
	__u32 bucket = number % plan->table_len;

	asm volatile("" : "+r"(bucket)); /* as in bounded_place() */
	return send(skb, plan, slot, plan->table[bucket & (MAX_BUCKETS - 1)], number);
}

/*
 * Sends in turn. The count is this CPU's own, as the kernel's is (Linux 6.1
 * bond_main.c, bond_rr_gen_slave_id): CPUs do not wait for each other, and each
 * spreads its own frames evenly.
 */
static __always_inline int send_in_turn(struct __sk_buff *skb, const struct plan *plan, __u32 slot)
{
	struct tally *sums;

	if (frame_is_igmp(skb))
		return send(skb, plan, slot, plan->igmp, 0);
	if (!plan->packets_per_member)
		return send_by(skb, plan, slot, bpf_get_prandom_u32());
	sums = team_tally();
	if (!sums)
		return TC_ACT_SHOT;
	sums->round_robin++;
	return send_by(skb, plan, slot, (__u32)sums->round_robin / plan->packets_per_member);
}

/*
 * Sends a copy by one member, or, if it is the last, leaves the frame ready for
 * it. Returns its interface index, 0 if nobody has the place. `macs01` and
 * `macs2` are the stack's addresses.
 *
 * A function of its own, not inlined and not static: so the verifier walks it
 * once, not once for each member, and a team is set up in a fourth of the time.
 */
__attribute__((noinline)) __u32 send_copy(struct __sk_buff *skb, __u32 slot, __u32 place_and_last, __u64 macs01,
					  __u32 macs2)
{
	struct macs macs = {{macs01, macs01 >> 32, macs2}};
	const struct plan *plan = plan_in(slot);
	__u32 place = bounded_place(place_and_last);

	if (!plan->members[place].ifindex)
		return 0;
	const struct plan_member *member = &plan->members[place];

	rewrite(skb, member, &macs);
	if (place_and_last & LAST_COPY)
		count_sent(place, skb->len);
	else if (bpf_clone_redirect(skb, member->ifindex, 0))
		count_not_sent(place);
	else
		count_sent(place, skb->len);
	return member->ifindex;
}

/* A copy to every member but the last, to which the frame itself goes. A function of its own, as send_copy(). */
__attribute__((noinline)) int send_to_all(struct __sk_buff *skb, __u32 slot, __u32 all)
{
	struct macs macs;
	__u32 sent = 0;

	if (!all || bpf_skb_load_bytes(skb, 0, &macs, sizeof(macs)))
		return drop_unsent();
	__u64 macs01 = macs.words[0] | (__u64)macs.words[1] << 32;

	for (__u32 place = 0; place < MAX_MEMBERS; place++) {
		__u32 rest = all >> place;

		if (!(rest & 1))
			continue;
		if (rest == 1) {
			__u32 ifindex = send_copy(skb, slot, place | LAST_COPY, macs01, macs.words[2]);

			if (ifindex)
				return bpf_redirect(ifindex, 0);
			break;
		}
		sent |= send_copy(skb, slot, place, macs01, macs.words[2]);
	}
	/* The last one is not attached: the copies were all there was to send. */
	return sent ? TC_ACT_SHOT : drop_unsent();
}

/* What send_striped() says of a frame that is like any other. */
#define NOT_STRIPED -1

/* Puts a tag and a path's addresses into a frame that has room for the tag; the member's interface index, or 0. */
static __always_inline __u32 address_tagged(struct __sk_buff *skb, __u32 slot, const struct stripe_peer *peer,
					    __u32 path, __u16 number)
{
	const struct plan_member *sender = &plan_in(slot)->members[bounded_place(path)];
	struct tagged_head head = {.tag = bpf_htons(TYPE_RTAG), .sequence = bpf_htons(number)};

	__builtin_memcpy(head.dst, peer->receivers[bounded_place(path >> PATH_RECEIVER_SHIFT)].mac, ETH_ALEN);
	__builtin_memcpy(head.src, sender->path, ETH_ALEN);
	return bpf_skb_store_bytes(skb, 0, &head, sizeof(head), 0) ? 0 : sender->ifindex;
}

/*
 * Sends a frame by two paths to a peer, or by the only one, with a tag.
 * NOT_STRIPED: it goes as others do. TC_ACT_OK: it is a super-frame, which goes on to the
 * end behind the team device; on the way the kernel cuts it (punted_ingress).
 *
 * A function of its own, as send_copy().
 */
__attribute__((noinline)) int send_twice(struct __sk_buff *skb, __u32 slot, __u32 number)
{
	const struct stripe_peer *peer = peer_line(slot, number);

	if (!peer || !peer->takes_rtags || !is_redundant(skb, slot))
		return NOT_STRIPED;
	if (skb->gso_size)
		return TC_ACT_OK;
	struct redundant_stream *stream = bpf_map_lookup_elem(&stripe_streams, peer->team);

	if (!stream)
		return NOT_STRIPED;
	__u32 last = take_path(skb, slot, number, NO_PATH, RTAG_LEN);

	if (last == NO_PATH)
		return NOT_STRIPED;
	__u32 second = take_path(skb, slot, number, last, RTAG_LEN), ifindex, sent = 0;
	__u16 sequence = next_number(stream);

	note_sent(slot, number);
	if (bpf_skb_change_head(skb, RTAG_LEN, 0))
		return drop_unsent();
	if (second != NO_PATH) {
		ifindex = address_tagged(skb, slot, peer, last, sequence);
		if (ifindex && !bpf_clone_redirect(skb, ifindex, 0)) {
			count_sent(bounded_place(last), skb->len);
			sent = 1;
		} else if (ifindex) {
			count_not_sent(bounded_place(last));
		}
		last = second;
	}
	ifindex = address_tagged(skb, slot, peer, last, sequence);
	if (!ifindex)
		return sent ? TC_ACT_SHOT : drop_unsent();
	count_sent(bounded_place(last), skb->len);
	return bpf_redirect(ifindex, 0);
}

/* Sends by the path to a peer by which the frame arrives first. */
static __always_inline int send_once(struct __sk_buff *skb, const struct plan *plan, __u32 slot, __u32 number)
{
	const struct stripe_peer *peer = peer_line(slot, number);

	if (!peer)
		return NOT_STRIPED;
	int has_paths = peer->paths_len > 1;
	enum told told = plan->sack_delay_ns && has_paths ? tell_gap(skb, plan->sack_delay_ns) : NO_REPORT;

	if (told == TOLD_NOTHING)
		return count_withheld();
	__u32 with = peer->keeps_flows ? flow_of(skb) : 0;

	if (has_paths && mends(skb, number, told == TOLD_ALL))
		with |= WITH_HEARD;
	__u32 path = take_path(skb, slot, number, with ? with : NO_PATH, 0);

	if (path == NO_PATH)
		return NOT_STRIPED;
	const struct plan_member *sender = &plan->members[bounded_place(path)];

	if (!sender->ifindex || !address_path(skb, slot, number, path))
		return drop_unsent();
	note_sent(slot, number);
	count_sent(bounded_place(path), skb->len);
	return bpf_redirect(sender->ifindex, 0);
}

/* Sends by the path to a peer by which the frame arrives first, to groups by one member a segment. */
static __always_inline int send_striped(struct __sk_buff *skb, const struct plan *plan, __u32 slot, int own)
{
	__u8 copy[2 * ETH_ALEN];
	const __u8 *macs = header(skb, 0, copy, sizeof(copy));

	if (!macs)
		return NOT_STRIPED;
	if (is_multicast(macs))
		return send_to_all(skb, slot, plan->all);
	const struct stripe_entry *peer = own ? peer_of(slot, macs) : 0;

	if (!peer)
		return NOT_STRIPED;
	__u32 number = peer->number;

	if (plan->balance & STRIPE_REDUNDANT) {
		int action = send_twice(skb, slot, number);

		if (action != NOT_STRIPED)
			return action;
	}
	return send_once(skb, plan, slot, number);
}

/*
 * Sends by table[hash % table_len]. In balance-tlb and balance-alb so goes what
 * may be balanced, in stripe what is not striped, perhaps by another number, and all of it is counted; what is
 * left to the control side goes on to the end behind the team device.
 *
 * One function for both, so that the hash is in the program once: the verifier's
 * walk through it takes most of the time in which a team is set up.
 */
static __always_inline int send_by_hash(struct __sk_buff *skb, const struct plan *plan, __u32 slot)
{
	__u32 number = 0, bucket = MAX_BUCKETS, place = plan->other;
	int own = 0, hashed = 1, balanced = 1;

	if (plan->choose & CHOOSE_BY_KIND) {
		enum kind kind = frame_kind(skb, plan, &number, &own);

		/* Without a process that answers, it leaves as it is, and says the team's address. */
		if (own && ((kind == KIND_ARP && plan->balance & BALANCE_PUNT) ||
			    (kind == KIND_NDISC && plan->balance & BALANCE_PUNT_ND)) &&
		    !(plan->lease_ns && lease_is_over(slot)))
			return TC_ACT_OK;
		if (STRIPE && plan->choose == CHOOSE_STRIPE) {
			int action = send_striped(skb, plan, slot, own);

			if (action != NOT_STRIPED)
				return action;
		}
		balanced = kind == KIND_BALANCED;
		hashed = balanced && !(plan->balance & BALANCE_DESTINATION);
	} else if (!plan->table_len) {
		return drop_unsent();
	}
	if (hashed)
		number = frame_hash(skb, plan->policy);
	if (balanced && plan->table_len) {
		bucket = number % plan->table_len;
		asm volatile("" : "+r"(bucket)); /* as in bounded_place() */
		bucket &= MAX_BUCKETS - 1;
		place = plan->table[bucket];
	}
	if (plan->balance & BALANCE_COUNT)
		count_load(skb, bucket);
	return send(skb, plan, slot, place, bucket < MAX_BUCKETS ? number : 0);
}

/* Sends by the member of the frame's bucket (Open vSwitch). */
static __always_inline int send_by_bucket(struct __sk_buff *skb, const struct plan *plan, __u32 slot)
{
	if (!plan->table_len)
		return drop_unsent();
	__u32 bucket = bounded_bucket(bucket_of(skb, plan->policy, plan->balance & BUCKETS_BY_FLOW));
	__u32 place = plan->table[bucket];

	if (place == NO_PLACE)
		place = give_bucket(slot, bucket);
	if (buckets.members[bucket] != place + 1)
		buckets.members[bucket] = place + 1;
	count_load(skb, bucket);
	return send(skb, plan, slot, place, bucket);
}

/* One more than the place by which the frame's queue leaves, 0 if by none (bond_slave_override). */
static __always_inline __u32 queue_place(struct __sk_buff *skb, const struct plan *plan)
{
	__u32 queue = skb->queue_mapping;

	if (queue >= QUEUES)
		return 0;
	/* As in bounded_place(): Linux 6.1 does not see that the comparison was about this register. */
	asm volatile("" : "+r"(queue));
	return plan->queues[queue & (QUEUES - 1)];
}

/* On the team device: what the stack sends. */
SEC("tc")
int team_egress(struct __sk_buff *skb)
{
	__u32 slot = active_slot();
	const struct plan *plan = plan_in(slot);
	__u32 choose = plan->choose;

choose:
	switch (choose) {
	case CHOOSE_ONE:
		return send(skb, plan, slot, plan->table[0], 0);
	case CHOOSE_HASH_OR_ALL:
		if (is_resolution(skb))
			goto all;
		/* fall through */
	case CHOOSE_HASH:
	case CHOOSE_BALANCE:
	case CHOOSE_STRIPE:
		return send_by_hash(skb, plan, slot);
	case CHOOSE_ROUND_ROBIN:
		return send_in_turn(skb, plan, slot);
	case CHOOSE_ALL:
all:
		return send_to_all(skb, slot, plan->all);
	default:
		/* Here, where plans without a lease and without queues never come. */
		if (choose & CHOOSE_LEASED && lease_is_over(slot))
			return drop_unsent();
		if (choose & CHOOSE_QUEUED) {
			__u32 place = queue_place(skb, plan);

			if (place)
				return send(skb, plan, slot, place - 1, 0);
		}
		if (!(choose & (CHOOSE_LEASED | CHOOSE_QUEUED))) {
			if (choose & CHOOSE_BUCKETS)
				return send_by_bucket(skb, plan, slot);
			if (!(choose & CHOOSE_SOURCES))
				return drop_unsent();
			note_source(skb);
			choose = plan->behind;
			/* The verifier is to see that this happens once. */
			asm volatile("" : "+r"(choose));
			choose &= ~CHOOSE_SOURCES;
			goto choose;
		}
		/* Nor does clang compute the next line before the switch. */
		asm volatile("" : "+r"(choose));
		choose &= ~(CHOOSE_LEASED | CHOOSE_QUEUED);
		goto choose;
	}
}

/* 01:80:c2:00:00:00 to 0f, which no bridge forwards (IEEE 802.1Q, table 8-1). */
static __always_inline int is_link_local(struct __sk_buff *skb)
{
	__u8 copy[ETH_ALEN];
	const __u8 *dst = header(skb, 0, copy, sizeof(copy));

	return dst && dst[0] == 0x01 && dst[1] == 0x80 && dst[2] == 0xc2 && !dst[3] && !dst[4] && dst[5] <= 0x0f;
}

/* Gives a frame for a member's own address to the team; 0: it is none. */
static __always_inline int take_own(struct __sk_buff *skb, const struct plan *plan, __u32 place)
{
	const struct plan_member *member = &plan->members[place];
	__u8 copy[ETH_ALEN];
	const __u8 *dst = header(skb, 0, copy, sizeof(copy));

	if (!dst || !same_mac(dst, member->own))
		return 0;
	return !bpf_skb_store_bytes(skb, 0, plan->team, ETH_ALEN, 0);
}

/*
 * True if the team gets a frame that a member of balance-slb received: of those for groups what the active member
 * receives, or the one that stands in for it, and of all no reflections. A function of its own, as send_copy().
 */
__attribute__((noinline)) int take_unmoved(struct __sk_buff *skb, __u32 slot, __u32 place)
{
	const struct plan *plan = plan_in(slot);
	__u32 flags = plan->members[bounded_place(place)].flags;
	__u8 copy[ETH_ALEN];
	const __u8 *dst = header(skb, 0, copy, sizeof(copy));

	if (!dst)
		return 0;
	if (is_multicast(dst) && !(flags & MEMBER_GROUPS) && !takes_groups_now(slot, plan, place))
		return 0;
	return !is_reflection(skb);
}

/* True if it is sent to the team's address, or to a group. */
static __always_inline int for_team(struct __sk_buff *skb, const struct plan *plan)
{
	__u8 copy[ETH_ALEN];
	const __u8 *dst = header(skb, 0, copy, sizeof(copy));

	return !dst || is_multicast(dst) || same_mac(dst, plan->team);
}

/*
 * True if the team gets a frame for which the member in this place stands in: all of the active member, if
 * that was left, and those for the own address of another one, to which the team's is given.
 */
static __always_inline int stands_in(struct __sk_buff *skb, const struct plan *plan, __u32 slot, __u32 place)
{
	if (plan->failover & FAILOVER_OWN && !for_team(skb, plan) && take_for_lost(skb, slot, place))
		return 1;
	return !(plan->members[place].flags & MEMBER_DELIVER) && receives_now(slot, plan, place);
}

/* Gives a frame with a redundancy tag to the team, if it is the first of two. */
static __always_inline int deliver_once(struct __sk_buff *skb, __u32 slot, struct counters *sums)
{
	__u32 bytes = skb->len;
	int found = take_once(skb, slot);

	if (found == RECOVERED_UNUSABLE) {
		sums->rx_drops++;
		return TC_ACT_SHOT;
	}
	sums->rx_frames++;
	sums->rx_bytes += bytes;
	return found == RECOVERED_DUPLICATE ? TC_ACT_SHOT : bpf_redirect(control.team_ifindex, BPF_F_INGRESS);
}

/* On each member: what it receives. */
SEC("tc")
int member_ingress(struct __sk_buff *skb)
{
	__u32 ifindex = skb->ifindex;
	const struct place *member = bpf_map_lookup_elem(&places, &ifindex);
	__u32 slot = active_slot();
	const struct plan *plan = plan_in(slot);

	if (is_link_local(skb)) {
		if (member && plan->lease_ns && answer_partner(skb, member->place, plan->lease_ns))
			return bpf_redirect(ifindex, 0);
		return TC_ACT_OK;
	}
	if (!member) /* on its way out of the team */
		return TC_ACT_OK;
	__u32 place = bounded_place(member->place);
	struct counters *sums = member_counters(place);

	if (!sums)
		return TC_ACT_SHOT;
	__u32 flags = plan->members[place].flags;
	enum received received = RECEIVED_UNICAST;
	__u32 path = NO_PATH;

	if (STRIPE && flags & MEMBER_STRIPES) {
		if (skb->protocol == bpf_htons(TYPE_HELLO)) {
			enum reflected reflected = reflect(skb, plan->members[place].path, slot);

			if (reflected == REFLECTED)
				return bpf_redirect(ifindex, 0);
			if (reflected == REFLECTED_TOO_MANY) {
				sums->rx_drops++;
				return TC_ACT_SHOT;
			}
			if (made_for.lost && take_lost(skb, slot, place))
				return TC_ACT_SHOT;
			take_echo(skb, slot, place);
			return TC_ACT_OK; /* for the control side, which listens */
		}
		received = judge_source(skb, plan, slot, place, &path);
	}
	int taken = received == RECEIVED_GROUP ||
		    (received != RECEIVED_COPY && flags & MEMBER_OWN && take_own(skb, plan, place));

	if (STRIPE && without_carrier && !taken && received == RECEIVED_UNICAST && flags & MEMBER_STRIPES)
		taken = inherit(skb, slot, place);
	if (LOOKS_AT_CARRIERS && plan->failover & FAILOVER_ACTIVE && !taken && stands_in(skb, plan, slot, place))
		taken = 1;
	if (received == RECEIVED_COPY || (!taken && !(flags & MEMBER_DELIVER))) {
		/* Here, where what other members deliver never comes. */
		if (!(flags & MEMBER_UNMOVED) || !take_unmoved(skb, slot, place)) {
			sums->rx_drops++;
			return TC_ACT_SHOT;
		}
	}
	if (STRIPE && path != NO_PATH)
		note_path_heard(slot, path);
	if (STRIPE && flags & MEMBER_STRIPES && skb->protocol == bpf_htons(TYPE_RTAG))
		return deliver_once(skb, slot, sums);
	if (STRIPE && path != NO_PATH && plan->sack_delay_ns && skb->len >= SEGMENT_SHORTEST)
		note_arrival(skb, path);
	sums->rx_frames++;
	sums->rx_bytes += skb->len;
	return bpf_redirect(control.team_ifindex, BPF_F_INGRESS);
}

/*
 * On the end behind the team device: what is punted has been seen by the control
 * side. Everything else was a super-frame that is to go twice, and was cut.
 */
SEC("tc")
int punted_ingress(struct __sk_buff *skb)
{
	__u32 slot = active_slot();
	const struct plan *plan = plan_in(slot);
	__u8 copy[2 * ETH_ALEN];

	if (!STRIPE || !(plan->balance & STRIPE_REDUNDANT) || is_resolution(skb))
		return TC_ACT_SHOT;
	const __u8 *macs = header(skb, 0, copy, sizeof(copy));
	const struct stripe_entry *peer = macs ? peer_of(slot, macs) : 0;

	if (!peer)
		return drop_unsent();
	__u32 number = peer->number;
	int action = send_twice(skb, slot, number);

	if (action == NOT_STRIPED || action == TC_ACT_OK) /* uncut: then it goes once */
		action = send_once(skb, plan, slot, number);
	return action == NOT_STRIPED ? drop_unsent() : action;
}

char _license[] SEC("license") = "Dual MIT/GPL";

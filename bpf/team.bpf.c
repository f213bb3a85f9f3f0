// SPDX-License-Identifier: (MIT OR GPL-2.0-only)
/*
 * The programs of a team: what the stack sends passes the team device, and finds its members at the end behind
 * it; what a member receives goes by that end to the team device.
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
#include "lease.h"
#include "lost.h"
#include "maps.h"
#include "skb_fields.h"
#include "plain.h"
#include "plan.h"
#include "queueing_delay.h"
#include "receive.h"
#include "redundant.h"
#include "retransmissions.h"
#include "send.h"
#include "sources.h"
#include "stripe.h"

/*
 * Sends by table[hash % table_len]. In balance-tlb and balance-alb so goes what
 * may be balanced, in stripe what is not striped, perhaps by another number, and all of it is counted; what is
 * left to the control side goes there.
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
		    !(plan->lease_ns && lease_is_over(slot)) && punt(skb))
			return PUNTED;
		if (STRIPE && plan->choose == CHOOSE_STRIPE) {
			int action = send_striped(skb, plan, slot, own);

			if (action != NOT_STRIPED)
				return action;
			if (plan->plain_kind && kind == KIND_BALANCED) {
				__u32 chosen = plain_place(skb, slot);

				if (chosen < MAX_MEMBERS)
					return send(skb, plan, slot, chosen, chosen);
			}
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
	if (STRIPE && plan->choose == CHOOSE_STRIPE && plan->plain_kind)
		take_wire(skb, slot, place);
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

/* One more than the place by which the frames of a queue leave, 0 if by none (bond_slave_override). */
static __always_inline __u32 queue_place(__u32 queue, const struct plan *plan)
{
	if (queue >= QUEUES)
		return 0;
	/* As in bounded_place(): Linux 6.1 does not see that the comparison was about this register. */
	asm volatile("" : "+r"(queue));
	return plan->queues[queue & (QUEUES - 1)];
}

/* On the team device, while a plan has queues: what the stack sends is on its way to the end behind. */
SEC("tc")
int team_egress(struct __sk_buff *skb)
{
	put_queue(skb);
	return TC_ACT_UNSPEC;
}

/* On the end behind the team device: what the stack sent. */
SEC("tc")
int behind_ingress(struct __sk_buff *skb)
{
	__u32 slot = active_slot();
	const struct plan *plan = plan_in(slot);
	__u32 choose = plan->choose;

	restore_priority(skb);

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
			__u32 place = queue_place(take_queue(skb), plan);

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

/* On each member: what it receives. */
SEC("tc")
int member_ingress(struct __sk_buff *skb)
{
	__u32 ifindex = skb->ifindex;
	const struct place *member = bpf_map_lookup_elem(&places, &ifindex);
	__u32 slot = active_slot();
	const struct plan *plan = plan_in(slot);

	if (is_for_port(skb)) {
		if (member && plan->lease_ns && answer_partner(skb, member->place, plan->lease_ns))
			return bpf_redirect(ifindex, 0);
		return TC_ACT_UNSPEC;
	}
	if (!member) /* on its way out of the team */
		return TC_ACT_UNSPEC;
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
			return TC_ACT_UNSPEC; /* for the control side, which listens */
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
	if (STRIPE && path == NO_PATH && plan->plain_kind && take_plain(skb, slot) == TOLD_NOTHING)
		return count_withheld();
	sums->rx_frames++;
	sums->rx_bytes += skb->len;
	return bpf_redirect(control.behind_ifindex, 0);
}

char _license[] SEC("license") = "Dual MIT/GPL";

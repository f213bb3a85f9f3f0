//! One-sided striping: frames to hosts, and next hops, that do not stripe, by several members.
//!
//! A *plain host* is an Ethernet address that is no peer's: a host without nicteam, or a router with whatever lies
//! behind it. Its switch port takes frames from all of our members, so one connection may use them all: only the sender
//! has to do something for it. Each frame leaves with its member's own source address, so that each address stays at
//! one port of the switch, and with the host's destination address. What leaves so: unicast IP that balance-alb would
//! balance, TCP alone or all of it (`stripe_plain`), where at least two members may be used
//! ([`super::Plain::members`]). Everything else goes by balance-alb's table.
//!
//! **Which member.** A host has a *home*, one of the members that may be used, and a *width*: the members from
//! home on, in turn, that are used towards it. A frame leaves by the one of these by which it is sent first
//! (transmit backlog, and the time that it takes on the wire), of equal ones by the next in turn. A flow that takes less than
//! most of a member keeps the one that it has while that is free at most a millisecond later than the best one, and
//! until it pauses; so only what needs more than one member is striped frame by frame (as in `flows.rs` of peers, by the same
//! numbers). How many members are of use to a host nobody says: it is tried (`width.rs`).
//!
//! **Width.** Looked at once in a window, which lasts 20 ms and four of the host's round trips, by the frame that ends it, from what the host acknowledged in the window, from round trips
//! and from our members' use ([`super::senders`]). Members *gain* something as long as what those before, from home on, carry, and a fourth of
//! what the last one carries, is acknowledged; so many are *proven*, the first one always. A *queue beyond ours* is seen if at least three
//! round trips in the window each took longer than the connection's shortest of the last 10 s, and than that and our own backlog
//! at the time when the frame left, by 2 ms and a fourth of the shortest. Of connections that send little, and of frames that left before
//! the last trial began, none counts.
//!
//! - A host that is new begins with all members, of which one is proven: a connection's slow start is not to end at one member's rate.
//! - While there are more members than proven ones, that is a *trial*: a window lasts 5 ms and four round trips. Where it sees
//!   a queue beyond ours: back to the proven ones, and no trial for a second; each time twice as long, up to 64 s. Another one that is
//!   proven makes it a second again. Where no queue is seen the trial goes on: a connection may be slow to grow.
//! - All used members are busy: one more is tried, unless that is held off.
//! - Three windows in a row see a queue beyond ours, and not all used members are busy, nor do all gain something: the host has become
//!   slower, or shares its port. As many as gain something, and held as above. A window that sees no such queue ends the row.
//! - A host that uses one member, and gets less than four fifths of it though it is busy, shares it with others. If another
//!   member has room for what it gets, that is its home from now on.
//!
//! A host that nothing was sent to for 30 s begins anew. Hosts have a bucket each by their address; one whose bucket
//! is another's, to which something was sent in the last second, goes by balance-alb's table. A host is in use whatever goes to it that balance-alb would balance.
//!
//! Frames to peers, and frames by balance-alb's table, add to the backlogs of our members, too, and make them busy.
//!
//! **What comes back.** Connections have one of two neighbouring buckets each by their flow's number, as in [`super::gaps`]: the one that is
//! their own, or the one that was used less lately; one that sends data takes it over from another. Of each the last frames are remembered, and the members that carried them. The acknowledgements that come in say what was
//! delivered and, by one frame at a time that was not sent again, how long a round trip took. A segment that begins before
//! the end of what was sent already was sent again: it counts for the member that carried the original ([`PlainMember`]), and leaves by another
//! one, if there is one, as if that one's transmit backlog were longer by [`super::limits::LEAD`].
//!
//! **Order.** A plain receiver reports each gap that unlike queues make, and the sender's stack would take the missing
//! segments for lost. So the team treats such a report as it treats our own reports to a peer (`gaps.rs`, with the same
//! `sack_delay`): it removes a younger gap from the report, and suppresses an acknowledgement that says nothing else.
//! That concerns the reports of hosts to which it sent by several members in the last 100 ms. The connection shows
//! which host that is, else the address.
//!
//! On eBPF a member without carrier counts as one with [`super::limits::LEAD`] more transmit backlog, too. Mirrored in `bpf/plain.h`; a
//! change here is a change there.

mod choosing;
mod counts;
mod flows;
mod hosts;
mod look;
mod report;
pub(super) mod state;
mod trip;
mod width;

pub use report::{PlainHost, PlainMember, PlainReport};

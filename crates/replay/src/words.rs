//! Plans and inputs in a line each, for people.

use std::fmt::Write as _;

use nicteam_events::Input;
use nicteam_machine::{MemberId, MemberLink};
use nicteam_options::Config;
use nicteam_plan::{Choose, Plan, Receive};
use nicteam_wire::{Frame, Hello, Mac, SlowPdu, ethertype};

/// The most characters of a line.
const LONGEST: usize = 400;
/// The most entries of a table that are named.
const NAMED: usize = 16;

/// A plan.
pub(super) fn of_plan(plan: &Plan) -> String {
    let mut line = format!("plan {}: {}", plan.generation, choosing(&plan.choose));
    for member in &plan.members {
        let receives = match member.receive {
            Receive::Deliver => "delivers",
            Receive::Drop => "drops",
            Receive::DeliverAnd { .. } => "delivers for another, too",
            Receive::Own { .. } => "delivers its own",
            Receive::DropIfMoved { .. } => "delivers what is not its own",
        };
        let _ = write!(line, "; {:?} {receives}", member.id);
    }
    cut(line)
}

fn choosing(choose: &Choose) -> String {
    match choose {
        Choose::Nobody => "nobody sends".to_owned(),
        Choose::One(member) => format!("{member:?} sends"),
        Choose::Hash { policy, table } => format!("{policy} over {}", members(table)),
        Choose::HashOrAll { policy, table } => format!("{policy} over {}, neighbours by all", members(table)),
        Choose::RoundRobin { members: all, packets_per_member, .. } => {
            format!("{} in turn, {packets_per_member} frames each", members(all))
        }
        Choose::All(all) => format!("all of {all:?} send"),
        Choose::Balance(balance) => {
            format!("buckets over {}, active {:?}", shares(balance.table.iter().copied()), balance.active)
        }
        Choose::Buckets(buckets) => {
            let given = buckets.table.iter().filter_map(|member| *member);
            format!("buckets over {}, enabled {}", shares(given), members(&buckets.enabled))
        }
        Choose::Stripe(stripe) => {
            let paths: usize = stripe.peers.iter().map(|peer| peer.paths.len()).sum();
            let senders: Vec<MemberId> = stripe.senders.iter().map(|sender| sender.id).collect();
            format!("striped by {} to {} peers by {paths} paths", members(&senders), stripe.peers.len())
        }
    }
}

fn members(members: &[MemberId]) -> String {
    let named: Vec<String> = members.iter().take(NAMED).map(|member| format!("{member:?}")).collect();
    let more = if members.len() > NAMED { " ..." } else { "" };
    named.join(" ") + more
}

/// How many buckets each member has.
fn shares(buckets: impl Iterator<Item = MemberId>) -> String {
    let mut counts = std::collections::BTreeMap::<MemberId, usize>::new();
    buckets.for_each(|member| *counts.entry(member).or_default() += 1);
    let counts: Vec<String> = counts.iter().map(|(member, count)| format!("{member:?}*{count}")).collect();
    counts.join(" ")
}

/// What a team is told.
pub(super) fn of_input(input: &Input<'_>) -> String {
    cut(match input {
        Input::Identity(identity) => format!("identity {:#x}", identity.number),
        Input::MarkProbes(mark) => format!("probes are marked {mark:#x}"),
        Input::BeginMembers => "members begin to join".to_owned(),
        Input::Remember(answer, silence) => {
            format!("an earlier process spoke for {:?}; its partner was heard {silence:?} ago", answer.member)
        }
        Input::RememberActive(device) => format!("{device} was the active member"),
        Input::MembersComplete => "all members have joined".to_owned(),
        Input::AddMember(id, name, link) => format!("{name} joins as {id:?}, {}", words_of_link(link)),
        Input::RemoveMember(id) => format!("{id:?} leaves"),
        Input::RenameMember(id, name) => format!("{id:?} is {name} now"),
        Input::EnableMember(id, enable) => format!("{id:?} is {}", if *enable { "enabled" } else { "disabled" }),
        Input::Activate(id) => format!("{id:?} is to be active"),
        Input::Migrate(bucket, to) => format!("bucket {bucket} goes to {to:?}"),
        Input::Config(config) => format!("options {}", of_config(config)),
        Input::Links(links) => {
            let links = links.iter().map(|(id, link)| format!("{id:?} {}", words_of_link(link)));
            format!("links: {}", links.collect::<Vec<_>>().join("; "))
        }
        Input::Frame(id, frame) => format!("{id:?} hears {}", words_of_frame(frame)),
        Input::Punted(frame) => format!("the stack sends {}", words_of_frame(frame)),
        Input::Timeout => "a deadline".to_owned(),
        Input::Traffic(traffic) => {
            let counts =
                traffic.iter().map(|(id, of)| format!("{id:?} sent {} received {}", of.tx_frames, of.rx_frames));
            format!("frames: {}", counts.collect::<Vec<_>>().join("; "))
        }
        Input::Groups(groups) => format!("{} multicast groups", groups.len()),
        Input::Notes(notes) => format!("notes of {} addresses of peers", notes.len()),
        Input::Plain(report) => {
            let hosts =
                report.hosts.iter().map(|of| format!("{} by {} {} Mbit/s", of.mac, of.width, of.delivered_mbps));
            let members = report.members.iter().map(|of| format!("{:?} {} of {}", of.id, of.resent, of.sent));
            let (hosts, members): (Vec<_>, Vec<_>) = (hosts.collect(), members.collect());
            format!("plain hosts: {}; sent again: {}", hosts.join(", "), members.join(", "))
        }
        Input::Loads(loads) => {
            let used = loads.buckets.iter().filter(|load| **load != 0).count();
            format!(
                "loads of {used} buckets, {} bytes in all",
                loads.buckets.iter().fold(0, |sum, of| of.saturating_add(sum))
            )
        }
        Input::Sources(sources) => format!("{} sources", sources.len()),
        Input::Addresses(addresses) => {
            let addresses = addresses.iter().map(|(vlan, address)| match vlan {
                0 => address.to_string(),
                vlan => format!("{address} in VLAN {vlan}"),
            });
            format!("addresses {}", addresses.collect::<Vec<_>>().join(", "))
        }
        Input::Subnets(subnets) => {
            let subnets = subnets.iter().map(|subnet| format!("{}/{}", subnet.address, subnet.prefix_len));
            format!("subnets {}", subnets.collect::<Vec<_>>().join(", "))
        }
        Input::Mac(mac) => format!("the team has the address {mac}"),
        Input::MemberMac(id, mac) => format!("{id:?} has {mac} of its own"),
    })
}

/// The options that a configuration has other than the default; keys are stand-ins.
pub(super) fn of_config(config: &Config) -> String {
    let defaults = Config::default().shown_options();
    let shown = config.shown_options().into_iter().filter(|option| !defaults.contains(option));
    let options: Vec<String> = shown.map(|(name, value)| format!("{name}={value}")).collect();
    if options.is_empty() { "as by default".to_owned() } else { options.join(" ") }
}

fn words_of_link(link: &MemberLink) -> String {
    let carrier = if link.carrier { "carrier" } else { "no carrier" };
    match link.speed_mbps {
        Some(speed) => format!("{carrier}, {speed} Mbit/s"),
        None => carrier.to_owned(),
    }
}

fn words_of_frame(bytes: &[u8]) -> String {
    let Ok(frame) = Frame::parse(bytes) else { return format!("{} bytes that are no frame", bytes.len()) };
    let src = frame.src();
    match frame.ethertype() {
        ethertype::HELLO => match Hello::of_frame(&frame) {
            Some(Ok(hello)) => format!(
                "a hello of {src}: {:?} {} of system {:#x}, member {}, stamp {:#x}",
                hello.kind, hello.sequence, hello.system, hello.place, hello.stamp
            ),
            _ => format!("a hello of {src} that is malformed"),
        },
        ethertype::SLOW => match SlowPdu::decode(frame.payload()) {
            Ok(SlowPdu::Lacp(pdu)) => {
                format!("a LACPDU of {src}: actor {:?}, partner {:?}", pdu.actor, pdu.partner)
            }
            Ok(SlowPdu::Marker(_)) => format!("a marker of {src}"),
            _ => format!("a slow protocol's frame of {src}"),
        },
        ethertype::ARP => format!("ARP of {src} to {}", frame.dst()),
        _ if frame.dst() == Mac::CISCO_GROUP => format!("PAgP, or the like, of {src}"),
        other => format!("a frame of {src} to {}, EtherType {other:#06x}, {} bytes", frame.dst(), bytes.len()),
    }
}

fn cut(mut line: String) -> String {
    if let Some((end, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(end);
        line.push_str("...");
    }
    line
}

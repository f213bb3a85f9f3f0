//! Inputs as bytes. No key and no secret is ever among them.
//!
//! Of an identity the number is written alone. A key is written as a stand-in that says which of the keys seen so far it
//! is, and of a hello with tags, which follow from keys, the tags are zeros: what a team made of them is noted beside
//! (`nicteam_machine::Source`).

use std::borrow::Cow;
use std::time::Duration;

use nicteam_events::{Group, Identity, Input, Subnet, Traffic};
use nicteam_lacp::Answer;
use nicteam_machine::bytes::{Reader, Unreadable, put_address, put_bytes, put_member, put_number, put_text};
use nicteam_machine::{Duplex, MemberId, MemberLink, MemberSet};
use nicteam_options::{Config, ConfigOption};
use nicteam_plan::Loads;
use nicteam_plan::stripe::{Note, PlainHost, PlainMember, PlainReport};
use nicteam_wire::{Hello, LacpState, Mac, PortInfo, Vlan, ethertype};

/// Keys of a recorded team, in the order in which it was told them. Printed as nothing.
#[derive(Clone, Default)]
pub struct Keys(Vec<String>);

impl Keys {
    /// What is written in the place of a key: a key itself, one for each that was seen.
    fn stand_in(&mut self, key: String) -> String {
        let place = self.0.iter().position(|known| *known == key).unwrap_or_else(|| {
            self.0.push(key);
            self.0.len() - 1
        });
        format!("stand-in-for-key-{}", place + 1)
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

/// Kinds that have slots of their own.
pub(super) const FRAME: u8 = 15;
pub(super) const TIMEOUT: u8 = 17;

/// The number of each kind of input in a recording. A number is never given to another kind.
pub(super) fn kind(input: &Input<'_>) -> u8 {
    match input {
        Input::Identity(_) => 1,
        Input::MarkProbes(_) => 2,
        Input::BeginMembers => 3,
        Input::Remember(..) => 4,
        Input::RememberActive(_) => 5,
        Input::MembersComplete => 6,
        Input::AddMember(..) => 7,
        Input::RemoveMember(_) => 8,
        Input::RenameMember(..) => 9,
        Input::EnableMember(..) => 10,
        Input::Activate(_) => 11,
        Input::Migrate(..) => 12,
        Input::Config(_) => 13,
        Input::Links(_) => 14,
        Input::Frame(..) => FRAME,
        Input::Punted(_) => 16,
        Input::Timeout => TIMEOUT,
        Input::Traffic(_) => 18,
        Input::Groups(_) => 19,
        Input::Notes(_) => 20,
        Input::Loads(_) => 21,
        Input::Sources(_) => 22,
        Input::Addresses(_) => 23,
        Input::Subnets(_) => 24,
        Input::Mac(_) => 25,
        Input::MemberMac(..) => 26,
        Input::Plain(_) => 27,
    }
}

/// Appends an input to these bytes.
pub(super) fn put(to: &mut Vec<u8>, input: &Input<'_>, keys: &mut Keys) {
    match input {
        Input::Identity(identity) => to.extend_from_slice(&identity.number.to_le_bytes()),
        Input::MarkProbes(mark) => to.extend_from_slice(&mark.to_le_bytes()),
        Input::BeginMembers | Input::MembersComplete | Input::Timeout => {}
        Input::Remember(answer, silence) => put_answer(to, answer, *silence),
        Input::RememberActive(device) => put_text(to, device),
        Input::AddMember(id, name, link) => {
            put_member(to, *id);
            put_text(to, name);
            put_link(to, *link);
        }
        Input::RenameMember(id, name) => {
            put_member(to, *id);
            put_text(to, name);
        }
        Input::RemoveMember(id) | Input::Activate(id) => put_member(to, *id),
        Input::EnableMember(id, enable) => {
            put_member(to, *id);
            to.push(u8::from(*enable));
        }
        Input::Migrate(bucket, id) => {
            to.push(*bucket);
            put_member(to, *id);
        }
        Input::Config(config) => put_config(to, config, keys),
        Input::Frame(id, frame) => {
            put_member(to, *id);
            put_frame(to, frame);
        }
        Input::Punted(frame) => put_frame(to, frame),
        Input::Mac(mac) => to.extend_from_slice(&mac.0),
        Input::MemberMac(id, mac) => {
            put_member(to, *id);
            to.extend_from_slice(&mac.0);
        }
        readings => put_readings(to, readings),
    }
}

/// The same of what the shell reads for a team.
fn put_readings(to: &mut Vec<u8>, readings: &Input<'_>) {
    match readings {
        Input::Links(links) => put_list(to, links, |to, (id, link)| {
            put_member(to, *id);
            put_link(to, *link);
        }),
        Input::Traffic(traffic) => put_list(to, traffic, |to, (id, traffic)| {
            put_member(to, *id);
            to.extend_from_slice(&traffic.tx_frames.to_le_bytes());
            to.extend_from_slice(&traffic.rx_frames.to_le_bytes());
        }),
        Input::Groups(groups) => put_list(to, groups, |to, group| {
            put_address(to, group.address);
            to.push(u8::from(group.igmp_v2));
        }),
        Input::Notes(notes) => put_list(to, notes, |to, note| {
            to.extend_from_slice(&note.mac.0);
            to.push(u8::from(note.sent));
            to.extend_from_slice(&note.heard.bits().to_le_bytes());
        }),
        Input::Plain(report) => put_plain(to, report),
        Input::Loads(loads) => put_loads(to, loads),
        Input::Sources(sources) => put_list(to, sources, |to, (mac, vlan)| {
            to.extend_from_slice(&mac.0);
            to.extend_from_slice(&vlan.to_le_bytes());
        }),
        Input::Addresses(addresses) => put_list(to, addresses, |to, (vlan, address)| {
            to.extend_from_slice(&vlan.to_le_bytes());
            put_address(to, *address);
        }),
        Input::Subnets(subnets) => put_list(to, subnets, |to, subnet| {
            put_list(to, &subnet.tags, |to, tag| {
                to.extend_from_slice(&tag.protocol.to_le_bytes());
                to.extend_from_slice(&tag.tci.to_le_bytes());
            });
            put_address(to, subnet.address);
            to.push(subnet.prefix_len);
        }),
        // The rest is no reading.
        _ => {}
    }
}

/// Reads an input of this kind.
pub(super) fn take(kind: u8, from: &mut Reader<'_>) -> Result<Input<'static>, Unreadable> {
    Ok(match kind {
        1 => Input::Identity(Identity { number: from.u64()?, secret: [0; 32] }),
        2 => Input::MarkProbes(from.u32()?),
        3 => Input::BeginMembers,
        4 => take_answer(from)?,
        5 => Input::RememberActive(Cow::Owned(from.text()?)),
        6 => Input::MembersComplete,
        7 => Input::AddMember(from.member()?, Cow::Owned(from.text()?), take_link(from)?),
        8 => Input::RemoveMember(from.member()?),
        9 => Input::RenameMember(from.member()?, Cow::Owned(from.text()?)),
        10 => Input::EnableMember(from.member()?, from.flag()?),
        11 => Input::Activate(from.member()?),
        12 => Input::Migrate(from.u8()?, from.member()?),
        13 => Input::Config(Box::new(take_config(from)?)),
        14 => Input::Links(Cow::Owned(from.list(3, |from| Ok((from.member()?, take_link(from)?)))?)),
        FRAME => Input::Frame(from.member()?, Cow::Owned(from.bytes()?.to_vec())),
        16 => Input::Punted(Cow::Owned(from.bytes()?.to_vec())),
        TIMEOUT => Input::Timeout,
        18 => Input::Traffic(Cow::Owned(
            from.list(17, |from| Ok((from.member()?, Traffic { tx_frames: from.u64()?, rx_frames: from.u64()? })))?,
        )),
        19 => Input::Groups(Cow::Owned(
            from.list(6, |from| Ok(Group { address: from.address()?, igmp_v2: from.flag()? }))?,
        )),
        20 => Input::Notes(Cow::Owned(from.list(11, |from| {
            let (mac, sent) = (from.mac()?, from.flag()?);
            Ok(Note { mac, sent, heard: MemberSet::from_bits(from.u32()?) })
        })?)),
        21 => Input::Loads(Box::new(take_loads(from)?)),
        22 => Input::Sources(Cow::Owned(from.list(8, |from| Ok((from.mac()?, from.u16()?)))?)),
        23 => Input::Addresses(from.list(7, |from| Ok((from.u16()?, from.address()?)))?),
        24 => Input::Subnets(from.list(7, take_subnet)?),
        25 => Input::Mac(from.mac()?),
        26 => Input::MemberMac(from.member()?, from.mac()?),
        27 => Input::Plain(Cow::Owned(take_plain(from)?)),
        other => return Err(Unreadable::new(format!("no input is of kind {other}: a later version wrote it"))),
    })
}

fn put_list<T>(to: &mut Vec<u8>, list: &[T], mut put: impl FnMut(&mut Vec<u8>, &T)) {
    put_number(to, list.len() as u64);
    list.iter().for_each(|one| put(to, one));
}

/// What is written of a link: carrier, duplex, and whether its speed is known, which then follows.
fn put_link(to: &mut Vec<u8>, link: MemberLink) {
    let duplex = match link.duplex {
        None => 0,
        Some(Duplex::Half) => 1,
        Some(Duplex::Full) => 2,
    };
    to.push(u8::from(link.carrier) | duplex << 1 | u8::from(link.speed_mbps.is_some()) << 3);
    put_number(to, link.speed_mbps.unwrap_or(0).into());
}

fn take_link(from: &mut Reader<'_>) -> Result<MemberLink, Unreadable> {
    let flags = from.u8()?;
    let speed = u32::try_from(from.number()?).map_err(|_| Unreadable::new("no link is so fast"))?;
    let duplex = match flags >> 1 & 3 {
        0 => None,
        1 => Some(Duplex::Half),
        _ => Some(Duplex::Full),
    };
    Ok(MemberLink { carrier: flags & 1 != 0, speed_mbps: (flags & 8 != 0).then_some(speed), duplex })
}

/// A frame without what follows from keys.
fn put_frame(to: &mut Vec<u8>, frame: &[u8]) {
    put_bytes(to, frame);
    if let Some(tags) = tags(frame) {
        let start = to.len() - frame.len();
        to[start..][tags].fill(0);
    }
}

/// Where the tags stand in a frame, if it is a hello that has some.
pub(super) fn tags(frame: &[u8]) -> Option<std::ops::Range<usize>> {
    let (header, payload) = frame.split_at_checked(HEADER)?;
    if header[12..] != ethertype::HELLO.to_be_bytes() {
        return None;
    }
    Hello::tags(payload).map(|tags| tags.start + HEADER..tags.end + HEADER)
}

/// Bytes of an Ethernet header.
const HEADER: usize = 14;

/// The options that are not the default's.
pub fn put_config(to: &mut Vec<u8>, config: &Config, keys: &mut Keys) {
    let defaults = Config::default().options();
    let differs = |(name, value): &(&str, String)| !defaults.contains(&(*name, value.clone()));
    let options: Vec<(&str, String)> = config.options_and_wish().into_iter().filter(differs).collect();
    put_number(to, options.len() as u64);
    for (name, value) in options {
        let is_secret = ConfigOption::named(name).is_none_or(ConfigOption::is_secret);
        put_text(to, name);
        put_text(to, &if is_secret { keys.stand_in(value) } else { value });
    }
}

/// The options of a configuration, with stand-ins for its keys.
pub fn take_config(from: &mut Reader<'_>) -> Result<Config, Unreadable> {
    let mut config = Config::default();
    for _ in 0..from.count(2)? {
        let (name, value) = (from.text()?, from.text()?);
        config.set(&name, &value).map_err(|error| Unreadable::new(format!("an option of the team: {error}")))?;
    }
    Ok(config)
}

fn put_answer(to: &mut Vec<u8>, answer: &Answer, silence: Duration) {
    let Answer { member, frame, partner } = answer;
    let PortInfo { system_priority, system, key, port_priority, port, state } = *partner;
    put_member(to, *member);
    put_bytes(to, frame);
    [system_priority, key, port_priority, port].iter().for_each(|of| to.extend_from_slice(&of.to_le_bytes()));
    to.extend_from_slice(&system.0);
    to.push(state.0);
    put_number(to, u64::try_from(silence.as_nanos()).unwrap_or(u64::MAX));
}

fn take_answer(from: &mut Reader<'_>) -> Result<Input<'static>, Unreadable> {
    let (member, frame) = (from.member()?, from.bytes()?.to_vec());
    let (system_priority, key, port_priority, port) = (from.u16()?, from.u16()?, from.u16()?, from.u16()?);
    let (system, state) = (from.mac()?, LacpState(from.u8()?));
    let partner = PortInfo { system_priority, system, key, port_priority, port, state };
    Ok(Input::Remember(Answer { member, frame, partner }, Duration::from_nanos(from.number()?)))
}

fn take_subnet(from: &mut Reader<'_>) -> Result<Subnet, Unreadable> {
    let tags = from.list(4, |from| Ok(Vlan { protocol: from.u16()?, tci: from.u16()? }))?;
    Ok(Subnet { tags, address: from.address()?, prefix_len: from.u8()? })
}

fn put_plain(to: &mut Vec<u8>, report: &PlainReport) {
    let PlainReport { hosts, members } = report;
    put_list(to, hosts, |to, PlainHost { mac, width, delivered_mbps, striped, held_ms }| {
        to.extend_from_slice(&mac.0);
        to.push(*width);
        to.push(u8::from(*striped));
        put_number(to, (*delivered_mbps).into());
        put_number(to, (*held_ms).into());
    });
    put_list(to, members, |to, PlainMember { id, sent, resent }| {
        put_member(to, *id);
        put_number(to, *sent);
        put_number(to, *resent);
    });
}

fn take_plain(from: &mut Reader<'_>) -> Result<PlainReport, Unreadable> {
    let number = |from: &mut Reader<'_>| {
        u32::try_from(from.number()?).map_err(|_| Unreadable::new("no rate and no time is so large"))
    };
    let hosts = from.list(10, |from| {
        let (mac, width, striped) = (from.mac()?, from.u8()?, from.flag()?);
        Ok(PlainHost { mac, width, striped, delivered_mbps: number(from)?, held_ms: number(from)? })
    })?;
    let member =
        |from: &mut Reader<'_>| Ok(PlainMember { id: from.member()?, sent: from.number()?, resent: from.number()? });
    Ok(PlainReport { hosts, members: from.list(3, member)? })
}

/// Of the buckets those that have carried something.
fn put_loads(to: &mut Vec<u8>, loads: &Loads) {
    let Loads { buckets, members, other } = loads;
    to.extend_from_slice(&other.to_le_bytes());
    let all = buckets.iter().zip(members).enumerate();
    let used: Vec<_> = all.filter(|(_, (load, member))| **load != 0 || member.is_some()).collect();
    put_list(to, &used, |to, (place, (load, member))| {
        put_number(to, *place as u64);
        to.push(member.map_or(u8::MAX, |member| member.index() as u8));
        to.extend_from_slice(&load.to_le_bytes());
    });
}

fn take_loads(from: &mut Reader<'_>) -> Result<Loads, Unreadable> {
    let mut loads = Loads { other: from.u64()?, ..Loads::default() };
    for _ in 0..from.count(10)? {
        let (place, member, load) = (from.number()?, from.u8()?, from.u64()?);
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        let (Some(of_load), Some(of_member)) = (loads.buckets.get_mut(place), loads.members.get_mut(place)) else {
            return Err(Unreadable::new(format!("no bucket has the number {place}")));
        };
        (*of_load, *of_member) = (load, MemberId::new(member.into()));
    }
    Ok(loads)
}

/// A team's address and configuration, with which it began.
pub(super) fn put_beginning(to: &mut Vec<u8>, config: &Config, mac: Mac, keys: &mut Keys) {
    to.extend_from_slice(&mac.0);
    put_config(to, config, keys);
}

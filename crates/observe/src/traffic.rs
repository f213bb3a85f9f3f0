//! What the links of bundles carry over a time: counters, TCP connections, and headers of a share of the frames.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nicteam_bundles::traffic::{Connection, FlowKey, Headers, Own, TCP, Way};
use nicteam_bundles::{Bundle, Rates};
use nicteam_netlink::inet_diag::{TcpSocket, TcpSockets};
use nicteam_netlink::{Link, Netlink};
use nicteam_sys::headers::Headers as Socket;
use nicteam_sys::packet::SendSocket;
use nicteam_sys::sniff::{Heard, Room, To};
use nicteam_sys::{Error, Result, process};
use nicteam_wire::{Arp, Mac};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{UsageWho, getrusage};

use crate::Sampler;

/// How to look.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// For how long.
    pub time: Duration,
    /// Ask by one ARP probe for each own address whether another host has it (RFC 5227); else nothing is sent.
    pub probes: bool,
}

/// What was seen.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Rates of all devices.
    pub rates: Rates,
    /// TCP connections of this network namespace that are not its own loopback.
    pub connections: Vec<Connection>,
    /// By the bundle's name; nothing where headers may not be read.
    pub headers: BTreeMap<String, Headers>,
    /// Addresses of each bundle's device and of the devices on it.
    pub addresses: BTreeMap<String, Vec<IpAddr>>,
    /// Processor time of this thread, as a share of the time.
    pub processor: f64,
    /// What could not be seen, each as a sentence.
    pub unseen: Vec<String>,
}

/// How often the share of frames is adjusted.
const TICK: Duration = Duration::from_millis(50);
/// Frames that are looked at in a tick, about.
const WANTED: u32 = 100;
/// The share at the start, and the smallest.
const FIRST_SHARE: u32 = 64;
const LEAST_SHARE: u32 = 1 << 20;
/// The share of a processor above which fewer frames are looked at.
const MOST_PROCESSOR: f64 = 0.015;
/// The most addresses that are asked for.
const MOST_PROBES: usize = 16;

/// Looks at the traffic of these bundles.
///
/// # Errors
/// The kernel does not list devices.
pub fn watch(bundles: &[Bundle], options: Options) -> Result<Watched> {
    let mut watched = Watched::default();
    let mut netlink = Netlink::open()?;
    let links = netlink.links()?;
    let addresses = netlink.all_addresses()?;
    for bundle in bundles {
        watched.addresses.insert(bundle.name.clone(), addresses_of(bundle, &links, &addresses));
    }
    let own = Own {
        addresses: addresses.iter().map(|(_, address, _)| *address).filter(|of| !of.is_loopback()).collect(),
        macs: links.iter().flat_map(|link| [Some(link.mac), link.permanent_mac]).flatten().map(Mac).collect(),
    };
    let mut taps = Taps::open(bundles, &mut watched.unseen);
    let mut sampler = Sampler::open()?;
    let mut sockets = TcpSockets::open().map_err(|error| unseen(&mut watched.unseen, &error)).ok();
    let before = list(sockets.as_mut(), &mut watched.unseen);
    let first = sampler.sample()?;
    if options.probes && !taps.sockets.is_empty() {
        probe(&addresses, &links, &watched.addresses);
    }
    watched.processor = taps.look(options.time, &own);
    let last = sampler.sample()?;
    let after = list(sockets.as_mut(), &mut watched.unseen);
    watched.rates = Rates::between(&first, &last).unwrap_or_default();
    watched.connections = connections(before, after);
    watched.headers = taps.headers;
    Ok(watched)
}

/// Sockets at the members of bundles.
struct Taps {
    /// The bundle's name, the member's, and its socket.
    sockets: Vec<(String, String, Socket)>,
    headers: BTreeMap<String, Headers>,
    one_of: u32,
}

impl Taps {
    fn open(bundles: &[Bundle], unseen: &mut Vec<String>) -> Taps {
        let none = Taps { sockets: Vec::new(), headers: BTreeMap::new(), one_of: FIRST_SHARE };
        let of = |bundle: &Bundle| (bundle.name.clone(), Headers { one_of: FIRST_SHARE, ..Headers::default() });
        let headers = bundles.iter().map(of).collect();
        let mut taps = Taps { sockets: Vec::new(), headers, one_of: FIRST_SHARE };
        for (bundle, member) in bundles.iter().flat_map(|bundle| bundle.members.iter().map(move |of| (bundle, of))) {
            let Some(index) = member.index else { continue };
            match Socket::open(index, FIRST_SHARE) {
                Ok(socket) => taps.sockets.push((bundle.name.clone(), member.name.clone(), socket)),
                // It is the same for all members. Without headers the reason is known.
                Err(error) if is_privilege(&error) => return none,
                Err(error) => unseen.push(format!("frames of {}: {error}", member.name)),
            }
        }
        taps
    }

    /// Reads headers until the time is over or a signal asks to stop. The share of a processor that it took.
    fn look(&mut self, time: Duration, own: &Own) -> f64 {
        let (begun, used) = (Instant::now(), processor_time());
        let mut room = Socket::room();
        while let Some(rest) = time.checked_sub(begun.elapsed()).filter(|rest| !rest.is_zero()) {
            if process::termination().is_some() {
                break;
            }
            let tick = TICK.min(rest);
            let ends = Instant::now() + tick;
            let read = self.tick(ends, own, &mut room);
            let share = processor_share(begun, used);
            self.adjust(read, share > MOST_PROCESSOR);
        }
        processor_share(begun, used)
    }

    /// Reads for a moment: the frames that there were.
    fn tick(&mut self, ends: Instant, own: &Own, room: &mut Room) -> u32 {
        let mut read = 0;
        loop {
            let rest = ends.saturating_duration_since(Instant::now());
            let timeout = PollTimeout::try_from(rest).unwrap_or(PollTimeout::MAX);
            if self.sockets.is_empty() || read >= 2 * WANTED {
                std::thread::sleep(rest);
                return read;
            }
            let mut fds: Vec<PollFd<'_>> =
                self.sockets.iter().map(|(.., socket)| PollFd::new(socket.as_fd(), PollFlags::POLLIN)).collect();
            // Interrupted or not: what is there is read, and the time decides.
            let ready = poll(&mut fds, timeout).unwrap_or(0);
            for (bundle, member, socket) in &self.sockets {
                // So many at once from each, that one busy member does not hide the others.
                let mut from_it = 0;
                while from_it < WANTED / 4 {
                    let note = |heard: Heard<'_>| {
                        let way = if heard.to == To::Outgoing { Way::Out } else { Way::In };
                        if let Some(headers) = self.headers.get_mut(bundle) {
                            headers.note(member, way, heard.bytes, own);
                        }
                    };
                    match socket.receive(room, note) {
                        Ok(0) | Err(_) => break,
                        Ok(frames) => from_it += frames as u32,
                    }
                }
                read += from_it;
            }
            if ready == 0 && Instant::now() >= ends {
                return read;
            }
            // What arrives in the meantime is read together: each wake-up costs more than a frame.
            std::thread::sleep(ends.saturating_duration_since(Instant::now()).min(TICK / 5));
        }
    }

    /// Looks at more or fewer frames from now on.
    fn adjust(&mut self, read: u32, is_costly: bool) {
        // Where few frames are read it is not they that take the time: on a slow machine the look itself does.
        let is_costly = is_costly && read >= WANTED / 8;
        let wanted = match () {
            () if is_costly || read >= 2 * WANTED => self.one_of.saturating_mul(2).min(LEAST_SHARE),
            () if read < WANTED / 2 => (self.one_of / 2).max(1),
            () => self.one_of,
        };
        if wanted != self.one_of {
            self.one_of = wanted;
            // A socket that keeps its share still tells the truth.
            self.sockets.iter().for_each(|(.., socket)| drop(socket.set_share(wanted)));
            // Frames that wait in a socket were chosen before: a tick of them is weighed wrongly.
            self.headers.values_mut().for_each(|headers| headers.one_of = wanted);
        }
    }
}

fn processor_time() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else { return Duration::ZERO };
    let time = |of: nix::sys::time::TimeVal| Duration::new(of.tv_sec() as u64, of.tv_usec() as u32 * 1000);
    time(usage.user_time()) + time(usage.system_time())
}

fn processor_share(begun: Instant, used: Duration) -> f64 {
    processor_time().saturating_sub(used).as_secs_f64() / begun.elapsed().as_secs_f64().max(1e-3)
}

fn is_privilege(error: &Error) -> bool {
    error.errno() == Some(nix::errno::Errno::EPERM as i32)
}

fn unseen(into: &mut Vec<String>, error: &Error) {
    into.push(format!("TCP connections: {error}"));
}

fn list(sockets: Option<&mut TcpSockets>, into: &mut Vec<String>) -> Vec<TcpSocket> {
    let listed = sockets.map(TcpSockets::list);
    listed
        .map(|listed| {
            listed.unwrap_or_else(|error| {
                unseen(into, &error);
                Vec::new()
            })
        })
        .unwrap_or_default()
}

/// What connections did between two lists. One that began in between did all of it then.
fn connections(before: Vec<TcpSocket>, after: Vec<TcpSocket>) -> Vec<Connection> {
    let earlier: BTreeMap<_, TcpSocket> = before.into_iter().map(|of| ((of.local, of.remote), of)).collect();
    let is_connection = |of: &TcpSocket| !of.listens && of.remote.port() != 0 && !of.remote.ip().is_loopback();
    let connection = |of: TcpSocket| {
        let then = earlier.get(&(of.local, of.remote)).map(|then| then.info.clone()).unwrap_or_default();
        // Another connection between the same ports has lower counts.
        let then = if then.bytes_acked > of.info.bytes_acked { Default::default() } else { then };
        let now = of.info;
        Connection {
            key: FlowKey { protocol: TCP, local: of.local, remote: of.remote },
            sent_bytes: now.bytes_acked.saturating_sub(then.bytes_acked),
            received_bytes: now.bytes_received.saturating_sub(then.bytes_received),
            retransmits: now.retransmits.saturating_sub(then.retransmits),
            segments: now.data_segments_out.saturating_sub(then.data_segments_out),
            rtt_us: now.rtt_us,
            cwnd: now.cwnd,
            mss: now.snd_mss,
            path_mtu: now.path_mtu,
            busy_us: now.busy_us.saturating_sub(then.busy_us),
            rwnd_limited_us: now.rwnd_limited_us.saturating_sub(then.rwnd_limited_us),
            sndbuf_limited_us: now.sndbuf_limited_us.saturating_sub(then.sndbuf_limited_us),
        }
    };
    after.into_iter().filter(is_connection).map(connection).collect()
}

/// The addresses of a bundle's device and of the devices on it. A bond of Open vSwitch has no device: of all that are no members.
fn addresses_of(bundle: &Bundle, links: &[Link], addresses: &[(u32, IpAddr, u8)]) -> Vec<IpAddr> {
    let of = |indexes: &[u32]| {
        let own = addresses.iter().filter(|(index, address, _)| indexes.contains(index) && !address.is_loopback());
        own.map(|(_, address, _)| *address).collect()
    };
    let Some(index) = bundle.index else {
        let is_member = |link: &&Link| bundle.members.iter().any(|member| member.index == Some(link.index));
        return of(&links.iter().filter(|link| !is_member(link)).map(|link| link.index).collect::<Vec<_>>());
    };
    let mut found = vec![index];
    let mut next = 0;
    while let Some(below) = found.get(next).copied() {
        let stands_on = |link: &&Link| link.peer == Some(below) && link.kind != "veth" && !link.peer_elsewhere;
        let on = links.iter().filter(stands_on).map(|link| link.index);
        let masters = links.iter().filter(|link| link.index == below).filter_map(|link| link.master);
        let new: Vec<u32> = on.chain(masters).filter(|index| !found.contains(index)).collect();
        found.extend(new);
        next += 1;
    }
    of(&found)
}

/// Asks who has each address of the bundles: another host that has one answers.
fn probe(addresses: &[(u32, IpAddr, u8)], links: &[Link], of_bundles: &BTreeMap<String, Vec<IpAddr>>) {
    let is_ours = |address: &IpAddr| of_bundles.values().any(|of| of.contains(address));
    let asked = addresses.iter().filter(|(_, address, _)| is_ours(address)).take(MOST_PROBES);
    for (index, address, _) in asked {
        let (IpAddr::V4(address), Some(link)) = (address, links.iter().find(|link| link.index == *index)) else {
            continue;
        };
        let mac = Mac(link.mac);
        let probe = Arp {
            operation: Arp::REQUEST,
            sender_mac: mac,
            sender_ip: Ipv4Addr::UNSPECIFIED,
            target_mac: Mac::default(),
            target_ip: *address,
        };
        // A device that sends nothing hears no answer: nothing is known then.
        if let Ok(socket) = SendSocket::open(*index) {
            socket.send(&probe.frame(Mac::BROADCAST, mac, None));
        }
    }
}

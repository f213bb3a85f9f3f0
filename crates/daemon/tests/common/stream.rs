//! Numbered datagrams both ways between a host with a team and another one,
//! through a switch that learns addresses, while something changes.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nicteam_daemon::{RunningTeam, TeamSpec};
use nicteam_dataplane::Kind;
use nicteam_testnet::{Host, SetAtEnd, Switch, eventually};
use nix::sys::socket::{setsockopt, sockopt};

use super::{spec, start};

/// Members of the team.
const MEMBERS: usize = 3;
/// Between two datagrams of one direction; about four thousand a second.
const PAUSE: Duration = Duration::from_micros(200);
/// Before and after the change; longer than what a change may entail.
const AROUND: Duration = Duration::from_millis(70);

/// A host with a team of eth0 to eth2 on a switch, and one with a single cable.
pub struct Bridged {
    pub team: RunningTeam,
    near: Vec<UdpSocket>,
    far: UdpSocket,
    near_address: SocketAddr,
    _hosts: [Host; 2],
    _switch: Switch,
}

/// How many copies of each datagram the far host gets.
#[derive(Clone, Copy, Debug)]
pub enum Copies {
    One,
    /// One or this many, never a part of them: the change is from or to broadcast.
    OneOrEvery(u32),
}

impl Bridged {
    pub fn new(options: &[(&str, &str)], kind: Kind) -> Bridged {
        let (mut near, mut switch, mut far) = (Host::new(), Switch::new(), Host::new());
        switch.join_all(&mut near, "eth", "near", MEMBERS);
        switch.join(&mut far, "eth0", "far");
        let members = (0..MEMBERS).map(|n| format!("eth{n}")).collect();
        let team = start(&near, TeamSpec { members, ..spec(options, kind) }).unwrap();
        near.address("team0", &[("10.2.0.1", 24)]);
        far.address("eth0", &[("10.2.0.2", 24)]);
        let address = |host: u8, port: u16| SocketAddr::from(([10, 2, 0, host], port));
        // Several flows, which a hash spreads; they go back to the first one's port.
        let near_sockets: Vec<UdpSocket> = (0..8).map(|n| near.udp(address(1, 7000 + n))).collect();
        let far_socket = far.udp(address(2, 7000));
        for socket in near_sockets.iter().chain([&far_socket]) {
            setsockopt(socket, sockopt::RcvBufForce, &(4 << 20)).unwrap();
        }
        near_sockets.iter().for_each(|socket| socket.connect(address(2, 7000)).unwrap());
        for receiver in [&near_sockets[0], &far_socket] {
            receiver.set_read_timeout(Some(Duration::from_millis(60))).unwrap();
        }
        Bridged {
            team,
            near: near_sockets,
            far: far_socket,
            near_address: address(1, 7000),
            _hosts: [near, far],
            _switch: switch,
        }
    }

    /// Streams while `change` goes on: of every datagram, each way, there must be
    /// as many copies as there should.
    #[track_caller]
    pub fn streamed(&self, what: &str, copies: Copies, change: impl FnOnce()) {
        self.meet();
        let (enough, all_sent) = (AtomicBool::new(false), AtomicBool::new(false));
        let (up, down) = thread::scope(|scope| {
            let no_more = &all_sent;
            let receivers = [&self.far, &self.near[0]].map(|socket| scope.spawn(move || heard(socket, no_more)));
            let senders = [
                scope.spawn(|| send(&enough, |n| self.near[n as usize % self.near.len()].send(&n.to_be_bytes()))),
                scope.spawn(|| send(&enough, |n| self.far.send_to(&n.to_be_bytes(), self.near_address))),
            ];
            {
                // Also after a panic, or the others would go on for ever.
                let _ends = [SetAtEnd(&all_sent), SetAtEnd(&enough)];
                thread::sleep(AROUND);
                change();
                thread::sleep(AROUND);
                enough.store(true, Ordering::SeqCst);
                let sent = senders.map(|sender| sender.join().unwrap());
                all_sent.store(true, Ordering::SeqCst);
                let [far, near] = receivers.map(|receiver| receiver.join().unwrap());
                ((sent[0], far), (sent[1], near))
            }
        });
        for (way, (sent, heard), copies) in [("to the far host", up, copies), ("from the far host", down, Copies::One)]
        {
            let wrong = |&(_, count): &(u32, u32)| match copies {
                Copies::One => count != 1,
                Copies::OneOrEvery(every) => count != 1 && count != every,
            };
            let counts = (0..sent).map(|number| (number, heard.get(&number).copied().unwrap_or(0)));
            let wrong: Vec<(u32, u32)> = counts.filter(wrong).collect();
            assert!(wrong.is_empty(), "{what}: {way}, of {sent}, number and copies: {wrong:?}");
        }
    }

    /// The first exchange resolves addresses, which loses what came before.
    fn meet(&self) {
        let mut buffer = [0; 4];
        eventually("an exchange", || {
            let there = self.near[0].send(&MEETING.to_be_bytes()).is_ok() && self.far.recv(&mut buffer).is_ok();
            let back = self.far.send_to(&MEETING.to_be_bytes(), self.near_address).is_ok();
            there && back && self.near[0].recv(&mut buffer).is_ok()
        });
    }
}

/// Not the number of a datagram of a stream.
const MEETING: u32 = u32::MAX;

/// Sends numbers from 0 until it is enough; how many.
fn send(enough: &AtomicBool, one: impl Fn(u32) -> std::io::Result<usize>) -> u32 {
    let mut number = 0;
    while !enough.load(Ordering::SeqCst) {
        one(number).unwrap();
        number += 1;
        thread::sleep(PAUSE);
    }
    number
}

/// How often each number arrived, until all are sent and nothing more comes.
fn heard(socket: &UdpSocket, all_sent: &AtomicBool) -> BTreeMap<u32, u32> {
    let (mut counts, mut buffer) = (BTreeMap::new(), [0; 4]);
    loop {
        let no_more = all_sent.load(Ordering::SeqCst);
        match socket.recv(&mut buffer) {
            Ok(_) => *counts.entry(u32::from_be_bytes(buffer)).or_default() += 1,
            Err(_) if no_more => return counts,
            Err(_) => {}
        }
    }
}

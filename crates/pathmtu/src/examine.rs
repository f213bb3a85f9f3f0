//! Asks.

use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nicteam_netlink::Netlink;
use nicteam_sys::echo::{
    Between, Cause, EchoSocket, Fragmentation, PieceSocket, PortAnswer, PortProbe, Question, Refusal,
};
use nicteam_sys::{Context, Error, Result};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::cut::{Cut, pieces};
use crate::search::{Ask, Found, Outcome, largest};
use crate::verdict::{Back, Evidence, There, Verdict, judge};

/// Which path, and what it is to carry.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The other host.
    pub to: IpAddr,
    /// The address to ask from; none: the system's choice.
    pub from: Option<IpAddr>,
    /// The device to ask by; none: the one that the routes say.
    pub device: Option<&'a str>,
    /// The largest IP packet that is to pass, bytes; none: what this host's device sends.
    pub wanted: Option<u32>,
}

/// What was found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The address that was asked from.
    pub from: IpAddr,
    /// The device that has it; none: it is not known.
    pub device: Option<String>,
    /// MTU of this host's device, or of its route, bytes.
    pub own_mtu: u32,
    /// What the path is to carry, bytes.
    pub wanted: u32,
    /// Round-trip time of a short packet.
    pub round_trip: Option<Duration>,
    /// What follows; none: the host answers no echo at all.
    pub verdict: Option<Verdict>,
    /// The router that reported that the host is unreachable, if that is the reason.
    pub unreachable: Option<Refusal>,
}

/// Packet of the first question: as `ping` sends it.
pub(crate) const SHORT: u32 = 84;
/// What ends are commonly set to, bytes; answers of that size are asked for even where this end sends less.
const JUMBO: u32 = 9000;
/// The least that IPv6 has to pass (RFC 8200), and pieces of ours have at most.
const PIECE: u32 = 1280;
/// Bytes of the longest IP packet.
const LONGEST: u32 = 65_535;
/// How long the first answer may take: the address may have to be asked for.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// How often it is asked for.
const FIRST_TRIES: u32 = 3;
/// How long answers may take beyond the round-trip time.
const LEAST_WAIT: Duration = Duration::from_millis(100);
/// The first of the ports without a listener, as traceroute uses them.
const PORT: u16 = 33_434;

/// Finds out what passes a path. It takes less than three seconds where round trips take less than 50 ms.
///
/// # Errors
/// `EPERM` without `CAP_NET_RAW`, `ENETUNREACH` without a route, `EADDRNOTAVAIL` or `ENODEV` for an address or a
/// device that the host has not.
pub fn examine(options: &Options<'_>) -> Result<Report> {
    let between = Between { to: options.to, from: options.from, device: options.device };
    let socket = EchoSocket::open(between, Fragmentation::ForbiddenAndUnlearned)?;
    let own_mtu = own_mtu(&socket)?;
    let wanted = options.wanted.unwrap_or(own_mtu);
    let from = socket.own();
    let device = options.device.map(str::to_owned).or_else(|| device_of(from));
    let report = Report { from, device, own_mtu, wanted, round_trip: None, verdict: None, unreachable: None };
    let mut path = Path { between, socket, sequence: 0, wait: FIRST_WAIT, buffer: vec![0; 1 << 16] };
    let (round_trip, unreachable) = path.reach()?;
    let Some(round_trip) = round_trip else { return Ok(Report { unreachable, ..report }) };
    path.wait = (round_trip * 3 + LEAST_WAIT).min(FIRST_WAIT);
    let verdict = judge(&path.evidence(own_mtu, wanted)?);
    Ok(Report { round_trip: Some(round_trip), verdict: Some(verdict), ..report })
}

/// The device that has an address; none if that cannot be found out.
fn device_of(address: IpAddr) -> Option<String> {
    let mut netlink = Netlink::open().ok()?;
    let (index, ..) = netlink.all_addresses().ok()?.into_iter().find(|(_, of, _)| *of == address)?;
    Some(netlink.link_at(index).ok()??.name)
}

/// What this host sends to there in one piece: it says so when it is asked to send more.
fn own_mtu(socket: &EchoSocket) -> Result<u32> {
    let longest = vec![0; (LONGEST - headers(socket.to())) as usize];
    match socket.send(Question::Echo, 0, &longest) {
        // A device that takes everything, as the loopback.
        Ok(()) => Ok(LONGEST),
        Err(error) if error.raw_os_error() == Some(libc_emsgsize()) => {
            let told = socket.refusal()?.map(|refusal| refusal.cause);
            match told {
                Some(Cause::TooBig { mtu }) if mtu > 0 => Ok(mtu),
                _ => Err(Error::new("find the MTU of the way out", error)),
            }
        }
        Err(error) => Err(Error::new(format!("send to {}", socket.to()), error)),
    }
}

fn libc_emsgsize() -> i32 {
    Errno::EMSGSIZE as i32
}

/// IP and ICMP.
fn headers(to: IpAddr) -> u32 {
    if to.is_ipv4() { 28 } else { 48 }
}

/// A path while it is asked.
struct Path<'a> {
    between: Between<'a>,
    socket: EchoSocket,
    sequence: u16,
    wait: Duration,
    buffer: Vec<u8>,
}

impl Path<'_> {
    /// Whether the host answers a short question, and how soon; else the router that refused it.
    fn reach(&mut self) -> Result<(Option<Duration>, Option<Refusal>)> {
        let mut refused = None;
        for _ in 0..FIRST_TRIES {
            let begun = Instant::now();
            if let Outcome::Answered { .. } = Whole(self, Question::Echo).ask(&[SHORT])?[0] {
                return Ok((Some(begun.elapsed()), None));
            }
            refused = self.socket.refusal()?.or(refused);
        }
        Ok((None, refused))
    }

    /// Asks all that the judgement needs.
    fn evidence(&mut self, own_mtu: u32, wanted: u32) -> Result<Evidence> {
        let tried = wanted.min(own_mtu);
        let Found { largest: whole, refused, .. } = largest(&mut Whole(self, Question::Echo), SHORT, tried)?;
        let there = if whole < tried { self.there(whole, tried)? } else { There::NotAsked };
        let back = self.back(whole, tried.clamp(JUMBO, LONGEST))?;
        Ok(Evidence { own_mtu, wanted, whole, refused, there, back })
    }

    /// The way there, by questions with short answers.
    fn there(&mut self, whole: u32, tried: u32) -> Result<There> {
        let answers = |outcomes: &[Outcome]| matches!(outcomes, [Outcome::Answered { .. }, ..]);
        if self.between.to.is_ipv4() && answers(&Whole(self, Question::Timestamp).ask(&[SHORT])?) {
            let found = largest(&mut Whole(self, Question::Timestamp), SHORT, tried)?;
            return Ok(There::Largest(found.largest));
        }
        // Hosts send few such messages a second (Linux: six, then one), so there are few questions.
        let mut ports = Ports { path: self, next: PORT };
        if !answers(&ports.ask(&[SHORT])?) {
            return Ok(There::Unknown);
        }
        for size in [tried, whole + 1] {
            if answers(&ports.ask(&[size])?) || answers(&ports.ask(&[size])?) {
                return Ok(There::Largest(size));
            }
        }
        Ok(There::Largest(whole))
    }

    /// The way back, by echoes that go there in small pieces.
    fn back(&mut self, whole: u32, tried: u32) -> Result<Back> {
        let socket = PieceSocket::open(self.between)?;
        let mut cut = InPieces { piece_bytes: whole.min(PIECE), socket, path: self };
        // A packet of two fragments; if not even that is answered, a device drops fragments.
        let least = cut.piece_bytes + 100;
        if !(0..FIRST_TRIES).any(|_| matches!(cut.ask(&[least]).as_deref(), Ok([Outcome::Answered { .. }]))) {
            return Ok(Back::Unknown);
        }
        let found = largest(&mut cut, least.min(tried), tried)?;
        Ok(Back::Answered { largest: found.largest, tried, piece: found.largest_piece })
    }

    /// The next number.
    fn next(&mut self) -> u16 {
        self.sequence = self.sequence.wrapping_add(1);
        self.sequence
    }

    /// Takes answers in until every question has one, or time is up.
    fn collect(&mut self, asked: &[(u16, Option<Outcome>)], question: Question) -> Result<Vec<Outcome>> {
        let mut outcomes: Vec<(u16, Option<Outcome>)> = asked.to_vec();
        let until = Instant::now() + self.wait;
        loop {
            while let Some(reply) = self.socket.receive(&mut self.buffer)? {
                let largest_piece = reply.largest_piece;
                if reply.question == question {
                    note(&mut outcomes, reply.sequence, Outcome::Answered { largest_piece });
                }
            }
            while let Some(refusal) = self.socket.refusal()? {
                if let (Some(sequence), Cause::TooBig { mtu }) = (refusal.sequence, refusal.cause) {
                    note(&mut outcomes, sequence, Outcome::TooBig { from: refusal.from, mtu });
                }
            }
            let is_complete = outcomes.iter().all(|(_, outcome)| outcome.is_some());
            if is_complete || !wait_for(&self.socket, until)? {
                return Ok(outcomes.into_iter().map(|(_, outcome)| outcome.unwrap_or(Outcome::Silent)).collect());
            }
        }
    }
}

/// Notes what became of a question, once.
fn note(outcomes: &mut [(u16, Option<Outcome>)], sequence: u16, outcome: Outcome) {
    if let Some((_, open)) = outcomes.iter_mut().find(|(asked, _)| *asked == sequence) {
        open.get_or_insert(outcome);
    }
}

/// Waits until there is something to read; false once time is up.
fn wait_for(socket: &impl AsFd, until: Instant) -> Result<bool> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Ok(false);
    }
    let timeout = PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX);
    match poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)], timeout) {
        Ok(_) | Err(Errno::EINTR) => Ok(true),
        Err(error) => Err(error).context(|| "wait for an answer".to_owned()),
    }
}

/// Questions in one piece.
struct Whole<'p, 'a>(&'p mut Path<'a>, Question);

impl Ask for Whole<'_, '_> {
    type Error = Error;

    fn ask(&mut self, sizes: &[u32]) -> Result<Vec<Outcome>> {
        let Whole(path, question) = self;
        let mut asked = Vec::with_capacity(sizes.len());
        for size in sizes {
            let sequence = path.next();
            let payload = vec![0; size.saturating_sub(headers(path.between.to)) as usize];
            let outcome = match path.socket.send(*question, sequence, &payload) {
                Ok(()) => None,
                Err(error) => refused(path, &error)?,
            };
            asked.push((sequence, outcome));
        }
        path.collect(&asked, *question)
    }
}

/// What a failure to send says; no room, or no way for now, is as good as a loss.
fn refused(path: &Path<'_>, error: &io::Error) -> Result<Option<Outcome>> {
    if error.raw_os_error() != Some(libc_emsgsize()) {
        return Ok(Some(Outcome::Silent));
    }
    let told = path.socket.refusal()?.map(|refusal| refusal.cause);
    let mtu = if let Some(Cause::TooBig { mtu }) = told { mtu } else { 0 };
    Ok(Some(Outcome::TooBig { from: None, mtu }))
}

/// Echoes cut into pieces by us.
struct InPieces<'p, 'a> {
    path: &'p mut Path<'a>,
    socket: PieceSocket,
    piece_bytes: u32,
}

impl Ask for InPieces<'_, '_> {
    type Error = Error;

    fn ask(&mut self, sizes: &[u32]) -> Result<Vec<Outcome>> {
        let mut asked = Vec::with_capacity(sizes.len());
        for size in sizes {
            let sequence = self.path.next();
            let (src, dst, ident) = (self.path.socket.own(), self.path.between.to, self.path.socket.ident());
            // The socket's number and the question's, so that no two of a host's pieces are taken for one packet's.
            let id = u32::from(ident) << 16 | u32::from(sequence ^ ident);
            let cut = Cut { src, dst, ident, sequence, packet_bytes: *size, piece_bytes: self.piece_bytes, id };
            // One that is not sent is as good as lost.
            let sent = pieces(&cut).iter().all(|piece| self.socket.send(piece).is_ok());
            asked.push((sequence, (!sent).then_some(Outcome::Silent)));
        }
        self.path.collect(&asked, Question::Echo)
    }
}

/// Datagrams to ports without a listener, one at a time.
struct Ports<'p, 'a> {
    path: &'p mut Path<'a>,
    next: u16,
}

impl Ask for Ports<'_, '_> {
    type Error = Error;

    fn ask(&mut self, sizes: &[u32]) -> Result<Vec<Outcome>> {
        sizes.iter().map(|size| self.one(*size)).collect()
    }
}

impl Ports<'_, '_> {
    fn one(&mut self, size: u32) -> Result<Outcome> {
        let to = self.path.between.to;
        let socket = PortProbe::open(self.path.between, self.next)?;
        self.next += 1;
        // Headers of UDP and ICMP are alike long.
        if socket.send(size.saturating_sub(headers(to)) as usize).is_err() {
            return Ok(Outcome::Silent);
        }
        let until = Instant::now() + self.path.wait;
        loop {
            match socket.answer(to)? {
                Some(PortAnswer::Got) => return Ok(Outcome::Answered { largest_piece: None }),
                Some(PortAnswer::Refused(Refusal { from, cause: Cause::TooBig { mtu }, .. })) => {
                    return Ok(Outcome::TooBig { from, mtu });
                }
                Some(PortAnswer::Refused(_)) => return Ok(Outcome::Silent),
                None if wait_for(&socket, until)? => {}
                None => return Ok(Outcome::Silent),
            }
        }
    }
}

//! A capture that goes on: sockets in, blocks out.

use std::os::fd::AsFd;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nicteam_sys::signals::Signals;
use nicteam_sys::sniff::{Heard, Room, Sniffer, To};
use nicteam_wire::{Frame, Vlan};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::bundle::{Bundle, Link};
use crate::error::Error;
use crate::file::Output;
use crate::filter::Filter;
use crate::pcapng::{Direction, Interface, Packet, Pcapng, Statistics};
use crate::text;

/// How often the bundle is looked at: its members and its rule may change.
const LOOK: Duration = Duration::from_millis(250);
/// How long frames may wait for others before they are written, so that the reader of a pipe sees them.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// What was captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that were written.
    pub frames: u64,
    /// Frames that were lost, by device, of those that lost any.
    pub lost: Vec<Lost>,
}

/// Frames of a device that found the capture's buffer full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The device.
    pub device: String,
    /// How many.
    pub frames: u64,
}

/// A capture of a bundle.
#[derive(Debug)]
pub struct Capture<'a> {
    signals: &'a Signals,
    bundle: Bundle,
    filter: Filter,
    output: Output,
    pcapng: Pcapng,
    taps: Vec<Tap>,
    room: Room,
    frames: u64,
    limit: Option<u64>,
}

/// A device that is heard.
#[derive(Debug)]
struct Tap {
    device: Link,
    is_bundle: bool,
    /// None once the device is gone.
    sniffer: Option<Sniffer>,
    interface: u32,
    received: u64,
    lost: u64,
}

impl<'a> Capture<'a> {
    /// Begins one, in the calling thread's network namespace; `limit`: after so many frames it ends. A signal ends it, too.
    ///
    /// # Errors
    /// A device cannot be heard, or nothing can be written.
    pub fn begin(
        bundle: Bundle,
        filter: Filter,
        output: Output,
        limit: Option<u64>,
        signals: &'a Signals,
    ) -> Result<Capture<'a>, Error> {
        let mut capture = Capture {
            signals,
            bundle,
            filter,
            output,
            pcapng: Pcapng::default(),
            taps: Vec::new(),
            room: Room::default(),
            frames: 0,
            limit,
        };
        let program = concat!("nicteam ", env!("CARGO_PKG_VERSION"));
        let head = capture.pcapng.section(program, "Linux");
        capture.write_block(&head)?;
        capture.follow()?;
        capture.flush()?;
        Ok(capture)
    }

    /// Captures until a signal comes, the limit is reached, or `look` says that the bundle is gone (`None`). `look` is asked
    /// several times a second how the bundle is.
    ///
    /// # Errors
    /// Nothing more can be written, or the system refuses.
    pub fn run(&mut self, mut look: impl FnMut() -> Option<Bundle>) -> Result<Counts, Error> {
        let (mut looked, mut flushed) = (Instant::now(), Instant::now());
        while !self.is_full() {
            if self.is_stopped() {
                break;
            }
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                let Some(bundle) = look() else { break };
                self.bundle = bundle;
                self.follow()?;
            }
            self.wait();
            self.receive()?;
            if flushed.elapsed() >= LONGEST_WAIT {
                flushed = Instant::now();
                self.flush()?;
            }
        }
        self.end()
    }

    /// Takes what came, says what was lost, and writes all.
    fn end(&mut self) -> Result<Counts, Error> {
        // What the sockets hold was on the wire before the end. Not for ever: traffic goes on.
        for _ in 0..256 {
            if self.is_full() || self.receive()? == 0 {
                break;
            }
        }
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut lost = Vec::new();
        for place in 0..self.taps.len() {
            self.count_lost(place);
            let tap = &self.taps[place];
            if tap.lost > 0 {
                lost.push(Lost { device: tap.device.name.clone(), frames: tap.lost });
            }
            let statistics = Statistics { at, received: tap.received + tap.lost, dropped: tap.lost };
            let block = self.pcapng.statistics(tap.interface, &statistics);
            self.write_block(&block)?;
        }
        self.flush()?;
        Ok(Counts { frames: self.frames, lost })
    }

    /// A signal has come. It is left unread: what is still to be written sees it, too.
    fn is_stopped(&self) -> bool {
        let mut signals = [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        poll(&mut signals, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
    }

    fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.frames >= limit)
    }

    /// Hears devices that are new.
    fn follow(&mut self) -> Result<(), Error> {
        let device = std::iter::once((true, self.bundle.device.clone()));
        let members = self.bundle.members.iter().map(|member| (false, member.clone()));
        for (is_bundle, device) in device.chain(members).collect::<Vec<_>>() {
            let known = self.taps.iter_mut().find(|tap| tap.sniffer.is_some() && tap.device.index == device.index);
            if let Some(tap) = known {
                tap.device = device;
                continue;
            }
            let sniffer = match Sniffer::open(device.index, self.filter.program()) {
                Ok(sniffer) => sniffer,
                // It went between being named and being heard.
                Err(error) if is_gone(&error) && !self.taps.is_empty() => continue,
                Err(error) => return Err(error.into()),
            };
            let what = match is_bundle {
                true => {
                    format!("{}: the bundle's own device, mode {}", self.bundle.name, self.bundle.config.mode.name())
                }
                false => format!("member of {}", self.bundle.name),
            };
            let (interface, block) = self.pcapng.interface(&Interface {
                name: device.name.clone(),
                description: what,
                mac: device.mac.map(|mac| mac.0),
                speed_bps: device.speed_mbps.map(|mbps| u64::from(mbps) * 1_000_000),
                filter: self.filter.text().map(str::to_owned),
            });
            self.write_block(&block)?;
            self.taps.push(Tap { device, is_bundle, sniffer: Some(sniffer), interface, received: 0, lost: 0 });
        }
        Ok(())
    }

    fn wait(&self) {
        let sockets = self.taps.iter().filter_map(|tap| tap.sniffer.as_ref());
        let mut ready: Vec<PollFd<'_>> =
            sockets.map(|sniffer| PollFd::new(sniffer.as_fd(), PollFlags::POLLIN)).collect();
        ready.push(PollFd::new(self.signals.as_fd(), PollFlags::POLLIN));
        // An interrupted wait is a short one.
        let _ = poll(&mut ready, PollTimeout::from(100_u8));
    }

    /// Takes what came, a batch of each device, and writes it in the order of time; how many frames.
    fn receive(&mut self) -> Result<usize, Error> {
        let mut came: Vec<(Duration, Vec<u8>)> = Vec::new();
        let is_text = self.output.is_text();
        for place in 0..self.taps.len() {
            let Capture { bundle, pcapng, taps, room, .. } = self;
            let tap = &mut taps[place];
            let Some(sniffer) = &tap.sniffer else { continue };
            let on = (!tap.is_bundle).then_some(&tap.device);
            let received = sniffer.receive(room, |heard| {
                let (comment, direction) = describe(bundle, on, &heard);
                let written = match is_text {
                    true => text::line(&tap.device.name, direction, &heard, &comment).into_bytes(),
                    false => block(pcapng, tap.interface, &heard, (direction, &comment)),
                };
                came.push((heard.at, written));
            });
            match received {
                Ok(count) => tap.received += count as u64,
                Err(error) if is_gone(&error) => {
                    self.count_lost(place);
                    self.taps[place].sniffer = None;
                }
                Err(error) => return Err(error.into()),
            }
        }
        let count = came.len();
        // Of one time, the bundle's own device comes first, as its frame did.
        came.sort_by_key(|(at, _)| *at);
        let left = self.limit.map_or(u64::MAX, |limit| limit - self.frames.min(limit));
        came.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        for (_, written) in came {
            self.write(&written)?;
            self.frames += 1;
        }
        Ok(count)
    }

    fn count_lost(&mut self, place: usize) {
        let tap = &mut self.taps[place];
        // A socket whose device is gone still knows; one that does not has lost nothing that anybody can count.
        tap.lost += tap.sniffer.as_ref().and_then(|sniffer| sniffer.take_lost().ok()).unwrap_or(0);
    }

    /// A block that is no frame: a text has none.
    fn write_block(&mut self, block: &[u8]) -> Result<(), Error> {
        if self.output.is_text() { Ok(()) } else { self.write(block) }
    }

    fn write(&mut self, blocks: &[u8]) -> Result<(), Error> {
        let done = self.output.add(blocks, self.signals.as_fd());
        self.written(done)
    }

    fn flush(&mut self) -> Result<(), Error> {
        let done = self.output.flush(self.signals.as_fd());
        self.written(done)
    }

    fn written(&self, done: std::io::Result<()>) -> Result<(), Error> {
        done.map_err(|error| Error::Write { to: self.output.name().to_owned(), error })
    }
}

/// What is said of a frame, and which way it went.
fn describe(bundle: &Bundle, on: Option<&Link>, heard: &Heard<'_>) -> (String, Direction) {
    let direction = match heard.to {
        To::Host => Direction::InUnicast,
        To::Broadcast => Direction::InBroadcast,
        To::Multicast => Direction::InMulticast,
        To::Other => Direction::InOther,
        To::Outgoing => Direction::Out,
    };
    let comment = match Frame::parse_untagged(heard.bytes) {
        Ok(frame) => {
            let frame = match heard.tag {
                Some(tag) => frame.with_vlan(Vlan { protocol: tag.protocol, tci: tag.tci }),
                None => frame,
            };
            bundle.comment(on, direction, &frame)
        }
        Err(error) => error.to_string(),
    };
    (comment, direction)
}

/// A frame as a block. The tag beside it goes back among its bytes.
fn block(pcapng: &Pcapng, interface: u32, heard: &Heard<'_>, (direction, comment): (Direction, &str)) -> Vec<u8> {
    const MACS: usize = 12;
    let (macs, rest) = heard.bytes.split_at(heard.bytes.len().min(MACS));
    let tag = heard.tag.map(|tag| [tag.protocol.to_be_bytes(), tag.tci.to_be_bytes()].concat()).unwrap_or_default();
    let bytes = [macs, &tag, rest].concat();
    let original = heard.original + tag.len();
    pcapng.packet(&Packet { interface, at: heard.at, bytes: &bytes, original, direction, comment })
}

/// The device is not there any more.
fn is_gone(error: &nicteam_sys::Error) -> bool {
    matches!(error.errno().map(Errno::from_raw), Some(Errno::ENODEV | Errno::ENXIO | Errno::ENETUNREACH))
}

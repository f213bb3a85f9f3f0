//! Sending frames, and seeing where they come out.

use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use nicteam_oracle::Refusal;
use nicteam_oracle::protocol::{Bytes, Departures, Readdressed, Stray};
use nicteam_sys::packet::{Batch, PacketSocket, Received};

use crate::{Agent, system};

/// Frames in flight at once: no buffer on the way is that small.
const WINDOW: usize = 128;
/// How often nothing has to come before nothing is awaited.
const QUIET: usize = 2;
/// How long one such wait is: what is on its way waits for one tick of the clock at most.
const TICK: Duration = Duration::from_millis(10);
/// Strays that are reported; more say no more.
const STRAYS: usize = 200;
/// Bytes of the two addresses.
const MACS: usize = 12;
/// Where the source is.
const SOURCE: std::ops::Range<usize> = 6..MACS;

pub(crate) fn inject(agent: &mut Agent, into: &str, out: &[String]) -> Result<Departures, Refusal> {
    let outs: Result<Vec<_>, _> = out.iter().map(|name| open(agent, name)).collect();
    let outs = outs?;
    let sender = open(agent, into)?;
    let mut watch = Watch::new(&agent.frames);
    for (start, window) in agent.frames.chunks(WINDOW).enumerate().map(|(n, window)| (n * WINDOW, window)) {
        for (place, frame) in window.iter().enumerate() {
            if !sender.send_frame(frame) {
                watch.departures.refused.push(start + place);
            }
        }
        watch.collect(&outs)?;
    }
    let mut quiet = 0;
    while quiet < QUIET {
        thread::sleep(TICK);
        quiet = if watch.collect(&outs)? > 0 { 0 } else { quiet + 1 };
    }
    for (socket, name) in outs.iter().zip(out) {
        let lost = socket.take_lost().map_err(system)?;
        if lost > 0 {
            return Err(Refusal { errno: None, what: format!("{lost} frames on {name} found no room") });
        }
    }
    Ok(watch.departures)
}

pub(crate) fn open(agent: &mut Agent, name: &str) -> Result<PacketSocket, Refusal> {
    let index = agent.index(name)?;
    PacketSocket::open(index).map_err(system)
}

/// What was sent and what has arrived.
struct Watch<'a> {
    places: HashMap<&'a [u8], usize>,
    /// The same without their sources, of those that differ in more.
    sourceless: HashMap<Vec<u8>, Option<usize>>,
    departures: Departures,
    batch: Batch,
}

impl<'a> Watch<'a> {
    fn new(frames: &'a [Vec<u8>]) -> Watch<'a> {
        let places = frames.iter().enumerate().map(|(place, frame)| (frame.as_slice(), place)).collect();
        let mut sourceless = HashMap::new();
        for (place, frame) in frames.iter().enumerate() {
            sourceless.entry(without_source(frame)).and_modify(|place| *place = None).or_insert(Some(place));
        }
        let departures = Departures { members: vec![0; frames.len()], ..Departures::default() };
        Watch { places, sourceless, departures, batch: Batch::new() }
    }

    /// Takes in what has arrived; how many frames.
    fn collect(&mut self, outs: &[PacketSocket]) -> Result<usize, Refusal> {
        let mut count = 0;
        for (out, socket) in outs.iter().enumerate() {
            loop {
                self.batch.clear();
                socket.receive(&mut self.batch).map_err(system)?;
                let frames: Vec<Vec<u8>> = self.batch.frames().map(whole).collect();
                if frames.is_empty() {
                    break;
                }
                count += frames.len();
                frames.into_iter().for_each(|frame| self.arrived(out, frame));
            }
        }
        Ok(count)
    }

    fn arrived(&mut self, out: usize, frame: Vec<u8>) {
        let members = self.places.get(frame.as_slice()).map(|place| &mut self.departures.members[*place]);
        match (members, self.sourceless.get(&without_source(&frame))) {
            (Some(members), _) if *members & 1 << out == 0 => *members |= 1 << out,
            (None, Some(&Some(place))) => {
                let source = Bytes(frame[SOURCE].to_vec());
                self.departures.readdressed.push(Readdressed { frame: place, out, source });
            }
            _ if self.departures.strays.len() < STRAYS => {
                self.departures.strays.push(Stray { out, frame: Bytes(frame) });
            }
            _ => {}
        }
    }
}

/// A frame with zeros for its source.
fn without_source(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    if let Some(source) = frame.get_mut(SOURCE) {
        source.fill(0);
    }
    frame
}

/// A frame with its tag back among its bytes.
pub(crate) fn whole(received: Received<'_>) -> Vec<u8> {
    let mut frame = received.bytes.to_vec();
    if let Some(tag) = received.tag {
        let at = MACS.min(frame.len());
        frame.splice(at..at, tag.protocol.to_be_bytes().into_iter().chain(tag.tci.to_be_bytes()));
    }
    frame
}

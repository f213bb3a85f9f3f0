//! Packet sockets: a thread of this process forwards every frame.
//!
//! Here belongs what carries a plan out frame by frame; the choice is `nicteam_team`'s, and nothing here
//! decides by which member a frame goes.
//!
//! For user namespaces and kernels that allow no eBPF. One thread a team reads
//! the end behind the team device (what the stack sent) and every member, and
//! executes the plan. The members' frames, which the kernel would also hand to
//! the host's own stack, are dropped behind the packet sockets' taps by
//! [`nicteam_netlink::nft`]; the end behind the team device is treated alike. From Linux 6.9 on no other program
//! can take these chains away; before, they are put back when the kernel says that they are gone.
//!
//! A tag that the stack put among the bytes of a frame stands beside it here, as with eBPF:
//! the kernel takes it off at the end behind the team device. So such a frame is
//! hashed as a bridge's would be.
//!
//! It lives only with its process: dropped without [`Dataplane::remove`], it
//! forwards no more and leaves the members' frames dropped, until a new one
//! attaches them and removes itself properly.

mod forward;
mod table;

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, JoinHandle};

use nicteam_netlink::nft::{self, Keeper};
use nicteam_sys::Context;
use nicteam_sys::capabilities::{self, Capability};
use nicteam_sys::packet::PacketSocket;
use nicteam_team::lacp::Answer;
use nicteam_team::stripe::redundant::StreamCounters;
use nicteam_team::stripe::{Note, PlainReport};
use nicteam_team::{Loads, MemberId, Plan};
use nicteam_wire::{Frame, Mac};
use nix::errno::Errno;

use crate::{Counters, Dataplane, Error, Kind, Missing, Port, Remembered, TeamDevice};
use forward::{Forwarder, Mover};
use table::{Member, Shared};

/// Bytes of the longest frame that can be punted: 64 KB and its headers.
const MAX_PUNTED: usize = 66 * 1024;

/// What this dataplane needs and this machine lacks, if anything.
pub fn available() -> Result<(), String> {
    const LOOPBACK: u32 = 1;
    PacketSocket::open(LOOPBACK).map_err(|error| error.to_string())?;
    nft::probe().map_err(|error| error.to_string())
}

/// Opens it for a team device, with no member and a plan that drops everything.
///
/// Opening, attaching, detaching and removing must happen in the network
/// namespace of the device.
pub fn open(device: &TeamDevice) -> Result<Box<dyn Dataplane>, Error> {
    Ok(Box::new(PacketDataplane::open(device)?))
}

/// The packet dataplane of one team.
struct PacketDataplane {
    device: TeamDevice,
    shared: Arc<Shared>,
    keeper: Keeper,
    forwarder: Option<JoinHandle<()>>,
    /// Of the thread that changes the plan.
    mover: Mover,
}

impl PacketDataplane {
    fn open(device: &TeamDevice) -> Result<PacketDataplane, Error> {
        device.mark_queues(false)?;
        let keeper = Keeper::open()?;
        keeper.drop_ingress(&device.peer_name)?;
        Self::start(device, keeper).map_err(|(keeper, error)| {
            // The first error is the one to report.
            let _ = keeper.undo(&device.peer_name);
            error
        })
    }

    fn start(device: &TeamDevice, keeper: Keeper) -> Result<PacketDataplane, (Keeper, Error)> {
        match Self::forward(device) {
            Ok((shared, forwarder)) => Ok(PacketDataplane {
                device: device.clone(),
                shared,
                keeper,
                forwarder: Some(forwarder),
                mover: Mover::new(),
            }),
            Err(error) => Err((keeper, error)),
        }
    }

    fn forward(device: &TeamDevice) -> Result<(Arc<Shared>, JoinHandle<()>), Error> {
        let shared = Arc::new(Shared::new(PacketSocket::open(device.peer_index)?, u64::from(device.index))?);
        let forwarder = Forwarder::new(shared.clone());
        let forwarder = thread::Builder::new()
            .name(format!("fwd {}", device.name))
            .spawn(move || {
                // It reads what anybody sends. A thread that cannot give rights up is seen by its process's status.
                let _ = capabilities::keep_only(&[Capability::NET_ADMIN, Capability::NET_RAW]);
                forwarder.run();
            })
            .context(|| format!("start the forwarding thread of {}", device.name))?;
        Ok((shared, forwarder))
    }

    /// Ends the forwarding thread; nothing is forwarded afterwards.
    fn stop(&mut self) {
        if let Some(forwarder) = self.forwarder.take() {
            self.shared.stop();
            // It ends by itself and has nothing to say.
            let _ = forwarder.join();
        }
    }
}

impl Dataplane for PacketDataplane {
    fn kind(&self) -> Kind {
        Kind::Packet
    }

    fn sees_carriers(&self) -> bool {
        false
    }

    fn attach(&mut self, port: &Port) -> Result<(), Error> {
        let socket = PacketSocket::open(port.index)?;
        self.keeper.drop_ingress(&port.name)?;
        let attached = self.shared.insert(port.id, Member::new(port.name.clone(), socket));
        Ok(attached.inspect_err(|_| {
            // The first error is the one to report.
            let _ = self.keeper.undo(&port.name);
        })?)
    }

    fn detach(&mut self, id: MemberId) -> Result<(), Error> {
        match self.shared.take(id) {
            Some(member) => Ok(self.keeper.undo(&member.name)?),
            None => Ok(()),
        }
    }

    fn apply(&mut self, plan: &Plan) -> Result<(), Error> {
        let mut table = self.shared.write();
        let rule = |plan: &Plan, id| plan.member(id).map(|line| line.receive);
        let members = table.members().map(|(id, _)| id);
        let changed: Vec<MemberId> = members.filter(|&id| rule(&table.plan, id) != rule(plan, id)).collect();
        self.mover.catch_up(&self.shared, &table, &changed);
        table.plan = plan.clone();
        Ok(())
    }

    fn transmit(&mut self, id: MemberId, frame: &[u8]) -> Result<(), Error> {
        let table = self.shared.read();
        let member =
            table.member(id).ok_or(Errno::ENXIO).context(|| format!("send by member {id}: it is not attached"))?;
        if let Ok(frame) = Frame::parse(frame) {
            table.plan.note_transmitted(&frame, &mut self.shared.state());
        }
        member.transmit(frame);
        Ok(())
    }

    fn take_notes(&mut self) -> Result<Vec<Note>, Error> {
        Ok(self.shared.notes().take())
    }

    /// Nothing to renew: what stops with the process is not sent without it.
    fn renew(&mut self, _: &[Answer]) -> Result<(), Error> {
        Ok(())
    }

    fn remembered(&self) -> Result<Vec<Remembered>, Error> {
        Ok(Vec::new())
    }

    fn answered(&self) -> Result<u64, Error> {
        Ok(0)
    }

    fn withheld(&self) -> Result<u64, Error> {
        Ok(self.shared.withheld.load(Relaxed))
    }

    fn plain(&self) -> Result<PlainReport, Error> {
        let now = self.shared.now();
        Ok(self.shared.state().stripe.take_plain_report(now))
    }

    fn counters(&self) -> Result<Vec<(MemberId, Counters)>, Error> {
        let table = self.shared.read();
        table.members().map(|(id, member)| Ok((id, member.counters()?))).collect()
    }

    /// Frames that no member was asked to send: the plan named none, or none
    /// that is attached, or the forwarding thread did not keep up with the
    /// stack. What a member refused is among its `tx_drops`.
    fn unsent(&self) -> Result<u64, Error> {
        let lost = self.shared.stack.take_lost()?;
        Ok(self.shared.unsent.fetch_add(lost, Relaxed) + lost)
    }

    fn loads(&self) -> Result<Loads, Error> {
        Ok(self.shared.state().loads.clone())
    }

    fn sources(&self) -> Result<Vec<(Mac, u16)>, Error> {
        let now = self.shared.now();
        Ok(self.shared.state().sources.known(now))
    }

    fn stream(&self, peer: Mac) -> Result<StreamCounters, Error> {
        Ok(self.shared.state().streams.counters(peer))
    }

    fn punts(&self) -> Option<BorrowedFd<'_>> {
        Some(self.shared.punted.as_fd())
    }

    fn take_punted(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        let (mut frames, mut buffer) = (Vec::new(), vec![0; MAX_PUNTED]);
        // It ends when nothing waits: nothing else can fail here.
        while let Ok(length) = self.shared.punted.recv(&mut buffer) {
            frames.push(buffer[..length].to_vec());
        }
        Ok(frames)
    }

    fn missing(&mut self) -> Result<Vec<Missing>, Error> {
        self.keeper.take_news();
        let table = self.shared.read();
        let devices = table.members().map(|(_, member)| member.name.clone());
        let mut missing = Vec::new();
        for (number, device) in devices.chain([self.device.peer_name.clone()]).enumerate() {
            if !self.keeper.has(&device)? {
                missing.push(Missing { device, what: "nftables chain", number });
            }
        }
        Ok(missing)
    }

    fn restore(&mut self, missing: &Missing) -> Result<(), Error> {
        Ok(self.keeper.drop_ingress(&missing.device)?)
    }

    fn alarm(&self) -> Option<BorrowedFd<'_>> {
        Some(self.keeper.as_fd())
    }

    fn remove(mut self: Box<Self>) -> Result<(), Error> {
        self.stop();
        // Undo all of it, then report what went wrong first.
        let members: Vec<MemberId> = self.shared.read().members().map(|(id, _)| id).collect();
        let detached: Vec<_> = members.into_iter().map(|id| self.detach(id)).collect();
        let end = self.keeper.undo(&self.device.peer_name);
        detached.into_iter().collect::<Result<(), Error>>()?;
        Ok(end?)
    }
}

impl Drop for PacketDataplane {
    fn drop(&mut self) {
        self.stop();
    }
}

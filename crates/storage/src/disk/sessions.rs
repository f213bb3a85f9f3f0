//! The sessions, one a path.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

use nicteam_iscsi::{Buffer, Event, Isid, Library, Login, Negotiated, Session};
use nicteam_multipath::PathId;
use nicteam_sys::tcp;
use nix::poll::PollFlags;
use nix::sys::socket::{SockaddrStorage, getsockname};

use super::carriers::{Carriers, device_of};
use crate::{DiskSpec, Error, SessionStatus, Watch};

/// The sessions of a disk.
#[derive(Debug)]
pub(super) struct Sessions {
    library: Library,
    spec: DiskSpec,
    /// Tells this disk's sessions from those of other disks with the same initiator's name.
    random: u32,
    pub(super) carriers: Carriers,
    paths: Vec<PathSession>,
}

/// A path and its session.
#[derive(Debug, Default)]
struct PathSession {
    session: Option<Session>,
    /// It goes by the path's own interface and portal: it does not fence by those of another one.
    is_own_way: bool,
    negotiated: Option<Negotiated>,
    logins: u32,
    last_error: Option<String>,
    /// Bytes that the other end had acknowledged, and sent, when this was asked last.
    moved: u64,
}

/// What a session reported.
#[derive(Debug)]
pub(super) enum Report {
    LoggedIn,
    Done(u64, Option<Buffer>, nicteam_iscsi::Outcome),
    Broken(String),
}

impl Report {
    /// It is the answer to this command, or the session's end.
    pub(super) fn ends(&self, command: u64) -> bool {
        match self {
            Report::LoggedIn => false,
            Report::Done(done, ..) => *done == command,
            Report::Broken(_) => true,
        }
    }
}

impl Sessions {
    /// Without a session yet.
    pub(super) fn new(library: &Library, spec: &DiskSpec) -> Result<Sessions, Error> {
        let paths = spec.paths.len();
        let mut carriers = Carriers::open(paths)?;
        for (path, device) in spec.paths.iter().enumerate().filter_map(|(n, path)| Some((n, path.bind_device.clone()?)))
        {
            carriers.set_device(path, device);
        }
        Ok(Sessions {
            library: library.clone(),
            spec: spec.clone(),
            random: nicteam_sys::random::number()? as u32,
            carriers,
            paths: (0..paths).map(|_| PathSession::default()).collect(),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.paths.len()
    }

    /// Begins a session with the ISID of `path`, by the interface and the portal of `via`.
    pub(super) fn begin(&mut self, path: PathId, via: PathId, block_bytes: u32) -> Result<(), String> {
        let way = &self.spec.paths[via.0];
        let isid = Isid::new(self.random, path.0 as u16);
        let login = Login {
            block_bytes,
            immediate_data: self.spec.immediate_data,
            initial_r2t: self.spec.initial_r2t,
            header_digest: self.spec.header_digest,
            bind_device: way.bind_device.clone(),
            ..Login::new(way.portal, &self.spec.target, self.spec.lun, &self.spec.initiator, isid)
        };
        let own = &mut self.paths[path.0];
        own.moved = 0;
        own.is_own_way = via == path;
        match Session::begin(&self.library, login) {
            Ok(session) => {
                own.session = Some(session);
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Closes a session at once; the commands that it had outstanding, and their buffers.
    pub(super) fn abandon(&mut self, path: PathId) -> Vec<(u64, Option<Buffer>)> {
        let Some(mut session) = self.paths[path.0].session.take() else { return Vec::new() };
        session.abandon();
        let command = |event| match event {
            Event::Done { tag, buffer, .. } => Some((tag, buffer)),
            _ => None,
        };
        std::iter::from_fn(|| session.next_event()).filter_map(command).collect()
    }

    /// Notes why a path lost its session, or did not get one.
    pub(super) fn note_error(&mut self, path: PathId, reason: &str) {
        if !reason.is_empty() {
            self.paths[path.0].last_error = Some(reason.to_owned());
        }
    }

    /// The session of a path, if it has one.
    pub(super) fn session(&mut self, path: usize) -> Option<&mut Session> {
        self.paths.get_mut(path)?.session.as_mut()
    }

    /// What to wait for: the paths, and their descriptors.
    pub(super) fn watches(&self) -> (Vec<usize>, Vec<Watch<'_>>) {
        self.sockets().map(|(path, fd)| (path, Watch::new(fd, self.wants(path)))).unzip()
    }

    /// Sends what is to be sent, as far as the sockets take it: sooner than by waiting for them first.
    pub(super) fn send(&mut self) {
        for session in self.paths.iter_mut().filter_map(|path| path.session.as_mut()) {
            if session.is_ready() && session.wants().contains(PollFlags::POLLOUT) {
                session.service(PollFlags::POLLOUT);
            }
        }
    }

    /// The next report of any session.
    pub(super) fn next_report(&mut self) -> Option<(PathId, Report)> {
        for number in 0..self.paths.len() {
            let path = &mut self.paths[number];
            let Some(event) = path.session.as_mut().and_then(Session::next_event) else { continue };
            let report = match event {
                Event::LoggedIn => {
                    self.logged_in(number);
                    Report::LoggedIn
                }
                Event::Done { tag, buffer, outcome } => Report::Done(tag, buffer, outcome),
                Event::Broken { reason } => {
                    path.session = None;
                    Report::Broken(reason)
                }
            };
            return Some((PathId(number), report));
        }
        None
    }

    /// Whether the other end of a path's connection acknowledged or sent bytes since this was asked last.
    pub(super) fn has_moved(&mut self, path: usize) -> bool {
        let path = &mut self.paths[path];
        let Some(fd) = path.session.as_ref().and_then(Session::fd) else { return false };
        let Ok(info) = tcp::info(fd) else { return false };
        let moved = info.bytes_acked + info.bytes_received;
        std::mem::replace(&mut path.moved, moved) < moved
    }

    /// The connections, by the numbers of their paths.
    pub(super) fn sockets(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>)> {
        let paths = self.paths.iter().enumerate();
        paths.filter_map(|(number, path)| Some((number, path.session.as_ref()?.fd()?)))
    }

    fn wants(&self, path: usize) -> PollFlags {
        self.paths[path].session.as_ref().map_or(PollFlags::empty(), Session::wants)
    }

    pub(super) fn status(&self) -> Vec<SessionStatus> {
        let status = |(number, path): (usize, &PathSession)| SessionStatus {
            portal: self.spec.paths[number].portal,
            local: path.session.as_ref().and_then(Session::fd).and_then(own_end),
            device: self.carriers.device(number).map(str::to_owned),
            carrier: self.carriers.carrier(number),
            negotiated: path.negotiated,
            logins: path.logins,
            last_error: path.last_error.clone(),
        };
        self.paths.iter().enumerate().map(status).collect()
    }

    /// Notes what was agreed on, and by which device the connection leaves.
    fn logged_in(&mut self, number: usize) {
        let path = &mut self.paths[number];
        path.logins += 1;
        path.negotiated = path.session.as_ref().and_then(Session::negotiated).or(path.negotiated);
        let own = path.session.as_ref().and_then(Session::fd).and_then(own_end);
        if path.is_own_way
            && self.carriers.device(number).is_none()
            && let Some(device) = own.and_then(|own| device_of(own.ip()))
        {
            self.carriers.set_device(number, device);
        }
    }
}

/// The own address of a connection.
fn own_end(socket: BorrowedFd<'_>) -> Option<SocketAddr> {
    let address: SockaddrStorage = getsockname(socket.as_raw_fd()).ok()?;
    let v4 = address.as_sockaddr_in().map(|it| SocketAddr::from((it.ip(), it.port())));
    v4.or_else(|| address.as_sockaddr_in6().map(|it| SocketAddr::from((it.ip(), it.port()))))
}

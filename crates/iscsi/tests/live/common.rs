//! A target, and a session with it.

use std::time::{Duration, Instant};

use nicteam_iscsi::{Buffer, Event, Isid, Library, Login, Outcome, Session};
use nicteam_testnet::{Host, IscsiTarget};
use nix::poll::{PollFd, PollTimeout, poll};

/// A host whose loopback device is up, with a target; the test's thread moves there.
pub struct World {
    pub target: IscsiTarget,
    pub library: Library,
    _host: Host,
}

impl World {
    pub const BYTES: u64 = 64 << 20;

    /// None where the test cannot run here.
    #[track_caller]
    pub fn or_skip(settings: &[(&str, &str)]) -> Option<World> {
        if !nicteam_testnet::may_make_networks() {
            return None;
        }
        let library = match Library::open() {
            Ok(library) => library,
            Err(absent) => {
                eprintln!("SKIPPED: {absent}");
                return None;
            }
        };
        let mut host = Host::quiet();
        host.set_up("lo", true);
        host.netns.enter().unwrap();
        let target = IscsiTarget::start_or_skip(&host.netns, World::BYTES, settings)?;
        Some(World { target, library, _host: host })
    }

    pub fn login(&self, qualifier: u16) -> Login {
        let portal = IscsiTarget::portal("127.0.0.1");
        Login::new(portal, IscsiTarget::NAME, IscsiTarget::LUN, "iqn.2026-01.test:host", Isid::new(0x77, qualifier))
    }

    /// A session, logged in, with its UNIT ATTENTION taken and its size known.
    #[track_caller]
    pub fn session(&self, login: Login) -> Pair {
        let mut pair = Pair::begin(&self.library, login);
        pair.logged_in();
        pair.ready();
        pair
    }
}

/// A session with what it has reported and nobody has asked for.
pub struct Pair {
    pub session: Session,
}

impl Pair {
    #[track_caller]
    pub fn begin(library: &Library, login: Login) -> Pair {
        Pair { session: Session::begin(library, login).unwrap() }
    }

    #[track_caller]
    pub fn logged_in(&mut self) {
        assert_eq!(self.next(), Event::LoggedIn);
    }

    /// Takes UNIT ATTENTION and reads the size.
    #[track_caller]
    pub fn ready(&mut self) {
        loop {
            self.session.test_unit_ready(1);
            match self.outcome(1) {
                Outcome::Good => break,
                Outcome::UnitAttention { .. } => {}
                other => panic!("{other:?}"),
            }
        }
        self.session.read_capacity(2);
        assert_eq!(self.outcome(2), Outcome::Capacity { blocks: World::BYTES / 512, block_bytes: 512 });
    }

    /// The next event. Bounded generously.
    #[track_caller]
    pub fn next(&mut self) -> Event {
        self.next_within(Duration::from_secs(20)).expect("the session has nothing to say")
    }

    pub fn next_within(&mut self, longest: Duration) -> Option<Event> {
        let start = Instant::now();
        loop {
            if let Some(event) = self.session.next_event() {
                return Some(event);
            }
            let left = longest.checked_sub(start.elapsed())?;
            self.serve(left)?;
        }
    }

    /// Serves the session until it is over, and takes no event.
    pub fn end_unheard(&mut self) {
        while self.serve(Duration::from_secs(20)).is_some() {}
    }

    /// Waits for the connection and serves it; none if there is none.
    fn serve(&mut self, longest: Duration) -> Option<()> {
        let mut fds = [PollFd::new(self.session.fd()?, self.session.wants())];
        poll(&mut fds, PollTimeout::try_from(longest).unwrap()).unwrap();
        let found = fds[0].revents().unwrap();
        self.session.service(found);
        Some(())
    }

    /// The next event, which is this command's.
    #[track_caller]
    pub fn done(&mut self, tag: u64) -> (Option<Buffer>, Outcome) {
        match self.next() {
            Event::Done { tag: found, buffer, outcome } if found == tag => (buffer, outcome),
            other => panic!("{other:?} instead of the end of {tag}"),
        }
    }

    #[track_caller]
    pub fn outcome(&mut self, tag: u64) -> Outcome {
        self.done(tag).1
    }
}

/// Bytes that tell where they belong.
pub fn content(seed: u64, bytes: usize) -> Buffer {
    Buffer::from((0..bytes as u64).map(|at| (at * 31 + at / 512 + seed * 7) as u8).collect::<Vec<u8>>())
}

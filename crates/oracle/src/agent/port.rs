//! Network cards whose cables leave the guest.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

use nicteam_oracle::Refusal;
use nicteam_sys::packet::PacketSocket;
use nicteam_sys::tap::Tap;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{read, write};

use crate::{refused, system};

/// Bytes of the longest GSO frame with its offload header.
const LONGEST: usize = 66 * 1024;

/// Makes a card whose cable is the device with this index; both last as long as the guest.
///
/// A TAP device, because its speed and its carrier can be set, and user-mode
/// Linux' own network device has neither.
pub(crate) fn add(name: &str, cable: u32) -> Result<(), Refusal> {
    let card = Tap::open(name).map_err(system)?;
    let cable = PacketSocket::open(cable).map_err(system)?;
    let made = fcntl(&card, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(io::Error::from).and_then(|_| {
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            // It ends if a device is gone; then nothing passes, which the test sees.
            let _ = join(card.as_fd(), cable.as_fd());
        })
    });
    made.map(drop).map_err(|error| refused(format!("join {name} to its cable"), &error))
}

/// Hands frames from each to the other; both begin with an offload header.
fn join(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> Result<(), Errno> {
    let mut frame = vec![0; LONGEST];
    loop {
        let mut ready = [one, other].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        poll(&mut ready, PollTimeout::NONE)?;
        hand_over(one, other, &mut frame)?;
        hand_over(other, one, &mut frame)?;
    }
}

/// Hands over what has come. A device that is down takes nothing, as a cable in nothing.
fn hand_over(from: BorrowedFd<'_>, to: BorrowedFd<'_>, frame: &mut [u8]) -> Result<(), Errno> {
    loop {
        match read(from, frame) {
            Ok(len) => {
                let _ = write(to, &frame[..len]);
            }
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ENETDOWN) => return Ok(()),
            Err(errno) => return Err(errno),
        }
    }
}

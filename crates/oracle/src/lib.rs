//! The kernel's own bonding driver as reference implementation of ours.
//!
//! A [`Guest`] is a real Linux with the real `bonding` module, booted in one or
//! two seconds and without privileges: user-mode Linux from Debian, fetched once
//! and kept in the user's cache ([`Image`]). In it runs one process, an agent
//! that does what a test asks: make devices, write and read `/sys` and `/proc`,
//! send frames and say by which members they left, watch values change.
//!
//! - The guest's root is the host's, read-only, by `hostfs`; so the agent is an
//!   ordinary program of this crate and finds its libraries, and no file system
//!   has to be made. Requests and answers are JSON lines over the guest's first
//!   serial port ([`protocol`]), frames included; so nothing is ever written to
//!   the host and nothing is left behind.
//! - There is a second kind ([`Guest::boot_emulated`]): QEMU emulates a processor, with Debian's kernel for
//!   virtual machines and a root in memory. To count instructions its clock advances by a nanosecond with each
//!   ([`Clock`]). An idle processor then does not wait, so minutes of its time pass in seconds ([`shares`]).
//! - A guest dies with its handle, and with the thread that booted it.
//! - What fails here fails the test: a guest that does not answer is a panic with
//!   the last lines of its console. What the guest's kernel *refuses* is an
//!   answer, with its error number ([`Refusal`]).
//!
//! Beside the kernel's driver stands Open vSwitch's daemon: [`Unixctl`] asks one of `nicteam_testnet::OpenVSwitch`.
//!
//! It is a crate of its own and not a part of `xtask`, because its judgements are
//! tests: they run with `cargo test` beside the others, and only tests of the
//! package that has the agent can know where the agent is.
#![forbid(unsafe_code)]

mod bench;
mod bond;
mod cable;
mod emulated;
pub mod frames;
mod guest;
mod image;
mod initrd;
mod pktgen;
pub mod protocol;
pub mod shares;
mod unixctl;

use std::path::Path;

pub use bench::{Bench, Way};
pub use cable::Cable;
pub use emulated::Clock;
pub use guest::{BootError, Guest};
pub use image::{EmulatedImage, Image, Missing, cache_folder, debian_package};
pub use initrd::Archive;
pub use nicteam_testnet::is_soak;
pub use pktgen::Generated;
pub use protocol::{Departures, Refusal, Sample, Step};
pub use unixctl::Unixctl;

/// The seed of everything random in a test: `NICTEAM_SEED`, else always the same.
pub fn seed() -> u64 {
    std::env::var("NICTEAM_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(61)
}

/// A guest, or a line that says why there is none and that the test is skipped.
///
/// `agent` is `env!("CARGO_BIN_EXE_nicteam-oracle-agent")`.
///
/// # Panics
/// If there is all that a guest needs and it does not boot.
#[track_caller]
pub fn guest(agent: &str) -> Option<Guest> {
    guest_at(agent, Vec::new())
}

/// The same, with a port at each of these cables.
#[track_caller]
pub fn guest_at(agent: &str, cables: Vec<Cable>) -> Option<Guest> {
    match Image::obtain() {
        Ok(image) => {
            let guest = Guest::boot_cabled(&image, agent.as_ref(), cables);
            Some(guest.unwrap_or_else(|error| panic!("{error}")))
        }
        Err(missing) => {
            eprintln!("SKIPPED: no guest kernel: {missing}");
            None
        }
    }
}

/// The same with a guest on a processor that is emulated ([`Guest::boot_emulated`]),
/// with these programs in `/bin`.
///
/// # Panics
/// If there is all that a guest needs and it does not boot.
#[track_caller]
pub fn emulated_guest(agent: &str, programs: &[&Path], clock: Clock) -> Option<Guest> {
    if !emulated::is_there() {
        eprintln!("SKIPPED: no QEMU for a guest; hint: apt-get install --no-install-recommends qemu-system-x86");
        return None;
    }
    match EmulatedImage::obtain() {
        Ok(image) => {
            let guest = Guest::boot_emulated(&image, agent.as_ref(), programs, clock);
            Some(guest.unwrap_or_else(|error| panic!("{error}")))
        }
        Err(missing) => {
            eprintln!("SKIPPED: no guest kernel: {missing}");
            None
        }
    }
}

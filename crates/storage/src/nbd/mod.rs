//! A volume as an NBD export, so that any program can use it: `fio --ioengine=nbd`, `qemu-img`, `nbdinfo`,
//! `nbd-client`.
//!
//! Fixed newstyle handshake, simple replies, READ, WRITE, FLUSH and DISC; several connections at once, each with many
//! requests outstanding. One thread serves all of it, the one that owns the volume.
//!
//! ```no_run
//! # use nicteam_storage::{Error, Volume, nbd::{Address, Server}};
//! fn serve(volume: &mut dyn Volume) -> Result<(), Error> {
//!     let mut server = Server::bind(&Address::Unix("/run/disk.sock".into()), "disk", volume)?;
//!     loop {
//!         server.turn(volume, None, &mut [])?;
//!     }
//! }
//! ```

mod address;
mod connection;
#[doc(hidden)]
pub mod decoders;
mod handshake;
mod listener;
mod protocol;
mod server;

pub use address::Address;
pub use server::Server;

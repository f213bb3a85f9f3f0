//! `nicteam ovs bond/hash`.

use std::fmt::Display;

use nicteam_team::hash::slb;

use super::scan::{self, Scanned};
use crate::failure::Failure;
use crate::say;

/// Print the bucket, 0 to 255, of frames that have this source address in balance-slb.
///
/// The bucket is that of Open vSwitch 3.1 in a build without SSE4.2, as Debian's is. What it takes without a word
/// (`ovs-appctl bond/hash` reads `5x` as 5) is taken, too, with a warning.
#[derive(Debug, clap::Args)]
pub(crate) struct BondHash {
    /// The source address: 02:00:00:00:00:01.
    mac: String,
    /// The VLAN ID, 0 to 4095; 0, which is also that of frames without a tag, if it is left out.
    #[arg(allow_negative_numbers = true)]
    vlan: Option<String>,
    /// The bond's `bond-hash-basis`, 0 to 4294967295; 0 if it is left out.
    #[arg(allow_negative_numbers = true)]
    basis: Option<String>,
}

/// Prints the bucket, as `ovs-appctl` does.
pub(super) fn bond_hash(args: &BondHash) -> Result<(), Failure> {
    let vlan = match &args.vlan {
        Some(text) => read(scan::vlan(text), text, "vlan", "a VLAN ID is a number from 0 to 4095")?,
        None => 0,
    };
    let basis = match &args.basis {
        Some(text) => read(scan::basis(text), text, "basis", "a basis is a number from 0 to 4294967295")?,
        None => 0,
    };
    let mac = read(scan::mac(&args.mac), &args.mac, "mac", "an address has colons: 02:00:00:00:00:01")?;
    say::data(format_args!("{}\n", slb::bucket(mac, vlan, basis)))
}

/// The value; a warning where Open vSwitch reads something else than what stands there, its words where it refuses.
fn read<T: Copy + Display>(scanned: Option<Scanned<T>>, text: &str, what: &str, hint: &str) -> Result<T, Failure> {
    let shown = say::visible(text);
    let refused = || Failure::wrong_input(format!("invalid {what}: `{shown}`")).hint(Some(hint));
    let Scanned { value, is_plain } = scanned.ok_or_else(refused)?;
    if !is_plain {
        say::line(format_args!("warning: {what} `{shown}`: {hint}; taken for {value}, as Open vSwitch does"));
    }
    Ok(value)
}

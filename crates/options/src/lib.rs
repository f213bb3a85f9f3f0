//! The options of a team, in the kernel's words, and the table of [`mode`]s.
//!
//! Names, values and ranges are those of Linux `drivers/net/bonding/bond_options.c`
//! (6.1 to 6.18), for the options and modes that a team has. As there, a value
//! may be a name or its number, `default` is the kernel's own default, and
//! white space around a value does not count.
//!
//! [`Config::set`] takes an option as text, [`Config::check`] says whether all go together, and what is true of a mode is
//! asked of its [`Traits`].
#![forbid(unsafe_code)]

mod arp;
mod choices;
mod classes;
mod config;
mod error;
mod failover;
mod lacp;
pub mod mode;
mod names;
mod openvswitch;
mod options;
mod stripe;
mod values;

pub use arp::{ArpAllTargets, ArpMonitoring, ArpValidate, MAX_ARP_TARGETS};
pub use choices::{AggrLayers, HashPolicy, PrimaryReselect};
pub use classes::{Classes, MAX_PORTS, NoClasses, Transport};
pub use config::Config;
pub use error::ConfigError;
pub use failover::{ActiveSlave, FailOverMac, MAX_QUEUE_ID};
pub use lacp::LacpOptions;
pub use mode::{Mode, Traits};
pub use openvswitch::{BondOptions, DetectMode, LacpMode};
pub use options::ConfigOption;
pub use stripe::{MAX_SACK_DELAY, StripeKey, StripePlain};
pub use values::{Values, nearest};

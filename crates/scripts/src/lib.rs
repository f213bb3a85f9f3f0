//! Formats that are command lines: the scripts that build a bond, and the commands that other files run.
//!
//! Lines are read, not run. A script of `ip`, of `dladm` and `ifconfig`, of `ovs-vsctl` or of VyOS is a format of its own;
//! [`commands`] says of a single command what it does to a team, for the files in which commands stand among settings.
#![forbid(unsafe_code)]

pub mod commands;
mod dladm;
mod ifconfig;
mod iproute2;
mod net_tools;
pub mod openvswitch;
mod vyos;

pub use dladm::Dladm;
pub use iproute2::Iproute2;
pub use openvswitch::OpenVSwitch;
pub use vyos::Vyos;

//! Other people's configuration of bonds: read, understood and written in their own words.
//!
//! One file a format. Pure: text in, values out; the callers carry them out. Errors are values that name the word that
//! is wrong, in the words of the program that the format belongs to, and say what to do.
//!
//! [`Network`] is what every format is read to and written from; [`FORMATS`] and [`WRITERS`] are the registries. The command
//! lines of `ovs-vsctl` are more than a format, they are carried out ([`ovs_vsctl`]):
//!
//! ```
//! use nicteam_formats::ovs_vsctl;
//!
//! let words: Vec<String> = "add-bond br0 bond0 eth0".split(' ').map(str::to_owned).collect();
//! let error = ovs_vsctl::parse(&words).unwrap_err();
//! assert_eq!(error.to_string(), "'add-bond' command requires at least 4 arguments");
//! assert!(error.pointed(&words).ends_with("add-bond br0 bond0 eth0\n^^^^^^^^"));
//! ```
#![forbid(unsafe_code)]

mod address;
mod cloud_init;
mod commands;
mod dladm;
mod draft;
mod format;
mod freebsd;
mod ifcfg;
mod ifconfig;
pub mod ifupdown;
mod ini;
mod iproute2;
mod json;
mod kernel;
mod keyfile;
mod names;
mod net_tools;
mod netplan;
mod network;
mod networkd;
mod nmstate;
mod once_each;
mod openvswitch;
pub mod ovs_vsctl;
mod reading;
mod registry;
mod rest;
mod route;
pub mod settings;
mod shell;
mod source;
mod switch;
mod teamd;
mod teams;
mod template;
pub mod toml;
pub mod tree;
mod unescaped;
mod vyos;
pub mod yaml;

pub use address::{Address, AddressError};
pub use format::{Format, Writer, Written};
pub use network::{Disable, Import, Left, Network, Team};
pub use registry::{FORMATS, WRITERS};
pub use route::{Route, RouteError, RouteWords};
pub use shell::quoted;
pub use source::{Place, Source};
pub use switch::balancing;
pub use template::template;

//! Other people's configuration of bonds: read, understood and written in their own words.
//!
//! One file a format. Pure: text in, values out; whoever carries them out is elsewhere. Errors are values that name the
//! word that is wrong, in the words of the program that the format belongs to, and say what to do.
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

pub mod ovs_vsctl;

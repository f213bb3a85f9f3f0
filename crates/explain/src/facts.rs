//! What goes in, and what comes out.

use std::net::IpAddr;

use nicteam_bundles::traffic::{Connection, Headers};
use nicteam_bundles::{Bundle, Rates};
use serde::Serialize;

use crate::finding::Finding;

/// What is known of a bundle.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The bundle at the end of the time.
    pub bundle: &'a Bundle,
    /// The same at its beginning.
    pub earlier: Option<&'a Bundle>,
    /// What its devices carried.
    pub rates: &'a Rates,
    /// TCP connections of the host.
    pub connections: &'a [Connection],
    /// Headers of its members' frames; none where they may not be read.
    pub headers: Option<&'a Headers>,
    /// Addresses of its device and of the devices on it.
    pub addresses: &'a [IpAddr],
    /// What passes the path to a host that was asked for.
    pub path: Option<&'a Path>,
}

/// What passes the path to another host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Path {
    /// That host.
    pub to: String,
    /// The packets that the path is to pass do pass.
    pub is_good: bool,
    /// What is wrong, in sentences.
    pub findings: Vec<String>,
    /// What to do.
    pub cures: Vec<String>,
}

/// What is wrong with a bundle, and what is not.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The bundle's name.
    pub bundle: String,
    /// In a sentence.
    pub verdict: String,
    /// True if nothing is wrong.
    pub is_good: bool,
    /// What was found, the worst first.
    pub findings: Vec<Finding>,
    /// What cannot be said without traffic, or without what may not be read.
    pub unknown: Vec<String>,
}

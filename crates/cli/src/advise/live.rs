//! Traffic of this host, looked at for a time.

use std::time::Duration;

use nicteam_observe::bundles::traffic::Way;
use nicteam_observe::bundles::{Bundle, flows};
use nicteam_observe::traffic::{Options, watch};
use nicteam_observe::{device, host};
use nicteam_predict::advise::Traffic;
use nicteam_wire::{Frame, Mac};

use crate::failure::Failure;
use crate::say;

/// Who looks that long is told so.
const LONG: Duration = Duration::from_secs(2);

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// For how long.
    pub(super) time: Duration,
    /// Teams, bonds and devices; all teams and bonds if there is none.
    pub(super) interfaces: &'a [String],
    /// What is received, not what is sent.
    pub(super) received: bool,
    /// Links of the team that is to be; as many as there are by default.
    pub(super) members: Option<u32>,
    /// Nothing is said of the wait.
    pub(super) quiet: bool,
}

/// What this host sends, or receives, in that time.
pub(super) fn traffic(wanted: Wanted<'_>) -> Result<Traffic, Failure> {
    let Wanted { time, interfaces, received, members, quiet } = wanted;
    let chosen = chosen(interfaces)?;
    let links: u32 = chosen.iter().map(|bundle| bundle.members.len() as u32).sum();
    let no_count = || {
        Failure::wrong_input(format!("{} has one link: it is not known of how many the team is to be", names(&chosen)))
            .hint(Some("--members N says it"))
    };
    let members = members.or_else(|| (links > 1).then_some(links)).ok_or_else(no_count)?;
    if time >= LONG && !quiet {
        say::line(format_args!("looking at {} for {} s ...", names(&chosen), time.as_secs_f64()));
    }
    let watched = watch(&chosen, Options { time, probes: false })?;
    let has_headers = chosen.iter().all(|bundle| watched.headers.contains_key(&bundle.name));
    if !has_headers {
        say::line(
            "warning: no headers of frames (CAP_NET_RAW): only TCP connections of this host are known, and no MAC addresses",
        );
    }
    watched.unseen.iter().for_each(|line| say::line(format_args!("warning: not read: {line}")));
    let way = if received { Way::In } else { Way::Out };
    let mut traffic = Traffic::new(members, has_headers);
    for bundle in &chosen {
        let addresses = watched.addresses.get(&bundle.name).map_or(&[][..], Vec::as_slice);
        let own: Mac = bundle.mac.as_deref().and_then(|mac| mac.parse().ok()).unwrap_or_default();
        for flow in flows(way, watched.headers.get(&bundle.name), &watched.connections, addresses, own) {
            if let Ok(frame) = Frame::parse_untagged(&flow.head) {
                traffic.add(&frame, flow.bytes);
            }
        }
    }
    Ok(traffic)
}

/// The bundles and devices to look at.
fn chosen(names: &[String]) -> Result<Vec<Bundle>, Failure> {
    let host = host()?;
    if names.is_empty() {
        let none = || {
            Failure::wrong_input("no team and no bond in this network namespace")
                .hint(Some("--interface DEVICE names a device"))
        };
        return (!host.bundles.is_empty()).then_some(host.bundles).ok_or_else(none);
    }
    let mut chosen: Vec<Bundle> = Vec::new();
    for name in names {
        let bundle = match host.bundle(name) {
            Some(bundle) => Some(bundle.clone()),
            None => device(name)?,
        };
        let bundle = bundle.ok_or_else(|| Failure::wrong_input(format!("no team, bond or device `{name}`")))?;
        if !chosen.iter().any(|known| known.name == bundle.name) {
            chosen.push(bundle);
        }
    }
    Ok(chosen)
}

fn names(of: &[Bundle]) -> String {
    let names: Vec<&str> = of.iter().map(|bundle| bundle.name.as_str()).collect();
    names.join(", ")
}

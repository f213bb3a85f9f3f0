//! Teams of teamd, by `teamdctl`.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use nicteam_bundles::{Bundle, Kind, Member, read};
use nicteam_netlink::Link;
use nicteam_sys::process;

use crate::host::Host;

/// Longer than an answer takes; guards against a teamd that hangs.
const LONGEST: Duration = Duration::from_secs(3);
/// A longer text is no state of a team.
const MOST_BYTES: u64 = 1 << 20;

pub(super) fn read(host: &mut Host, links: &[Link]) {
    for link in links.iter().filter(|link| link.kind == "team") {
        let bundle = match state(&link.name) {
            Ok(text) => read::teamdctl(&link.name, &text).ok_or_else(|| "its answer is no state of a team".to_owned()),
            Err(why) => Err(why),
        };
        host.bundles.push(bundle.unwrap_or_else(|why| bare(link, links, &why)));
    }
}

/// What `teamdctl NAME state dump` prints.
fn state(team: &str) -> Result<String, String> {
    let mut command = Command::new("teamdctl");
    command.args([team, "state", "dump"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("cannot run teamdctl: {error}"))?;
    let out = child.stdout.take();
    // The answer of a few kilobytes fits into the pipe, so the program ends without a reader.
    let Ok(Some(ended)) = process::wait(&child, LONGEST) else {
        // It may have ended in this moment.
        let _ = child.kill();
        let _ = child.wait();
        return Err("teamdctl did not answer".to_owned());
    };
    let mut text = String::new();
    // What cannot be read is no state either.
    let _ = out.map(|out| out.take(MOST_BYTES).read_to_string(&mut text));
    if ended.status.success() { Ok(text) } else { Err(format!("teamdctl ended with {}", ended.status)) }
}

/// A team that teamd does not describe.
fn bare(team: &Link, links: &[Link], why: &str) -> Bundle {
    let member = |link: &Link| Member { name: link.name.clone(), up: link.carrier, ..Member::default() };
    Bundle {
        name: team.name.clone(),
        kind: Kind::Teamd,
        device: Some(team.name.clone()),
        carrier: team.carrier,
        members: links.iter().filter(|link| link.master == Some(team.index)).map(member).collect(),
        unseen: vec![format!("the mode and the state of {}: {why}", team.name)],
        ..Bundle::default()
    }
}

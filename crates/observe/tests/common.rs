//! Hosts with teams, and what is read of them.

use nicteam_daemon::{PersistedTeam, Service, TeamSpec};
use nicteam_dataplane::Choice;
use nicteam_observe::Host as Observed;
use nicteam_observe::bundles::Bundle;
use nicteam_options::Config;
use nicteam_testnet::Host;

/// A team of eth0 and eth1 that can be asked.
pub fn start(host: &Host, options: &[(&str, &str)]) -> Service {
    let mut config = Config::default();
    options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
    let members = vec!["eth0".to_owned(), "eth1".to_owned()];
    let name = "team0".to_owned();
    let spec = TeamSpec { name, config, members, mac: None, mtu: None, dataplane: Choice::Auto };
    host.netns.run(|| Service::start(&PersistedTeam::of(&spec, None), Box::new(|_| ()))).unwrap().unwrap()
}

pub fn observed(host: &Host) -> Observed {
    host.netns.run(nicteam_observe::host).unwrap().unwrap()
}

#[track_caller]
pub fn team(host: &Host) -> Bundle {
    let observed = observed(host);
    observed.bundle("team0").cloned().unwrap_or_else(|| panic!("{observed:?}"))
}

/// True if frames are sent by every member.
pub fn aggregates(host: &Host) -> bool {
    team(host).members.iter().all(|member| member.active)
}

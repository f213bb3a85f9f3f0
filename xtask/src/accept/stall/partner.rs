//! The other end of the aggregate.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use nicteam_daemon::{Notice, RunningTeam, TeamSpec};
use nicteam_dataplane::{Choice, Kind as Dataplane};
use nicteam_team::lacp::{LacpEvent, LacpRate, MuxState};
use nicteam_team::{Config, Event};
use nicteam_testnet::{Host, OpenVSwitch};

use super::setup::{MEMBERS, TEAM, options};
use crate::failure::Failure;

/// Who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A team of ours, run by this process.
    Own,
    /// Open vSwitch with the userspace datapath.
    OpenVSwitch,
}

/// A partner that runs.
pub(super) enum Partner {
    /// Its team, its host, and the ports that it lost so far.
    Own(RunningTeam, Host, Arc<Mutex<usize>>),
    /// The switch.
    OpenVSwitch(OpenVSwitch),
}

impl Partner {
    /// A team on a host whose devices are there.
    pub(super) fn own(host: Host, rate: LacpRate) -> Result<Partner, Failure> {
        let mut config = Config::default();
        for (name, value) in options(rate) {
            config.set(name, value).map_err(Failure::failed)?;
        }
        let spec = TeamSpec {
            name: TEAM.to_owned(),
            config,
            members: MEMBERS.map(str::to_owned).to_vec(),
            mac: None,
            mtu: None,
            dataplane: Choice::Force(Dataplane::Bpf),
        };
        let lost = Arc::new(Mutex::new(0));
        let count = lost.clone();
        let notify = move |notice| {
            if let Notice::Event(Event::Lacp(LacpEvent::Mux { from: MuxState::Distributing, .. })) = notice {
                *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            }
        };
        let team = host.netns.run(|| RunningTeam::start(spec, Box::new(notify)))??;
        Ok(Partner::Own(team, host, lost))
    }

    /// A bond of a switch whose devices are there.
    pub(super) fn switch(switch: OpenVSwitch, rate: LacpRate) -> Partner {
        let members = MEMBERS.join(" ");
        switch.vsctl("add-br br0 -- set bridge br0 datapath_type=netdev");
        switch.vsctl(&format!(
            "add-bond br0 bond0 {members} bond_mode=balance-slb lacp=active other_config:lacp-time={rate}"
        ));
        Partner::OpenVSwitch(switch)
    }

    /// How many of its ports aggregate.
    pub(super) fn aggregating(&self) -> usize {
        match self {
            Partner::Own(team, ..) => {
                let members = team.report().map(|report| report.members).unwrap_or_default();
                let speaks =
                    |port: nicteam_team::lacp::PortStatus| !port.defaulted && port.mux == MuxState::Distributing;
                members.iter().filter(|member| member.status.lacp.is_some_and(speaks)).count()
            }
            Partner::OpenVSwitch(switch) => switch.enabled(),
        }
    }

    /// How often a port that aggregated stopped doing so.
    pub(super) fn lost(&self) -> usize {
        match self {
            Partner::Own(_, _, lost) => *lost.lock().unwrap_or_else(PoisonError::into_inner),
            // "member eth0: disabled"
            Partner::OpenVSwitch(switch) => switch.log().matches(": disabled").count(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Own => "own team",
            Kind::OpenVSwitch => "Open vSwitch",
        })
    }
}

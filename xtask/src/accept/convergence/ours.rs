//! Our team.

use nicteam_daemon::{RunningTeam, TeamSpec, show};
use nicteam_dataplane::Choice;
use nicteam_team::Config;
use nicteam_testnet::Host;

use super::end::{End, MIIMON, PORTS, device};
use crate::failure::Failure;

/// A team of all ports.
pub(crate) struct TeamEnd {
    host: Host,
    aggregate_wait_ms: u32,
    team: Option<RunningTeam>,
}

impl TeamEnd {
    pub(crate) fn new(host: Host, aggregate_wait_ms: u32) -> Result<TeamEnd, Failure> {
        Ok(TeamEnd { host, aggregate_wait_ms, team: None })
    }

    fn team(&self) -> Result<&RunningTeam, Failure> {
        self.team.as_ref().ok_or_else(|| Failure::failed("no team was started"))
    }
}

impl End for TeamEnd {
    fn wait_ms(&self) -> u32 {
        self.aggregate_wait_ms
    }

    fn waits(&self) -> String {
        format!("ours waits {} ms", self.aggregate_wait_ms)
    }

    fn renew(&mut self) -> Result<(), Failure> {
        if let Some(team) = self.team.take() {
            team.remove()?;
        }
        let mut config = Config::default();
        let wait = self.aggregate_wait_ms.to_string();
        for (name, value) in [("mode", "802.3ad"), MIIMON, ("aggregate_wait", &wait)] {
            config.set(name, value).map_err(Failure::failed)?;
        }
        let spec = TeamSpec {
            name: "team0".to_owned(),
            config,
            members: (0..PORTS).map(device).collect(),
            mac: None,
            mtu: None,
            dataplane: Choice::Auto,
        };
        self.team = Some(self.host.netns.run(|| RunningTeam::start(spec, Box::new(drop)))??);
        self.host.set_up("team0", true);
        Ok(())
    }

    fn distributes(&mut self) -> Result<bool, Failure> {
        Ok(self.team()?.report()?.members.iter().all(|member| member.status.active))
    }

    fn state(&mut self) -> String {
        let status = self.team().and_then(|team| Ok(team.handle().status()?));
        status.map_or_else(|failure| failure.to_string(), |status| show::text(&status))
    }
}

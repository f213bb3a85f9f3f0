//! LACP, and a whole team that is told the same and recorded: at its end the recording is replayed.

use std::ops::Deref;
use std::time::Duration;

use nicteam_team::lacp::{Answer, Lacp, LacpConfig, LacpEffect, MarkerId, PortParams};
use nicteam_team::replay::Recorded;
use nicteam_team::{Config, LacpOptions, MemberId, MemberLink, Mode, Time};
use nicteam_wire::Mac;

use crate::replays;

/// What speaks LACP; to look at, it is a [`Lacp`].
#[derive(Clone, Debug)]
pub struct Twin {
    lacp: Lacp,
    team: Option<Recorded>,
    /// Of the ports, where it is no default.
    priorities: LacpOptions,
}

impl Twin {
    pub fn new(config: LacpConfig, now: Time, is_recorded: bool) -> Twin {
        let priorities = LacpOptions::default();
        let team = is_recorded.then(|| {
            let system = config.ad_actor_system;
            Recorded::begin(config_of(&config, &priorities), system, now, replays::LIMIT).unwrap()
        });
        Twin { lacp: Lacp::new(config, now), team, priorities }
    }

    /// What follows is not recorded, and neither is what was.
    pub fn unrecord(&mut self) {
        self.team = None;
    }

    pub fn is_recorded(&self) -> bool {
        self.team.is_some()
    }

    pub fn add_port(&mut self, id: MemberId, params: PortParams, now: Time) {
        self.lacp.add_port(id, params, now);
        self.join(id, params, now);
    }

    pub fn resume_port(&mut self, id: MemberId, params: PortParams, left: (&Answer, Duration), now: Time) {
        self.lacp.resume_port(id, params, left, now);
        if let Some(team) = &mut self.team {
            team.remember(left.0.clone(), left.1);
        }
        self.join(id, params, now);
    }

    pub fn begin_ports(&mut self) {
        self.lacp.begin_ports();
        if let Some(team) = &mut self.team {
            team.begin_members();
        }
    }

    pub fn ports_complete(&mut self, now: Time) {
        self.lacp.ports_complete(now);
        self.tell(|team| team.members_complete(now));
    }

    pub fn remove_port(&mut self, id: MemberId, now: Time) {
        self.lacp.remove_port(id, now);
        self.tell(|team| drop(team.remove_member(id, now)));
    }

    pub fn handle_link(&mut self, id: MemberId, link: MemberLink, now: Time) {
        self.lacp.handle_link(id, link, now);
        self.tell(|team| drop(team.handle_link(id, link, now)));
    }

    pub fn handle_frame(&mut self, id: MemberId, frame: &[u8], now: Time) {
        self.lacp.handle_frame(id, frame, now);
        self.tell(|team| team.handle_frame(id, frame, now));
    }

    pub fn handle_timeout(&mut self, now: Time) {
        self.lacp.handle_timeout(now);
        self.tell(|team| team.handle_timeout(now));
    }

    pub fn set_config(&mut self, config: LacpConfig, now: Time) {
        self.lacp.set_config(config, now);
        self.reconfigure(now);
    }

    pub fn set_port_priority(&mut self, id: MemberId, priority: u16, now: Time) {
        self.lacp.set_port_priority(id, priority, now);
        self.priorities.actor_port_prio.insert(name(id), priority);
        self.reconfigure(now);
    }

    /// A marker; a team sends none of its own.
    pub fn flush(&mut self, id: MemberId, now: Time) -> Option<MarkerId> {
        self.lacp.flush(id, now)
    }

    pub fn poll_effect(&mut self) -> Option<LacpEffect> {
        let effect = self.lacp.poll_effect();
        if effect.is_none() {
            self.compare();
        }
        effect
    }

    fn join(&mut self, id: MemberId, params: PortParams, now: Time) {
        if params.priority != LacpOptions::DEFAULT_PORT_PRIO {
            self.priorities.actor_port_prio.insert(name(id), params.priority);
            self.reconfigure(now);
        }
        self.tell(|team| drop(team.add_member_at(id, &name(id), params.link, now)));
    }

    fn reconfigure(&mut self, now: Time) {
        let config = config_of(self.lacp.config(), &self.priorities);
        self.tell(|team| team.set_config(config, now).unwrap());
    }

    fn tell(&mut self, tell: impl FnOnce(&mut Recorded)) {
        if let Some(team) = &mut self.team {
            tell(team);
            while team.poll_effect().is_some() {}
        }
    }

    /// The team's members distribute as the ports do: what is recorded is the case that is tested.
    fn compare(&self) {
        let Some(team) = &self.team else { return };
        if let Some(lacp) = team.lacp() {
            assert_eq!(lacp.distributing(), self.lacp.distributing(), "{:#?}\n{:#?}", lacp.ports(), self.lacp.ports());
        }
    }
}

impl Deref for Twin {
    type Target = Lacp;

    fn deref(&self) -> &Lacp {
        &self.lacp
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        if let Some(team) = self.team.as_ref().filter(|_| !std::thread::panicking()) {
            replays::holds(team);
        }
    }
}

fn name(id: MemberId) -> String {
    format!("eth{id}")
}

/// A team's configuration that says the same.
fn config_of(lacp: &LacpConfig, priorities: &LacpOptions) -> Config {
    let LacpConfig { ad_actor_system, ad_actor_sys_prio, ad_user_port_key, lacp_active, lacp_rate, ad_select, .. } =
        *lacp;
    // No team takes a group's address.
    let Mac([first, rest @ ..]) = ad_actor_system;
    let [a, b, c, d, e] = rest;
    let system = Mac([first & !1, a, b, c, d, e]);
    let options = LacpOptions {
        active: lacp_active,
        rate: lacp_rate,
        select: ad_select,
        actor_sys_prio: Some(ad_actor_sys_prio),
        actor_system: Some(system),
        user_port_key: ad_user_port_key,
        coupled_control: lacp.coupled_control,
        strict: lacp.lacp_strict,
        aggregate_wait_ms: lacp.aggregate_wait_ms,
        wait_to_restore_ms: lacp.wait_to_restore_ms,
        actor_port_prio: priorities.actor_port_prio.clone(),
        ..LacpOptions::default()
    };
    Config { mode: Mode::Ad, min_links: lacp.min_links, lacp: options, ..Config::default() }
}

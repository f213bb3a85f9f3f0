//! A port stops distributing only for a cause: it lost its link, its partner
//! was silent for as long as the timer, the last PDU showed the partner out of
//! sync, or as another port, or meaning another port than this, another
//! aggregator became active, or the configuration changed.

use std::collections::BTreeMap;

use nicteam_team::MemberSet;
use nicteam_wire::{LacpState, PortInfo};

use super::Observation;
use crate::lacp::net::{End, Net, timeout};

#[derive(Clone, Debug, Default)]
pub struct Checker {
    /// Systems whose configuration or clock jumped, until they rest.
    excused: Vec<usize>,
    /// Who each port's partner was, or nobody, when its system rested last.
    partners: BTreeMap<End, PortInfo>,
}

impl Checker {
    pub fn see(&mut self, net: &Net, seen: &Observation) {
        match seen {
            Observation::Configured { system } | Observation::Thawed { system } => self.excused.push(*system),
            Observation::Rested { system, before, .. } => {
                let now = net.rest(*system);
                let excused = self.excused.contains(system) || net.system(*system).frozen;
                if !excused && now.active == before.active {
                    let left = MemberSet::from_bits(before.distributing & !now.distributing);
                    left.iter().for_each(|member| self.check(net, (*system, member.index())));
                }
                self.excused.retain(|other| other != system);
                let ports = net.system(*system).seen.iter();
                self.partners.extend(ports.map(|port| ((*system, port.member.index()), identity(port.partner))));
            }
            _ => {}
        }
    }

    fn check(&self, net: &Net, end: End) {
        let (config, carrier) = (net.lacp(end.0).config(), net.system(end.0).ports[end.1].link.carrier);
        let (Some(status), Some((at, pdu))) = (net.find(end), net.heard(end).filter(|_| carrier)) else { return };
        let silent = net.now() - *at >= timeout(config);
        let wanted = LacpState::SYNCHRONIZATION.with(LacpState::COLLECTING, !config.coupled_control);
        let mistaken = identity(pdu.partner) != identity(status.actor);
        let another = self.partners.get(&end) != Some(&identity(pdu.actor));
        let cause = silent || !pdu.actor.state.has(wanted) || mistaken || another;
        assert!(cause, "{end:?} stops distributing without a cause: {status:?}");
    }
}

/// Who it is, and whether it may aggregate.
fn identity(info: PortInfo) -> PortInfo {
    PortInfo { state: LacpState::AGGREGATION.with(LacpState(!info.state.0), false), ..info }
}

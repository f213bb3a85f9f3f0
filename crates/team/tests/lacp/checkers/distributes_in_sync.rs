//! A port distributes only while the last PDU received within its timer showed
//! the partner in sync with it (with independent control: and collecting).

use nicteam_wire::LacpState;

use super::Observation;
use crate::lacp::net::{Net, timeout};

pub fn see(net: &Net, seen: &Observation) {
    let Observation::Rested { system, .. } = seen else { return };
    if net.system(*system).frozen {
        return;
    }
    let config = net.lacp(*system).config();
    for member in net.lacp(*system).distributing().iter() {
        let end = (*system, member.index());
        assert!(net.system(*system).ports[end.1].link.carrier, "{end:?} distributes without carrier");
        if net.serves_anyone(end) {
            continue;
        }
        let Some((at, pdu)) = net.heard(end) else { panic!("{end:?} distributes and has heard nobody") };
        let age = net.now() - *at;
        assert!(age <= timeout(config), "{end:?} distributes, and its partner has been silent for {age:?}");
        let wanted = if config.coupled_control {
            LacpState::SYNCHRONIZATION
        } else {
            LacpState::SYNCHRONIZATION | LacpState::COLLECTING
        };
        assert!(pdu.actor.state.has(wanted), "{end:?} distributes to a partner that is {:?}", pdu.actor.state);
        let named = (pdu.partner.system, pdu.partner.port);
        let me = (config.ad_actor_system, net.system(*system).ports[end.1].port_number);
        assert_eq!(named, me, "{end:?} distributes to a partner that means another port");
    }
}

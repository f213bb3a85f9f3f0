//! A team whose members end in sockets, so that a test sees every frame.

use nicteam_sys::packet::PacketSocket;
use nicteam_testnet::{Host, cable, settle};

use super::hosts::{TeamHost, member};

/// A team and, in another host, the far ends of its cables. Nobody speaks unasked.
pub struct Bench {
    pub team: TeamHost,
    pub far: Host,
    /// On the team device, where the stack is.
    pub stack: PacketSocket,
    /// On the far ends, by place.
    pub far_sockets: Vec<PacketSocket>,
}

impl Bench {
    /// With `m0`, `m1`, ... as members and `f0`, `f1`, ... as their far ends; all carry frames.
    pub fn new(members: usize) -> Bench {
        let (mut near, mut far) = (Host::quiet(), Host::quiet());
        let mut far_sockets = Vec::new();
        for place in 0..members {
            let far_name = format!("f{place}");
            cable(&mut near, &member(place), &mut far, &far_name);
            far_sockets.push(far.packet_socket(&far_name));
            settle(&near.packet_socket(&member(place)), &far_sockets[place]);
        }
        let team = TeamHost::new(near, 1, members);
        team.settle();
        Bench { stack: team.stack(), team, far, far_sockets }
    }
}

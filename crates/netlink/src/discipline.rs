//! Queueing disciplines of devices.

use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcMessage, TcStats2};

use crate::Netlink;
use nicteam_sys::Result;

/// A queueing discipline, and what it counted since it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discipline {
    /// Interface index of its device.
    pub index: u32,
    /// Its kind: `htb`, `tbf`, `netem`, `fq_codel`.
    pub kind: String,
    /// Frames that it dropped.
    pub drops: u64,
    /// How often it held frames back because of its limit.
    pub overlimits: u64,
}

impl Netlink {
    /// The queueing disciplines of all devices. This takes no capability.
    ///
    /// # Errors
    /// The kernel does not list them.
    pub fn disciplines(&mut self) -> Result<Vec<Discipline>> {
        let request = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
        let answers = self.request(request, NLM_F_DUMP, || "list the queueing disciplines".to_owned())?;
        Ok(answers.into_iter().filter_map(discipline).collect())
    }
}

fn discipline(answer: RouteNetlinkMessage) -> Option<Discipline> {
    let RouteNetlinkMessage::NewQueueDiscipline(message) = answer else { return None };
    let index = u32::try_from(message.header.index).ok()?;
    let mut found = Discipline { index, ..Discipline::default() };
    for attribute in message.attributes {
        match attribute {
            TcAttribute::Kind(kind) => found.kind = kind,
            TcAttribute::Stats2(all) => {
                for stats in all {
                    if let TcStats2::Queue(queue) = stats {
                        (found.drops, found.overlimits) = (queue.drops.into(), queue.overlimits.into());
                    }
                }
            }
            _ => {}
        }
    }
    (!found.kind.is_empty()).then_some(found)
}

//! active-backup: one member works, the others wait.

use super::because;
use crate::explain::Explanation;
use crate::explain::hop::{Hop, HopLink};
use crate::explain::limits::Limit;
use crate::units::list;

/// One full link of a team that uses one at a time: to send, or to receive by plain ports of a switch.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    let standby = |hop: &&&Hop<'_>| hop.chooser().1 == "active-backup" && hop.links.len() > 1 && hop.some_full();
    let hop = limit.hops.iter().find(standby)?;
    let host = hop.chooser().0;
    let name = |link: &HopLink<'_>| (if host == hop.node { link.device } else { link.far_device }).to_owned();
    let active = hop.links.iter().find(|link| link.is_full())?;
    let others: Vec<String> = hop.links.iter().filter(|link| link.place != active.place).map(name).collect();
    let sentence = format!(
        "{}: {host} uses one member at a time (mode active-backup): {} carried all, {} stood by.",
        hop.side_words(),
        name(active),
        if others.len() > 2 { "the others".to_owned() } else { list(&others) },
    );
    because(hop.side, Some("active-backup"), sentence)
}

//! active-backup, the kernel's and Open vSwitch's: one member works, the others wait.

use nicteam_record::Finding;

use super::Rule;
use crate::hop::{Choice, Hop};
use crate::limits::Limit;
use crate::team::TeamMode;
use crate::units::list;
use crate::words;

/// One full link of a team that uses one at a time: to send, or to receive by plain ports of a switch.
pub(super) struct ActiveBackup;

impl Rule for ActiveBackup {
    fn cause(&self) -> &'static str {
        "active-backup"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let one_at_a_time = |by: Choice<'_>| matches!(by, Choice::Mode(mode) if TeamMode::Of(mode).uses_one());
        let standby = |hop: &&&Hop<'_>| one_at_a_time(limit.chooser(hop).by) && hop.links.len() > 1 && hop.some_full();
        let hop = limit.hops.iter().find(standby)?;
        Some(Finding {
            side: hop.side,
            node: Some(limit.chooser(hop).node.to_owned()),
            policy: Some(limit.chooser(hop).by.words().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        })
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let (hop, host, mode) = (finding.hops.first()?, words::node(finding), finding.policy.as_deref()?);
        let active = words::full(hop).next()?;
        let others = hop.links.iter().filter(|link| link.place != active.place);
        let others: Vec<&str> = others.map(|link| words::device(hop, link, host)).collect();
        Some(format!(
            "{}: {host} uses one member at a time (mode {mode}): {} carried all, {} stood by.",
            words::side(finding),
            words::device(hop, active, host),
            if others.len() > 2 { "the others".to_owned() } else { list(&others) },
        ))
    }
}

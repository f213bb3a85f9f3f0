//! One-sided striping, as far as events go: which members may send to hosts that do not stripe.

use super::Team;
use crate::Time;
use crate::control::state::state;
use crate::stripe::{PlainHost, PlainMember, PlainReport};

/// What a team that stripes knows of hosts that do not.
#[derive(Clone, Debug, Default)]
pub(super) struct OneSided {
    /// What the dataplane said last.
    report: PlainReport,
}

state!(struct OneSided { report });
state!(struct PlainReport { hosts, members });
state!(struct PlainHost { mac, width, delivered_mbps, striped, held_ms });
state!(struct PlainMember { id, sent, resent });

impl Team {
    /// What the dataplane says of hosts that do not stripe, the answer to [`crate::Effect::ReadPlain`].
    pub fn handle_plain(&mut self, report: &PlainReport, _now: Time) {
        self.assert_drained();
        if let Some(one_sided) = &mut self.parts.one_sided {
            one_sided.report = report.clone();
        }
    }

    /// What the dataplane last said of hosts that do not stripe; in stripe alone.
    pub fn plain_report(&self) -> Option<&PlainReport> {
        self.parts.one_sided.as_ref().map(|one_sided| &one_sided.report)
    }
}

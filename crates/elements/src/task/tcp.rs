//! `tcp`: connections that carry as much as they can.

use std::sync::Arc;

use serde_json::{Value, json};

use super::kind::{Kind, Said};
use crate::keys::{self, Key, Need};
use crate::multipath::Every;
use crate::record::{At, Record};
use crate::traffic::Task;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[
        Key {
            name: "congestion",
            kind: keys::Kind::Word,
            need: Need::Otherwise("`congestion` of `[defaults]`"),
            doc: "`tcp`, `program`: congestion control of each sending end. A program may set its own.",
        },
        Key {
            name: "mptcp",
            kind: keys::Kind::Flag,
            need: Need::Default("false"),
            doc: "`tcp`, `requests`: multipath TCP. The hosts have no team. Each of their links has an address in its own subnet, \
                and a connection opens one subflow for each link.",
        },
    ],
    also: &[],
    takes_every_path,
    keeps_to_a_processor: true,
    stays_in_segment: false,
    resolve,
};

/// Whether connections open a subflow for each link (`mptcp`).
pub(super) fn takes_every_path(workload: &Record) -> Option<Every> {
    let mptcp: Option<At<bool>> = workload.get("mptcp");
    mptcp.map_or(workload.is_broken("mptcp"), |at| at.value).then_some(Every::Subflows)
}

const NAME: &str = "tcp";

/// TCP connections that carry as much as they can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Congestion control of every sending end.
    pub congestion: String,
    /// True for multipath TCP, a subflow a link.
    pub mptcp: bool,
}

impl Task for Tcp {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> (&'static str, String) {
        (if self.mptcp { "MPTCP" } else { "TCP" }, self.congestion.clone())
    }

    fn each(&self, _connections: u32, _ipv6: bool) -> Value {
        json!({ "congestion": self.congestion, "mptcp": self.mptcp })
    }

    fn congestion(&self) -> Option<&str> {
        Some(&self.congestion)
    }

    fn takes_every_path(&self) -> bool {
        self.mptcp
    }

    fn is_mptcp(&self) -> bool {
        self.mptcp
    }
}

fn resolve(said: &mut Said<'_, '_>) -> Option<Arc<dyn Task>> {
    let mptcp = said.record.get::<bool>("mptcp").is_some_and(|at| at.value);
    Some(Arc::new(Tcp { congestion: said.congestion(), mptcp }))
}

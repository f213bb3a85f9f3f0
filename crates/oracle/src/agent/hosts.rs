//! Hosts in a guest: network namespaces of the agent's.

use std::mem;
use std::os::fd::AsFd;
use std::sync::Arc;

use nicteam_netlink::Netlink;
use nicteam_oracle::Refusal;
use nicteam_oracle::protocol::{Answer, Request};
use nicteam_sys::netns::NetNs;

use crate::{Agent, Outcome, system};

impl Agent {
    pub(crate) fn add_host(&mut self, host: String) -> Outcome {
        self.hosts.insert(host, Arc::new(NetNs::new().map_err(system)?));
        Ok(Answer::Done)
    }

    /// Moves a device to a host.
    pub(crate) fn give(&mut self, name: &str, host: &str) -> Outcome {
        let (index, netns) = (self.index(name)?, self.host(host)?);
        self.netlink.move_to(index, netns.as_fd(), name).map_err(system)?;
        Ok(Answer::Done)
    }

    /// Does what is asked on a host; programs that are started there stay there.
    pub(crate) fn answer_in(&mut self, host: &str, request: Request) -> Outcome {
        let netns = self.host(host)?;
        let answer = || {
            let outside = mem::replace(&mut self.netlink, Netlink::open().map_err(system)?);
            let outcome = self.answer(request);
            self.netlink = outside;
            outcome
        };
        netns.run(answer).map_err(system)?
    }

    pub(crate) fn host(&self, host: &str) -> Result<Arc<NetNs>, Refusal> {
        let found = self.hosts.get(host).cloned();
        found.ok_or_else(|| Refusal { errno: None, what: format!("the guest has no host {host}") })
    }
}

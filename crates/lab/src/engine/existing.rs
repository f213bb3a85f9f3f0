//! Engine `existing`: a bond or team that the machine has already, of any program. Nothing of it is changed.

use nicteam_experiment::EXISTING;
use nicteam_netlink::Netlink;
use nicteam_node::protocol::AddTeam;
use nicteam_node::{Failure, Output};
use nicteam_record::{MemberSample, Port};

use super::terms::{Engine, Running};
use crate::counters;

/// The engine.
#[derive(Debug)]
pub(super) struct Existing;

impl Engine for Existing {
    fn name(&self) -> &'static str {
        EXISTING
    }

    fn add(&self, team: &AddTeam, _output: &Output) -> Result<Box<dyn Running>, Failure> {
        let bundle = Bundle { device: team.device.clone(), members: team.members.clone() };
        // Each must be there: what is counted is theirs.
        bundle.sample(&mut Netlink::open()?)?;
        Ok(Box::new(bundle))
    }
}

/// A bundle that is measured. It stays as it is.
struct Bundle {
    device: String,
    members: Vec<String>,
}

impl Running for Bundle {
    fn device(&self) -> &str {
        &self.device
    }

    /// The lab knows who runs it, which it has read before.
    fn dataplane(&self) -> String {
        EXISTING.to_owned()
    }

    fn sample(&self, netlink: &mut Netlink) -> Result<Vec<MemberSample>, Failure> {
        counters::of_members(netlink, &self.device, &self.members)
    }

    fn ports(&self) -> Result<Vec<Port>, Failure> {
        Ok(Vec::new())
    }

    fn settle(&self, _output: &Output) -> Result<(), Failure> {
        Ok(())
    }
}

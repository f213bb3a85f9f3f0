//! What an engine is.

use std::collections::BTreeMap;

use nicteam_netlink::Netlink;
use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_node::protocol::{AddTeam, ProcessAct};
use nicteam_record::{BucketMember, MemberSample, OneSided, PagpHeard, Port};

/// Who runs teams in the network namespace of the caller.
pub trait Engine: Sync {
    /// Its name in the file and in the record.
    fn name(&self) -> &'static str;

    /// Whether this machine has it; asked before anything is built.
    ///
    /// # Errors
    /// It has not.
    fn is_there(&self) -> Result<(), Absent> {
        Ok(())
    }

    /// True if it reads the frames of members as bytes alone, so that the other ends of their cables must not leave
    /// checksums and segmentation to it (veth passes them on as they are).
    fn takes_finished_frames_alone(&self) -> bool {
        false
    }

    /// True if it makes the bridge of a host with guests itself ([`AddTeam::bridge`]), and takes the guests by
    /// [`Running::plug`]; else that is a bridge of the kernel's, with the team as one of its ports.
    fn makes_bridges(&self) -> bool {
        false
    }

    /// Runs a team. What happens to it later is told to `output`.
    ///
    /// # Errors
    /// It cannot be run, in words for the lab's user.
    fn add(&self, team: &AddTeam, output: &Output) -> Result<Box<dyn Running>, Failure>;
}

/// Why a machine does not have an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// What is missing: `this kernel has no bonding driver`.
    pub reason: String,
    /// What to do about it; none: nothing can be done here, and runs with this engine are skipped.
    pub hint: Option<String>,
}

/// A team that runs; it ends with this value.
pub trait Running: Send {
    /// Its device.
    fn device(&self) -> &str;

    /// What executes it frame by frame, in the engine's own words.
    fn dataplane(&self) -> String;

    /// The program that runs it, with its version; empty: nicteam itself.
    fn version(&self) -> String {
        String::new()
    }

    /// Offloads of its ports that are on, by device, where they say what its frames are.
    fn offloads(&self) -> BTreeMap<String, Vec<String>> {
        BTreeMap::new()
    }

    /// Processes beside the agent's that work for it.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Makes a device, which is up, a port of its bridge; false: it has none ([`Engine::makes_bridges`]).
    ///
    /// # Errors
    /// It does not take the device.
    fn plug(&self, port: &str) -> Result<bool, Failure> {
        let _ = port;
        Ok(false)
    }

    /// Takes a device out of its bridge, before it goes elsewhere; false: it has none.
    ///
    /// # Errors
    /// It is no port.
    fn unplug(&self, port: &str) -> Result<bool, Failure> {
        let _ = port;
        Ok(false)
    }

    /// What each member carried so far.
    ///
    /// # Errors
    /// The counters cannot be read.
    fn sample(&self, netlink: &mut Netlink) -> Result<Vec<MemberSample>, Failure>;

    /// Its members as ports, if it agrees on them by LACP; their host is for the lab to name.
    ///
    /// # Errors
    /// It does not say.
    fn ports(&self) -> Result<Vec<Port>, Failure>;

    /// Which member each bucket with traffic has, if frames are spread by buckets and it can tell; their host is for the lab
    /// to name.
    ///
    /// # Errors
    /// It does not say.
    fn buckets(&self) -> Result<Vec<BucketMember>, Failure> {
        Ok(Vec::new())
    }

    /// The members at whose other end a port speaks PAgP, if it listens for that; their host is for the lab to name.
    ///
    /// # Errors
    /// It does not say.
    fn pagp(&self) -> Result<Vec<PagpHeard>, Failure> {
        Ok(Vec::new())
    }

    /// What it does towards hosts that do not stripe, if it stripes; its host is for the lab to name.
    ///
    /// # Errors
    /// It does not say.
    fn one_sided(&self) -> Result<Option<OneSided>, Failure> {
        Ok(None)
    }

    /// Waits until it has agreed with its partners on its members; tells `output` of those that have not in a fair time.
    ///
    /// # Errors
    /// It does not say.
    fn settle(&self, output: &Output) -> Result<(), Failure>;

    /// Does something to the process that runs it alone ([`AddTeam::own_process`]).
    ///
    /// # Errors
    /// It has none, or the process is not in a state for it.
    fn act(&self, act: ProcessAct, output: &Output) -> Result<(), Failure> {
        let _ = output;
        Err(format!("{} runs in no process of its own: {act:?}", self.device()).into())
    }

    /// Takes it down, and gives its members back.
    ///
    /// # Errors
    /// Something could not be undone.
    fn remove(self: Box<Self>) -> Result<(), Failure> {
        Ok(())
    }
}

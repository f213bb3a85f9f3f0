//! A team that an ended process left, and that nobody is to run any more.

use nicteam_dataplane::{Choice, Dataplane, Port, Programs, TeamDevice};
use nicteam_netlink::nft;
use nicteam_netlink::{Link, Netlink};
use nicteam_team::MemberId;
use nicteam_wire::Mac;

use crate::claim::Claim;
use crate::first_error::FirstError;
use crate::lock::Lock;
use crate::original::Original;
use crate::tcp::Tcp;
use crate::{Error, StateStore, ports};

/// Takes down a team of the calling thread's network namespace whose process has ended, without running it:
/// whatever has become of its members and of what was kept of it.
///
/// # Errors
/// Somebody runs it. Else, of what could not be undone, the first; all the rest is.
pub fn take_down(team: &str) -> Result<(), Error> {
    let _lock = Lock::take(team)?;
    let (store, mut netlink, mut first) = (StateStore::here()?, Netlink::open()?, FirstError::default());
    // What cannot be read cannot be obeyed, and goes in any case.
    let persisted = store.load(team).ok().flatten();
    first.note(Tcp::left(persisted.and_then(|persisted| persisted.tcp_before)).want(None).map(drop));
    let members = ports::left_by(&mut netlink, team)?;
    first.note(detach(&mut netlink, team, &members));
    for (link, original, claim) in members {
        // Where there is no nf_tables, there is no rule.
        let _ = nft::undo(&link.name);
        match ports::restore(&mut netlink, link.index, &original) {
            Ok(()) => claim.release(),
            Err(error) => first.note(Err(error)),
        }
    }
    first.note(store.forget(team));
    first.result()
}

/// Takes everything off the members and removes the device.
fn detach(netlink: &mut Netlink, team: &str, members: &[(Link, Original, Claim)]) -> Result<(), Error> {
    /// Of a device that is made to find what is attached, and goes at once.
    const ANY_MAC: Mac = Mac([2, 0, 0, 0, 0, 1]);
    const ANY_MTU: u32 = 1500;
    let mut first = FirstError::default();
    if let Err(nicteam_dataplane::Error::Elsewhere { peer, .. }) = TeamDevice::find(netlink, team)
        && let Some(behind) = netlink.link(&peer)?
    {
        first.note(netlink.delete(behind.index));
    }
    let (device, _) = TeamDevice::create_or_adopt(netlink, team, ANY_MAC, ANY_MTU)?;
    match nicteam_dataplane::open(&device, Choice::Auto, Programs::WithoutStripe) {
        Ok(mut dataplane) => {
            for (link, ..) in members {
                first.note(free(&mut *dataplane, link));
            }
            first.note(dataplane.remove());
        }
        Err(error) => first.note(Err::<(), _>(error)),
    }
    first.note(device.delete(netlink));
    first.result()
}

/// A dataplane knows how to let a device go that it has.
fn free(dataplane: &mut dyn Dataplane, link: &Link) -> Result<(), Error> {
    let Some(id) = MemberId::new(0) else { return Ok(()) };
    let attached = dataplane.attach(&Port { id, name: link.name.clone(), index: link.index });
    dataplane.detach(id)?;
    Ok(attached?)
}

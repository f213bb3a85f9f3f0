//! Member devices: how they enter a team, what the team may ask of them, how they leave.

use nicteam_dataplane::Port;
use nicteam_netlink::{AddrGenMode, Link, Netlink};
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::netns;
use nicteam_team::{Duplex, MemberId, MemberLink};
use nicteam_wire::Mac;

use crate::Error;
use crate::claim::{self, Claim, Record};
use crate::first_error::FirstError;
use crate::lock::Lock;
use crate::original::Original;

/// A device that may join.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// The right to have it.
    claim: Claim,
    /// The name by which the team knew it, if that was another.
    pub(crate) formerly: Option<String>,
    /// As it is now.
    pub(crate) link: Link,
    /// As it was before any team had it.
    pub(crate) original: Original,
    /// True if an ended process of the same team left it.
    taken_over: bool,
}

/// A member device and what it was before it joined.
#[derive(Debug)]
pub(crate) struct Member {
    /// The device in its place.
    pub(crate) port: Port,
    /// True if an ended process of the same team left it.
    pub(crate) taken_over: bool,
    original: Original,
    claim: Claim,
    /// What its link was found to be last time.
    link: Option<MemberLink>,
    /// Why its link could not be read last time.
    trouble: Option<String>,
}

/// Finds a device that may join, and takes it. One that was noted, or whose alias says so, to be of a team that nobody
/// runs any more was left by it.
pub(crate) fn find(netlink: &mut Netlink, team: &str, device: &str) -> Result<Candidate, Error> {
    let absent = || Error::NoDevice { team: team.to_owned(), device: device.to_owned() };
    let link = netlink.link(device)?.ok_or_else(absent)?;
    if link.master.is_some() {
        return Err(Error::Enslaved { device: device.to_owned() });
    }
    if link.mac == [0; 6] {
        return Err(Error::NotEthernet { device: device.to_owned() });
    }
    let claim = Claim::take(&link)?;
    let formerly = None;
    match owner_of(&claim, &link) {
        Some((owner, _)) if owner != team && Lock::is_held(&owner)? => {
            Err(Error::Member { device: device.to_owned(), team: owner })
        }
        Some((owner, original)) => Ok(Candidate { claim, formerly, taken_over: owner == team, original, link }),
        None => {
            let original = Original::of(&link, has_ipv6(device));
            Ok(Candidate { claim, formerly, taken_over: false, original, link })
        }
    }
}

/// Finds a member of a team whose process has ended, by the name that it had when it joined.
pub(crate) fn find_renamed(netlink: &mut Netlink, team: &str, device: &str) -> Result<Option<Candidate>, Error> {
    for link in netlink.links()? {
        let record = Claim::left(link.index)?.and_then(|claim| claim.record(&link));
        if record.is_some_and(|record| record.team == team && record.device == device) {
            let formerly = Some(device.to_owned());
            return Ok(Some(Candidate { formerly, ..find(netlink, team, &link.name)? }));
        }
    }
    Ok(None)
}

/// The devices that ended processes of a team left, what each was, and what is noted of it. What is noted of devices
/// that are gone is forgotten.
pub(crate) fn left_by(netlink: &mut Netlink, team: &str) -> Result<Vec<(Link, Original, Claim)>, Error> {
    let (links, mut left) = (netlink.links()?, Vec::new());
    claim::forget_gone(&links)?;
    for link in links {
        let claim = match Claim::left(link.index)? {
            Some(claim) => claim,
            // Nothing is noted, and the alias may say something.
            None if Original::from_alias(&link.alias).is_some() && !Claim::is_held(link.index)? => Claim::take(&link)?,
            None => continue,
        };
        if let Some((owner, original)) = owner_of(&claim, &link)
            && owner == team
        {
            left.push((link, original, claim));
        }
    }
    Ok(left)
}

/// The team that has or had a device, and what it was before: as it is noted, else as its alias says.
fn owner_of(claim: &Claim, link: &Link) -> Option<(String, Original)> {
    let noted = || claim.record(link).and_then(|record| Some((record.original()?, record.team)));
    let by_alias = || Original::from_alias(&link.alias).map(|(team, original)| (original, team.to_owned()));
    noted().or_else(by_alias).map(|(original, team)| (team, original))
}

/// What a device says of its link.
pub(crate) fn read(ethtool: &Ethtool, device: &str) -> Result<MemberLink, Error> {
    let settings = ethtool.settings(device)?;
    Ok(MemberLink {
        carrier: ethtool.carrier(device)?,
        speed_mbps: settings.speed_mbps,
        duplex: settings.full_duplex.map(|full| if full { Duplex::Full } else { Duplex::Half }),
    })
}

/// Gives a device back as it was: address, MTU, IPv6 mode, filters, up or down, alias.
/// Does all it can and reports the first error; then the alias stays, and
/// tells what the device should be. No error if the device is gone.
pub(crate) fn restore(netlink: &mut Netlink, index: u32, original: &Original) -> Result<(), Error> {
    let Some(link) = netlink.link_at(index)? else { return Ok(()) };
    let mut first = FirstError::default();
    first.note(set_mac(netlink, &link, original.mac));
    if link.mtu != original.mtu {
        first.note(netlink.set_mtu(index, original.mtu));
    }
    first.note(set_addr_gen_mode(netlink, index, original.addr_gen_mode));
    if link.all_multicast != original.all_multicast {
        first.note(netlink.set_all_multicast(index, original.all_multicast));
    }
    if link.promiscuous != original.promiscuous {
        first.note(netlink.set_promiscuous(index, original.promiscuous));
    }
    first.note(netlink.set_up(index, original.up));
    if original.ipv6 {
        switch_ipv6(&link.name, true);
    }
    first.result()?;
    // A user who has set another alias meanwhile keeps it.
    match Original::from_alias(&link.alias) {
        Some(_) => Ok(netlink.set_alias(index, &original.alias)?),
        None => Ok(()),
    }
}

impl Member {
    /// Prepares a device: no IPv6 of its own, which would speak from the team's
    /// address by a member that is not the active one (the kernel's bonding keeps
    /// IPv6 off its members, net/ipv6/addrconf.c), this MAC address (mostly the
    /// team's, so that a real NIC does not filter what is sent to it), all multicast
    /// frames, the team's MTU, and up.
    ///
    /// All, not those of the groups that the team's stack joins: the kernel tells
    /// nobody of these (before 6.14), and the next may be joined when no process
    /// runs the team. The stack drops what is of no group.
    /// What it was is noted first, and then in its alias. If something fails, it is given back.
    pub(crate) fn enter(
        netlink: &mut Netlink,
        candidate: Candidate,
        id: MemberId,
        team: &str,
        mac: Mac,
        mtu: u32,
    ) -> Result<Member, Error> {
        let Candidate { claim, formerly: _, link, original, taken_over } = candidate;
        let too_long = || Error::LongAlias { device: link.name.clone() };
        let alias = original.to_alias(team).ok_or_else(too_long)?;
        let port = Port { id, name: link.name.clone(), index: link.index };
        claim.write(&Record::new(team, &link.name, &original))?;
        let member = Member { port, taken_over, original, claim, link: None, trouble: None };
        match member.prepare(netlink, &link, &alias, mac, mtu) {
            Ok(()) => Ok(member),
            Err(error) => {
                if !taken_over {
                    // The first error is the one to report.
                    let _ = member.leave(netlink);
                }
                Err(error)
            }
        }
    }

    fn prepare(&self, netlink: &mut Netlink, link: &Link, alias: &str, mac: Mac, mtu: u32) -> Result<(), Error> {
        if link.alias != alias {
            netlink.set_alias(link.index, alias)?;
        }
        self.keep_from_ipv6(netlink)?;
        set_mac(netlink, link, mac)?;
        if link.mtu != mtu {
            self.set_mtu(netlink, mtu)?;
        }
        if !link.all_multicast {
            netlink.set_all_multicast(link.index, true)?;
        }
        Ok(netlink.set_up(link.index, true)?)
    }

    /// Lets it take every frame, as its team does (under a bridge, or while
    /// somebody captures there), or those for it alone.
    pub(crate) fn take_all(&self, netlink: &mut Netlink, on: bool) -> Result<(), Error> {
        Ok(netlink.set_promiscuous(self.port.index, on || self.original.promiscuous)?)
    }

    /// Gives the device back as it was.
    pub(crate) fn leave(self, netlink: &mut Netlink) -> Result<(), Error> {
        // If this fails, what it should be stays noted.
        restore(netlink, self.port.index, &self.original)?;
        self.claim.release();
        Ok(())
    }

    /// Its device is gone.
    pub(crate) fn forget(self) {
        self.claim.release();
    }

    /// The address it had before it joined.
    pub(crate) fn permanent_mac(&self) -> Mac {
        self.original.mac
    }

    /// True if it gets this address back when it leaves.
    pub(crate) fn gets_back(&self, mac: Mac) -> bool {
        self.original.mac == mac
    }

    /// Sets its MTU, bytes.
    pub(crate) fn set_mtu(&self, netlink: &mut Netlink, mtu: u32) -> Result<(), Error> {
        netlink.set_mtu(self.port.index, mtu)?;
        // A device that grows beyond 1280 bytes gets IPv6 anew, with its own address.
        self.keep_from_ipv6(netlink)
    }

    /// Lets it speak no IPv6 by itself.
    pub(crate) fn keep_from_ipv6(&self, netlink: &mut Netlink) -> Result<(), Error> {
        if self.original.ipv6 {
            switch_ipv6(&self.port.name, false);
        }
        set_addr_gen_mode(netlink, self.port.index, Some(AddrGenMode::None))
    }

    /// Sets its address.
    pub(crate) fn set_mac(&self, netlink: &mut Netlink, mac: Mac) -> Result<(), Error> {
        match netlink.link_at(self.port.index)? {
            Some(link) => set_mac(netlink, &link, mac),
            None => Ok(()),
        }
    }

    /// Its link as far as its carrier tells: while that is the same, its speed is, and
    /// is not asked for. Each question takes a lock that all of the machine's networks share.
    pub(crate) fn poll(&mut self, netlink: &mut Netlink, ethtool: &Ethtool) -> (MemberLink, Option<Error>) {
        match (self.link, ethtool.carrier(&self.port.name)) {
            (Some(link), Ok(carrier)) if link.carrier == carrier => (link, None),
            _ => self.read(netlink, ethtool),
        }
    }

    /// Reads its link. One that cannot be read is down; why is told when it
    /// begins or changes, not at each reading.
    pub(crate) fn read(&mut self, netlink: &mut Netlink, ethtool: &Ethtool) -> (MemberLink, Option<Error>) {
        let read = read(ethtool, &self.port.name).or_else(|error| {
            // Perhaps it has another name since a moment ago.
            match netlink.link_at(self.port.index) {
                Ok(Some(link)) if link.name != self.port.name => {
                    self.port.name = link.name;
                    read(ethtool, &self.port.name)
                }
                _ => Err(error),
            }
        });
        match read {
            Ok(link) => {
                (self.link, self.trouble) = (Some(link), None);
                (link, None)
            }
            Err(error) => {
                self.link = None;
                let words = error.to_string();
                let told = self.trouble.as_ref() == Some(&words);
                self.trouble = Some(words);
                (MemberLink { carrier: false, speed_mbps: None, duplex: None }, (!told).then_some(error))
            }
        }
    }
}

/// Sets an address; drivers that refuse while the device is up get it down for a moment.
fn set_mac(netlink: &mut Netlink, link: &Link, mac: Mac) -> Result<(), Error> {
    if link.mac == mac.0 || netlink.set_mac(link.index, mac.0).is_ok() {
        return Ok(());
    }
    netlink.set_up(link.index, false)?;
    let set = netlink.set_mac(link.index, mac.0);
    netlink.set_up(link.index, link.up)?;
    Ok(set?)
}

/// True if a device of the calling thread's namespace speaks IPv6.
fn has_ipv6(device: &str) -> bool {
    netns::read_sysctl(&format!("ipv6/conf/{device}/disable_ipv6")).is_ok_and(|disabled| disabled == "0")
}

/// Switches it on or off. Off it has no addresses; on it makes a link-local one.
/// A container whose /proc/sys cannot be written has to do without.
fn switch_ipv6(device: &str, on: bool) {
    let _ = netns::sysctl(&format!("ipv6/conf/{device}/disable_ipv6"), if on { "0" } else { "1" });
}

/// Sets how a device makes an IPv6 address, if it has IPv6 now.
fn set_addr_gen_mode(netlink: &mut Netlink, index: u32, mode: Option<AddrGenMode>) -> Result<(), Error> {
    let now = netlink.link_at(index)?.and_then(|link| link.addr_gen_mode);
    match (now, mode) {
        (Some(now), Some(mode)) if now != mode => Ok(netlink.set_addr_gen_mode(index, mode)?),
        _ => Ok(()),
    }
}

//! A bond while it is read: the stanzas that are about it.

use std::collections::BTreeSet;
use std::net::IpAddr;

use nicteam_drafts::draft::Draft;
use nicteam_syntax::At;

use super::index::Index;
use super::members::master;
use super::stanza::Stanza;

/// A bond while it is read.
pub(super) struct Bond<'f> {
    pub(super) name: String,
    pub(super) index: &'f Index<'f>,
    pub(super) own: Vec<&'f Stanza>,
    pub(super) members: Vec<&'f Stanza>,
    /// Stanzas with commands that build the bond, its own among them.
    pub(super) builders: Vec<&'f Stanza>,
    /// Lines that have become part of the team.
    pub(super) taken: BTreeSet<At>,
    /// Routes and addresses that commands add, of the kind that a line further down removes.
    pub(super) has_commands: bool,
    /// Next hops of default routes.
    pub(super) gateways: Vec<IpAddr>,
}

impl<'f> Bond<'f> {
    pub(super) fn new(index: &'f Index<'f>, name: &str) -> Bond<'f> {
        Bond {
            name: name.to_owned(),
            index,
            own: index.own(name).to_vec(),
            members: index.members(name).to_vec(),
            builders: index.builders(name),
            taken: BTreeSet::new(),
            has_commands: false,
            gateways: Vec::new(),
        }
    }

    pub(super) fn is_own(&self, device: &str) -> bool {
        is_of(&self.name, device)
    }

    /// Stanzas of devices that are members by the bond's own list.
    pub(super) fn listed(&self, draft: &Draft) -> Vec<&'f Stanza> {
        let stanzas =
            draft.members.iter().flat_map(|member| self.index.own(&member.value).iter().map(move |of| (*of, member)));
        stanzas
            .filter(|(stanza, member)| stanza.device == member.value && master(stanza).is_none())
            .map(|(of, _)| of)
            .collect()
    }
}

/// True for a bond, and for its alias `bond0:0`, whose addresses are the bond's.
pub(super) fn is_of(bond: &str, device: &str) -> bool {
    device.strip_prefix(bond).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

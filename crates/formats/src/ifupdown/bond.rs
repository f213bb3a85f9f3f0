//! A bond while it is read: the stanzas that are about it.

use super::lines::Line;
use super::members::master;
use super::stanza::{File, Stanza};
use crate::draft::Draft;
use crate::reading::At;

/// A bond while it is read.
pub(super) struct Bond<'f> {
    pub(super) name: String,
    /// Every stanza there is.
    pub(super) all: &'f [Stanza],
    /// `auto` and its kin.
    pub(super) selections: &'f [Line],
    pub(super) own: Vec<&'f Stanza>,
    pub(super) members: Vec<&'f Stanza>,
    /// Lines that have become part of the team.
    pub(super) taken: Vec<At>,
    /// Routes and addresses that commands add, of the kind that a line further down removes.
    pub(super) has_commands: bool,
}

impl<'f> Bond<'f> {
    pub(super) fn new(file: &'f File, name: &str) -> Bond<'f> {
        let own = file.stanzas.iter().filter(|stanza| is_of(name, &stanza.device)).collect();
        let is_member = |stanza: &&Stanza| master(stanza).is_some_and(|line| line.value == name);
        let members = file.stanzas.iter().filter(is_member).collect();
        Bond {
            name: name.to_owned(),
            all: &file.stanzas,
            selections: &file.selections,
            own,
            members,
            taken: Vec::new(),
            has_commands: false,
        }
    }

    pub(super) fn is_own(&self, device: &str) -> bool {
        is_of(&self.name, device)
    }

    /// Stanzas of devices that are members by the bond's own list.
    pub(super) fn listed<'d>(&self, draft: &'d Draft) -> impl Iterator<Item = &'f Stanza> + use<'f, 'd> {
        self.all.iter().filter(|stanza| draft.has_member(&stanza.device) && master(stanza).is_none())
    }
}

/// True for a bond, and for its alias `bond0:0`, whose addresses are the bond's.
fn is_of(bond: &str, device: &str) -> bool {
    device.strip_prefix(bond).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

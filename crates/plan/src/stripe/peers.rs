//! The peers of a plan, found by address.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use nicteam_wire::Mac;

use super::peer::Peer;

/// Peers, and whose each address is: made when it is asked for first, and anew after a change.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    list: Vec<Peer>,
    /// Places in the list.
    by_address: OnceLock<BTreeMap<Mac, usize>>,
}

impl Peers {
    /// The one with this address, its team's or a member's; of two the first.
    pub fn with_address(&self, mac: Mac) -> Option<&Peer> {
        let by_address = self.by_address.get_or_init(|| {
            let mut places = BTreeMap::new();
            for (place, peer) in self.list.iter().enumerate() {
                peer.addresses().for_each(|mac| {
                    places.entry(mac).or_insert(place);
                });
            }
            places
        });
        self.list.get(*by_address.get(&mac)?)
    }
}

impl From<Vec<Peer>> for Peers {
    fn from(list: Vec<Peer>) -> Peers {
        Peers { list, by_address: OnceLock::new() }
    }
}

impl Deref for Peers {
    type Target = [Peer];

    fn deref(&self) -> &[Peer] {
        &self.list
    }
}

impl DerefMut for Peers {
    fn deref_mut(&mut self) -> &mut [Peer] {
        self.by_address.take();
        &mut self.list
    }
}

impl PartialEq for Peers {
    fn eq(&self, other: &Peers) -> bool {
        self.list == other.list
    }
}

impl Eq for Peers {}

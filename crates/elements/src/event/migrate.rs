//! `migrate`: a guest moves to another host, as when a hypervisor hands it over.

use std::sync::Arc;

use nicteam_chaos::Chance;
use serde_json::{Value, json};

use super::kind::{Happens, Kind, PLAIN, Told};
use super::required::required;
use crate::keys::{self, Key, Need, Thing};
use crate::record::{At, Record, Span};
use crate::timed::Event;
use nicteam_diagnostics::Problem;
use nicteam_diagnostics::list;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[
        Key {
            name: "guest",
            kind: keys::Kind::One(Thing::Host),
            need: Need::Otherwise("required by `migrate`"),
            doc: "`migrate`: the guest that moves. It keeps its addresses and connections.",
        },
        Key {
            name: "to",
            kind: keys::Kind::One(Thing::Host),
            need: Need::Otherwise("required by `migrate`"),
            doc: "`migrate`: the host to which it moves. That host gets a bridge, even if it has no guests of its own.",
        },
        Key {
            name: "announce",
            kind: keys::Kind::Choice(&["both", "arp", "rarp", "none"]),
            need: Need::Default("both"),
            doc: "`migrate`: the frames from which switches learn the move. `arp`: a gratuitous ARP of the guest. \
                `rarp`: RARP of the hypervisor, five times in half a second, as QEMU sends it.",
        },
    ],
    also: &[],
    bridged: |record| one(record, "to").into_iter().collect(),
    chance: Chance::Never,
    resolve,
    ..PLAIN
};

const NAME: &str = "migrate";

/// A guest moves to another host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrate {
    /// The guest.
    pub guest: String,
    /// The host that it leaves.
    pub from: String,
    /// The host that it moves to.
    pub to: String,
    /// The frames that announce it to the switches.
    pub announce: Announce,
}

/// The frames that announce to switches that a guest has moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announce {
    /// Gratuitous ARP of the guest.
    pub arp: bool,
    /// RARP of the hypervisor.
    pub rarp: bool,
}

impl Event for Migrate {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> String {
        let by = match self.announce {
            Announce { arp: true, rarp: true } => "announced by ARP and RARP",
            Announce { arp: true, rarp: false } => "announced by ARP",
            Announce { arp: false, rarp: true } => "announced by RARP",
            Announce { arp: false, rarp: false } => "not announced",
        };
        format!("{} moves to {}, {by}", self.guest, self.to)
    }

    fn node(&self) -> &str {
        &self.to
    }

    fn details(&self) -> Value {
        let Announce { arp, rarp } = self.announce;
        json!({ "guest": self.guest, "from": self.from, "to": self.to, "arp": arp, "rarp": rarp })
    }
}

/// The one name that a key has.
fn one(record: &Record, key: &str) -> Option<At<String>> {
    record.get::<&[At<String>]>(key)?.value.first().cloned()
}

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    for (key, example) in [("guest", "a/guest1"), ("to", "b")] {
        let hint = format!("add, for example, `{key} = \"{example}\"`");
        required(record, (key, &hint), (NAME, kind), told.problems);
    }
    let (guest, to) = (one(record, "guest")?, one(record, "to")?);
    let hosts = &told.topology.hosts;
    let Some(from) = hosts.iter().find(|host| host.name == guest.value).and_then(|host| host.parent.clone()) else {
        let guests: Vec<&str> = hosts.iter().filter(|host| host.parent.is_some()).map(|host| &*host.name).collect();
        let hint = match guests.as_slice() {
            [] => "give a host some: `guests = 1`".to_owned(),
            guests => format!("the guests are {}", list(guests.iter().copied())),
        };
        told.problems.push(Problem::at(&guest.span, format!("no guest `{}`", guest.value)).hint(hint));
        return None;
    };
    let is_host = hosts.iter().any(|host| host.name == to.value && host.parent.is_none());
    if !is_host || to.value == from {
        let hint = match is_host {
            true => "it is there already".to_owned(),
            false => {
                let own = hosts.iter().filter(|host| host.parent.is_none() && host.name != from);
                format!("the hosts are {}", list(own.map(|host| &*host.name)))
            }
        };
        told.problems
            .push(Problem::at(&to.span, format!("`{}` cannot move to `{}`", guest.value, to.value)).hint(hint));
        return None;
    }
    let announce = record.get::<&str>("announce").map_or("both", |at| at.value);
    let announce = Announce { arp: matches!(announce, "both" | "arp"), rarp: matches!(announce, "both" | "rarp") };
    Some(Happens { event: Arc::new(Migrate { guest: guest.value, from, to: to.value, announce }), undone: None })
}

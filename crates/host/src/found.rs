//! What stands on the members of a team to be, and is to come back when the team goes.

use std::fmt;
use std::net::IpAddr;

use nicteam_netlink::object::{Address, Device, Neighbour, Route, Rule};
use nicteam_wire::Mac;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::clock::now_ms;
use crate::survey::{Survey, Sysctls};

/// What `up` found on the members, and on what stands on them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Found {
    /// The members, in the team's order.
    pub(crate) members: Vec<Place>,
    /// Devices that stand on members, each behind the one that it stands on.
    pub(crate) above: Vec<Above>,
    /// Routes over any of these devices, but for the kernel's own.
    #[serde(with = "texts")]
    pub(crate) routes: Vec<Route>,
    /// Policy rules that name a member.
    #[serde(with = "texts")]
    pub(crate) rules: Vec<Rule>,
    /// Index of the member whose link-local addresses, of those that the kernel made, become the team's; `None`: of all.
    #[serde(default)]
    pub(crate) link_local_of: Option<u32>,
    /// When that was, seconds since the machine started; `None`: an earlier version noted it.
    #[serde(default)]
    pub(crate) at_s: Option<u64>,
}

/// A device and what belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Name.
    pub(crate) name: String,
    /// Interface index.
    pub(crate) index: u32,
    /// Administratively up.
    pub(crate) up: bool,
    /// Its settings; none for a device that is a member of the team already.
    pub(crate) sysctls: Sysctls,
    /// Its addresses, in their order.
    #[serde(with = "texts")]
    pub(crate) addresses: Vec<Address>,
    /// Its neighbours that are set or learned.
    #[serde(with = "texts")]
    pub(crate) neighbours: Vec<Neighbour>,
}

/// A device that stands on another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Above {
    /// The device as the kernel told it.
    #[serde(with = "text")]
    pub(crate) device: Device,
    /// Index of the device below.
    pub(crate) below: u32,
    /// Name of its master.
    pub(crate) master: Option<String>,
    /// What belongs to it.
    pub(crate) place: Place,
}

impl Found {
    /// What a survey knows of these members, as far as they are there. `mac` is the team's address: the team's
    /// link-local address is that of the member with this MAC address, else that of the first member that made one.
    pub(crate) fn of(survey: &Survey, members: &[String], mac: Option<Mac>) -> Found {
        let links: Vec<_> = members.iter().filter_map(|name| survey.link(name)).collect();
        let above: Vec<Above> = links.iter().flat_map(|link| above_of(survey, link.index)).collect();
        let members: Vec<Place> = links.iter().map(|link| Place::of(survey, link.index)).collect();
        let places = members.iter().chain(above.iter().map(|above| &above.place));
        let indexes: Vec<u32> = places.map(|place| place.index).collect();
        let over = |route: &&Route| route.devices().iter().any(|index| indexes.contains(index));
        let routes = survey.routes.iter().filter(over).filter(|route| !route.is_automatic()).cloned().collect();
        let names = |rule: &&Rule| members.iter().any(|member| rule.names(&member.name));
        let rules = survey.rules.iter().filter(names).cloned().collect();
        let made: Vec<u32> =
            members.iter().filter(|member| member.made_link_local().next().is_some()).map(|of| of.index).collect();
        let has_mac = |index: &&u32| mac.is_some_and(|mac| survey.link_at(**index).is_some_and(|of| of.mac == mac.0));
        let link_local_of = made.iter().find(has_mac).or(made.first()).copied();
        Found { routes, rules, members, above, link_local_of, at_s: Some(now_s()) }
    }

    /// The same by now, while a team has it: leases, and what routers advertised, have the lifetimes that they have at the team. What
    /// is not there has the rest of what it had; what has ended meanwhile is not there any more. `addresses` and `routes` are the
    /// host's, `team` is the index of the team's device.
    pub(crate) fn by_now(&self, team: Option<u32>, addresses: &[Address], routes: &[Route]) -> Found {
        let elapsed_s = self.at_s.map_or(0, |at_s| u32::try_from(now_s().saturating_sub(at_s)).unwrap_or(u32::MAX));
        let address = |found: &Address, index: Option<u32>| {
            let is_same = |now: &&Address| Some(now.index()) == index && now.key() == found.key();
            match addresses.iter().find(is_same).filter(|_| found.lifetimes().is_some()) {
                Some(now) => Some(found.with_lifetimes_of(now)),
                None => found.later(elapsed_s),
            }
        };
        let route = |found: &Route| {
            let same = self.on_other(found, 0).settings();
            let is_same = |now: &&Route| now.devices().first().copied() == team && now.on(&|_| 0).settings() == same;
            match routes.iter().find(is_same) {
                Some(now) => Some(found.with_end_of(now)),
                None => found.later(elapsed_s),
            }
        };
        let mut by_now = self.clone();
        for member in &mut by_now.members {
            member.addresses = member.addresses.iter().filter_map(|found| address(found, team)).collect();
        }
        for Above { place, .. } in &mut by_now.above {
            place.addresses = place.addresses.iter().filter_map(|found| address(found, Some(place.index))).collect();
        }
        // The kernel takes no route from an address that is not there, or by a gateway that none reaches.
        let ended: Vec<&Address> =
            self.addresses().filter(|had| !by_now.addresses().any(|has| has.key() == had.key())).collect();
        let is_from = |at: IpAddr| ended.iter().any(|had| had.address() == Some(at));
        let is_reached = |at: IpAddr| by_now.addresses().any(|has| has.reaches(at));
        let is_behind = |at: IpAddr| ended.iter().any(|had| had.reaches(at)) && !is_reached(at);
        let stays = |route: &Route| !route.source().is_some_and(is_from) && !route.via().is_some_and(is_behind);
        let routes = self.routes.iter().filter_map(route).filter(stays).collect();
        Found { routes, ..by_now }
    }

    /// The addresses of members, and of what stands on them.
    fn addresses(&self) -> impl Iterator<Item = &Address> {
        let places = self.members.iter().chain(self.above.iter().map(|above| &above.place));
        places.flat_map(|place| &place.addresses)
    }

    /// A route with another device in the place of members.
    pub(crate) fn on_other(&self, route: &Route, device: u32) -> Route {
        route.on(&|index| if self.member_at(index).is_some() { device } else { index })
    }

    /// The addresses of a member that become the team's.
    pub(crate) fn moved<'a>(&self, member: &'a Place) -> impl Iterator<Item = &'a Address> {
        let stays = self.link_local_of.is_some_and(|index| index != member.index);
        member.addresses.iter().filter(move |address| !(stays && address.is_made_link_local()))
    }

    /// The member of this index.
    pub(crate) fn member_at(&self, index: u32) -> Option<&Place> {
        self.members.iter().find(|member| member.index == index)
    }
}

impl Place {
    /// Its link-local addresses of IPv6 that the kernel made.
    pub(crate) fn made_link_local(&self) -> impl Iterator<Item = &Address> {
        self.addresses.iter().filter(|address| address.is_made_link_local())
    }

    fn of(survey: &Survey, index: u32) -> Place {
        let name = survey.name_of(index);
        let neighbours = survey.neighbours.iter().filter(|neighbour| neighbour.index() == index);
        let kept = |neighbour: &&Neighbour| neighbour.is_set() || neighbour.is_learned();
        Place {
            index,
            up: survey.link_at(index).is_some_and(|link| link.up),
            sysctls: survey.sysctls.get(&name).cloned().unwrap_or_default(),
            addresses: survey.addresses.iter().filter(|address| address.index() == index).cloned().collect(),
            neighbours: neighbours.filter(kept).cloned().collect(),
            name,
        }
    }
}

/// Seconds since the machine started.
fn now_s() -> u64 {
    now_ms() / 1000
}

fn above_of(survey: &Survey, index: u32) -> Vec<Above> {
    let above = |device: &Device| Above {
        below: device.below().unwrap_or_default(),
        master: device.master().map(|master| survey.name_of(master)),
        place: Place::of(survey, device.index()),
        device: device.clone(),
    };
    survey.above(index).into_iter().map(above).collect()
}

/// What stands in a file as a word.
trait Text: Sized {
    fn to_text(&self) -> String;
    fn from_text(text: &str) -> Option<Self>;
}

macro_rules! texts_of {
    ($($kind:ty),*) => {$(
        impl Text for $kind {
            fn to_text(&self) -> String {
                self.to_hex()
            }

            fn from_text(text: &str) -> Option<Self> {
                <$kind>::from_hex(text)
            }
        }
    )*};
}

texts_of!(Address, Device, Neighbour, Route, Rule);

/// The text makes no object.
struct Damaged;

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object that makes no sense")
    }
}

mod text {
    use super::{Damaged, Deserialize, Deserializer, Serializer, Text};
    use serde::de::Error as _;

    pub(super) fn serialize<T: Text, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&value.to_text())
    }

    pub(super) fn deserialize<'de, T: Text, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        T::from_text(&text).ok_or_else(|| D::Error::custom(Damaged))
    }
}

mod texts {
    use super::{Damaged, Deserialize, Deserializer, Serializer, Text};
    use serde::de::Error as _;

    pub(super) fn serialize<T: Text, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(Text::to_text))
    }

    pub(super) fn deserialize<'de, T: Text, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
        let words = Vec::<String>::deserialize(deserializer)?;
        words.iter().map(|word| T::from_text(word).ok_or_else(|| D::Error::custom(Damaged))).collect()
    }
}

/// Reads a list of objects that stand as words in a file.
pub(crate) mod routes {
    use super::{Deserializer, Route, Serializer};

    pub(crate) fn serialize<S: Serializer>(values: &[Route], serializer: S) -> Result<S::Ok, S::Error> {
        super::texts::serialize(values, serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Route>, D::Error> {
        super::texts::deserialize(deserializer)
    }
}

/// The same for addresses.
pub(crate) mod addresses {
    use super::{Address, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(values: &[Address], serializer: S) -> Result<S::Ok, S::Error> {
        super::texts::serialize(values, serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Address>, D::Error> {
        super::texts::deserialize(deserializer)
    }
}

//! A bond in a guest, with a cable to each member and a way in.

use crate::Guest;
use crate::protocol::{Departures, Request};

/// How frames come to the bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A packet socket on the bond itself sends them: a VLAN tag stays among their bytes.
    Sent,
    /// They come in by another port of a bridge, whose port the bond is: the
    /// kernel has taken the outermost tag off and keeps it beside the frame.
    Forwarded,
}

impl Way {
    /// Both.
    pub const ALL: [Way; 2] = [Way::Sent, Way::Forwarded];
}

/// The bond `bond0` with members `a0`, `a1`, ... whose far ends are `b0`, `b1`,
/// ...; it is a port of the bridge `br0`, whose other port is the far end of `in0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bench {
    members: usize,
}

/// How often to look whether a device is up: half a minute of the guest's time and more.
const LOOKS: usize = 3000;

impl Bench {
    /// Makes it, with these options, set in this order on a bond without members.
    ///
    /// In mode `802.3ad` the far ends are such a bond, too, `bond1`, and this
    /// returns when both sides distribute over every link.
    ///
    /// # Panics
    /// If an option is refused, or the links do not come up.
    #[track_caller]
    pub fn new(guest: &mut Guest, options: &[(&str, &str)], members: usize) -> Bench {
        let bench = Bench { members };
        for member in 0..members {
            guest.must(Request::AddVeth { name: format!("a{member}"), peer: format!("b{member}") });
        }
        let lacp = options.iter().any(|(name, value)| *name == "mode" && matches!(*value, "802.3ad" | "4"));
        if lacp {
            guest.add_bond("bond1", options, &far_ends(members));
        } else {
            far_ends(members).iter().for_each(|name| set_up(guest, name));
        }
        guest.add_bond(Bench::BOND, options, &near_ends(members));
        bench.add_bridge(guest);
        let devices = [near_ends(members), ["bond0", "in0", "in1", "br0"].map(str::to_owned).into()].concat();
        devices.iter().for_each(|name| wait_up(guest, name));
        if lacp {
            bench.wait_distributing(guest);
        }
        bench
    }

    /// The bond.
    pub const BOND: &'static str = "bond0";

    /// The members, in the order in which they joined.
    pub fn members(self) -> Vec<String> {
        near_ends(self.members)
    }

    /// The far ends of their cables.
    pub fn far_ends(self) -> Vec<String> {
        far_ends(self.members)
    }

    /// Sends the frames kept ([`Guest::keep`]), and says by which member each left.
    #[track_caller]
    pub fn send(self, guest: &mut Guest, way: Way) -> Departures {
        let into = match way {
            Way::Sent => Bench::BOND,
            Way::Forwarded => "in0",
        };
        guest.inject(into, &self.far_ends())
    }

    /// Takes everything away again.
    #[track_caller]
    pub fn remove(self, guest: &mut Guest) {
        let bonds = guest.read("/sys/class/net/bonding_masters").unwrap_or_default();
        let bonds = bonds.split_whitespace().map(str::to_owned);
        let cables = self.members().into_iter().chain(["in0".to_owned(), "br0".to_owned()]);
        bonds.chain(cables).for_each(|name| {
            guest.must(Request::Delete { name });
        });
    }

    fn add_bridge(self, guest: &mut Guest) {
        guest.must(Request::AddVeth { name: "in0".to_owned(), peer: "in1".to_owned() });
        guest.must(Request::AddBridge { name: "br0".to_owned() });
        // It floods every frame, from its first moment on.
        for (name, value) in [("forward_delay", "0"), ("ageing_time", "0")] {
            let written = guest.write(&format!("/sys/class/net/br0/bridge/{name}"), value);
            written.unwrap_or_else(|refusal| panic!("{refusal}"));
        }
        for name in ["in1", Bench::BOND] {
            guest.must(Request::SetMaster { name: name.to_owned(), master: Some("br0".to_owned()) });
        }
        ["in0", "in1", "br0"].into_iter().for_each(|name| set_up(guest, name));
    }

    fn wait_distributing(self, guest: &mut Guest) {
        let ports = [self.members(), self.far_ends()].concat();
        let all = |guest: &mut Guest| guest.distributing(&ports).into_iter().all(|distributes| distributes);
        assert!((0..LOOKS).any(|_| all(guest) || pause()), "a port of the guest does not distribute");
    }
}

fn near_ends(members: usize) -> Vec<String> {
    (0..members).map(|member| format!("a{member}")).collect()
}

fn far_ends(members: usize) -> Vec<String> {
    (0..members).map(|member| format!("b{member}")).collect()
}

#[track_caller]
fn set_up(guest: &mut Guest, name: &str) {
    guest.must(Request::SetUp { name: name.to_owned(), up: true });
}

/// Until the kernel has taken notice of a carrier, a device swallows what it is given.
#[track_caller]
fn wait_up(guest: &mut Guest, name: &str) {
    let path = format!("/sys/class/net/{name}/operstate");
    let is_up = |guest: &mut Guest| guest.read(&path).is_ok_and(|state| state == "up");
    assert!((0..LOOKS).any(|_| is_up(guest) || pause()), "{name} of the guest does not come up");
}

/// A short wait; false, for use in a condition.
fn pause() -> bool {
    std::thread::sleep(std::time::Duration::from_millis(10));
    false
}

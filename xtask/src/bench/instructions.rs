//! Instructions per packet: our eBPF beside the kernel's bonding driver, in a
//! guest whose clock counts instructions.
//!
//! The kernel's packet generator sends ([`Generated`]). A count is refused where
//! packets leave by other members than the setting's: by layer3+4 over all, else by one.

use std::path::PathBuf;

use nicteam_oracle::protocol::Request;
use nicteam_oracle::{Generated, Guest, Refusal};

use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::part::{Context, Part};
use crate::product::Product;
use crate::side::{self, Side};
use nicteam_statistics::{Estimate, median};

/// Packets of one measurement.
const PACKETS: u64 = 50_000;
/// How often each is measured, in turn with the others.
pub(super) const REPEATS: u32 = 5;
pub(super) const MEMBERS: usize = 4;

/// What a bond and a team are set to.
pub(crate) type Options = &'static [(&'static str, &'static str)];

/// By how many members packets leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// By one.
    One,
    /// By all, by each at least half of its share.
    All,
    /// By several: none has more than half of them. Buckets that have members at random are not even.
    Several,
}

/// Both look at their members' carrier as often, and so seldom that it is not
/// counted with the packets.
pub(crate) const MIIMON: (&str, &str) = ("miimon", "1000");

const SETTINGS: [(&str, Spread, Options); 3] = [
    ("active-backup", Spread::One, &[("mode", "active-backup"), MIIMON]),
    ("balance-xor layer2", Spread::One, &[("mode", "balance-xor"), MIIMON, ("xmit_hash_policy", "layer2")]),
    ("balance-xor layer3+4", Spread::All, &[("mode", "balance-xor"), MIIMON, ("xmit_hash_policy", "layer3+4")]),
];

/// Instructions per packet, one figure a repeat.
#[derive(Debug, Default)]
struct Counts {
    raw: Vec<f64>,
    /// Of each setting, of the one side and of the other.
    sides: [[Vec<f64>; 2]; SETTINGS.len()],
}

/// Instructions per packet beside the kernel's bonding driver.
pub(super) const PART: Part<()> = Part {
    tools: &side::TOOLS,
    ..Part::new(
        "instructions",
        "instructions per packet, in a guest that counts them: 4 members, all packets made anew",
        measure,
    )
};

/// Measures all in one guest.
fn measure(context: &Context<'_, ()>) -> Result<Vec<Figure>, Failure> {
    side::in_guest(context.product, Vec::new(), |guest| {
        let counts = count(guest, [Side::Kernel, Side::Ours], REPEATS)?;
        Ok(counts.figures(guest.kernel()))
    })
}

/// What two programs take in one setting, instructions a packet, one figure a repeat.
pub(crate) struct Compared {
    pub(crate) setting: &'static str,
    pub(crate) new: Vec<f64>,
    pub(crate) old: Vec<f64>,
}

/// Measures our program and another one ([`side::BEFORE`]) in turn, so many times; counts scatter so little that a few are enough.
pub(crate) fn compared(product: &Product, before: PathBuf, repeats: u32) -> Result<Vec<Compared>, Failure> {
    side::in_guest(product, vec![before], move |guest| {
        let counts = count(guest, [Side::Ours, Side::Before], repeats.min(REPEATS))?;
        let settings = SETTINGS.iter().zip(counts.sides);
        Ok(settings.map(|((setting, ..), [new, old])| Compared { setting, new, old }).collect())
    })
}

/// Lays the cables of the members.
pub(super) fn cable(guest: &mut Guest) -> Result<(), Refusal> {
    for member in 0..MEMBERS {
        guest.ask(&Request::AddVeth { name: near(member), peer: far(member) })?;
        side::set_up(guest, &far(member), true)?;
    }
    Ok(())
}

fn count(guest: &mut Guest, sides: [Side; 2], repeats: u32) -> Result<Counts, Refusal> {
    let bundles = SETTINGS
        .iter()
        .flat_map(|(_, spread, options)| sides.map(|side| Bundle { side, spread: *spread, options }))
        .collect::<Vec<_>>();
    let Counted { raw, bundles } = in_turn(guest, &bundles, repeats)?;
    let mut bundles = bundles.into_iter();
    Ok(Counts { raw, sides: std::array::from_fn(|_| std::array::from_fn(|_| bundles.next().unwrap_or_default())) })
}

/// A bond or a team that sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bundle {
    pub(crate) side: Side,
    pub(crate) spread: Spread,
    pub(crate) options: Options,
}

/// Instructions per packet, one figure a repeat.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) raw: Vec<f64>,
    /// Of each bundle.
    pub(crate) bundles: Vec<Vec<f64>>,
}

/// Counts the raw veth and the bundles in turn. The raw veth is the first cable, as long as it belongs to nobody.
pub(crate) fn in_turn(guest: &mut Guest, bundles: &[Bundle], repeats: u32) -> Result<Counted, Refusal> {
    cable(guest)?;
    let mut counted = Counted { raw: Vec::new(), bundles: vec![Vec::new(); bundles.len()] };
    for repeat in 1..=repeats {
        eprintln!("instructions per packet: {repeat} of {repeats}");
        side::set_up(guest, &near(0), true)?;
        counted.raw.push(per_packet(guest, &near(0), Spread::One)?);
        for (bundle, counts) in bundles.iter().zip(&mut counted.bundles) {
            counts.push(bundle.count(guest)?);
        }
    }
    Ok(counted)
}

impl Bundle {
    fn count(self, guest: &mut Guest) -> Result<f64, Refusal> {
        let members: Vec<String> = (0..MEMBERS).map(near).collect();
        self.side.add(guest, self.options, &members)?;
        let counted = per_packet(guest, self.side.device(), self.spread)?;
        self.side.remove(guest)?;
        Ok(counted)
    }
}

/// The instructions that each packet takes that is sent by a device.
pub(super) fn per_packet(guest: &mut Guest, device: &str, spread: Spread) -> Result<f64, Refusal> {
    let far_ends: Vec<String> = (0..MEMBERS).map(far).collect();
    let generated = Generated::by(guest, device, PACKETS, &far_ends)?;
    spread.check(device, &generated)?;
    Ok(generated.instructions)
}

impl Spread {
    /// Refuses packets that left otherwise than what is measured wants it.
    fn check(self, device: &str, generated: &Generated) -> Result<(), Refusal> {
        let (least, most) = generated.shares();
        let holds = match self {
            Spread::One => most > 0.99,
            Spread::All => least > 0.5 / MEMBERS as f64,
            Spread::Several => most < 0.5,
        };
        let what = || format!("{device} is to send by {self:?} of its members: {:?} packets each", generated.arrived);
        if holds { Ok(()) } else { Err(Refusal { errno: None, what: what() }) }
    }
}

pub(super) fn near(member: usize) -> String {
    format!("a{member}")
}

pub(super) fn far(member: usize) -> String {
    format!("b{member}")
}

impl Counts {
    fn figures(&self, kernel: &str) -> Vec<Figure> {
        let raw = Figure::text("raw veth", words(&self.raw), "-", None).peer(format!("Linux {kernel}"));
        let added = SETTINGS.iter().zip(&self.sides).map(|((name, ..), [kernel, ours])| {
            let [kernel_added, ours_added] = [kernel, ours].map(|samples| added(samples, &self.raw));
            let bound = median(&kernel_added);
            let holds = Bound::Below(bound).holds(median(&ours_added));
            let peer = format!(
                "kernel's bond adds {}; in all ours {}, kernel's {}",
                words(&kernel_added),
                words(ours),
                words(kernel)
            );
            let name = format!("{name}: added to the raw veth");
            Figure::text(name, words(&ours_added), &format!("< {bound:.0}, the kernel's"), Some(holds)).peer(peer)
        });
        std::iter::once(raw).chain(added).collect()
    }
}

/// `512 [510, 514]`.
pub(crate) fn words(samples: &[f64]) -> String {
    let words = |Estimate { median, low, high, .. }| format!("{median:.0} [{low:.0}, {high:.0}]");
    Estimate::of(samples).map_or_else(String::new, words)
}

/// What each repeat has more than the raw veth of the same repeat.
pub(crate) fn added(samples: &[f64], raw: &[f64]) -> Vec<f64> {
    samples.iter().zip(raw).map(|(sample, raw)| sample - raw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_leave_otherwise_are_refused() {
        let check = |spread: Spread, arrived: [u64; MEMBERS]| {
            spread.check("x", &Generated { instructions: 1.0, arrived: arrived.to_vec() }).is_ok()
        };
        assert!(check(Spread::One, [0, 1000, 1, 0]) && !check(Spread::One, [500, 500, 0, 0]));
        assert!(check(Spread::All, [200, 300, 250, 250]) && !check(Spread::All, [1000, 0, 0, 0]));
        assert!(check(Spread::Several, [80, 400, 300, 60]) && !check(Spread::Several, [900, 100, 0, 0]));
    }

    #[test]
    fn a_team_that_adds_less_than_the_kernel_holds_the_bound() {
        let counts = |ours: f64| Counts {
            raw: vec![4000.0, 4002.0],
            sides: std::array::from_fn(|_| [vec![4500.0, 4502.0], vec![ours, ours]]),
        };
        let count = |ours| crate::figure::Section::new("", Ok(counts(ours).figures("6.1"))).count();
        assert_eq!(count(4490.0), (3, 0));
        assert_eq!(count(4510.0), (0, 3));
    }
}

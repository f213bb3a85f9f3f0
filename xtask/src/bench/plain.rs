//! Instructions that a frame to a plain host takes, in a guest whose clock counts them.
//!
//! The kernel's packet generator sends datagrams. Mode stripe sends them as balance-alb does or, told
//! `stripe_plain=all`, as it sends TCP: by all members, where a host is new and nothing is acknowledged.

use super::instructions::{Bundle, Counted, MIIMON, Options, REPEATS, Spread, added, in_turn, words};
use crate::failure::Failure;
use crate::figure::Figure;
use crate::part::{Context, Part};
use crate::side::{self, Side};

/// Who sends; the first is the peer.
const SENDERS: [(&str, Bundle); 4] = [
    ("the kernel's balance-alb", Bundle { side: Side::Kernel, spread: Spread::One, options: ALB }),
    ("balance-alb", Bundle { side: Side::Ours, spread: Spread::One, options: ALB }),
    ("stripe, stripe_plain=off", Bundle { side: Side::Ours, spread: Spread::One, options: OFF }),
    ("stripe, stripe_plain=all", Bundle { side: Side::Ours, spread: Spread::All, options: ALL }),
];

const ALB: Options = &[("mode", "balance-alb"), MIIMON];
const OFF: Options = &[("mode", "stripe"), MIIMON, ("stripe_plain", "off")];
const ALL: Options = &[("mode", "stripe"), MIIMON, ("stripe_plain", "all")];

/// Instructions that a frame to a plain host takes.
pub(super) const PART: Part<()> = Part {
    tools: &side::TOOLS,
    ..Part::new("plain-instructions", "instructions a frame to a plain host, in a guest that counts them", measure)
};

/// Counts all in one guest.
fn measure(context: &Context<'_, ()>) -> Result<Vec<Figure>, Failure> {
    side::in_guest(context.product, Vec::new(), move |guest| {
        let counted = in_turn(guest, &SENDERS.map(|(_, sender)| sender), REPEATS)?;
        Ok(figures(&counted, guest.kernel()))
    })
}

/// They are stated, not judged.
fn figures(counted: &Counted, kernel: &str) -> Vec<Figure> {
    let figure = |((name, _), samples): (&(&str, Bundle), &Vec<f64>)| {
        let name = format!("{name}: added to the raw veth");
        let whole = format!("Linux {kernel}: in all {}, raw veth {}", words(samples), words(&counted.raw));
        Figure::text(name, words(&added(samples, &counted.raw)), "-", None).peer(whole)
    };
    SENDERS.iter().zip(&counted.bundles).map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sender_is_told_by_what_it_adds() {
        let bundles = (0..SENDERS.len()).map(|place| vec![4500.0 + 100.0 * place as f64; 2]).collect();
        let figures = figures(&Counted { raw: vec![4000.0, 4000.0], bundles }, "6.1");
        let told: Vec<&str> = figures.iter().map(|figure| figure.measured.as_str()).collect();
        assert_eq!(told, ["500 [500, 500]", "600 [600, 600]", "700 [700, 700]", "800 [800, 800]"]);
        assert!(figures.iter().all(|figure| figure.holds.is_none()));
    }
}

//! Stripe beside what else uses four links: balance-rr, 802.3ad and balance-alb of
//! ours, and multipath TCP. Kernels' and switches' own bonds have their place here, too.

use super::bundles::{Bundles, Measured};
use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::part::{Context, Part};

/// Ends of the names of runs: ours, and its peers.
const OURS: &str = "stripe";
const ALL: &[&str] = &["rr", "ad", "alb", "mptcp"];
/// Those that give one connection more than one link.
const OF_ONE_CONNECTION: &[&str] = &["rr", "mptcp"];

/// An experiment whose runs are a load and how it goes over the links.
struct Comparison {
    experiment: &'static str,
    /// Beginnings of the names of runs, and how many links multipath TCP has to use.
    loads: &'static [(&'static str, u32)],
    peers: &'static [&'static str],
    /// Loads that one link of the sum of the rates carries, too.
    one_big_link: &'static [&'static str],
}

/// Two hosts, four links each.
pub(crate) const FOUR_LINKS: Part<Arguments> =
    Part::new("stripe-peers", "stripe beside its peers, interleaved (bpf dataplane)", |context| {
        let loads = &[("one", 4), ("four", 4), ("sixteen", 4), (BOTH_WAYS, 4)];
        Comparison { experiment: "stripe-compared", loads, peers: ALL, one_big_link: &["one"] }.measure(context)
    });

/// Links of other numbers and rates.
pub(crate) const OTHER_LINKS: Part<Arguments> =
    Part::new("stripe-peers-links", "stripe beside its peers, other links, interleaved (bpf dataplane)", |context| {
        let loads = &[("two", 2), ("eight", 8), ("back", 4), ("unlike", 4)];
        let peers = OF_ONE_CONNECTION;
        Comparison { experiment: "stripe-compared-links", loads, peers, one_big_link: &[] }.measure(context)
    });

/// A server and its clients.
pub(crate) const HOSTS: Part<Arguments> = Part::new(
    "stripe-peers-hosts",
    "stripe beside its peers, a server and its clients, interleaved (bpf dataplane)",
    |context| {
        let loads = &[("four-to-one", 4), ("one-to-four", 4)];
        Comparison { experiment: "stripe-compared-hosts", loads, peers: ALL, one_big_link: &[] }.measure(context)
    },
);

/// The load of which the slower way counts.
const BOTH_WAYS: &str = "both";

impl Comparison {
    /// Compares them line by line.
    fn measure(&self, context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
        let bundles = Bundles::run(context, self.experiment)?;
        let mut figures = vec![bundles.about()?];
        for (load, links) in self.loads {
            check_subflows(&bundles, load, *links)?;
            let (what, value): (_, fn(&Measured) -> Option<f64>) = match *load {
                BOTH_WAYS => ("slower way, of limit", |run| Some(run.each_way()?[0])),
                _ => ("of limit", |run| run.of_limit()),
            };
            for way in [OURS].iter().chain(self.peers).chain(self.yardstick(load)) {
                figures.push(bundles.figure(&format!("{load}-{way}"), what, Bound::None, value)?);
            }
            for peer in self.peers {
                figures.push(ahead(&bundles, load, peer, what, value)?);
            }
        }
        Ok(figures)
    }

    /// The way without a team that a load is measured by, too.
    fn yardstick(&self, load: &str) -> &'static [&'static str] {
        if self.one_big_link.contains(&load) { &["big"] } else { &[] }
    }
}

/// The ratio to a peer, above one.
fn ahead(
    bundles: &Bundles,
    load: &str,
    peer: &str,
    what: &str,
    value: impl Fn(&Measured) -> Option<f64>,
) -> Result<Figure, Failure> {
    let (ours, theirs) = (format!("{load}-{OURS}"), format!("{load}-{peer}"));
    bundles.compared((&ours, &theirs), what, Bound::Above(1.0), value)
}

/// A peer that does not use all links would be no comparison.
fn check_subflows(bundles: &Bundles, load: &str, links: u32) -> Result<(), Failure> {
    for measured in bundles.measured(&format!("{load}-mptcp"))? {
        for found in measured.run.connections.iter().map(|connection| connection.subflows) {
            if found != Some(links) {
                let found = found.map_or_else(|| "no".to_owned(), |subflows| subflows.to_string());
                let what = format!("{load}: multipath TCP has {found} subflows, not one for each link");
                return Err(Failure::failed(what));
            }
        }
    }
    Ok(())
}

//! Stripe beside what else uses four links: balance-rr, 802.3ad and balance-alb of
//! ours, and multipath TCP. Kernels' and switches' own bonds have their place here, too.

use super::bundles::{Bundles, Measured};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::product::Product;
use crate::scratch::Scratch;

/// Ends of the names of runs.
const PEERS: [&str; 4] = ["rr", "ad", "alb", "mptcp"];
const LINKS: u32 = 4;

/// Compares them line by line.
pub(crate) fn measure(product: &Product, scratch: &Scratch) -> Result<Vec<Figure>, Failure> {
    let bundles = Bundles::run(product, scratch, "stripe-compared")?;
    check_subflows(&bundles)?;
    let mut figures = vec![bundles.about()?];
    for load in ["one", "four", "sixteen"] {
        for peer in PEERS {
            figures.push(ahead(&bundles, load, peer, "of limit", |run| run.of_limit())?);
        }
    }
    for peer in PEERS {
        figures.push(ahead(&bundles, "both", peer, "slower way, of limit", |run| Some(run.each_way()?[0]))?);
    }
    Ok(figures)
}

/// The ratio to a peer, above one.
fn ahead(
    bundles: &Bundles,
    load: &str,
    peer: &str,
    what: &str,
    value: impl Fn(&Measured) -> Option<f64>,
) -> Result<Figure, Failure> {
    let (ours, theirs) = (format!("{load}-stripe"), format!("{load}-{peer}"));
    bundles.compared((&ours, &theirs), what, Bound::Above(1.0), value)
}

/// A peer that does not use all links would be no comparison.
fn check_subflows(bundles: &Bundles) -> Result<(), Failure> {
    for measured in bundles.measured("one-mptcp")? {
        let subflows = measured.run.connections.first().and_then(|connection| connection.subflows);
        if subflows != Some(LINKS) {
            let found = subflows.map_or_else(|| "no".to_owned(), |subflows| subflows.to_string());
            return Err(Failure::failed(format!("multipath TCP has {found} subflows, not one for each link")));
        }
    }
    Ok(())
}

//! Several plain ports to one host: a switch sends to the one on which it saw the address last.

use nicteam_record::Finding;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::hop::{Choice, Hop};
use crate::limits::Limit;
use crate::units::thousands;
use crate::{moves, words};

/// A full link among several that no team spreads over.
pub(super) struct Learning;

#[derive(Serialize, Deserialize)]
struct Details {
    /// How often the switch learned a known address at another port.
    mac_moves: u64,
}

impl Rule for Learning {
    fn cause(&self) -> &'static str {
        "learning"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let plain =
            |hop: &&&Hop<'_>| limit.chooser(hop).by == Choice::Learned && hop.links.len() > 1 && !hop.all_full();
        let hop = limit.hops.iter().find(plain)?;
        let finding = Finding {
            side: hop.side,
            node: Some(hop.node.to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        let moves = limit.picture.run.mac_moves.iter().find(|of| of.switch == hop.node && moves::is_notable(of));
        Some(match moves {
            Some(of) => finding.with_details(&Details { mac_moves: of.moves }),
            None => finding,
        })
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let hop = finding.hops.first()?;
        let moves = finding.details().map_or_else(String::new, |Details { mac_moves }| {
            format!(" It learned addresses at another port {} times.", thousands(mac_moves))
        });
        Some(format!(
            "{}: {} has no group towards {}. Of its {} links it uses the one on which it last learned {}'s address.{moves}",
            words::side(finding),
            hop.node,
            hop.peer,
            hop.links.len(),
            hop.peer,
        ))
    }
}

//! Switches that learn one address at several ports.

use nicteam_record::{MacMoves, Run};

use crate::units::thousands;

/// More moves than that are no host that was plugged in elsewhere.
const NOTABLE: u64 = 10;

/// Whether that was more than a change of cables.
pub(super) fn is_notable(of: &MacMoves) -> bool {
    of.moves > NOTABLE
}

/// Of each switch to which addresses moved all the time: how often, and what makes them move.
pub(super) fn facts(run: &Run) -> impl Iterator<Item = String> {
    run.mac_moves.iter().filter(|of| is_notable(of)).map(|of| {
        let MacMoves { switch, moves, at_least } = of;
        let least = if *at_least { "at least " } else { "" };
        let each_s = *moves as f64 * 1e3 / run.measured_ms.max(1.0);
        format!(
            "{switch} learned a known address at another port {least}{} times ({each_s:.0} a second): a host sends from one address \
             by several of its ports, which are no group.",
            thousands(*moves)
        )
    })
}

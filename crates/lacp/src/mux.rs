//! The mux machine (IEEE 802.1AX-2014, 6.4.15), with coupled and with
//! independent control of collecting and distributing.
//!
//! A port of an aggregator that is not active is STANDBY: it never attaches,
//! and its partner is told so (no Synchronization), as in the kernel.

use std::time::Duration;

use nicteam_machine::Time;
use nicteam_wire::LacpState;

use super::LacpConfig;
use super::port::{Port, Selected};
use super::states::{MuxState, ReceiveState};
use super::timer::PortTimer;

/// What the machine looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inputs {
    pub(super) selected: Selected,
    /// Every port that waits for the same aggregator is `Ready_N`.
    pub(super) ready: bool,
    pub(super) partner_in_sync: bool,
    pub(super) partner_collects: bool,
    pub(super) coupled: bool,
}

/// Makes one transition, and says whether there was one.
pub(super) fn step(port: &mut Port, ready: bool, config: &LacpConfig, now: Time) -> bool {
    let inputs = Inputs {
        selected: port.selected,
        ready,
        partner_in_sync: port.partner.state.has(LacpState::SYNCHRONIZATION),
        partner_collects: port.partner.state.has(LacpState::COLLECTING),
        coupled: config.coupled_control,
    };
    let (old, new) = (port.mux, next(port.mux, inputs));
    if old == new {
        return false;
    }
    if old == MuxState::Distributing {
        port.lost |= matches!(port.receive, ReceiveState::PortDisabled | ReceiveState::Expired);
    }
    if new == MuxState::Waiting {
        wait(port, config, now);
    } else {
        port.timers.stop(PortTimer::WaitWhile);
        port.ready = false;
        port.ntt = true;
    }
    port.mux = new;
    true
}

/// The state that follows.
pub(super) fn next(state: MuxState, inputs: Inputs) -> MuxState {
    use MuxState::{Attached, Collecting, Detached, Distributing, Waiting};
    let selected = inputs.selected == Selected::Selected;
    let carries = selected && inputs.partner_in_sync;
    match state {
        Detached if inputs.selected != Selected::Unselected => Waiting,
        Waiting if inputs.selected == Selected::Unselected => Detached,
        Waiting if selected && inputs.ready => Attached,
        Attached if !selected => Detached,
        Attached if carries && inputs.coupled => Distributing,
        Attached if carries => Collecting,
        Collecting if !carries => Attached,
        Collecting if inputs.coupled || inputs.partner_collects => Distributing,
        Distributing if inputs.coupled && !carries => Attached,
        Distributing if !(inputs.coupled || carries && inputs.partner_collects) => Collecting,
        same => same,
    }
}

fn wait(port: &mut Port, config: &LacpConfig, now: Time) {
    port.ready = config.aggregate_wait_ms == 0;
    if !port.ready {
        let wait = Duration::from_millis(config.aggregate_wait_ms.into());
        port.timers.set(PortTimer::WaitWhile, now + wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use MuxState::{Attached, Collecting, Detached, Distributing, Waiting};

    const STATES: [MuxState; 5] = [Detached, Waiting, Attached, Collecting, Distributing];

    fn every_input() -> impl Iterator<Item = Inputs> {
        let selections = [Selected::Unselected, Selected::Standby, Selected::Selected];
        selections.into_iter().flat_map(|selected| {
            (0..16).map(move |bits| Inputs {
                selected,
                ready: bits & 1 != 0,
                partner_in_sync: bits & 2 != 0,
                partner_collects: bits & 4 != 0,
                coupled: bits & 8 != 0,
            })
        })
    }

    /// Where the machine ends if nothing changes; panics if it does not.
    fn end(state: MuxState, inputs: Inputs) -> MuxState {
        let mut states = std::iter::successors(Some(state), |&state| Some(next(state, inputs)));
        let mut last = state;
        states.find(|&state| std::mem::replace(&mut last, state) == state && next(state, inputs) == state).unwrap()
    }

    #[test]
    fn from_every_state_the_inputs_alone_decide_the_end() {
        for inputs in every_input() {
            let carries = inputs.selected == Selected::Selected && inputs.partner_in_sync;
            for state in STATES {
                let attached = state >= Attached || inputs.ready;
                let expected = match inputs.selected {
                    Selected::Unselected => Detached,
                    Selected::Standby => Waiting,
                    Selected::Selected if !attached => Waiting,
                    Selected::Selected if !carries => Attached,
                    Selected::Selected if inputs.coupled || inputs.partner_collects => Distributing,
                    Selected::Selected => Collecting,
                };
                assert_eq!(end(state, inputs), expected, "from {state:?} with {inputs:?}");
            }
        }
    }

    #[test]
    fn with_independent_control_every_step_is_to_a_neighbour() {
        for inputs in every_input().filter(|inputs| !inputs.coupled) {
            for state in STATES {
                let new = next(state, inputs);
                let steps = (new as i32 - state as i32).abs();
                let detaches = (state, new) == (Attached, Detached);
                assert!(steps <= 1 || detaches, "{state:?} -> {new:?} with {inputs:?}");
            }
        }
    }
}

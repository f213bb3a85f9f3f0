//! The states of a port's machines.

use nicteam_machine::state;

/// States of the receive machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveState {
    /// The link has no carrier. What was known of the partner is kept, so that
    /// nothing is disturbed if the same one comes back.
    PortDisabled,
    /// The partner is not heard, and has 3 s to be.
    Expired,
    /// Half duplex: LACP does not work here.
    LacpDisabled,
    /// Nobody was heard in time: the partner is assumed.
    Defaulted,
    /// The partner was heard in time.
    Current,
}

state!(
    enum ReceiveState {
        PortDisabled,
        Expired,
        LacpDisabled,
        Defaulted,
        Current,
    }
);

/// States of the periodic transmission machine; `PERIODIC_TX` does not last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodicState {
    /// Nothing is sent: no link, no LACP, or two passive ends.
    None,
    /// A PDU each second.
    Fast,
    /// A PDU each 30 s.
    Slow,
}

state!(
    enum PeriodicState {
        None,
        Fast,
        Slow,
    }
);

/// States of the mux machine; each includes what the ones before it permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MuxState {
    /// Not attached to an aggregator.
    Detached,
    /// Waits for others that may join the same aggregator.
    Waiting,
    /// Attached: in sync.
    Attached,
    /// Takes frames in. With coupled control a port passes this by.
    Collecting,
    /// Takes frames in and sends some.
    Distributing,
}

state!(
    enum MuxState {
        Detached,
        Waiting,
        Attached,
        Collecting,
        Distributing,
    }
);

/// States of a churn detection machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChurnState {
    /// It is out of sync, and may be for a while.
    #[default]
    Monitor,
    /// It is in sync.
    None,
    /// It has been out of sync for too long.
    Churned,
}

state!(
    enum ChurnState {
        Monitor,
        None,
        Churned,
    }
);

/// Which end a churn machine watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// This one.
    Actor,
    /// The other one.
    Partner,
}

/// Both machines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Churn {
    pub(super) actor: ChurnState,
    pub(super) partner: ChurnState,
    /// How often this end churned.
    pub(super) actor_count: u32,
    /// How often the other end churned.
    pub(super) partner_count: u32,
}

state!(struct Churn { actor, partner, actor_count, partner_count });

//! What a kind of event is to the lab.

use nicteam_experiment::Shown;
use nicteam_node::Error;
use serde::Deserialize;
use serde_json::Value;

use crate::testbed::Deployment;

/// A kind of event, as the lab carries it out.
pub(super) struct Kind {
    /// [`nicteam_experiment::Event::kind`].
    pub(super) name: &'static str,
    /// Does it, by what the event has to be told; where it happens.
    pub(super) carry_out: fn(&Value, &mut dyn Deployment) -> Result<Place, Error>,
}

/// Where something happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Host or switch.
    pub(crate) node: String,
    /// Device of the team it happens to, if it happens to one.
    pub(crate) team: Option<String>,
    /// The device, if it happens to one link alone.
    pub(crate) member: Option<String>,
}

impl Place {
    /// At a node as a whole.
    pub(super) fn of_node(node: String) -> Place {
        Place { node, team: None, member: None }
    }
}

impl From<Shown> for Place {
    fn from(Shown { node, team, member }: Shown) -> Place {
        Place { node, team, member: Some(member) }
    }
}

/// What an event of a kind has to be told.
pub(super) fn read<'d, T: Deserialize<'d>>(kind: &str, details: &'d Value) -> Result<T, Error> {
    T::deserialize(details).map_err(|error| Error::Agent { node: kind.to_owned(), message: error.to_string() })
}

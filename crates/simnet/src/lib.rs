//! Networks under virtual time.
//!
//! A [`World`] holds [`Node`]s, the [`Link`]s between their ports, and what is
//! on its way over them. It has no clock and does no I/O: time goes from one
//! event to the next, and the same seed gives the same run. A node is whatever
//! has ports: a [`Host`] with a team, a [`Switch`], or what a test makes itself;
//! a world of several kinds has an enum of them ([`OneOf`]).
//!
//! ```
//! use std::time::Duration;
//! use nicteam_simnet::{Switch, Way, World};
//!
//! let mut world = World::new(1);
//! let [a, b] = [(); 2].map(|()| world.add(Switch::new(2)));
//! world.connect((a, 1), (b, 0), Way { delay: Duration::from_millis(5), ..Way::default() });
//! // A switch sends to every other port what is for an address that it has not learned.
//! let frame = [&[2; 6][..], &[4; 6], &[0; 48]].concat();
//! world.deliver((a, 0), frame);
//! assert_eq!(world.in_flight().map(|(to, _)| to).collect::<Vec<_>>(), [(b, 0)]);
//! world.run(Duration::from_millis(5));
//! assert_eq!(world.in_flight().count(), 0);
//! ```
#![forbid(unsafe_code)]

mod host;
mod link;
mod node;
mod random;
mod schedule;
mod switch;
mod world;

pub use host::{Host, Member, Reading};
pub use link::{Link, Way};
pub use node::{Bytes, Node, OneOf, Port};
pub use random::Random;
pub use schedule::Schedule;
pub use switch::Switch;
pub use world::{Captured, World};

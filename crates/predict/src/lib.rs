//! What a network delivers, without running it.
//!
//! [`Network`] has nodes, cables and teams; [`Flow`] has addresses, ports and a weight. [`predict`] finds the member that
//! each flow's frames take at each hop, by the choosers of `nicteam-team`, and those of its acknowledgements on the way
//! back. Then it shares the links: each flow gets its max-min fair rate ([`max_min`]); a TCP
//! connection that waits in several full queues gets less.
//!
//! No I/O, no clock, no threads, and nothing random: the same input gives the same prediction on every machine.
//!
//! ```
//! use nicteam_predict::{Cable, Flow, Network, Node, predict};
//!
//! // Two hosts and a cable of 100 Mbit/s.
//! let network = Network {
//!     nodes: vec![Node::host(), Node::host()],
//!     cables: vec![Cable::new([0, 1], 100e6)],
//!     teams: Vec::new(),
//! };
//! let addresses = ["10.0.0.1:40000".parse().unwrap(), "10.0.0.2:5001".parse().unwrap()];
//! let prediction = predict(&network, &[Flow::tcp([0, 1], addresses)]);
//! // 1448 of the 1538 bytes that a full segment takes on the wire are payload.
//! assert!((prediction.bps[0] - 100e6 * 1448.0 / 1538.0).abs() < 100.0);
//! ```
#![forbid(unsafe_code)]

pub mod advise;
mod choose;
pub mod engines;
pub mod flow_lines;
mod network;
mod of_config;
pub mod on_wire;
mod queues;
mod rates;
mod routes;
mod way;

pub use network::{ByLink, Cable, Flow, Kind, Network, Node, NodeKind, Receives, Sends, Team};
pub use of_config::{aggregated, uses};
pub use rates::{Rates, Uses, max_min};
pub use way::{Held, Hop, Prediction, predict};

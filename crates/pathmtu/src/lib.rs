//! Which packets pass a path to another host, by direction and largest size, with nothing of ours at the other end.
//!
//! Three questions distinguish the directions. An echo request that must not be cut passes there, and its answer back.
//! If this host cuts the same request into small pieces, it passes there wherever small packets do. The other host
//! reassembles it and answers in one piece, or in pieces of its own MTU, so it measures only the way back. A question
//! with a short answer, however long it is itself, measures only the way there. The [`Verdict`] says what follows.
//! Everything is pure but [`examine`], which asks.
#![forbid(unsafe_code)]

mod cut;
mod examine;
mod search;
mod verdict;
mod words;

pub use cut::{Cut, pieces};
pub use examine::{Options, Report, examine};
pub use search::{Ask, Found, Outcome, Search, largest};
pub use verdict::{Back, Evidence, Limiter, OneWay, There, Verdict, judge};

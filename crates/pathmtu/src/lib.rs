//! Which packets pass a path to another host, by direction and largest size, with nothing of ours at the other end.
//!
//! Three questions distinguish the directions. An echo request that must not be cut passes there, and its answer
//! back. The same cut into small pieces by ourselves passes there wherever small packets do; the other host puts it
//! together and answers in one piece, or in pieces of its own MTU, so it measures only the way back. And a question
//! whose answer is short, however long it is itself, measures only the way there. [`judge`] says what follows; it,
//! [`Search`] and [`pieces`] are pure, and [`examine`] does the asking.
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

//! What must come out of an experiment: figures of a record by name ([`FIGURES`]), bounds ([`Bound`]), and verdicts on
//! records ([`Verdict`]).
//!
//! ```
//! use nicteam_expect::{Bound, Figure, Interval, Unit, Verdict};
//!
//! let figure = Figure::named("of_limit").unwrap();
//! assert_eq!(figure.unit, Unit::Part);
//! let bound = Bound { at_least: Some(figure.unit.read("90%").unwrap()), at_most: None };
//! let interval = Interval::of(&[0.96, 0.97, 0.95, 0.96, 0.98, 0.97]).unwrap();
//! assert_eq!(interval.verdict(&bound), Verdict::Holds);
//! ```
//!
//! Pure: it reads no clock and no file. `docs/check.md` describes what users see.
#![forbid(unsafe_code)]

mod bound;
mod causes;
pub mod clients;
mod expectation;
mod figures;
mod judge;
mod no_worse;
mod recorded;
mod rounds;
mod unit;
mod verdict;

pub use bound::Bound;
pub use causes::CAUSES;
pub use expectation::{Beside, Expectation, What};
pub use figures::{FIGURES, Figure, NAMES, Part, Scope, reference};
pub use judge::{Found, Judged, judge};
pub use nicteam_statistics::Scale;
pub use no_worse::no_worse;
pub use recorded::expectations;
pub use rounds::Rounds;
pub use unit::Unit;
pub use verdict::{Certainty, Interval, Verdict};

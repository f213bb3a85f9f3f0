//! Properties of rates, and the ways of flows.

mod advise;
mod rates;
mod ways;

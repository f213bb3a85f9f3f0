//! Properties of rates, and the ways of flows.

mod rates;
mod ways;

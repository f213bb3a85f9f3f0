//! What is said to Prometheus and shown in a terminal.

mod common;
mod costs;
mod http;
mod metrics;
mod runs;
mod terminal;
mod top;

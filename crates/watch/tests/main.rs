//! What is said to Prometheus and shown in a terminal.

mod common;
mod http;
mod metrics;
mod terminal;
mod top;

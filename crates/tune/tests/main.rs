//! The steps, without a network.

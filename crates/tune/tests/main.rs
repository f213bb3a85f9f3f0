//! The steps, without a network.

mod imports;

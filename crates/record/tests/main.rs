//! What a bundle may hold.

mod bundle;
mod parts;

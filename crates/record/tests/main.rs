//! What a bundle may hold.

mod alike;
mod bundle;
mod parts;

//! The runs of an experiment on one screen: which have ended, which one runs, which are left, and how long that will take.
//!
//! A [`Board`] keeps what is known, and [`Board::lines`] draws it. Both are pure: time is an argument.

mod board;
mod draw;
mod time;

pub use board::{Board, LinkLoad, Now, Planned};

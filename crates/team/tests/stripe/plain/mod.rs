//! One-sided striping under virtual time: which members send to hosts that know nothing of it.

mod bench;
mod faults;
mod lossy;
mod silent;
mod strays;

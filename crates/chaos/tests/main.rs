//! Random faults, what they break, and fewer of them.

mod draw;
mod judge;
mod replay;
mod shrink;
mod virtual_time;

//! Random faults, what they break, and fewer of them.

mod defects;
mod draw;
mod effects;
mod judge;
mod lab;
mod machine;
mod replay;
mod shrink;
mod virtual_time;

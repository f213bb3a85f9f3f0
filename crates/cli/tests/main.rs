//! The command, run as a user would run it.

mod cleanup;
mod common;
mod corpus;
mod impaired;
mod kill;
mod lab_lacp;
mod lacp;
mod licences;
mod linux_6_1;
mod options;
mod stall;
mod t3;
mod team;
mod which;

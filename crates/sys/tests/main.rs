//! The operating system's interfaces, live.

mod common;
mod corpus;
mod cpu;
mod ethtool;
mod listen;
mod netlink;
mod netns;
mod packet;
mod process;
mod shape;
mod tap;
mod tcp;

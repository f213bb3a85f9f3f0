//! What the kernel counts of processors and memory.

mod corpus;
mod cpu;

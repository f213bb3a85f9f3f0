//! Plans, frame by frame.

mod buckets;
mod common;
mod drawn;
mod hash;
mod hash_kernel;
mod plan;

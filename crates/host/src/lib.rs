//! A host's network around its teams: what there is, who manages it, what a team takes over and what it gives back.
#![forbid(unsafe_code)]

pub mod managers;

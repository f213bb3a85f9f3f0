//! Blocks are read back by another reader, and each mode's reason stands in the comment.

mod blocks;
mod reasons;

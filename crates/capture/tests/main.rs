//! Blocks are read back by another reader, and each mode's reason stands in the comment.

mod blocks;
mod corpus;
/// Mostly waits: many at once.
mod live {
    mod session;
}
mod reasons;

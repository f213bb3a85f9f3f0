//! What was found, in words, and the cure.

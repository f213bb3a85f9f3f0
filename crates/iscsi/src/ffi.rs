//! Declarations of libiscsi, written by hand: what is used of it.

//! What holds for this crate's files.

mod imports;

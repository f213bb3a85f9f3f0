//! What a reader sees of a record.

mod aggregation;
mod common;
mod corpus;
mod explain;
mod html;
mod mixed;
mod shipped;
mod table;

//! What a reader sees of a record.

mod aggregation;
mod buckets;
mod causes;
mod common;
mod compare;
mod corpus;
mod explain;
mod findings;
mod html;
mod joint;
mod many;
mod mixed;
mod planted;
mod shipped;
mod storage;
mod table;
mod toy_rule;

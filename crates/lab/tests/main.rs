//! What the lab and its agents say to each other.

mod corpus;

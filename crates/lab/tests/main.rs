//! What the lab and its agents say to each other, and what can be added to a lab through its public traits alone.

mod corpus;
mod toys;

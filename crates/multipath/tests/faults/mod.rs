//! Paths that break, come back and deliver late: nothing is lost, done twice or overwritten by what is older.

mod checks;
mod explore;
mod random;
mod world;

//! The crate by itself: its example. LACP's rules are tested through a team that is recorded, in
//! `crates/team/tests/lacp`.

mod example;

//! Replays the fuzz corpus of requests and of what is kept of teams.

#[path = "../../../fuzz/src/control.rs"]
mod properties;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

#[test]
fn the_corpus_holds() {
    replay::replay(properties::ALL);
}

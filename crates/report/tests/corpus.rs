//! Replays the fuzz corpus of records.

#[path = "../../../fuzz/src/records.rs"]
mod properties;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

#[test]
fn the_corpus_holds() {
    replay::replay(properties::ALL);
}

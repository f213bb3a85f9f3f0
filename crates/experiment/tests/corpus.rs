//! Replays the fuzz corpus of experiment files.

#[path = "../../../fuzz/src/experiments.rs"]
mod properties;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

#[test]
fn the_corpus_holds() {
    replay::replay(properties::ALL);
}

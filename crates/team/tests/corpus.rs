//! Replays the fuzz corpus of frames, names and configurations.

#[path = "../../../fuzz/src/frames.rs"]
mod properties;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

#[test]
fn the_corpus_holds() {
    replay::replay(properties::ALL);
}

//! Replays the fuzz corpus of what clients of an export say.

#[path = "../../../fuzz/src/exports.rs"]
mod properties;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

#[test]
fn the_corpus_holds() {
    replay::replay(properties::ALL);
}

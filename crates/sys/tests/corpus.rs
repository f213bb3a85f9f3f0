//! Replays the fuzz corpus of what the kernel says.

#[path = "../../../fuzz/src/kernel.rs"]
mod properties;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

#[test]
fn the_corpus_holds() {
    replay::replay(properties::ALL);
}

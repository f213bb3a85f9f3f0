//! Replays the fuzz corpus of what other programs say of their bundles.

#[path = "../../../fuzz/src/bundles.rs"]
mod properties;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

#[test]
fn the_corpus_holds() {
    replay::replay(properties::ALL);
}

//! Replays the fuzz corpus of captures and flows.

#[path = "../../../fuzz/src/captures.rs"]
mod properties;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

#[test]
fn the_corpus_holds() {
    replay::replay(properties::ALL);
}

//! Replays the fuzz corpus of other people's formats.

#[path = "../../../fuzz/src/formats.rs"]
pub mod properties;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

#[test]
fn the_corpus_holds() {
    replay::replay(properties::ALL);
}

//! Replays the fuzz corpus of files of processors, processes and memory.

#[path = "../../../fuzz/src/processors.rs"]
mod properties;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

#[test]
fn the_corpus_holds() {
    replay::replay(properties::ALL);
}

//! Replays the fuzz corpus of the agents' protocol.

#[path = "../../../fuzz/src/agents.rs"]
mod properties;
#[path = "../../../fuzz/src/replay.rs"]
mod replay;

#[test]
fn the_corpus_holds() {
    replay::replay(properties::ALL);
}

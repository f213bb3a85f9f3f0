//! How the engines find a frame's member by a hash: a line an engine.

use nicteam_team::{HashPolicy, hash};
use nicteam_wire::Frame;

/// The hash of a frame.
pub(super) type Hash = fn(HashPolicy, &Frame<'_>) -> u32;

/// By the engine's name in the record. Older records name none, and had one.
const ENGINES: [(&str, Hash); 2] = [("nicteam", hash::hash), ("", hash::hash)];

/// How this engine hashes; none if that is not known: then nothing is predicted.
pub(super) fn hash_of(engine: &str) -> Option<Hash> {
    ENGINES.iter().find(|(name, _)| *name == engine).map(|(_, hash)| *hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_that_nobody_knows_is_not_predicted() {
        assert!(hash_of("nicteam").is_some() && hash_of("other").is_none());
    }
}

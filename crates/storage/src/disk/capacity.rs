//! The logical unit's size, and how it is asked for.

use nicteam_iscsi::Outcome;
use nicteam_multipath::PathId;

/// What is known of the logical unit's size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Capacity {
    Unknown,
    /// By which path.
    Asked(PathId),
    Known {
        blocks: u64,
        block_bytes: u32,
    },
    Refused(String),
}

/// Number of the command that asks: it is not multipath's, and far above any of its own.
pub(super) const READ_CAPACITY: u64 = 1 << 63;

impl Capacity {
    /// The path by which it was asked for has lost its session: ask again.
    pub(super) fn lost(&mut self, path: PathId) {
        if *self == Capacity::Asked(path) {
            *self = Capacity::Unknown;
        }
    }

    /// Takes the answer in; false if the command is somebody else's.
    pub(super) fn answered(&mut self, command: u64, outcome: &Outcome) -> bool {
        if command == READ_CAPACITY {
            *self = match outcome {
                Outcome::Capacity { blocks, block_bytes } => match blocks.checked_mul(u64::from(*block_bytes)) {
                    Some(_) => Capacity::Known { blocks: *blocks, block_bytes: *block_bytes },
                    None => {
                        Capacity::Refused(format!("{blocks} blocks of {block_bytes} bytes are more than any disk has"))
                    }
                },
                // Not executed: to be asked again.
                Outcome::UnitAttention { .. } | Outcome::Busy | Outcome::NoAnswer | Outcome::Aborted(_) => {
                    Capacity::Unknown
                }
                other => Capacity::Refused(format!("{other:?}")),
            };
        }
        command >= READ_CAPACITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capacity_that_no_disk_has_is_refused() {
        let mut capacity = Capacity::Asked(PathId(0));
        let told = |blocks| Outcome::Capacity { blocks, block_bytes: 512 };
        assert!(capacity.answered(READ_CAPACITY, &told(u64::MAX)));
        assert!(matches!(&capacity, Capacity::Refused(why) if why.contains("more than any disk")), "{capacity:?}");
        assert!(capacity.answered(READ_CAPACITY, &told(2048)));
        assert_eq!(capacity, Capacity::Known { blocks: 2048, block_bytes: 512 });
    }
}

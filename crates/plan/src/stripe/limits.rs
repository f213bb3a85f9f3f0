//! How many there may be, and for how long.

use std::time::Duration;

/// The most paths to one peer.
pub const MAX_PATHS: usize = nicteam_machine::constants::MAX_PATHS;
/// The most peers that frames are striped to.
pub const MAX_PEERS: usize = nicteam_machine::constants::MOST_PEERS;
/// The most addresses that those of one plan have together, each its team's and its members'.
pub const MAX_ADDRESSES: usize = nicteam_machine::constants::ADDRESSES_PER_PEER * MAX_PEERS;
/// The longest transmit backlog: so a member that was thought slower than it is, or was down, does not stay unused.
/// Where the backlog of a receiving member would become longer, the backlogs of all members of its peer become shorter
/// by half of this. Their differences stay, so a sender that sends more than they are thought to carry still sends by
/// their rates.
pub(super) const LEAD: Duration = Duration::from_nanos(nicteam_machine::constants::LEAD_NS);

//! The kernel's structures and numbers of `SIOCETHTOOL`.

// Linux 6.1 include/uapi/linux/ethtool.h.
pub(super) const ETHTOOL_GSTRINGS: u32 = 0x1b;
pub(super) const ETHTOOL_GSSET_INFO: u32 = 0x37;
pub(super) const ETHTOOL_GFEATURES: u32 = 0x3a;
pub(super) const ETHTOOL_SFEATURES: u32 = 0x3b;
pub(super) const ETHTOOL_GRINGPARAM: u32 = 0x10;
pub(super) const ETHTOOL_GCHANNELS: u32 = 0x3c;
pub(super) const ETHTOOL_SCHANNELS: u32 = 0x3d;
/// `PORT_OTHER`.
pub(super) const PORT_OTHER: u8 = 0xff;
pub(super) const ETH_SS_FEATURES: u32 = 4;
/// `ETH_GSTRING_LEN`.
pub(super) const FEATURE_NAME: usize = 32;
/// Features that there is room for; Linux 6.18 has less than 70.
pub(super) const MAX_FEATURES: usize = 256;
pub(super) const ETHTOOL_GLINK: u32 = 0x0a;
pub(super) const ETHTOOL_GLINKSETTINGS: u32 = 0x4c;
pub(super) const ETHTOOL_SLINKSETTINGS: u32 = 0x4d;
pub(super) const SPEED_UNKNOWN: u32 = u32::MAX;
pub(super) const DUPLEX_HALF: u8 = 0;
pub(super) const DUPLEX_FULL: u8 = 1;
/// Room for the three sets of link modes, each of at most 127 words (the kernel tells how many in an `i8`).
pub(super) const LINK_MODE_WORDS: usize = 3 * 127;

/// A structure that begins with an ethtool command and has room for its whole answer.
///
/// # Safety
/// `repr(C)`, any bytes are valid, and as large as the kernel's.
pub(super) unsafe trait Request {}

/// `struct ethtool_value`.
#[repr(C)]
pub(super) struct Value {
    pub(super) command: u32,
    pub(super) data: u32,
}

// SAFETY: two integers, as the kernel has them.
unsafe impl Request for Value {}

/// `struct ethtool_sset_info`, of one set.
#[repr(C)]
pub(super) struct Count {
    pub(super) command: u32,
    pub(super) zero: u32,
    pub(super) sets: u64,
    pub(super) count: u32,
    pub(super) end: u32,
}

// SAFETY: integers, as the kernel has them; one set was asked for, so one count is written.
unsafe impl Request for Count {}

/// `struct ethtool_gstrings`.
#[repr(C)]
pub(super) struct Names {
    pub(super) command: u32,
    pub(super) set: u32,
    pub(super) count: u32,
    pub(super) names: [[u8; FEATURE_NAME]; MAX_FEATURES],
}

// SAFETY: integers, as the kernel has them; that it knows no more was asked before.
unsafe impl Request for Names {}

impl Names {
    /// They end with zeros.
    pub(super) fn iter(&self) -> impl Iterator<Item = String> {
        let name = |name: &[u8; FEATURE_NAME]| {
            String::from_utf8_lossy(name.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned()
        };
        self.names.iter().take(self.count as usize).map(name)
    }
}

/// Which word of a feature's four says whether it can be switched, is on, and is never changed
/// (`struct ethtool_get_features_block`).
pub(super) const AVAILABLE: usize = 0;
pub(super) const ACTIVE: usize = 2;
pub(super) const NEVER_CHANGED: usize = 3;

/// `struct ethtool_gfeatures`: words of available, requested, active and never changed bits.
#[repr(C)]
pub(super) struct State {
    pub(super) command: u32,
    pub(super) words: u32,
    pub(super) words_of: [[u32; 4]; MAX_FEATURES / 32],
}

// SAFETY: integers, as the kernel has them; it writes at most `words` blocks, for which there is room.
unsafe impl Request for State {}

/// `struct ethtool_ringparam`.
#[derive(Default)]
#[repr(C)]
pub(super) struct Ring {
    pub(super) command: u32,
    pub(super) rx_max_pending: u32,
    pub(super) rx_mini_max_pending: u32,
    pub(super) rx_jumbo_max_pending: u32,
    pub(super) tx_max_pending: u32,
    pub(super) rx_pending: u32,
    pub(super) rx_mini_pending: u32,
    pub(super) rx_jumbo_pending: u32,
    pub(super) tx_pending: u32,
}

// SAFETY: nine integers, as the kernel has them.
unsafe impl Request for Ring {}

/// `struct ethtool_channels`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Channels {
    pub(super) command: u32,
    pub(super) max_rx: u32,
    pub(super) max_tx: u32,
    pub(super) max_other: u32,
    pub(super) max_combined: u32,
    pub(super) rx_count: u32,
    pub(super) tx_count: u32,
    pub(super) other_count: u32,
    pub(super) combined_count: u32,
}

// SAFETY: nine integers, as the kernel has them.
unsafe impl Request for Channels {}

/// `struct ethtool_sfeatures`: words of valid and of requested bits.
#[repr(C)]
pub(super) struct Wish {
    pub(super) command: u32,
    pub(super) words: u32,
    pub(super) wished: [[u32; 2]; MAX_FEATURES / 32],
}

// SAFETY: integers, as the kernel has them; it reads `words` pairs and writes none.
unsafe impl Request for Wish {}

/// `struct ethtool_link_settings`, with the link modes behind it.
#[repr(C)]
pub(super) struct Settings {
    pub(super) command: u32,
    pub(super) speed: u32,
    pub(super) duplex: u8,
    pub(super) port: u8,
    pub(super) phy_address: u8,
    pub(super) autoneg: u8,
    pub(super) mdio_support: u8,
    pub(super) eth_tp_mdix: u8,
    pub(super) eth_tp_mdix_ctrl: u8,
    pub(super) link_mode_masks_nwords: i8,
    pub(super) transceiver: u8,
    pub(super) master_slave_cfg: u8,
    pub(super) master_slave_state: u8,
    pub(super) rate_matching: u8,
    pub(super) reserved: [u32; 7],
    pub(super) link_modes: [u32; LINK_MODE_WORDS],
}

// SAFETY: integers, in the kernel's order, with room for every number of words.
unsafe impl Request for Settings {}

impl Settings {
    pub(super) fn new(link_mode_masks_nwords: i8) -> Settings {
        Settings {
            command: ETHTOOL_GLINKSETTINGS,
            speed: 0,
            duplex: 0,
            port: 0,
            phy_address: 0,
            autoneg: 0,
            mdio_support: 0,
            eth_tp_mdix: 0,
            eth_tp_mdix_ctrl: 0,
            link_mode_masks_nwords,
            transceiver: 0,
            master_slave_cfg: 0,
            master_slave_state: 0,
            rate_matching: 0,
            reserved: [0; 7],
            link_modes: [0; LINK_MODE_WORDS],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_is_the_kernels() {
        assert_eq!(std::mem::offset_of!(Settings, link_mode_masks_nwords), 15);
        assert_eq!(std::mem::offset_of!(Settings, link_modes), 48);
    }
}

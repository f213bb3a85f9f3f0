//! Room for redundancy tags: the team's MTU is as much less than its members', and GSO frames are segmented before they
//! leave the team device.

use super::Shell;
use crate::Error;

impl Shell {
    /// The MTU that the members need for the team's.
    pub(super) fn member_mtu(&self) -> u32 {
        self.mtu + self.team.config().tag_bytes()
    }

    /// Makes room for tags, or takes it back, after the configuration had room
    /// for so many bytes before. The members stay as they are.
    pub(super) fn adjust_mtu_for_tags(&mut self, before: u32) -> Result<(), Error> {
        let now = self.team.config().tag_bytes();
        if before == now {
            return Ok(());
        }
        self.cut_gso_frames()?;
        self.mtu = (self.mtu + before).saturating_sub(now);
        self.netlink.set_mtu(self.device.peer_index, self.mtu)?;
        Ok(self.netlink.set_mtu(self.device.index, self.mtu)?)
    }

    /// Has the kernel cut what goes through the team device, where that may have
    /// to be tagged: all that the stack sends goes through it.
    pub(super) fn cut_gso_frames(&self) -> Result<(), Error> {
        let whole = self.team.config().redundant.is_off();
        Ok(self.ethtool.set_segmentation(&self.called, whole)?)
    }
}

//! Whether all options of a configuration go together.

use super::table::DEFAULT_PACKETS_PER_SLAVE;
use super::{balance, openvswitch, stripe};
use crate::config::Config;
use crate::error::ConfigError;
use crate::mode::{Sends, Traits};
use crate::names::modes;

impl Config {
    /// Refuses what the kernel refuses: `updelay`, `downdelay` and
    /// `peer_notif_delay` without `miimon`, a `queue_id` that two members have
    /// (EPERM); `packets_per_slave` outside balance-rr, `primary`, `active_slave`
    /// and `prio` outside active-backup, balance-tlb, balance-alb and stripe,
    /// `tlb_dynamic_lb off` outside the latter two, most LACP options outside
    /// 802.3ad (EACCES); 802.3ad without `miimon` (which the kernel
    /// switches on); `arp_interval` beside `miimon` (EINVAL over netlink; in sysfs,
    /// and in [`Config::set`], the later of the two switches the other off).
    ///
    /// As in the kernel, an `xmit_hash_policy` outside balance-xor and 802.3ad, a
    /// `primary_reselect` without `primary`, `queue_id` outside active-backup and
    /// balance-rr, and `num_grat_arp`, `fail_over_mac` and `all_slaves_active`
    /// outside active-backup are kept and have no effect; a delay that is no multiple
    /// of `miimon` is allowed (the kernel rounds it down). Returns the first
    /// conflict.
    pub fn check(&self) -> Result<(), ConfigError> {
        let needs_miimon = [
            ("updelay", self.updelay_ms),
            ("downdelay", self.downdelay_ms),
            ("peer_notif_delay", self.peer_notif_delay_ms),
        ];
        if let Some((name, ms)) = needs_miimon.into_iter().find(|&(_, ms)| ms != 0 && self.miimon_ms == 0) {
            return Err(ConfigError::Conflict(format!("`{name} {ms}` needs `miimon`, which is 0 (off)")));
        }
        let Config { mode, packets_per_slave, .. } = self;
        if *packets_per_slave != DEFAULT_PACKETS_PER_SLAVE && mode.traits().sends != Sends::InTurn {
            let works_in = modes(|of| of.sends == Sends::InTurn);
            return Err(ConfigError::Conflict(format!(
                "`packets_per_slave {packets_per_slave}` works in {works_in} alone; the mode is {mode}"
            )));
        }
        match &self.primary {
            Some(primary) if !mode.uses_primary() => Err(ConfigError::Conflict(format!(
                "`primary {primary}` works in {} alone; the mode is {mode}",
                modes(|of| of.has_active)
            ))),
            _ => {
                self.check_active_slave()?;
                self.check_prio()?;
                self.check_queue_id()?;
                self.check_hash_buckets()?;
                self.arp.check(self)?;
                balance::check(self)?;
                stripe::check(self)?;
                self.lacp.check(self)?;
                openvswitch::check(self)
            }
        }
    }
    /// Buckets stand for members where the hash alone chooses.
    fn check_hash_buckets(&self) -> Result<(), ConfigError> {
        if self.hash_buckets == 0 || self.mode.traits().has_hash_buckets() {
            return Ok(());
        }
        Err(ConfigError::Conflict(format!(
            "`hash_buckets {}` works in {} alone; the mode is {}",
            self.hash_buckets,
            modes(Traits::has_hash_buckets),
            self.mode
        )))
    }
}

//! The keys of `[Bond]`: the kernel's names for them, and their units.

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// As in the kernel.
    Same,
    /// A span of time; the kernel's option is in milliseconds.
    Milliseconds,
    /// A span of time; the kernel's option is in seconds.
    Seconds,
    /// `yes` or `no`; the kernel's option is 1 or 0.
    Flag,
    /// Addresses with white space between; the kernel's option has commas.
    Addresses,
}

/// Key, the kernel's option, unit.
pub(super) const KEYS: [(&str, &str, Unit); 24] = [
    ("Mode", "mode", Unit::Same),
    ("TransmitHashPolicy", "xmit_hash_policy", Unit::Same),
    ("LACPTransmitRate", "lacp_rate", Unit::Same),
    ("MIIMonitorSec", "miimon", Unit::Milliseconds),
    ("UpDelaySec", "updelay", Unit::Milliseconds),
    ("DownDelaySec", "downdelay", Unit::Milliseconds),
    ("LearnPacketIntervalSec", "lp_interval", Unit::Seconds),
    ("AdSelect", "ad_select", Unit::Same),
    ("AdActorSystemPriority", "ad_actor_sys_prio", Unit::Same),
    ("AdUserPortKey", "ad_user_port_key", Unit::Same),
    ("AdActorSystem", "ad_actor_system", Unit::Same),
    ("FailOverMACPolicy", "fail_over_mac", Unit::Same),
    ("ARPValidate", "arp_validate", Unit::Same),
    ("ARPIntervalSec", "arp_interval", Unit::Milliseconds),
    ("ARPIPTargets", "arp_ip_target", Unit::Addresses),
    ("ARPAllTargets", "arp_all_targets", Unit::Same),
    ("PrimaryReselectPolicy", "primary_reselect", Unit::Same),
    ("ResendIGMP", "resend_igmp", Unit::Same),
    ("PacketsPerSlave", "packets_per_slave", Unit::Same),
    ("GratuitousARP", "num_grat_arp", Unit::Same),
    ("AllSlavesActive", "all_slaves_active", Unit::Flag),
    ("DynamicTransmitLoadBalancing", "tlb_dynamic_lb", Unit::Flag),
    ("MinLinks", "min_links", Unit::Same),
    ("ARPMissedMax", "arp_missed_max", Unit::Same),
];

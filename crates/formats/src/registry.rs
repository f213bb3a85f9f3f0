//! The registries: which formats are read, and which are written.

use nicteam_drafts::{Format, Writer};

/// Every format that is read, in the order in which a text is tried.
pub static FORMATS: &[&dyn Format] = &[
    &crate::toml::Toml,
    &crate::ifupdown::Ifupdown,
    &crate::ifcfg::Ifcfg,
    &crate::keyfile::KeyFile,
    &crate::networkd::Networkd,
    &crate::nmstate::Nmstate,
    &crate::cloud_init::CloudInit,
    &crate::netplan::Netplan,
    &crate::teamd::Teamd,
    &crate::freebsd::FreeBsd,
    &nicteam_scripts::Vyos,
    &nicteam_scripts::OpenVSwitch,
    &nicteam_scripts::Dladm,
    &nicteam_scripts::Iproute2,
];

/// Every format that is written.
pub static WRITERS: &[&dyn Writer] = &[
    &crate::toml::Toml,
    &crate::ifupdown::Ifupdown,
    &crate::networkd::Networkd,
    &crate::netplan::Netplan,
    &nicteam_scripts::Iproute2,
    &crate::switch::CISCO,
    &crate::switch::ARISTA,
    &crate::switch::JUNIPER,
    &crate::switch::MIKROTIK,
    &crate::switch::PROCURVE,
];

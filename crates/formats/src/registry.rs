//! The registries: which formats are read, and which are written.

use crate::{Format, Writer};

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
    &crate::vyos::Vyos,
    &crate::openvswitch::OpenVSwitch,
    &crate::dladm::Dladm,
    &crate::iproute2::Iproute2,
];

/// Every format that is written.
pub static WRITERS: &[&dyn Writer] = &[
    &crate::toml::Toml,
    &crate::ifupdown::Ifupdown,
    &crate::networkd::Networkd,
    &crate::netplan::Netplan,
    &crate::iproute2::Iproute2,
    &crate::switch::CISCO,
    &crate::switch::ARISTA,
    &crate::switch::JUNIPER,
    &crate::switch::MIKROTIK,
    &crate::switch::PROCURVE,
];

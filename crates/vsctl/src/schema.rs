//! The database's tables, as far as commands about bonds name them (Open vSwitch 3.1, schema 8.3.1).

use super::datum::{Atom, Kind};
use super::error::ErrorKind;
use super::table::Table;

/// A column.
#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// False where it is set by the command that makes the record, and then never.
    pub is_mutable: bool,
}

impl Table {
    /// Its columns, by name.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Table::Bridge => BRIDGE,
            Table::Port => PORT,
            Table::Interface => INTERFACE,
        }
    }

    /// Every table's name, those that are not set here among them.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        TABLES.iter().map(|(name, _)| *name)
    }

    /// The table that is meant: its name or, in any case, its beginning.
    pub(super) fn find(text: &str) -> Result<Table, ErrorKind> {
        match best(text, Table::names()) {
            Match::One(name) => match TABLES.iter().find(|(known, _)| *known == name) {
                Some((_, Some(table))) => Ok(*table),
                _ => Err(ErrorKind::OtherTable(name)),
            },
            Match::Several(found) => Err(ErrorKind::AmbiguousTable { name: text.to_owned(), found }),
            Match::None => Err(ErrorKind::UnknownTable(text.to_owned())),
        }
    }

    /// The column that is meant: its name or, in any case, its beginning.
    pub(super) fn column(self, text: &str) -> Result<&'static Column, ErrorKind> {
        let name = text.to_owned();
        match best(text, self.columns().iter().map(|column| column.name)) {
            Match::One(found) => {
                let column = self.columns().iter().find(|column| column.name == found);
                column.ok_or(ErrorKind::UnknownColumn { table: self, name })
            }
            Match::Several(found) => Err(ErrorKind::AmbiguousColumn { table: self, name, found }),
            Match::None => Err(ErrorKind::UnknownColumn { table: self, name }),
        }
    }
}

enum Match {
    One(&'static str),
    Several(Vec<&'static str>),
    None,
}

/// The name that is written, else the only one that begins so. Case and dash or underscore make no difference but between
/// two that are written out (3.1 `lib/db-ctl-base.c`, `score_partial_match`).
fn best(text: &str, names: impl Iterator<Item = &'static str> + Clone) -> Match {
    let same = |a: &str, b: &str| a.bytes().map(folded).eq(b.bytes().map(folded));
    let whole = |name: &&str| same(name, text);
    if let Some(name) = names.clone().find(|name| *name == text).or_else(|| names.clone().find(whole)) {
        return Match::One(name);
    }
    let begins = |name: &&str| !text.is_empty() && name.len() > text.len() && is_beginning(name, text);
    let found: Vec<&str> = names.filter(begins).collect();
    match found.as_slice() {
        [] => Match::None,
        [one] => Match::One(one),
        _ => Match::Several(found),
    }
}

fn is_beginning(name: &str, text: &str) -> bool {
    name.bytes().zip(text.bytes()).all(|(a, b)| folded(a) == folded(b))
}

fn folded(byte: u8) -> u8 {
    if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() }
}

const TABLES: &[(&str, Option<Table>)] = &[
    ("AutoAttach", None),
    ("Bridge", Some(Table::Bridge)),
    ("CT_Timeout_Policy", None),
    ("CT_Zone", None),
    ("Controller", None),
    ("Datapath", None),
    ("Flow_Sample_Collector_Set", None),
    ("Flow_Table", None),
    ("IPFIX", None),
    ("Interface", Some(Table::Interface)),
    ("Manager", None),
    ("Mirror", None),
    ("NetFlow", None),
    ("Open_vSwitch", None),
    ("Port", Some(Table::Port)),
    ("QoS", None),
    ("Queue", None),
    ("SSL", None),
    ("sFlow", None),
];

const ANY: Atom = Atom::Integer { least: i64::MIN, most: i64::MAX };
const COUNT: Atom = Atom::Integer { least: 0, most: i64::MAX };
const VLAN: Atom = Atom::Integer { least: 0, most: 4095 };
const UP_DOWN: Atom = Atom::OneOf(&["down", "up"]);
const TEXTS: Kind = Kind::Map { value: Atom::Text };
const NUMBERS: Kind = Kind::Map { value: ANY };
const VLANS: Kind = Kind::Set { of: VLAN, least: 0, most: 4096 };

const fn one(of: Atom) -> Kind {
    Kind::Set { of, least: 1, most: 1 }
}

const fn maybe(of: Atom) -> Kind {
    Kind::Set { of, least: 0, most: 1 }
}

const fn many(of: Atom) -> Kind {
    Kind::Set { of, least: 0, most: usize::MAX }
}

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, is_mutable: true }
}

const fn fixed(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, is_mutable: false }
}

const BRIDGE: &[Column] = &[
    column("auto_attach", maybe(Atom::Uuid)),
    column("controller", many(Atom::Uuid)),
    column("datapath_id", maybe(Atom::Text)),
    column("datapath_type", one(Atom::Text)),
    column("datapath_version", one(Atom::Text)),
    column("external_ids", TEXTS),
    column("fail_mode", maybe(Atom::OneOf(&["secure", "standalone"]))),
    column("flood_vlans", VLANS),
    column("flow_tables", Kind::Map { value: Atom::Uuid }),
    column("ipfix", maybe(Atom::Uuid)),
    column("mcast_snooping_enable", one(Atom::Boolean)),
    column("mirrors", many(Atom::Uuid)),
    fixed("name", one(Atom::Text)),
    column("netflow", maybe(Atom::Uuid)),
    column("other_config", TEXTS),
    column("ports", many(Atom::Uuid)),
    column(
        "protocols",
        many(Atom::OneOf(&["OpenFlow10", "OpenFlow11", "OpenFlow12", "OpenFlow13", "OpenFlow14", "OpenFlow15"])),
    ),
    column("rstp_enable", one(Atom::Boolean)),
    column("rstp_status", TEXTS),
    column("sflow", maybe(Atom::Uuid)),
    column("status", TEXTS),
    column("stp_enable", one(Atom::Boolean)),
];

const PORT: &[Column] = &[
    column("bond_active_slave", maybe(Atom::Text)),
    column("bond_downdelay", one(ANY)),
    column("bond_fake_iface", one(Atom::Boolean)),
    column("bond_mode", maybe(Atom::OneOf(&["active-backup", "balance-slb", "balance-tcp"]))),
    column("bond_updelay", one(ANY)),
    column("cvlans", VLANS),
    column("external_ids", TEXTS),
    column("fake_bridge", one(Atom::Boolean)),
    column("interfaces", Kind::Set { of: Atom::Uuid, least: 1, most: usize::MAX }),
    column("lacp", maybe(Atom::OneOf(&["active", "off", "passive"]))),
    column("mac", maybe(Atom::Text)),
    fixed("name", one(Atom::Text)),
    column("other_config", TEXTS),
    column("protected", one(Atom::Boolean)),
    column("qos", maybe(Atom::Uuid)),
    column("rstp_statistics", NUMBERS),
    column("rstp_status", TEXTS),
    column("statistics", NUMBERS),
    column("status", TEXTS),
    column("tag", maybe(VLAN)),
    column("trunks", VLANS),
    column("vlan_mode", maybe(Atom::OneOf(&["access", "dot1q-tunnel", "native-tagged", "native-untagged", "trunk"]))),
];

const INTERFACE: &[Column] = &[
    column("admin_state", maybe(UP_DOWN)),
    column("bfd", TEXTS),
    column("bfd_status", TEXTS),
    column("cfm_fault", maybe(Atom::Boolean)),
    column("cfm_fault_status", many(Atom::Text)),
    column("cfm_flap_count", maybe(ANY)),
    column("cfm_health", maybe(Atom::Integer { least: 0, most: 100 })),
    column("cfm_mpid", maybe(ANY)),
    column("cfm_remote_mpids", many(ANY)),
    column("cfm_remote_opstate", maybe(UP_DOWN)),
    column("duplex", maybe(Atom::OneOf(&["full", "half"]))),
    column("error", maybe(Atom::Text)),
    column("external_ids", TEXTS),
    column("ifindex", maybe(Atom::Integer { least: 0, most: u32::MAX as i64 })),
    column("ingress_policing_burst", one(COUNT)),
    column("ingress_policing_kpkts_burst", one(COUNT)),
    column("ingress_policing_kpkts_rate", one(COUNT)),
    column("ingress_policing_rate", one(COUNT)),
    column("lacp_current", maybe(Atom::Boolean)),
    column("link_resets", maybe(ANY)),
    column("link_speed", maybe(ANY)),
    column("link_state", maybe(UP_DOWN)),
    column("lldp", TEXTS),
    column("mac", maybe(Atom::Text)),
    column("mac_in_use", maybe(Atom::Text)),
    column("mtu", maybe(ANY)),
    column("mtu_request", maybe(Atom::Integer { least: 1, most: i64::MAX })),
    fixed("name", one(Atom::Text)),
    column("ofport", maybe(ANY)),
    column("ofport_request", maybe(Atom::Integer { least: 1, most: 65_279 })),
    column("options", TEXTS),
    column("other_config", TEXTS),
    column("statistics", NUMBERS),
    column("status", TEXTS),
    column("type", one(Atom::Text)),
];

//! `bond/show` and `lacp/show` of Open vSwitch (3.1; ofproto/bond.c, `bond_print_details`; lib/lacp.c, `lacp_print_details`).

use super::mac;
use crate::{Bundle, Kind, Lacp, Member, Port, PortEnd, state};

/// All its bonds, by what both commands print. Their members' devices have to be asked for speeds and addresses.
pub fn openvswitch(bonds: &str, lacp: &str) -> Vec<Bundle> {
    let mut found = read_bonds(bonds);
    for (name, text) in sections(lacp) {
        if let Some(bond) = found.iter_mut().find(|bond| bond.name == name) {
            read_lacp(bond, &text);
        }
    }
    found
}

/// The parts behind lines of `---- NAME ----`.
fn sections(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        let name = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" ----"));
        match (name, sections.last_mut()) {
            (Some(name), _) => sections.push((name, Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    sections
}

fn read_bonds(text: &str) -> Vec<Bundle> {
    let bond = |(name, lines): (&str, Vec<&str>)| {
        let mut bond = Bundle { name: name.to_owned(), kind: Kind::OpenVSwitch, admin_up: true, ..Bundle::default() };
        lines.iter().for_each(|line| bond_line(&mut bond, line));
        bond.carrier = bond.members.iter().any(|member| member.up);
        bond
    };
    sections(text).into_iter().map(bond).collect()
}

fn bond_line(bond: &mut Bundle, line: &str) {
    let is_indented = line.starts_with(' ');
    let line = line.trim();
    if is_indented && matches!(line, "active member" | "active slave") {
        bond.active = bond.members.last().map(|member| member.name.clone());
        return;
    }
    let Some((key, value)) = line.split_once(':') else { return };
    let value = value.trim();
    match (key, key.split_once(' ')) {
        ("bond_mode", _) => value.clone_into(&mut bond.mode),
        ("bond-hash-basis" | "updelay" | "downdelay" | "lacp_status" | "lacp_fallback_ab", _) => {
            if (key, value) == ("lacp_status", "negotiated") || (key, value) == ("lacp_status", "configured") {
                bond.lacp = Some(Lacp { negotiated: Some(value == "negotiated"), ..Lacp::default() });
            }
            bond.options.insert(key.to_owned(), value.to_owned());
        }
        (_, Some(("member" | "slave", name))) if !is_indented => {
            let up = value == "enabled";
            let member = Member { name: name.to_owned(), up, active: up, admin_up: true, ..Member::default() };
            bond.members.push(member);
        }
        _ => {}
    }
}

fn read_lacp(bond: &mut Bundle, lines: &[&str]) {
    // The member whose lines these are; none in the head.
    let mut of: Option<usize> = None;
    for line in lines {
        let Some((key, value)) = line.trim().split_once(':') else { continue };
        let value = value.trim();
        if matches!(key, "member" | "slave") {
            let (name, status) = value.split_once(':').unwrap_or((value, ""));
            of = bond.members.iter().position(|member| member.name == name);
            if let Some(member) = of.and_then(|at| bond.members.get_mut(at)) {
                member.lacp = Some(Port { attached: status.ends_with(" attached"), ..Port::default() });
            }
            continue;
        }
        match of.and_then(|at| bond.members.get_mut(at)) {
            Some(member) => {
                if let Some(port) = member.lacp.as_mut() {
                    port_line(port, key, value);
                }
            }
            None => {
                let lacp = bond.lacp.get_or_insert_with(Lacp::default);
                match key {
                    "sys_id" => lacp.system = mac(value),
                    "sys_priority" => lacp.system_priority = value.parse().ok(),
                    "aggregation key" => lacp.actor_key = value.parse().ok(),
                    "status" => lacp.negotiated = Some(value.ends_with("negotiated")),
                    _ => {}
                }
            }
        }
    }
    let partner = bond.members.iter().filter_map(|member| member.lacp.as_ref()).filter(|port| port.attached);
    let partner = partner.filter_map(|port| port.partner.as_ref()).find(|end| !end.is_unknown()).cloned();
    let attached = bond.members.iter().filter(|member| member.lacp.as_ref().is_some_and(|port| port.attached)).count();
    if let Some(lacp) = &mut bond.lacp {
        lacp.ports = u32::try_from(attached).ok();
        lacp.partner_key = partner.as_ref().map(|end| end.key);
        lacp.partner = partner.map(|end| end.system);
    }
}

fn port_line(port: &mut Port, key: &str, value: &str) {
    let Some((whose, field)) = key.split_once(' ') else { return };
    let end = match whose {
        "actor" => &mut port.actor,
        "partner" => &mut port.partner,
        _ => return,
    };
    let end = end.get_or_insert_with(PortEnd::default);
    let number = || value.parse().unwrap_or_default();
    match field {
        "sys_id" => end.system = mac(value).unwrap_or_default(),
        "sys_priority" => end.system_priority = number(),
        "port_id" => end.port = number(),
        "port_priority" => end.port_priority = number(),
        "key" => end.key = number(),
        "state" => {
            let is_set = |name: &&str| value.split_whitespace().any(|word| word == *name);
            let bits = state::NAMES.iter().enumerate().filter(|(_, name)| is_set(name));
            end.state = bits.fold(0, |state, (bit, _)| state | 1 << bit);
        }
        _ => {}
    }
}

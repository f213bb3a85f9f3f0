//! `nicteam doctor`: what will disappoint on this host, and the cure.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

use nicteam_host::doctor::facts::{Device, Owner};
use nicteam_host::doctor::gather::{Options, gather};
use nicteam_host::doctor::{Finding, HostFacts, Weight, findings};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::say;

/// Looks, listens so long, and prints what was found.
pub(super) fn run(listen: Duration, as_json: bool) -> Result<ExitCode, Failure> {
    let facts = gather(&Options { listen }).map_err(Failure::failed)?;
    let findings = findings(&facts);
    match as_json {
        true => say::data(format_args!("{:#}\n", found(&facts, &findings)))?,
        false => say::data(say::visible(text(&facts, &findings)))?,
    }
    let disappoints = findings.iter().any(|finding| finding.weight == Weight::Disappoints);
    Ok(if disappoints { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn found(facts: &HostFacts, findings: &[Finding]) -> Value {
    let finding = |of: &Finding| {
        json!({
            "rule": of.rule,
            "about": of.about,
            "text": of.text,
            "cure": of.cure,
            "place": of.place.as_ref().map(ToString::to_string),
            "disappoints": of.weight == Weight::Disappoints,
        })
    };
    let device = |of: &Device| {
        let lldp = of.heard.lldp.as_ref().map(|lldp| {
            json!({
                "system": lldp.system_name.as_ref().unwrap_or(&lldp.chassis),
                "port": lldp.port,
                "vlan": lldp.port_vlan,
                "max_frame_bytes": lldp.max_frame_bytes,
                "aggregated": lldp.aggregation.map(|of| of.aggregated),
            })
        });
        let lacp = of.heard.lacp.map(|pdu| json!({ "system": pdu.actor.system.to_string(), "key": pdu.actor.key }));
        json!({
            "name": of.link.name,
            "driver": of.driver,
            "speed_mbps": of.speed_mbps,
            "carrier": of.link.carrier,
            "bundle": facts.bundle_of(of).map(|bundle| &bundle.name),
            "lldp": lldp,
            "lacp": lacp,
        })
    };
    json!({
        "kernel": facts.kernel.release,
        "devices": facts.devices.iter().map(device).collect::<Vec<_>>(),
        "bundles": facts.bundles.iter().map(|of| json!({ "name": of.name, "mode": of.mode, "members": of.members })).collect::<Vec<_>>(),
        "listened_s": facts.listened.as_secs_f64(),
        "findings": findings.iter().map(finding).collect::<Vec<_>>(),
        "unseen": facts.unseen,
    })
}

/// What there is, what disappoints, what is worth a word.
fn text(facts: &HostFacts, findings: &[Finding]) -> String {
    let mut out = format!("Linux {}\n", facts.kernel.release);
    for device in &facts.devices {
        let _ = writeln!(out, "{}", line(facts, device));
    }
    for bundle in &facts.bundles {
        let owner = match bundle.owner {
            Owner::Kernel => "bond of the kernel",
            Owner::Team | Owner::TeamAlone => "team",
        };
        let mode = if bundle.mode.is_empty() { String::new() } else { format!(", {}", bundle.mode) };
        let _ = writeln!(out, "{}: {owner}{mode}: {}", bundle.name, bundle.members.join(", "));
    }
    let headings = [(Weight::Disappoints, "will disappoint"), (Weight::Note, "worth knowing")];
    for (weight, heading) in headings {
        let those: Vec<&Finding> = findings.iter().filter(|finding| finding.weight == weight).collect();
        if those.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{heading}");
        for finding in those {
            let place = finding.place.as_ref().map_or_else(String::new, |place| format!(" ({place})"));
            let _ = writeln!(out, "  {}: {}{place}.", finding.about, finding.text.trim_end_matches('.'));
            for (at, line) in finding.cure.lines().enumerate() {
                let _ = writeln!(out, "    {}{line}", if at == 0 { "cure: " } else { "      " });
            }
        }
    }
    if !facts.unseen.is_empty() {
        out += "\nnot seen\n";
        facts.unseen.iter().for_each(|of| _ = writeln!(out, "  {of}"));
    }
    if facts.listened.is_zero() && facts.devices.iter().any(|device| device.link.carrier) {
        out += "\nWhat the switch says was not listened to: `--listen 35s` does (LLDP and LACP come every 30 s).\n";
    }
    if findings.is_empty() {
        out += "\nnothing here will disappoint\n";
    }
    out
}

/// `eth1: e1000e, 1000 Mbit/s full; Gi0/7 of sw1`
fn line(facts: &HostFacts, device: &Device) -> String {
    let driver = if device.driver.is_empty() { "driver unknown" } else { &device.driver };
    let duplex = match device.full_duplex {
        Some(true) => " full",
        Some(false) => " half",
        None => "",
    };
    let state = match (device.link.up, device.link.carrier, device.speed_mbps) {
        (false, ..) => "set down".to_owned(),
        (true, false, _) => "no carrier".to_owned(),
        (true, true, Some(speed)) => format!("{speed} Mbit/s{duplex}"),
        (true, true, None) => "speed unknown".to_owned(),
    };
    let heard = &device.heard;
    let lldp = heard.lldp.as_ref().map(|lldp| {
        let grouped = match lldp.aggregation.map(|of| of.aggregated) {
            Some(true) => ", in an aggregation",
            Some(false) => ", in no aggregation",
            None => "",
        };
        let frames =
            lldp.max_frame_bytes.map_or_else(String::new, |bytes| format!(", frames of at most {bytes} bytes"));
        let vlan = lldp.port_vlan.map_or_else(String::new, |vlan| format!(", VLAN {vlan}"));
        format!("{} of {}{grouped}{vlan}{frames}", lldp.port, lldp.system_name.as_ref().unwrap_or(&lldp.chassis))
    });
    let lacp = heard.lacp.map(|pdu| format!("LACP of {} key {}", pdu.actor.system, pdu.actor.key));
    let silent = || format!("in {} s nothing was heard of the port at the other end", facts.listened.as_secs_f64());
    let said = [lldp, lacp].into_iter().flatten().collect::<Vec<_>>().join("; ");
    let said = if said.is_empty() && !facts.listened.is_zero() && device.link.carrier { silent() } else { said };
    let parts = [format!("{driver}, {state}"), said];
    format!(
        "{}: {}",
        device.link.name,
        parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("; ")
    )
}

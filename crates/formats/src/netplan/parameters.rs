//! `parameters` of a bond (netplan 0.106, src/parse.c, `bond_params_handlers`).

use nicteam_diagnostics::{Problem, list, nearest};
use nicteam_drafts::Teams;
use nicteam_syntax::tree::{Entry, Node};

use super::definition::Definition;
use super::devices::Devices;
use super::value::{boolean, milliseconds};

/// How a value is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// As the kernel has it.
    Same,
    /// A time; a number alone counts milliseconds, as in the kernel.
    Milliseconds,
    /// A time; a number alone counts seconds, as in the kernel.
    Seconds,
    /// `true` or `false`, 1 or 0 in the kernel.
    Boolean,
    /// A list, commas between in the kernel.
    List,
    /// netplan's name of a device.
    Device,
}

/// netplan's name, the kernel's, and how a value is written. Of two names of one option the first is written: older versions
/// have it, too.
pub(super) const PARAMETERS: &[(&str, &str, Kind)] = &[
    ("mode", "mode", Kind::Same),
    ("lacp-rate", "lacp_rate", Kind::Same),
    ("mii-monitor-interval", "miimon", Kind::Milliseconds),
    ("min-links", "min_links", Kind::Same),
    ("transmit-hash-policy", "xmit_hash_policy", Kind::Same),
    ("ad-select", "ad_select", Kind::Same),
    ("all-slaves-active", "all_slaves_active", Kind::Boolean),
    ("all-members-active", "all_slaves_active", Kind::Boolean),
    ("arp-interval", "arp_interval", Kind::Milliseconds),
    ("arp-ip-targets", "arp_ip_target", Kind::List),
    ("arp-validate", "arp_validate", Kind::Same),
    ("arp-all-targets", "arp_all_targets", Kind::Same),
    ("up-delay", "updelay", Kind::Milliseconds),
    ("down-delay", "downdelay", Kind::Milliseconds),
    ("fail-over-mac-policy", "fail_over_mac", Kind::Same),
    ("gratuitous-arp", "num_grat_arp", Kind::Same),
    ("gratuitious-arp", "num_grat_arp", Kind::Same),
    ("packets-per-slave", "packets_per_slave", Kind::Same),
    ("packets-per-member", "packets_per_slave", Kind::Same),
    ("primary-reselect-policy", "primary_reselect", Kind::Same),
    ("resend-igmp", "resend_igmp", Kind::Same),
    ("learn-packet-interval", "lp_interval", Kind::Seconds),
    ("primary", "primary", Kind::Device),
];

/// Options of which netplan does not hand a 0 on, as if it were not there; the kernel has another value by itself.
pub(super) const DROPPED: &[&str] = &["num_grat_arp", "packets_per_slave", "resend_igmp"];

/// Reads one parameter of a bond.
///
/// # Errors
/// There is none of this name; its value is none.
pub(super) fn read(
    team: usize,
    entry: &Entry,
    definition: &Definition<'_>,
    devices: &Devices<'_>,
    teams: &mut Teams<'_>,
) -> Result<(), Problem> {
    let known = PARAMETERS.iter().find(|(name, ..)| *name == entry.key);
    let Some(&(name, option, kind)) = known else { return Err(unknown(entry)) };
    if DROPPED.contains(&option) && entry.value.scalar() == Some("0") {
        let why = format!(
            "netplan drops a 0 here, and the kernel's own `{option}` holds: write `{option} = 0` if 0 is meant"
        );
        let id = definition.id().to_owned();
        teams.left(&definition.spot_of(entry), why, Some(&id));
        return Ok(());
    }
    let value = match kind {
        Kind::Same => entry.value.text(name)?.to_owned(),
        Kind::Milliseconds => time(&entry.value, name, 1)?.to_string(),
        Kind::Seconds => (time(&entry.value, name, 1000)? / 1000).to_string(),
        Kind::Boolean => {
            let text = entry.value.text(name)?;
            let refused = || Problem::at(&entry.value.span, format!("`{text}` is no value for `{name}`"));
            u32::from(boolean(text).ok_or_else(|| refused().hint("`true` or `false`"))?).to_string()
        }
        Kind::List => {
            let texts = entry.value.elements(name)?.iter().map(|element| element.text(name));
            texts.collect::<Result<Vec<_>, _>>()?.join(",")
        }
        Kind::Device => {
            let id = entry.value.text(name)?;
            devices.device(id, definition, &entry.value, teams)?
        }
    };
    teams.set(team, option, &value, &definition.spot_at(&entry.value));
    Ok(())
}

fn time(node: &Node, name: &str, bare_ms: u64) -> Result<u64, Problem> {
    let text = node.text(name)?;
    milliseconds(text, bare_ms).ok_or_else(|| {
        let unit = if bare_ms == 1 { "milliseconds" } else { "seconds" };
        Problem::at(&node.span, format!("`{text}` is no time for `{name}`"))
            .hint(format!("a number alone counts {unit}; `100ms` and `1s` say their unit"))
    })
}

fn unknown(entry: &Entry) -> Problem {
    let names = || PARAMETERS.iter().map(|(name, ..)| *name);
    let problem = Problem::at(&entry.key_span, format!("`{}` is no parameter of a bond", entry.key));
    match nearest(&entry.key, names()) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint(format!("they are {}", list(names()))),
    }
}

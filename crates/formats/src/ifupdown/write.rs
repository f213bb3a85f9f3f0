//! Teams -> `/etc/network/interfaces.d/NAME`.

use nicteam_drafts::Written;
use nicteam_drafts::kernel::{self, Bond};
use nicteam_drafts::{Address, Network, Route, Team};
use nicteam_syntax::Source;

/// What the hooks of ifenslave 2.13 write into sysfs.
const OPTIONS: [&str; 19] = [
    "mode",
    "xmit_hash_policy",
    "packets_per_slave",
    "miimon",
    "updelay",
    "downdelay",
    "primary",
    "primary_reselect",
    "num_grat_arp",
    "num_unsol_na",
    "arp_interval",
    "arp_ip_target",
    "arp_validate",
    "fail_over_mac",
    "active_slave",
    "queue_id",
    "tlb_dynamic_lb",
    "lacp_rate",
    "ad_select",
];

pub(super) fn write(network: &Network) -> Written {
    let mut written = Written::default();
    for team in network.lowest_first() {
        if let Some(bond) = kernel::bond(team, &mut written.left) {
            let text = write_team(team, &bond, &mut written.left);
            written.files.push(Source::new(format!("/etc/network/interfaces.d/{}", team.name), text));
        }
    }
    written
}

fn write_team(team: &Team, bond: &Bond, left: &mut Vec<String>) -> String {
    let name = &team.name;
    let mut addresses = team.addresses.iter();
    let mut out = format!("auto {name}\n");
    let head = |address: Option<&Address>| match address {
        Some(address) if address.address.is_ipv4() => format!("iface {name} inet static\n    address {address}\n"),
        Some(address) => format!("iface {name} inet6 static\n    address {address}\n"),
        None => format!("iface {name} inet manual\n"),
    };
    out.push_str(&head(addresses.next()));
    let mut line = |key: &str, value: &str| out.push_str(&format!("    {key} {value}\n"));
    line("bond-slaves", &team.members.join(" "));
    for (option, value) in &bond.options {
        match (OPTIONS.contains(option), *option) {
            (false, _) => left.push(format!("{name}: the hooks of ifenslave have no option for `{option} = {value}`")),
            (true, "active_slave") if value.is_empty() => line("bond-active-slave", "none"),
            (true, "arp_ip_target" | "queue_id") => line(&key(option), &value.replace(',', " ")),
            (true, _) => line(&key(option), value),
        }
    }
    if let Some(mac) = team.mac {
        line("hwaddress", &mac.to_string());
    }
    if let Some(mtu) = team.mtu {
        line("mtu", &mtu.to_string());
    }
    if let Some(accept_ra) = team.accept_ra {
        left.push(format!("{name}: `accept_ra {accept_ra}` belongs into its stanza `inet6 static`, if it has one"));
    }
    for route in &team.routes {
        line("up", &format!("{} add {route} dev {name}", ip(route)));
        line("down", &format!("{} del {route} dev {name}", ip(route)));
    }
    addresses.for_each(|address| out.push_str(&format!("\n{}", head(Some(address)))));
    out
}

/// `default` alone would be IPv4's.
fn ip(route: &Route) -> &'static str {
    if route.to.address.is_ipv4() { "ip route" } else { "ip -6 route" }
}

fn key(option: &str) -> String {
    format!("bond-{}", option.replace('_', "-"))
}

//! `lacp/show-stats` (`lacp_print_stats`).

use std::fmt::Write;

use super::{LacpView, by_name};

/// What the ports of a team counted.
pub fn lacp_show_stats(lacp: &LacpView<'_>) -> String {
    let mut text = format!("---- {} statistics ----\n", lacp.name);
    for member in by_name(&lacp.members, |member| member.name) {
        let port = member.port;
        let received = port.lacpdus_received + port.malformed_received + port.markers_received;
        // A String takes everything.
        let _ = writeln!(text, "\nmember: {}:", member.name);
        for (name, count) in [
            ("TX PDUs", port.lacpdus_sent),
            ("RX PDUs", received),
            ("RX Bad PDUs", port.malformed_received),
            ("RX Marker Request PDUs", port.markers_received),
            ("Link Expired", port.expired),
            ("Link Defaulted", port.defaulted),
            ("Carrier Status Changed", port.carrier_changes),
        ] {
            let _ = writeln!(text, "  {name}: {count}");
        }
    }
    text
}

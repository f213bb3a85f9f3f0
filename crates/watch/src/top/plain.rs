//! The view as a plain table, for scripts and for those without a terminal.

use std::fmt::Write;

use super::rows::View;
use super::units::{fit, short};

/// A line for each bundle and each member; numbers are bit/s.
pub fn table(view: &View) -> String {
    let name = |width: usize, name: &str| format!("{:<width$}", fit(name, 64));
    let names = view.bundles.iter().flat_map(|bundle| {
        std::iter::once(bundle.name.chars().count())
            .chain(bundle.members.iter().map(|member| member.name.chars().count() + 2))
    });
    let width = names.max().unwrap_or(0).clamp(4, 64);
    let mut text = format!("{}  STATE           SENT  RECEIVED  SHARE    LOST  WHAT\n", name(width, "NAME"));
    for bundle in &view.bundles {
        let state = match bundle.carrier {
            true => format!("{}/{} up", bundle.up, bundle.members.len()),
            false => "NO CARRIER".to_owned(),
        };
        let words = [&bundle.kind, &bundle.mode, &bundle.hash_policy, &bundle.lacp];
        let what = words.into_iter().filter(|word| !word.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ");
        let (sent, received) = (short(bundle.rate.tx_bps), short(bundle.rate.rx_bps));
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{}  {state:<12}  {sent:>6}  {received:>8}  {:<7}  {:>4}  {}",
            name(width, &bundle.name),
            "",
            "",
            fit(&what, 200)
        );
        for member in &bundle.members {
            let share = format!("{:.0}/{:.0}%", member.tx_share * 100.0, member.rx_share * 100.0);
            let _ = writeln!(
                text,
                "{}  {:<12}  {:>6}  {:>8}  {share:<7}  {:>4}  {}",
                name(width, &format!("  {}", member.name)),
                member.state,
                short(member.rate.tx_bps),
                short(member.rate.rx_bps),
                short(member.lost as f64),
                fit(&member.lacp, 60)
            );
        }
        for line in bundle.peers.iter().cloned().chain(bundle.problems.iter().map(|problem| format!("! {problem}"))) {
            let _ = writeln!(text, "  {}", fit(&line, 200));
        }
    }
    // Without spaces at the end of a line.
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

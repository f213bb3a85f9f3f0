//! `nicteam doctor path`: which packets pass, by direction and largest size.

use std::net::{IpAddr, ToSocketAddrs};
use std::process::ExitCode;

use nicteam_pathmtu::{Options, Report, examine};
use nix::errno::Errno;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::{say, value};

/// Find out which packets pass the way to another host and back, with nothing of nicteam's at the other end.
///
/// Echo requests that must not be cut, of growing size, find the largest that goes there and whose answer comes back. The
/// same request cut into small pieces by this host tests the way back alone, a question with a short answer the way there
/// alone. So a wrong MTU is found by direction and size, and a device that drops what is too large without a word is
/// named as what it is. It needs CAP_NET_RAW, and changes nothing.
///
/// Exit code 1: a path does not carry what it is to carry.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Hosts, by name or address; of multipath storage the address of each portal. Each address is a path of its own.
    #[arg(required = true, value_name = "HOST")]
    hosts: Vec<String>,
    /// The largest IP packet that the path is to carry, bytes. The MTU of this host's device by default.
    #[arg(long, value_name = "BYTES", value_parser = value::mtu)]
    mtu: Option<u32>,
    /// The address to ask from; what the routes say by default.
    #[arg(long, value_name = "ADDRESS")]
    from: Option<IpAddr>,
    /// The device to ask by; what the routes say by default.
    #[arg(long, value_name = "DEVICE", value_parser = value::device)]
    device: Option<String>,
    /// Print what was found as JSON.
    #[arg(long)]
    json: bool,
}

/// A path, and what was found out of it.
type Found = (IpAddr, Result<Report, nicteam_sys::Error>);

/// Carries the command out.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let addresses = addresses(args)?;
    let one = |to| {
        let (from, device) = (args.from, args.device.as_deref());
        (to, examine(&Options { to, from, device, wanted: args.mtu }))
    };
    // Each waits for answers most of the time.
    let found: Vec<Found> = std::thread::scope(|scope| {
        let threads: Vec<_> = addresses.iter().map(|to| scope.spawn(|| one(*to))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    if let Some((_, Err(error))) = found.iter().find(|(_, result)| is_privilege(result)) {
        return Err(Failure::missing(error)
            .hint(Some("it needs CAP_NET_RAW: run it with sudo, or `setcap cap_net_raw+ep` this program")));
    }
    if let [(_, Err(error))] = found.as_slice() {
        return Err(Failure::failed(error).hint(cure(error)));
    }
    if args.json {
        say::data(format_args!("{:#}\n", json!({ "paths": found.iter().map(as_json).collect::<Vec<_>>() })))?;
    } else {
        say::data(text(&found))?;
    }
    let is_good = |(_, result): &Found| result.as_ref().is_ok_and(Report::is_good);
    Ok(if found.iter().all(is_good) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Every address of every host, each once.
fn addresses(args: &Args) -> Result<Vec<IpAddr>, Failure> {
    let mut addresses = Vec::new();
    for host in &args.hosts {
        let known = (host.as_str(), 0)
            .to_socket_addrs()
            .map_err(|error| Failure::wrong_input(format!("no address of `{host}`: {error}")))?;
        let fits = |address: &IpAddr| args.from.is_none_or(|from| from.is_ipv4() == address.is_ipv4());
        let known: Vec<IpAddr> = known.map(|address| address.ip()).filter(fits).collect();
        if let (true, Some(from)) = (known.is_empty(), args.from) {
            return Err(Failure::wrong_input(format!("`{host}` has no address of the same version of IP as {from}")));
        }
        addresses.extend(known);
    }
    let mut seen = Vec::new();
    addresses.retain(|address| {
        !seen.contains(address) && {
            seen.push(*address);
            true
        }
    });
    Ok(addresses)
}

fn is_privilege(result: &Result<Report, nicteam_sys::Error>) -> bool {
    result.as_ref().is_err_and(|error| error.errno() == Some(Errno::EPERM as i32))
}

/// What to do where nothing could be asked.
fn cure(error: &nicteam_sys::Error) -> Option<&'static str> {
    match Errno::from_raw(error.errno()?) {
        Errno::ENETUNREACH | Errno::EHOSTUNREACH => {
            Some("there is no route: `ip route get HOST` shows what the system knows")
        }
        Errno::EADDRNOTAVAIL => Some("no device of this host has the address of --from: `ip address` shows them"),
        Errno::ENODEV => Some("`ip link` shows the devices"),
        Errno::EINVAL => Some("a link-local address needs --device"),
        _ => None,
    }
}

/// A table, then what is wrong and the cure.
fn text(found: &[Found]) -> String {
    let mut rows = vec![["to", "from", "device, MTU", "passes there", "passes back", "round trip"].map(str::to_owned)];
    rows.extend(found.iter().map(row));
    let mut text = say::visible(table(&rows));
    for (to, result) in found {
        let (findings, cures) = match result {
            Ok(report) => (report.findings(), report.cures()),
            Err(error) => (vec![format!("{error}.")], cure(error).map(str::to_owned).into_iter().collect()),
        };
        if findings.is_empty() {
            continue;
        }
        text += &format!("\n{to}\n");
        findings.iter().for_each(|finding| text += &format!("  {finding}\n"));
        cures.iter().for_each(|cure| text += &format!("  cure: {cure}\n"));
    }
    text
}

fn row((to, result): &Found) -> [String; 6] {
    let unknown = || "-".to_owned();
    let Ok(report) = result else { return [to.to_string(), unknown(), unknown(), unknown(), unknown(), unknown()] };
    let device = report.device.as_deref().unwrap_or("?");
    let way = |of: fn(&nicteam_pathmtu::Verdict) -> String| {
        report.verdict.as_ref().map_or_else(|| "no answer".to_owned(), of)
    };
    [
        to.to_string(),
        report.from.to_string(),
        format!("{device}, {}", report.own_mtu),
        way(|verdict| verdict.there.to_string()),
        way(|verdict| verdict.back.to_string()),
        report.round_trip.map_or_else(unknown, |time| format!("{:.2} ms", time.as_secs_f64() * 1e3)),
    ]
}

/// Columns as wide as they have to be.
fn table(rows: &[[String; 6]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let line = |row: &[String; 6]| {
        let cells: Vec<String> =
            row.iter().enumerate().map(|(column, cell)| format!("{cell:<width$}", width = width(column))).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn as_json((to, result): &Found) -> Value {
    match result {
        Ok(report) => json!({
            "to": to,
            "from": report.from,
            "device": report.device,
            "own_mtu": report.own_mtu,
            "wanted": report.wanted,
            "round_trip_ms": report.round_trip.map(|time| time.as_secs_f64() * 1e3),
            "there": report.verdict.map(|verdict| verdict.there),
            "back": report.verdict.map(|verdict| verdict.back),
            "other_mtu": report.verdict.and_then(|verdict| verdict.other_mtu),
            "good": report.is_good(),
            "findings": report.findings(),
            "cures": report.cures(),
        }),
        Err(error) => json!({ "to": to, "good": false, "findings": [error.to_string()], "cures": cure(error) }),
    }
}

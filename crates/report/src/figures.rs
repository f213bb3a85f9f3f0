//! Figures of storage runs in one line each, as the published tests print them.

use nicteam_findings::units::{bytes, down_and_up, mebibytes, megabytes, percent, share};
use nicteam_findings::{faults as fault_words, needs, shares};
use nicteam_record::{Histogram, Operations, Probes, Run, TrafficTest, Transfer};

use crate::faults;

/// A line for each task that is no flow of bytes and has such figures.
pub(crate) fn lines(run: &Run) -> Vec<String> {
    let several = run.operations.len() + run.transfers.len() > 1;
    let named = |workload: &str, line: String| if several { format!("{workload}: {line}") } else { line };
    let tests = run.traffic_tests.iter().map(|test| of_traffic_test(run, test));
    let done = run.operations.iter().filter(|task| task.completed > 0 || task.errors > 0);
    let (asked, other): (Vec<&Operations>, Vec<&Operations>) = done.partition(|task| are_requests(task));
    let requests = by_workload(&asked);
    let requests = requests.iter().map(|tasks| of_requests(tasks));
    let operations = requests.chain(other.into_iter().map(|task| named(&task.workload, of_operations(task))));
    let transfers = run.transfers.iter().map(|task| named(&task.workload, of_transfer(task)));
    let echoes = run.probes.iter().filter_map(of_echo);
    let whole = needs(run).into_iter().chain(shares(run)).chain(stood_still(run));
    tests.chain(whole).chain(operations).chain(transfers).chain(echoes).chain(faults::lines(run)).collect()
}

/// Rate of the bytes of operations, bit/s; none if they were not counted.
pub(crate) fn operations_bps(task: &Operations) -> Option<f64> {
    let counted = task.read_bytes.saturating_add(task.written_bytes);
    let each = share(counted as f64, task.completed as f64);
    (counted > 0).then_some(each * task.rate_per_s * 8.0)
}

/// How long nothing came back where the lab did something to the network.
fn stood_still(run: &Run) -> Vec<String> {
    let done = fault_words(run);
    let longest = run.probes.iter().filter(|task| !done.is_empty() && task.sent > 0);
    longest
        .map(|task| format!("{}: nothing came back for {:.0} ms", done.join("; "), task.longest_silence_ms))
        .collect()
}

/// `main 427.3 = 312.5 down + 114.8 up Mbit/s (published 303.8 = 173.0 down + 130.8 up); 32 connections, 15.0 s`.
fn of_traffic_test(run: &Run, test: &TrafficTest) -> String {
    let published = run.published_rates.iter().find(|rates| rates.host == test.from);
    let published = published.map_or_else(String::new, |rates| {
        format!(" (published {})", down_and_up(rates.download_bps as f64, rates.upload_bps as f64))
    });
    let by = if test.by == "softether" { ", by SoftEther" } else { "" };
    format!(
        "{} {} Mbit/s{published}; {} connections, {:.1} s{by}",
        test.from,
        down_and_up(test.download_bps(), test.upload_bps()),
        test.connections,
        test.span_ms / 1e3
    )
}

/// Whether they were sent at regular intervals: then no number of them was always outstanding.
fn are_requests(task: &Operations) -> bool {
    task.outstanding.is_none() && !task.specification.is_empty()
}

/// Requests of one workload with the same specification belong together, in the order of the record.
fn by_workload<'r>(requests: &[&'r Operations]) -> Vec<Vec<&'r Operations>> {
    let mut groups: Vec<Vec<&Operations>> = Vec::new();
    for task in requests {
        let alike =
            |of: &&mut Vec<&Operations>| of[0].workload == task.workload && of[0].specification == task.specification;
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(task),
            None => groups.push(vec![task]),
        }
    }
    groups
}

/// Small requests of a workload:
/// `requests: 10.0 a second, p50 0.42, p99 6.10, ... ms (answers of 64 to 65536 bytes, one each 100 ms)`.
fn of_requests(tasks: &[&Operations]) -> String {
    let mut latency = Histogram::default();
    tasks.iter().for_each(|task| latency.merge(&task.latency));
    let errors = tasks.iter().fold(0u64, |sum, task| sum.saturating_add(task.errors));
    let failed = if errors > 0 { format!("; {errors} failed") } else { String::new() };
    let stalls = tasks.iter().filter_map(|task| Some(task.stall?.took_ms));
    let longest_ms = stalls.fold(0.0, f64::max);
    let stall = if longest_ms >= SHORT_MS { format!("; longest wait {longest_ms:.0} ms") } else { String::new() };
    let connections = if tasks.len() > 1 { format!("{} connections, ", tasks.len()) } else { String::new() };
    format!(
        "{}: {:.1} a second, {} ({connections}{}){stall}{failed}",
        tasks[0].workload,
        tasks.iter().map(|task| task.rate_per_s).sum::<f64>(),
        percentiles(&latency),
        tasks[0].specification
    )
}

/// IOmeter's three columns, what they were, and the percentiles:
/// `4.53 ms / 14120 IO/s / 441.2 MiB/s (32 KiB, 100 % read, sequential, 64 outstanding); p50 4.42, ... ms`.
fn of_operations(task: &Operations) -> String {
    let rate = operations_bps(task).map_or_else(String::new, |bps| format!(" / {}", mebibytes(bps)));
    let what = if task.specification.is_empty() { String::new() } else { format!(" ({})", task.specification) };
    let failed = if task.errors > 0 { format!("; {} failed", task.errors) } else { String::new() };
    format!(
        "{} ms / {:.0} IO/s{rate}{what}; {}{failed}",
        mean_ms(&task.latency),
        task.rate_per_s,
        percentiles(&task.latency)
    )
}

/// `copy RAM → disk 118.2 MB/s (112.7 MiB/s), 256 MiB in blocks of 128 KiB; the program saw 395.0 MB/s; as sent`.
fn of_transfer(task: &Transfer) -> String {
    let bps = task.wire_bps();
    let rate = bps.map_or_else(|| "did not end".to_owned(), |bps| format!("{} ({})", megabytes(bps), mebibytes(bps)));
    let what = match (task.by.is_empty(), task.by == task.from, task.overwrite) {
        (true, ..) => format!("{} → {}", task.from, task.to),
        (_, true, true) => "overwrite RAM → disk".to_owned(),
        (_, true, false) => "copy RAM → disk".to_owned(),
        (_, false, _) => "copy disk → RAM".to_owned(),
    };
    let block = task.block_bytes.map_or_else(String::new, |block| format!(" in blocks of {}", bytes(block)));
    let program = task.program_bps().filter(|_| !task.cache.is_empty());
    let program = program.map_or_else(String::new, |bps| format!("; the program saw {}", megabytes(bps)));
    let stall = task.stall.filter(|stall| stall.took_ms >= SHORT_MS);
    let stall = stall.map_or_else(String::new, |stall| format!("; longest stall {:.0} ms", stall.took_ms));
    let error = task.error.as_ref().filter(|_| task.wrong_at.is_none());
    let error = error.map_or_else(String::new, |error| format!("; {error}"));
    format!("{what} {rate}, {}{block}{program}{stall}; {}{error}", bytes(task.bytes), content(task))
}

/// `ping -s 65000 10.10.250.2: 200 packets transmitted, 200 received, 0% packet loss, time 1990ms; rtt ... ms`.
fn of_echo(task: &Probes) -> Option<String> {
    let echo = task.echo.as_ref()?;
    let words = echo.words(task.sent);
    let (_, statistics) = words.rsplit_once(" ---\n")?;
    let statistics: Vec<&str> = statistics.lines().filter(|line| !line.is_empty()).collect();
    let (size, dst) = (echo.payload_bytes, &echo.dst);
    Some(format!("ping -s {size} {dst}: {}", statistics.join("; ")))
}

/// Stalls shorter than this are not named, milliseconds.
const SHORT_MS: f64 = 10.0;

/// Whether what arrived is what was sent, in words.
pub(crate) fn content(task: &Transfer) -> String {
    match (task.is_intact(), task.wrong_at) {
        (Some(true), _) => "as sent".to_owned(),
        (Some(false), Some(at)) => format!("changed on the way, first at byte {at}"),
        (Some(false), None) => "changed on the way".to_owned(),
        (None, _) if task.verified_bytes > 0 => {
            format!(
                "{} of it as sent, the rest not compared",
                percent(share(task.verified_bytes as f64, task.bytes as f64))
            )
        }
        (None, _) => "not compared".to_owned(),
    }
}

/// `p50 4.42, p99 6.10, p99.9 8.01, max 12.20 ms`.
fn percentiles(times: &Histogram) -> String {
    let at = |part| times.quantile_us(part).map_or_else(|| "–".to_owned(), milliseconds);
    let max = if times.count > 0 { milliseconds(times.max_us) } else { "–".to_owned() };
    format!("p50 {}, p99 {}, p99.9 {}, max {max} ms", at(0.5), at(0.99), at(0.999))
}

/// Mean time in milliseconds.
pub(crate) fn mean_ms(times: &Histogram) -> String {
    times.mean_us().map_or_else(|| "–".to_owned(), |us| format!("{:.2}", us / 1e3))
}

/// A time in milliseconds with two decimals.
pub(crate) fn milliseconds(us: u64) -> String {
    format!("{:.2}", us as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use nicteam_record::{Echo, RoundTrip};

    use super::*;

    #[test]
    fn a_transfer_says_what_the_program_saw_beside_what_the_wire_carried() {
        let task = Transfer {
            by: "a".into(),
            from: "a".into(),
            to: "b".into(),
            bytes: 128 << 20,
            took_ms: Some(1000.0),
            program_ms: Some(400.0),
            cache: "write-back".into(),
            block_bytes: Some(128 << 10),
            verified_bytes: 128 << 20,
            ..Transfer::default()
        };
        assert_eq!(
            of_transfer(&task),
            "copy RAM → disk 134.2 MB/s (128.0 MiB/s), 128 MiB in blocks of 128 KiB; the program saw 335.5 MB/s; as sent"
        );
        let read = Transfer { by: "b".into(), cache: String::new(), took_ms: None, wrong_at: Some(7), ..task };
        assert_eq!(
            of_transfer(&read),
            "copy disk → RAM did not end, 128 MiB in blocks of 128 KiB; changed on the way, first at byte 7"
        );
        let failed = Transfer { wrong_at: None, verified_bytes: 0, error: Some("no path is up".into()), ..read };
        assert!(
            of_transfer(&failed).ends_with("did not end, 128 MiB in blocks of 128 KiB; not compared; no path is up")
        );
    }

    #[test]
    fn pings_are_said_in_pings_words() {
        let echo = Echo {
            dst: "10.0.0.2".into(),
            payload_bytes: 65_000,
            received: 3,
            took_ms: 20.0,
            round_trip: Some(RoundTrip { min_us: 1310, avg_us: 1320, max_us: 1340, mdev_us: 10 }),
            ..Echo::default()
        };
        let said = of_echo(&Probes { sent: 4, echo: Some(echo), ..Probes::default() }).unwrap();
        assert!(
            said.starts_with("ping -s 65000 10.0.0.2: 4 packets transmitted, 3 received, 25% packet loss"),
            "{said}"
        );
        assert!(said.ends_with("; rtt min/avg/max/mdev = 1.310/1.320/1.340/0.010 ms"), "{said}");
    }

    #[test]
    fn requests_of_a_workload_are_one_line() {
        let task = |workload: &str, us: u64| {
            let mut latency = Histogram::default();
            latency.add(us);
            let specification = "answers of 64 bytes, one each 10 ms".to_owned();
            let workload = workload.to_owned();
            Operations { workload, completed: 1, rate_per_s: 100.0, latency, specification, ..Operations::default() }
        };
        let operations = [task("small", 1000), task("other", 1000), task("small", 3000)];
        let groups = by_workload(&operations.iter().collect::<Vec<_>>());
        let said: Vec<String> = groups.iter().map(|tasks| of_requests(tasks)).collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("small: 200.0 a second, p50 1.0"), "{said:?}");
        assert!(said[0].ends_with("max 3.00 ms (2 connections, answers of 64 bytes, one each 10 ms)"), "{said:?}");
        assert!(said[1].starts_with("other: 100.0 a second"), "{said:?}");
    }

    #[test]
    fn operations_are_said_in_iometers_columns() {
        let mut latency = Histogram::default();
        (0..100).for_each(|_| latency.add(4530));
        let task = Operations {
            completed: 100,
            rate_per_s: 14_120.0,
            latency,
            read_bytes: 100 * 32_768,
            specification: "32 KiB, 100 % read, sequential, 64 outstanding".into(),
            outstanding: Some(64),
            ..Operations::default()
        };
        assert_eq!(
            of_operations(&task),
            "4.53 ms / 14120 IO/s / 441.2 MiB/s (32 KiB, 100 % read, sequential, 64 outstanding); p50 4.53, p99 4.53, p99.9 4.53, \
             max 4.53 ms"
        );
        assert_eq!(operations_bps(&Operations::default()), None);
    }
}

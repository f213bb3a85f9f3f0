//! Storage runs: the rules about disks, and what the table and the page show of them.

use crate::common::storage::{as_copy, one_session, reads, scale};
use crate::common::{TestBundle, record};
use nicteam_record::{Event, EventKind, HostCpu, Impaired, Impairments, ModelledDisks, Run, Stall, Variant};
use nicteam_report::{Side, Style, explain, findings, html, table};

fn said(run: &Run) -> (Side, String, String) {
    let explanation = explain(run);
    let causes: Vec<String> = findings(run).into_iter().map(|finding| finding.cause).collect();
    (explanation.side, causes.join(", "), explanation.sentence)
}

const FULL: [f64; 4] = [0.98; 4];

#[test]
fn turns_longer_than_what_is_outstanding_leave_one_path_at_work() {
    let (side, cause, sentence) = said(&reads(1000, [0.26, 0.25, 0.27, 0.26]));
    assert_eq!((side, cause.as_str()), (Side::Receiving, "path-turns"));
    assert_eq!(
        sentence,
        "Receiving side: round robin of a gives a path 1000 requests in a row (policy=rr,iops=1000); 64 are outstanding, so one of \
         4 paths works at a time: their links were 0.26, 0.25, 0.27 and 0.26 full. Cure: iops=1."
    );
    // Every request by another path is no such thing, nor are turns that leave every path at work.
    assert_ne!(said(&reads(1, [0.26; 4])).1, "path-turns");
    assert_ne!(said(&reads(1000, [0.8; 4])).1, "path-turns");
}

#[test]
fn full_paths_were_the_limit() {
    let (side, cause, sentence) = said(&reads(1, FULL));
    assert_eq!((side, cause.as_str()), (Side::Nowhere, "full"));
    assert_eq!(sentence, "Nothing held it back: all four links of b carried 0.98 of what they can.");
}

#[test]
fn paths_that_are_as_good_as_full_together_are_no_uneven_ones() {
    let mut run = reads(1, [0.98, 0.8, 0.98, 0.98]);
    run.disks[0].policy = "best".into();
    (run.limit_bps, run.of_limit) = (run.delivered_bps / 0.97, 0.97);
    let (side, cause, sentence) = said(&run);
    assert_eq!((side, cause.as_str()), (Side::Nowhere, "full"), "{sentence}");
    run.of_limit = 0.94;
    assert_eq!(said(&run).1, "uneven");
}

/// Round robin over four paths of which the last takes longer.
fn with_a_slow_path(loads: [f64; 4]) -> Run {
    let mut run = reads(1, loads);
    for path in &mut run.disks[0].paths {
        (path.ios, path.latency_us) = (5000, Some(if path.path == 3 { 20_100.0 } else { 2_100.0 }));
    }
    run
}

#[test]
fn a_slow_path_holds_round_robin_back() {
    let mut run = with_a_slow_path([0.1, 0.1, 0.1, 0.98]);
    run.topology.links.iter_mut().filter(|link| link.a.device == "eth3").for_each(|link| link.rate_bps /= 10);
    run.members.iter_mut().filter(|member| member.member.ends_with('3')).for_each(|member| {
        (member.tx_bps, member.rx_bps) = (member.tx_bps / 10.0, member.rx_bps / 10.0);
    });
    let (side, cause, sentence) = said(&run);
    assert_eq!((side, cause.as_str()), (Side::Receiving, "slow-path"));
    assert_eq!(
        sentence,
        "Receiving side: round robin of a sends as many requests by each of 4 paths. By eth3 (10 Mbit/s) a request takes 20 ms, by another \
         2.1 ms, so all wait for it: the links were 0.10, 0.10, 0.10 and 0.98 full. Cure: a policy that measures the paths \
         (best, service-time)."
    );
}

#[test]
fn a_longer_path_is_named_by_its_delay_and_other_policies_are_not_blamed() {
    let mut run = with_a_slow_path([0.5; 4]);
    let line = Impairments {
        name: None,
        delay_ms: 2.0,
        jitter_ms: 0.0,
        jitter_distribution: "uniform".into(),
        jitter_reorders: false,
        loss: 0.0,
        gemodel: None,
        duplicate: 0.0,
        corrupt: 0.0,
        reorder: 0.0,
        reorder_gap: 1,
        seed: 1,
    };
    run.topology.links.iter_mut().filter(|link| link.a.device == "eth3").for_each(|link| {
        link.impaired = Some(Impaired { a_to_b: line.clone(), b_to_a: line.clone() });
    });
    let sentence = said(&run).2;
    assert!(sentence.contains("By eth3 (2 ms longer by declaration) a request takes 20 ms"), "{sentence}");
    run.disks[0].policy = "best".into();
    assert_ne!(said(&run).1, "slow-path");
    run.disks[0].policy = "round-robin".into();
    run.disks[0].paths[3].ios = 500;
    assert_ne!(said(&run).1, "slow-path", "paths that did not get as many requests did not wait for each other");
}

#[test]
fn one_session_is_one_connection_on_one_link() {
    let mut run = one_session("balance-rr");
    let (side, cause, sentence) = said(&run);
    assert_eq!((side, cause.as_str()), (Side::Receiving, "one-session"));
    assert_eq!(
        sentence,
        "Receiving side: one iSCSI session is one TCP connection, and sw spreads by src-dst-mac, so it used link 3 of 4 towards a. \
         Cure: a session a link (multipath over several subnets), or mode stripe at both ends."
    );
    run.targets[0].kind = "nfs".into();
    assert!(said(&run).2.contains("one NFS mount is one TCP connection"));
    // A copy of a few seconds leaves its link a little less than full.
    let mut short = one_session("balance-rr");
    scale(&mut short, 0.9);
    assert_eq!(said(&short).1, "one-session");
    let plain = said(&one_session("multipath")).2;
    assert!(plain.contains("and each link of b has an address of its own, so it used link 1 of 4"), "{plain}");
}

#[test]
fn what_the_program_saw_is_not_what_the_wire_carried() {
    let mut run = one_session("multipath");
    as_copy(&mut run, 8000.0, 2000.0);
    let (side, cause, sentence) = said(&run);
    assert_eq!((side, cause.as_str()), (Side::Sending, "write-back"));
    assert!(
        sentence.starts_with(
            "The program saw 46.1 MB/s because the initiator's write-back cache took the writes; the wire carried 11.5 MB/s. \
             Sending side: one iSCSI session is one TCP connection"
        ),
        "{sentence}"
    );
    let facts = explain(&run).facts;
    assert!(facts.iter().any(|fact| fact.contains("so the two directions look unequal")), "{facts:?}");
    // Without a cache both are one.
    as_copy(&mut run, 8000.0, 8000.0);
    assert_eq!(said(&run).1, "one-session");
}

#[test]
fn modelled_disks_that_take_no_more_are_the_limit() {
    let mut run = reads(1, FULL);
    scale(&mut run, 0.02);
    let task = &mut run.operations[0];
    (task.rate_per_s, task.completed) = (182.0, 1456);
    task.disks = Some(ModelledDisks { hit: 0.0, latency_us: 8000, ios_per_s: Some(182.0), misses: 1456 });
    let (side, cause, sentence) = said(&run);
    assert_eq!((side, cause.as_str()), (Side::Nowhere, "disks"));
    assert_eq!(
        sentence,
        "The disks were the limit, as modelled: they take 182 requests a second. 100 % of 182 requests a second went to them \
         (182). No link was more than 0.02 full, so a faster network does not help."
    );
    run.operations[0].disks = Some(ModelledDisks { hit: 0.0, latency_us: 350_000, ios_per_s: None, misses: 1456 });
    assert!(said(&run).2.contains("they take 350 ms for a request, and 64 are outstanding"), "{}", said(&run).2);
    // Disks that could have taken ten times as many did not hold it back.
    run.operations[0].disks = Some(ModelledDisks { hit: 0.0, latency_us: 0, ios_per_s: Some(2000.0), misses: 1456 });
    assert_ne!(said(&run).1, "disks");
}

#[test]
fn a_full_direction_holds_the_other_to_its_share() {
    let mut run = reads(1, FULL);
    let writes = run.connections.clone().into_iter().map(|mut connection| {
        std::mem::swap(&mut connection.from, &mut connection.to);
        std::mem::swap(&mut connection.src, &mut connection.dst);
        connection.index += 4;
        connection.delivered_bps *= 0.5;
        connection
    });
    let writes: Vec<_> = writes.collect();
    run.connections.extend(writes);
    run.disks[0].paths.iter_mut().for_each(|path| path.connections.push(path.path + 4));
    run.operations[0].written_bytes = run.operations[0].read_bytes / 2;
    let (_, cause, sentence) = said(&run);
    assert_eq!(cause, "read-share, full");
    assert!(
        sentence.contains(
            "67 % of the bytes were reads, as asked: reads filled the links of b, and writes come in their share."
        ),
        "{sentence}"
    );
}

#[test]
fn short_pdus_are_named_where_no_link_was_full() {
    let mut run = reads(1, [0.5; 4]);
    as_copy(&mut run, 8000.0, 8000.0);
    run.disks[0]
        .paths
        .iter_mut()
        .filter_map(|path| path.negotiated.as_mut())
        .for_each(|of| of.max_recv_data_bytes = 8192);
    let (side, cause, sentence) = said(&run);
    assert_eq!((side, cause.as_str()), (Side::Receiving, "segments"));
    assert!(sentence.contains("a write of 128 KiB goes in 16 PDUs, each handled by itself."), "{sentence}");
    let facts = explain(&run).facts;
    assert!(facts.iter().any(|fact| fact.starts_with("tgt takes 8 KiB in a PDU at most")), "{facts:?}");
    run.disks[0]
        .paths
        .iter_mut()
        .filter_map(|path| path.negotiated.as_mut())
        .for_each(|of| of.max_recv_data_bytes = 262_144);
    assert_ne!(said(&run).1, "segments");
}

#[test]
fn too_few_outstanding_requests_are_named_last() {
    let mut run = reads(1, [0.5; 4]);
    run.operations[0].outstanding = Some(2);
    let (_, cause, sentence) = said(&run);
    assert_eq!(cause, "closed-loop");
    assert!(sentence.contains("2 requests were outstanding, and each took 4.5 ms"), "{sentence}");
    run.cpu.busy = 0.97;
    assert_eq!(said(&run).1, "machine");
}

#[test]
fn a_target_whose_thread_is_busy_is_named() {
    let mut run = reads(1, [0.5; 4]);
    let seconds = run.measured_ms / 1e3;
    run.targets[0].program = "tgtd".into();
    run.cpu.seconds = vec![HostCpu { host: "b".into(), seconds: 1.1 * seconds }];
    let (side, cause, sentence) = said(&run);
    assert_eq!((side, cause.as_str()), (Side::Nowhere, "target"));
    let wanted = "The target was the limit: tgtd serves all connections by one thread, and its host b used 1.10 processors. \
                  No link was more than 0.50 full.";
    assert!(sentence.starts_with(wanted), "{sentence}");
    run.cpu.seconds[0].seconds = 0.9 * seconds;
    assert_ne!(said(&run).1, "target");
    run.cpu.seconds[0].seconds = 1.1 * seconds;
    run.targets[0].program = "ganesha.nfsd".into();
    assert_ne!(said(&run).1, "target");
}

#[test]
fn a_dead_path_is_named() {
    let mut run = reads(1, [0.98, 0.98, 0.98, 0.0]);
    let path = &mut run.disks[0].paths[3];
    (path.state, path.failures) = ("dead".into(), 1);
    let (side, cause, sentence) = said(&run);
    assert_eq!((side, cause.as_str()), (Side::Receiving, "dead-path"));
    assert_eq!(
        sentence,
        "Receiving side: 1 of a's 4 paths to the disk was dead (eth3 to 10.0.3.2:3260), and the others carried what they could."
    );
    let facts = explain(&run).facts;
    let found = "The path by eth3 to 10.0.3.2:3260 was found dead 1 time and logged in 1 time; at the end it was dead.";
    assert!(facts.iter().any(|fact| fact == found), "{facts:?}");
}

#[test]
fn a_wrong_mtu_at_one_end_of_one_path_is_named() {
    let mut run = reads(1, [0.98, 0.0, 0.98, 0.98]);
    let link = run.topology.links.iter_mut().find(|link| link.a.node == "b" && link.a.device == "eth1").unwrap();
    (link.mtu, link.mtus) = (1400, Some([1500, 1400]));
    let (_, cause, sentence) = said(&run);
    assert_eq!(cause, "mtu");
    assert!(sentence.contains("since b-1 of sw has an MTU of 1400"), "{sentence}");
    // Paths by other links are not held by it.
    let mut other = reads(1, [0.0, 0.98, 0.98, 0.98]);
    other.topology = run.topology.clone();
    assert_ne!(said(&other).1, "mtu");
}

#[test]
fn faults_under_a_copy_are_named_with_what_they_cost() {
    let mut run = reads(1, [0.98, 0.5, 0.98, 0.98]);
    as_copy(&mut run, 8000.0, 8000.0);
    run.transfers[0].stall = Some(Stall { from_ms: 2000.0, took_ms: 11.4 });
    let event = |text: &str| Event {
        t_ms: 2000.0,
        node: "a".into(),
        kind: EventKind::Fault,
        team: None,
        member: None,
        text: text.into(),
    };
    run.events = vec![event("cable 1 is pulled"), event("cable 2 is pulled"), event("both are plugged in")];
    let (side, cause, sentence) = said(&run);
    assert_eq!((side, cause.as_str()), (Side::Links, "faults"));
    assert_eq!(
        sentence,
        "Links: cable 1 is pulled, cable 2 is pulled and 1 more; nothing was answered for 11 ms at most, and every byte arrived as \
         it was sent."
    );
    run.transfers[0].verified_bytes = 0;
    run.transfers[0].error = Some("no path for 30 s".into());
    assert!(said(&run).2.ends_with("for 11 ms at most; it ended early: no path for 30 s."), "{}", said(&run).2);
}

#[test]
fn full_links_are_not_why_a_copy_ended_early() {
    let mut run = reads(1, FULL);
    as_copy(&mut run, 8000.0, 8000.0);
    run.events = vec![Event {
        t_ms: 2000.0,
        node: "b".into(),
        kind: EventKind::Fault,
        team: None,
        member: None,
        text: "the server is killed".into(),
    }];
    assert_eq!(said(&run).1, "full");
    (run.transfers[0].took_ms, run.transfers[0].verified_bytes) = (None, 0);
    run.transfers[0].error = Some("no path is up".into());
    let (_, cause, sentence) = said(&run);
    assert_eq!(cause, "faults");
    assert!(sentence.ends_with("the server is killed; it ended early: no path is up."), "{sentence}");
}

#[test]
fn findings_of_storage_are_said_from_the_record_alone() {
    let mut run = reads(1000, [0.26; 4]);
    let sentence = said(&run).2;
    run.findings = findings(&run);
    run.disks.clear();
    assert_eq!(explain(&run).sentence, sentence);
    let mut run = one_session("multipath");
    as_copy(&mut run, 8000.0, 2000.0);
    let sentence = said(&run).2;
    run.findings = serde_json::from_str(&serde_json::to_string(&findings(&run)).unwrap()).unwrap();
    run.disks.clear();
    assert_eq!(explain(&run).sentence, sentence);
}

#[test]
fn the_table_has_iometers_columns() {
    let mut run = reads(1, FULL);
    run.published = Some("4.69 ms / 12625 IO/s / 394.5 MiB/s".into());
    let text = table(&record(vec![run]), &Style { width: 140, ..Style::default() });
    let line = "  4.50 ms / 1408 IO/s / 44.0 MiB/s (32 KiB, 100 % read, sequential, 64 outstanding); p50 4.50, p99 4.50, p99.9 4.50, max 4.50 ms";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("4.69 ms / 12625 IO/s / 394.5 MiB/s"), "{text}");
}

#[test]
fn each_engines_column_has_its_figures_below() {
    let by = |engine: &str| {
        let mut run = reads(1, FULL);
        run.variant = Some(Variant { of: run.name.clone(), engine: engine.into() });
        run.name = format!("{}.{engine}", run.name);
        run
    };
    let text = table(&record(vec![by("nicteam"), by("kernel")]), &Style { width: 140, ..Style::default() });
    let lines: Vec<&str> = text.lines().collect();
    for engine in ["nicteam", "kernel"] {
        let at = lines.iter().position(|line| line.trim() == engine).unwrap_or_else(|| panic!("{text}"));
        assert!(lines[at + 1].starts_with("  4.50 ms / 1408 IO/s"), "{text}");
    }
}

#[test]
fn the_page_draws_paths_shares_and_stalls() {
    let mut run = reads(1, [0.98, 0.98, 0.98, 0.1]);
    run.operations[0].stall = Some(Stall { from_ms: 2000.0, took_ms: 80.0 });
    run.disks[0].esxi = "policy=iops,iops=1".into();
    let bundle = TestBundle::write("paths", record(vec![run]));
    let page = html(&bundle.bundle).unwrap();
    for text in [
        "<h3>Traffic of every path</h3>",
        "<i class=\"m3\" style=\"width:3.29%\" title=\"eth3: 3.3 %\">",
        "<title>nothing was answered for 80 ms</title>",
        "Red: nothing was answered.",
        "<h3>Paths of a to disk (w)</h3>",
        "<code>policy=iops,iops=1</code>",
        "MaxRecvDataSegmentLength 256 KiB at the target",
        "disk: tgt 1.0.85 on b (iscsi, 1 GiB in memory)",
        "4 links, an address each",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

use std::io::Write;
use std::process::{Command, Stdio};

use nicteam_bundles::Kind;
use nicteam_watch::metrics::registry::{METRICS, table};
use nicteam_watch::metrics::{Exporter, Format, collect, encode, textfile};

use crate::common::{bundle, of, snapshot};

fn text(format: Format) -> String {
    encode(&collect(&snapshot(5), &Exporter { refused: 3, beside_node_exporter: false }), format)
}

/// A value by its name and labels, as they are written.
fn value(text: &str, series: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')).map(str::to_owned)
}

#[test]
fn bundles_of_all_kinds_have_their_values() {
    let text = text(Format::Text);
    for (series, expected) in [
        ("node_bonding_slaves{master=\"bond0\"}", "2"),
        ("node_bonding_active{master=\"team0\"}", "2"),
        (
            "nicteam_bundle_info{bundle=\"team0\",kind=\"nicteam\",device=\"team0\",mode=\"stripe\",hash_policy=\"\"}",
            "1",
        ),
        ("nicteam_bundle_members_up{bundle=\"ovsbond\",kind=\"openvswitch\"}", "1"),
        ("nicteam_bundle_problems{bundle=\"team0\",kind=\"nicteam\"}", "1"),
        ("nicteam_bundle_lacp_negotiated{bundle=\"bond0\",kind=\"kernel\"}", "1"),
        (
            "nicteam_bundle_lacp_partner_info{bundle=\"bond0\",kind=\"kernel\",partner=\"02:00:00:00:00:99\",actor_key=\"9\",partner_key=\"7\"}",
            "1",
        ),
        ("nicteam_member_speed_bytes{bundle=\"team0\",kind=\"nicteam\",member=\"team0m0\"}", "125000000"),
        ("nicteam_member_link_failures_total{bundle=\"team0\",kind=\"nicteam\",member=\"team0m2\"}", "2"),
        ("nicteam_member_transmit_bytes_total{bundle=\"bond0\",kind=\"kernel\",member=\"bond0m1\"}", "125000000"),
        ("nicteam_member_receive_drops_total{bundle=\"bond0\",kind=\"kernel\",member=\"bond0m1\"}", "5"),
        (
            "nicteam_member_lacp_state{bundle=\"bond0\",kind=\"kernel\",member=\"bond0m0\",end=\"partner\",flag=\"timeout\"}",
            "0",
        ),
        (
            "nicteam_member_lacp_state{bundle=\"bond0\",kind=\"kernel\",member=\"bond0m0\",end=\"partner\",flag=\"distributing\"}",
            "1",
        ),
        ("nicteam_member_lacp_churned{bundle=\"bond0\",kind=\"kernel\",member=\"bond0m0\",end=\"partner\"}", "1"),
        ("nicteam_team_uptime_seconds{bundle=\"team0\"}", "61.5"),
        ("nicteam_team_plans_total{bundle=\"team0\"}", "17"),
        ("nicteam_team_failovers_total{bundle=\"team0\"}", "2"),
        ("nicteam_team_paths_working{bundle=\"team0\",peer=\"02:00:00:00:07:00\"}", "1"),
        ("nicteam_team_hellos_refused_total{bundle=\"team0\",reason=\"wrong key\"}", "6"),
        ("nicteam_team_repairs_total{bundle=\"team0\",device=\"team0m0\",what=\"tc filter\"}", "3"),
        ("nicteam_team_control_frames_total{bundle=\"team0\",frames=\"hellos\"}", "100"),
        ("nicteam_exporter_requests_refused_total", "3"),
        ("nicteam_exporter_left_out", "0"),
    ] {
        assert_eq!(value(&text, series).as_deref(), Some(expected), "{series}\n{text}");
    }
}

#[test]
fn the_two_formats_say_the_same_and_the_kernels_bonds_are_not_said_beside_node_exporter() {
    let (open, old) = (text(Format::OpenMetrics), text(Format::Text));
    let values = |text: &str| text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(values(&open), values(&old));
    assert!(open.ends_with("\n# EOF\n") && open.contains("# TYPE nicteam_team_plans counter\n"));
    assert!(open.contains("# UNIT nicteam_member_speed_bytes bytes\n"));
    assert!(!old.contains("EOF") && old.contains("# TYPE nicteam_team_plans_total counter\n"));
    let beside = encode(&collect(&snapshot(5), &Exporter { refused: 0, beside_node_exporter: true }), Format::Text);
    assert_eq!(value(&beside, "node_bonding_slaves{master=\"bond0\"}"), None);
    assert_eq!(value(&beside, "node_bonding_slaves{master=\"team0\"}").as_deref(), Some("3"));
}

#[test]
fn names_that_are_hostile_are_escaped_cut_and_never_said_twice() {
    let mut strange = bundle("a", Kind::OpenVSwitch, "balance-slb", 2);
    strange.name = "q\"b\\n\nc\u{1b}[31m\u{9b}\u{0}d".to_owned();
    let mut long = bundle("b", Kind::OpenVSwitch, "balance-slb", 2);
    long.name = "é".repeat(10_000);
    let twice = bundle("c", Kind::Kernel, "balance-rr", 2);
    let snapshot = of(vec![strange, long, twice.clone(), twice], 1);
    let text = encode(&collect(&snapshot, &Exporter::default()), Format::Text);
    let escaped = "bundle=\"q\\\"b\\\\n\\nc\\\\u{1b}[31m\\\\u{9b}\\\\u{0}d\"";
    assert!(text.contains(escaped), "{text}");
    assert!(text.chars().all(|character| character == '\n' || !character.is_control()));
    assert!(text.lines().all(|line| line.len() < 1000));
    let mut series: Vec<&str> =
        text.lines().filter(|line| !line.starts_with('#')).map(|line| line.rsplit_once(' ').unwrap().0).collect();
    let count = series.len();
    series.sort_unstable();
    series.dedup();
    assert_eq!(series.len(), count, "a value twice");
    let left_out: f64 = value(&text, "nicteam_exporter_left_out").unwrap().parse().unwrap();
    assert!(left_out > 10.0, "what was left out is counted: {left_out}");
    check(&text);
}

#[test]
fn names_are_what_prometheus_wants_and_promtool_finds_nothing_wrong() {
    let mut names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), METRICS.len());
    for metric in METRICS {
        assert!(metric.help.ends_with('.') && !metric.name.ends_with("_total"), "{}", metric.name);
    }
    check(&text(Format::Text));
}

/// By `promtool check metrics`, which reads the older format.
fn check(text: &str) {
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = promtool.spawn() else { return eprintln!("SKIPPED: no promtool") };
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success() && said.is_empty(), "{}\n{text}", String::from_utf8_lossy(&said));
}

#[test]
fn the_page_has_the_table_of_the_registry() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    let text = std::fs::read_to_string(page).unwrap();
    let (begin, end) = ("<!-- the table of crates/watch/src/metrics/registry.rs -->\n", "<!-- end of the table -->");
    let (head, rest) = text.split_once(begin).expect("the mark");
    let (found, tail) = rest.split_once(end).expect("the mark at the end");
    let expected = table();
    if found != expected && std::env::var_os("NICTEAM_BLESS").is_some() {
        return std::fs::write(page, [head, begin, &expected, end, tail].concat()).unwrap();
    }
    assert_eq!(found, expected, "NICTEAM_BLESS=1 writes the table anew");
}

#[test]
fn a_file_is_there_whole_or_not_at_all() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("textfile-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    textfile::write(&folder, "one\n").unwrap();
    textfile::write(&folder, "two\n").unwrap();
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [textfile::NAME]);
    assert_eq!(std::fs::read_to_string(folder.join(textfile::NAME)).unwrap(), "two\n");
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(textfile::write(&folder, "three\n").is_err());
}

//! SoftEther's test of throughput by our generator and by the real one, and small requests beside it; runs repeated, and compared.

use std::process::Command;

use nicteam_record::{Record, TrafficTest};
use nicteam_testnet::may_make_networks;

use crate::common::experiment::run;

/// Two hosts and a cable; what follows are workloads and runs.
const HOSTS: &str = "title = \"Tests of throughput\"\n[defaults]\nrate = \"50mbit\"\nduration = \"2s\"\nwarmup = \"500ms\"\n\
    [hosts]\na = {}\nb = {}\n[[links]]\nbetween = [\"a\", \"b\"]\n";

fn full(name: &str, by: &str) -> String {
    format!(
        "[workloads.{name}]\nkind = \"traffic-test\"\nby = \"{by}\"\nfrom = \"a\"\nto = \"b\"\nconnections = 8\n\
         direction = \"both\"\n[[runs]]\nname = \"{name}\"\nworkloads = \"{name}\"\n"
    )
}

/// Compares rates: nothing computes beside it.
mod quiet {
    use super::*;

    #[test]
    fn ours_and_softethers_say_the_same_of_a_link() {
        if !may_make_networks() {
            return;
        }
        let has_softether = Command::new("vpncmd").arg("/?").output().is_ok();
        if !has_softether {
            eprintln!("SKIPPED: no SoftEther: vpncmd (Debian softether-vpncmd) is not installed");
            return;
        }
        let (_, told, record) =
            run("traffic-test", &(HOSTS.to_owned() + &full("ours", "nicteam") + &full("theirs", "softether")));
        let record = record.unwrap_or_else(|| panic!("{told}"));
        let [ours, theirs] = [0, 1].map(|place| {
            let run = &record.runs[place];
            let [test] = run.traffic_tests.as_slice() else { panic!("{told}\n{:?}", run.programs) };
            assert_eq!((test.connections, test.ethernet_frames), (8, true));
            // Each of its connections was seen, four a way.
            let ways = |from: &str| run.connections.iter().filter(|it| it.from == from).count();
            assert_eq!((ways("a"), ways("b")), (4, 4), "{}: {:?}", run.name, run.connections);
            test.clone()
        });
        assert_eq!((ours.by.as_str(), theirs.by.as_str()), ("nicteam", "softether"));
        // What the wire carries in Ethernet frames of full size, less acknowledgements and the time to begin.
        let ways: [fn(&TrafficTest) -> f64; 2] = [TrafficTest::download_bps, TrafficTest::upload_bps];
        for of in ways {
            let share = of(&theirs) / of(&ours);
            assert!((0.85..=1.1).contains(&share), "{theirs:?} is not {ours:?}");
            assert!((42e6..=50e6).contains(&of(&ours)), "{ours:?}");
        }
        assert!(theirs.span_ms >= 1900.0, "it covers warm-up and measurement: {theirs:?}");
    }
}

#[test]
fn requests_are_timed_and_a_slow_host_is_the_limit() {
    if !may_make_networks() {
        return;
    }
    let file = HOSTS
        .replace("b = {}", "b = { processor = \"20mbit\", receive_window = \"64kib\", receive_queues = 1 }")
        + "[workloads.load]\nkind = \"tcp\"\nfrom = \"a\"\nto = \"b\"\nconnections = 4\n[workloads.ask]\nkind = \"requests\"\n\
           from = \"a\"\nto = \"b\"\ninterval = \"20ms\"\n[[runs]]\nname = \"r\"\nworkloads = [\"load\", \"ask\"]\n[[runs]]\nname = \"alone\"\nworkloads = \"load\"\n";
    let (_, told, record) = run("requests", &file);
    let record = record.unwrap_or_else(|| panic!("{told}"));
    let run = &record.runs[0];
    // The requests have their part of the processor.
    assert!((10e6..=21e6).contains(&run.delivered_bps), "{}", run.delivered_bps);
    let [asked] = run.operations.as_slice() else { panic!("{:?}", run.operations) };
    assert!(asked.completed >= 10 && asked.errors == 0 && asked.latency.count == asked.completed, "{asked:?}");
    assert!(asked.stall.is_some_and(|stall| stall.took_ms >= asked.latency.max_us as f64 / 1e3 - 0.1), "{asked:?}");
    assert_eq!(run.topology.hosts[1].processor_bps, Some(20_000_000));
    let alone = &record.runs[1].findings[0];
    assert_eq!(
        (alone.cause.as_str(), alone.node.as_deref()),
        ("slow-host", Some("b")),
        "{}",
        record.runs[1].delivered_bps
    );
    let wrong = file.replace("kind = \"tcp\"", "kind = \"udp\"\nrate = \"5mbit\"");
    let (_, told, record) = crate::common::experiment::run("slow-udp", &wrong);
    assert!(record.is_none() && told.contains("would not be slowed down by `processor` of host `b`"), "{told}");
}

#[test]
fn runs_are_repeated_in_turn_and_compared() {
    if !may_make_networks() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("nicteam-repeat-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let workload = "[workloads.w]\nkind = \"tcp\"\nfrom = \"a\"\nto = \"b\"\n";
    let runs = "[[runs]]\nname = \"one\"\nworkloads = \"w\"\n[[runs]]\nname = \"two\"\nworkloads = \"w\"\ncompared_with = \"one\"\n";
    std::fs::write(folder.join("x.toml"), HOSTS.to_owned() + workload + runs).unwrap();
    let nicteam = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_nicteam")).args(arguments).current_dir(&folder).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, table, told) =
        nicteam(&["lab", "run", "./x.toml", "--repeat", "2", "--duration", "200ms", "--output", "r"]);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(table.matches("2 times: median ").count(), 2, "{table}");
    let record: Record = serde_json::from_str(&std::fs::read_to_string(folder.join("r/record.json")).unwrap()).unwrap();
    let names: Vec<&str> = record.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["two@1", "one@1", "one@2", "two@2"]);
    assert_eq!(
        (record.experiment.repeat, &record.experiment.order),
        (2, &names.iter().map(|name| (*name).to_owned()).collect())
    );
    let page = std::fs::read_to_string(folder.join("r/report.html")).unwrap();
    assert!(
        page.contains("Before and after") && page.matches("<section class=\"run\"").count() != 4,
        "a run is shown once"
    );
    let (code, text, told) = nicteam(&["lab", "compare", "r#one", "r#two", "--page", "c.html"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(text.contains("No difference shown.") && text.contains("`--repeat 6` can"), "{text}");
    assert!(std::fs::read_to_string(folder.join("c.html")).unwrap().contains("r#two"));
    let (_, json, _) = nicteam(&["lab", "compare", "r#one", "r#two", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json[0]["figures"][0]["figure"], &json[0]["figures"][0]["verdict"]),
        (&"payload".into(), &"too-few".into())
    );
    for (sides, said) in [
        (["r#one", "r#three"], "r has no run `three`"),
        (["r", "r"], "a bundle is compared with itself"),
        (["r", "nowhere"], "no folder with a record.json"),
    ] {
        let (code, _, told) = nicteam(&["lab", "compare", sides[0], sides[1]]);
        assert!(code == Some(2) && told.contains(said), "{sides:?}: {told}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

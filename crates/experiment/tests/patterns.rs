//! Patterns of workloads: who connects to whom, and what the links carry of it.

use std::collections::BTreeSet;

use nicteam_experiment::{Experiment, Overrides, limit, parse, show};
use proptest::prelude::*;

/// Payload of a link of 100 Mbit/s: 1448 of 1538 bytes.
const PAYLOAD_BPS: f64 = 94_148_240.0;
/// What is left of it beside one acknowledgement for every two segments of the other way.
const BESIDE_ACKS: f64 = 1538.0 / (1538.0 + 90.0 / 2.0);

/// Hosts `h0`, `h1`, ... with so many links each to one switch, and a workload of these lines.
fn experiment(links: &[usize], workload: &str) -> Experiment {
    let hosts: String = (0..links.len()).map(|n| format!("h{n} = {{ team = \"t\" }}\n")).collect();
    let cables = links.iter().enumerate();
    let cables: Vec<_> =
        cables.map(|(n, count)| format!("{{ between = [\"h{n}\", \"sw\"], count = {count} }}")).collect();
    let text = format!(
        "title = \"Patterns\"\nlinks = [{}]\n[teams]\nt = {{ mode = \"balance-rr\" }}\n[switches]\nsw = {{}}\n[hosts]\n{hosts}\
         [workloads.w]\nkind = \"tcp\"\n{workload}\n[[runs]]\nname = \"r\"\nworkloads = \"w\"\n",
        cables.join(", ")
    );
    parse("patterns", "patterns.toml", &text, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn names(hosts: impl IntoIterator<Item = usize>) -> String {
    let names: Vec<_> = hosts.into_iter().map(|n| format!("\"h{n}\"")).collect();
    format!("[{}]", names.join(", "))
}

/// The pairs by number, after what holds of every pattern: each pair once, one connection each, nobody to itself.
fn pairs(experiment: &Experiment) -> Vec<(usize, usize)> {
    let workload = &experiment.runs[0].workloads[0];
    let number = |name: &str| name[1..].parse::<usize>().unwrap();
    let pairs: Vec<_> = workload.pairs.iter().map(|(from, to)| (number(from), number(to))).collect();
    assert!(pairs.iter().all(|(from, to)| from != to), "{pairs:?}");
    assert_eq!(pairs.iter().collect::<BTreeSet<_>>().len(), pairs.len(), "{pairs:?}");
    assert_eq!(workload.connections as usize, pairs.len());
    pairs
}

#[track_caller]
fn assert_limit(experiment: &Experiment, links: f64) {
    let found = limit(&experiment.runs[0]).bps / PAYLOAD_BPS;
    assert!((found - links).abs() < 1e-4, "{found} links' worth is not {links}");
}

fn sum(links: &[usize]) -> f64 {
    links.iter().sum::<usize>() as f64
}

/// Links of so many hosts.
fn hosts(least: usize, most: usize) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1_usize..4, least..=most)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn all_to_all_is_the_default(links in hosts(2, 9), share in 0.0..1.0) {
        let from = 1 + ((links.len() - 1) as f64 * share) as usize;
        let lists = format!("from = {}\nto = {}", names(0..from), names(from..links.len()));
        let found = experiment(&links, &lists);
        prop_assert_eq!(pairs(&found).len(), from * (links.len() - from));
        assert_limit(&found, sum(&links[..from]).min(sum(&links[from..])));
        let named = experiment(&links, &format!("{lists}\npattern = \"all-to-all\""));
        prop_assert_eq!(&named.runs, &found.runs);
    }

    #[test]
    fn all_to_all_among_themselves(count in 2_usize..9, each in 1_usize..4) {
        let links = vec![each; count];
        let all = names(0..count);
        let found = experiment(&links, &format!("from = {all}\nto = {all}\npattern = \"all-to-all\""));
        prop_assert_eq!(pairs(&found).len(), count * (count - 1));
        assert_limit(&found, sum(&links) * BESIDE_ACKS);
    }

    #[test]
    fn pairwise_is_one_to_one(links in hosts(1, 6), others in hosts(6, 6)) {
        let count = links.len();
        let all = [&links[..], &others[..count]].concat();
        let lists = format!("from = {}\nto = {}\npattern = \"pairwise\"", names(0..count), names(count..2 * count));
        let found = experiment(&all, &lists);
        prop_assert_eq!(pairs(&found), (0..count).map(|n| (n, n + count)).collect::<Vec<_>>());
        assert_limit(&found, (0..count).map(|n| all[n].min(all[n + count]) as f64).sum());
    }

    #[test]
    fn pairwise_permutes_one_list(count in 2_usize..9, shift in 1_usize..8, each in 1_usize..4) {
        prop_assume!(!shift.is_multiple_of(count));
        let to = names((0..count).map(|n| (n + shift) % count));
        let found = experiment(&vec![each; count], &format!("from = {}\nto = {to}\npattern = \"pairwise\"", names(0..count)));
        prop_assert_eq!(pairs(&found), (0..count).map(|n| (n, (n + shift) % count)).collect::<Vec<_>>());
        assert_limit(&found, (count * each) as f64 * BESIDE_ACKS);
    }

    #[test]
    fn a_ring_is_closed(links in hosts(2, 9)) {
        let count = links.len();
        let found = experiment(&links, &format!("from = {}\npattern = \"ring\"", names(0..count)));
        let next = |n: usize| (n + 1) % count;
        prop_assert_eq!(pairs(&found), (0..count).map(|n| (n, next(n))).collect::<Vec<_>>());
        // Each host sends and receives.
        assert_limit(&found, (0..count).map(|n| links[n].min(links[next(n)]) as f64).sum::<f64>() * BESIDE_ACKS);
    }

    #[test]
    fn an_incast_has_one_receiver(links in hosts(2, 9)) {
        let last = links.len() - 1;
        let found = experiment(&links, &format!("from = {}\nto = \"h{last}\"\npattern = \"incast\"", names(0..last)));
        prop_assert_eq!(pairs(&found), (0..last).map(|n| (n, last)).collect::<Vec<_>>());
        assert_limit(&found, sum(&links[..last]).min(links[last] as f64));
    }
}

#[test]
fn pairs_are_shown_where_not_each_connects_to_each() {
    let traffic = |workload: &str| {
        let shown = show(&experiment(&[1; 4], workload));
        shown.lines().find_map(|line| line.trim().strip_prefix("traffic    ")).unwrap().to_owned()
    };
    let four = "from = [\"h0\", \"h1\"]\nto = [\"h2\", \"h3\"]";
    assert_eq!(traffic(four), "4 TCP connections, cubic: h0, h1 -> h2, h3");
    assert_eq!(traffic(&format!("{four}\npattern = \"pairwise\"")), "2 TCP connections, cubic: h0 -> h2, h1 -> h3");
    assert_eq!(
        traffic("from = [\"h0\", \"h1\", \"h2\"]\npattern = \"ring\""),
        "3 TCP connections, cubic: h0 -> h1, h1 -> h2, h2 -> h0"
    );
    let all = "[\"h0\", \"h1\", \"h2\"]";
    assert_eq!(
        traffic(&format!("from = {all}\nto = {all}\npattern = \"all-to-all\"")),
        "6 TCP connections, cubic: h0, h1, h2 -> h1, h2, h0"
    );
}

/// What shares its host's links is as in every workload: assigned in turn, and only as many as the file says.
#[test]
fn connections_are_assigned_to_the_pairs_in_turn() {
    let ring = experiment(&[1; 3], "from = [\"h0\", \"h1\", \"h2\"]\npattern = \"ring\"\nconnections = 4");
    let assigned: Vec<_> = ring.runs[0].workloads[0].assigned().map(|(from, to, _)| format!("{from}{to}")).collect();
    assert_eq!(assigned, ["h0h1", "h1h2", "h2h0", "h0h1"]);
}

/// 256 hosts, of which the first chooses a subnet that is large enough, and one switch.
#[test]
fn two_hundred_and_fifty_six_hosts_are_a_file() {
    let all = names(0..256);
    let hosts: String = (1..256).map(|n| format!("h{n} = {{ team = \"t\" }}\n")).collect();
    let text = format!(
        "title = \"Many\"\nlinks = [{{ between = [{all}, \"sw\"], count = 2 }}]\n[teams]\nt = {{ mode = \"balance-rr\" }}\n\
         [switches]\nsw = {{}}\n[hosts]\nh0 = {{ team = \"t\", address = \"10.20.0.1/16\" }}\n{hosts}\
         [workloads.w]\nkind = \"tcp\"\nfrom = {all}\npattern = \"ring\"\n[[runs]]\nname = \"r\"\nworkloads = \"w\"\n"
    );
    let found = parse("many", "many.toml", &text, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(pairs(&found).len(), 256);
    assert_limit(&found, 512.0 * BESIDE_ACKS);
}

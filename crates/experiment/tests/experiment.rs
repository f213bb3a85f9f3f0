//! Experiment files that are right: what the rules make of small files.

use std::sync::Arc;
use std::time::Duration;

use nicteam_experiment::{self as experiment, Direction, Experiment, FindError, Overrides, Run, Task, Tcp, Way};
use nicteam_team::{HashPolicy, Mode};

/// The least that makes a file whole around `[hosts]` and `[[links]]`.
pub(crate) const TRAFFIC: &str = r#"
[workloads.w]
kind = "tcp"
from = "a"
to = "b"
[[runs]]
name = "r"
workloads = "w"
"#;

pub(crate) fn parse_with(text: &str, overrides: &Overrides) -> Experiment {
    experiment::parse("test", "test.toml", text, overrides).unwrap_or_else(|errors| panic!("{errors}"))
}

pub(crate) fn parse(body: &str) -> Experiment {
    parse_with(&format!("title = 'test'\n{body}{TRAFFIC}"), &Overrides::default())
}

pub(crate) fn builtin(name: &str) -> Experiment {
    let source = experiment::find(name).unwrap();
    experiment::parse(&source.name, &source.path, &source.text, &Overrides::default())
        .unwrap_or_else(|errors| panic!("{errors}"))
}

pub(crate) fn run<'e>(experiment: &'e Experiment, name: &str) -> &'e Run {
    experiment.runs.iter().find(|run| run.name == name).unwrap()
}

#[test]
fn the_smallest_experiment_is_two_bare_hosts() {
    let two = builtin("two-hosts");
    let run = &two.runs[0];
    assert_eq!((run.topology.hosts.len(), run.topology.cables.len(), run.topology.teams.len()), (2, 1, 0));
    let [left, right] = run.topology.hosts.as_slice() else { panic!() };
    assert_eq!((left.device.as_str(), left.address.to_string().as_str(), left.prefix), ("eth0", "10.0.0.1", 24));
    assert_eq!(right.address.to_string(), "10.0.0.2");
    assert_eq!(
        (left.mac.to_string().as_str(), right.mac.to_string().as_str()),
        ("02:00:00:00:00:01", "02:00:00:00:00:02")
    );
    let workload = &run.workloads[0];
    assert_eq!((workload.connections, workload.direction), (1, Direction::Send));
    let cubic: Arc<dyn Task> = Arc::new(Tcp { congestion: "cubic".to_owned(), mptcp: false });
    assert_eq!(&*workload.task, &*cubic);
    assert_eq!(workload.pairs, [("left".to_owned(), "right".to_owned())]);
}

#[test]
fn hosts_of_multipath_tcp_have_a_subnet_a_link() {
    let compared = builtin("stripe-compared");
    let topology = &run(&compared, "one-mptcp").topology;
    let host = |name: &str| topology.hosts.iter().find(|host| host.name == name).unwrap();
    let further: Vec<String> =
        host("mp-right").further.iter().map(|further| format!("{} {}", further.device, further.address)).collect();
    assert_eq!(host("mp-right").address.to_string(), "10.0.0.4");
    assert_eq!(further, ["eth1 10.0.1.4", "eth2 10.0.2.4", "eth3 10.0.3.4"]);
    assert!(host("left").further.is_empty());
}

#[test]
fn multipath_tcp_that_the_machine_lacks_is_refused_where_it_is_asked_for() {
    let text = "title = 'x'\n[hosts]\na = {}\nb = {}\n[[links]]\nbetween = ['a', 'b']\ncount = 2\n\
                [workloads.w]\nkind = 'tcp'\nfrom = 'a'\nto = 'b'\nmptcp = true\n\
                [[runs]]\nname = 'r'\nworkloads = 'w'\n";
    let experiment = parse_with(text, &Overrides::default());
    assert!(experiment::check_mptcp(&experiment, || true).is_ok());
    let [entry] = experiment::check_mptcp(&experiment, || false).unwrap_err().entries().try_into().unwrap();
    assert_eq!((entry.line, entry.column), (Some(12), Some(9)));
    assert_eq!(entry.message, "no multipath TCP on this machine");
    let plain = text.replace("mptcp = true\n", "").replace("count = 2", "");
    let plain = parse_with(&plain, &Overrides::default());
    assert!(experiment::check_mptcp(&plain, || false).is_ok());
}

#[test]
fn active_backup_links_stay_plain_ports_and_a_run_changes_a_team() {
    let modes = builtin("switch-teams");
    let groups = |name| run(&modes, name).topology.teams.iter().filter(|team| team.node == "sw").count();
    assert_eq!(groups("active-backup"), 0);
    assert_eq!(groups("balance-xor-ports"), 2);
    let team = &run(&modes, "balance-xor-ports").topology.teams[0];
    assert_eq!((team.config.mode, team.config.xmit_hash_policy), (Mode::BalanceXor, HashPolicy::Layer34));
}

#[test]
fn a_switchs_group_follows_the_lacp_of_open_vswitchs_modes() {
    let group = |options: &str, switch: &str| {
        let text = format!(
            "[hosts]\na = {{ team = 't' }}\nb = {{}}\n[teams.t]\n{options}\n[switches]\ns = {{ spread = 'layer2'{switch} }}\n\
             [[links]]\nbetween = ['a', 's']\ncount = 2\n[[links]]\nbetween = ['b', 's']\n"
        );
        let topology = parse(&text).runs[0].topology.clone();
        topology.teams.into_iter().find(|team| team.node == "s").map(|team| (team.config.mode, team.config.lacp.active))
    };
    let (by_lacp, fixed) = (Some((Mode::Ad, true)), Some((Mode::BalanceXor, true)));
    assert_eq!(group("mode = 'ovs-active-backup'", ""), None);
    assert_eq!(group("mode = 'ovs-balance-slb'", ""), None);
    assert_eq!(group("mode = 'ovs-balance-slb'\nlacp = 'active'", ""), by_lacp);
    assert_eq!(group("mode = 'ovs-balance-tcp'\nlacp = 'passive'", ""), by_lacp);
    assert_eq!(group("mode = 'ovs-balance-tcp'\nlacp = 'active'", ", lacp = 'off'"), fixed);
    assert_eq!(group("mode = 'ovs-balance-tcp'", ""), fixed);
    // In Open vSwitch's own words.
    assert_eq!(
        group("mode = 'balance-slb'\nlacp = 'active'\n\"lacp-time\" = 'fast'\nbond-hash-basis = 7", ""),
        by_lacp
    );
}

#[test]
fn defaults_steer_clear_of_what_was_given() {
    let experiment = parse(
        "[hosts]\nb = { mac = '02:00:00:00:00:02' }\na = { address = '10.9.0.1/16' }\n[[links]]\nbetween = ['a', 'b']\n",
    );
    let [b, a] = experiment.runs[0].topology.hosts.as_slice() else { panic!() };
    // `b` is first in the file, but .1 is taken; `a` is second, but :02 is taken.
    assert_eq!((b.name.as_str(), b.address.to_string().as_str(), b.prefix), ("b", "10.9.0.2", 16));
    assert_eq!((a.name.as_str(), a.mac.to_string().as_str()), ("a", "02:00:00:00:00:03"));
}

#[test]
fn every_node_of_a_list_gets_the_links() {
    let experiment = parse(
        "[hosts]\na = { team = 't' }\nb = { team = 't' }\n[teams.t]\n[switches]\ns = {}\n\
         [[links]]\nbetween = [['a', 'b'], 's']\ncount = 2\n[[links]]\nbetween = ['s', 'a']\nrate = '1gbit'\n",
    );
    let cables: Vec<_> = experiment.runs[0]
        .topology
        .cables
        .iter()
        .map(|c| format!("{}:{} {}:{}", c.a.node, c.a.device, c.b.node, c.b.device))
        .collect();
    assert_eq!(cables, ["a:eth0 s:a-0", "a:eth1 s:a-1", "b:eth0 s:b-0", "b:eth1 s:b-1", "s:a-2 a:eth2"],);
    // No `spread`: no groups.
    assert!(experiment.runs[0].topology.teams.iter().all(|team| team.node != "s"));
}

#[test]
fn impairments_hold_for_both_directions_unless_the_way_back_has_its_own_and_a_run_changes_them() {
    let text = format!(
        "title = 'test'\n[defaults]\nseed = 7\n[hosts]\na = {{ team = 't' }}\nb = {{ team = 't' }}\n[teams.t]\n\
         [impairments]\nfar = {{ delay = '5ms', jitter = '0.2ms', jitter_order = 'free', reorder = '25%', reorder_gap = 5 }}\n\
         lossy = {{ gemodel = {{ p = '1%', r = '10%' }}, duplicate = '0.5%', seed = 3 }}\n\
         [[links]]\nbetween = ['a', 'b']\ncount = 2\nimpair = 'far'\n\
         [[links]]\nbetween = ['a', 'b']\nimpair = 'far'\nimpair_back = 'lossy'\n\
         [[links]]\nbetween = ['a', 'b']\nimpair_back = 'lossy'\n\
         [[links]]\nbetween = ['a', 'b']\n{TRAFFIC}[runs.impairments.far]\ndelay = '8ms'\nreorder = '0%'\n"
    );
    let cables = &parse_with(&text, &Overrides::default()).runs[0].topology.cables;
    let names = cables.iter().map(|cable| {
        let name = |way: &Way| way.name.clone().unwrap_or_default();
        cable.impaired.as_ref().map(|impaired| [name(&impaired.a_to_b), name(&impaired.b_to_a)])
    });
    let names: Vec<_> = names.collect();
    let both = |there: &str, back: &str| Some([there.to_owned(), back.to_owned()]);
    assert_eq!(names, [both("far", "far"), both("far", "far"), both("far", "lossy"), both("", "lossy"), None]);

    let Some(impaired) = &cables[2].impaired else { panic!() };
    let far = impaired.a_to_b.impairments;
    assert_eq!((far.delay, far.jitter.amount), (Duration::from_millis(8), Duration::from_micros(200)));
    assert!(far.jitter.may_reorder && far.reorder.is_none());
    let lossy = impaired.b_to_a.impairments;
    assert!((lossy.loss.mean() - 0.01 / 0.11).abs() < 1e-9);
    assert_eq!(lossy.duplicate.parts(), 5_000_000);
    assert_eq!((impaired.a_to_b.seed, impaired.b_to_a.seed), (7, 3));
}

#[test]
fn two_switches_that_spread_have_a_group_between_them() {
    let experiment = parse(
        "[hosts]\na = {}\nb = {}\n[switches]\ns = { spread = 'src-mac' }\nt = { spread = 'src-dst-ip' }\n\
         [[links]]\nbetween = ['a', 's']\n[[links]]\nbetween = ['s', 't']\ncount = 2\n[[links]]\nbetween = ['t', 'b']\n",
    );
    let groups: Vec<_> = experiment.runs[0]
        .topology
        .teams
        .iter()
        .map(|team| {
            format!("{} {} {} {}", team.node, team.device, team.config.xmit_hash_policy, team.members.join(" "))
        })
        .collect();
    assert_eq!(groups, ["s t src-mac t-0 t-1", "t s src-dst-ip s-0 s-1"]);
}

#[test]
fn experiments_are_found_by_name_beginning_and_path() {
    assert_eq!(experiment::find("t3-four-links").unwrap().name, "t3-four-links");
    assert_eq!(experiment::find("t3").unwrap().name, "t3-four-links");
    assert!(matches!(experiment::find("t"), Err(FindError::Ambiguous { .. })));
    let error = experiment::find("t4-four-links").unwrap_err();
    assert_eq!(error.hint().as_deref(), Some("did you mean `t3-four-links`?"));
    let error = experiment::find("").unwrap_err();
    assert!(error.hint().unwrap().contains("two-hosts"), "{:?}", error.hint());
    assert!(matches!(experiment::find("./t3"), Err(FindError::Read { .. })));

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/two-hosts.toml");
    let source = experiment::find(path).unwrap();
    assert_eq!((source.name.as_str(), source.path.as_str()), ("two-hosts", path));
    assert!(matches!(experiment::find(env!("CARGO_MANIFEST_DIR")), Err(FindError::Read { .. })));
    assert!(matches!(experiment::find("/dev/zero"), Err(FindError::TooLarge { .. })));
}

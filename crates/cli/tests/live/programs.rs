//! Programs that are not ours as traffic: their connections are found, and everything of theirs ends with the run.

use std::process::Command;

use nicteam_testnet::may_make_networks;

use crate::common::experiment::run;

/// Two hosts and a cable; `{}` is for workloads and runs.
const HOSTS: &str = r#"
title = "Programs"
[defaults]
rate = "20mbit"
interval = "50ms"
[hosts]
a = {}
b = {}
[[links]]
between = ["a", "b"]
"#;

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
fn connections_of_iperf_are_found_and_count_what_a_link_carries() {
    let programs: Vec<&str> = ["iperf3", "iperf"].into_iter().filter(|program| is_installed(program)).collect();
    if !may_make_networks() || programs.is_empty() {
        return;
    }
    for (number, program) in programs.into_iter().enumerate() {
        let file = format!(
            "{HOSTS}[workloads.w]\nkind = \"program\"\nfrom = \"a\"\nto = \"b\"\nserver = \"{program} -s -p {{port}}\"\n\
             client = \"{program} -c {{address}} -p {{port}} -P 3 -t 60\"\n[[runs]]\nname = \"r\"\nworkloads = \"w\"\n"
        );
        let (_, told, record) = run(&format!("program-{number}"), &file);
        let record = record.unwrap_or_else(|| panic!("{told}"));
        let found = &record.runs[0];
        let ends = |it: &nicteam_record::Connection| it.from == "a" && it.to == "b" && it.dst == "10.0.0.2:20001";
        assert!(found.connections.len() == 3 && found.connections.iter().all(ends), "{:?}", found.connections);
        assert!(found.connections.iter().all(|it| it.congestion == "cubic" && it.segments > 0), "not by the route");
        // The link was full, and what the kernel says arrived over it is what it carried.
        let carried = found.members.iter().find(|member| member.host == "b").unwrap().rx_bps;
        // Hosts are not sampled at the same moment.
        assert!((0.8..1.1).contains(&(found.delivered_bps / carried)), "{} of {carried}", found.delivered_bps);
        let hosts: Vec<_> = found.programs.iter().map(|it| (it.host.as_str(), it.ended_by_run)).collect();
        assert!(hosts.contains(&("a", true)) && hosts.contains(&("b", true)), "{:?}", found.programs);
        assert!(found.programs.iter().all(|it| !it.failed() && !it.last_lines.is_empty()), "{:?}", found.programs);
    }
}

#[test]
fn a_program_that_fails_is_told_and_one_that_is_not_there_is_refused() {
    if !may_make_networks() {
        return;
    }
    let workload = |client: &str| {
        format!(
            "{HOSTS}[workloads.w]\nkind = \"program\"\nfrom = \"a\"\nto = \"b\"\nclient = \"{client}\"\n\
             [[runs]]\nname = \"r\"\nduration = \"200ms\"\nwarmup = \"100ms\"\nworkloads = \"w\"\n"
        )
    };
    let (_, told, record) = run("fails", &workload("sh -c 'echo no way to {address}; exit 5'"));
    assert!(told.contains("ended with exit status 5") && told.contains("no way to 10.0.0.2"), "{told}");
    let program = &record.unwrap().runs[0].programs[0];
    assert_eq!((program.exit_code, program.ended_by_run, program.workload.as_str()), (Some(5), false, "w"));
    let (_, told, record) = run("absent", &workload("netperf-of-nobody -H {address}"));
    assert!(record.is_none() && told.contains("no program `netperf-of-nobody` on this machine"), "{told}");
    let server = workload("sleep 9").replace("client", "server = \"sh -c 'echo gone; exit 1'\"\nclient");
    let (_, told, record) = run("server", &server);
    assert!(record.is_none() && told.contains("has ended before a client came") && told.contains("gone"), "{told}");
}

//! Drawings of topologies.

use nicteam_experiment::{self as experiment, show};

use crate::experiment::{builtin, parse};

#[test]
fn drawings_fit_and_name_everything() {
    for shipped in experiment::builtin() {
        let experiment = builtin(shipped.name);
        let drawing = show(&experiment);
        for line in drawing.lines() {
            assert!(line.chars().count() <= 100, "{}: {line}", shipped.name);
        }
        let hosts = experiment.runs[0].topology.hosts.iter().map(|host| &host.name);
        let runs = experiment.runs.iter().map(|run| &run.name);
        for name in hosts.chain(runs) {
            assert!(drawing.contains(name.as_str()), "{name} is missing:\n{drawing}");
        }
    }
}

#[test]
fn a_drawing_is_as_it_was_reviewed() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiment_show.txt");
    let mut drawing: Vec<_> = experiment::builtin()
        .iter()
        .map(|shipped| format!("$ nicteam lab show {}\n{}", shipped.name, show(&builtin(shipped.name))))
        .collect();
    let wide = "[hosts]\na = { team = 't', address = 'fd00:1234:5678:9abc:def0::1/64' }\nb = { team = 't' }\n[teams.t]\nmode = 'active-backup'\n\
         [switches]\ns = { spread = 'src-mac' }\nt = { spread = 'src-mac' }\n[[links]]\nbetween = [['a', 'b'], ['s', 't']]\ncount = 2\nmtu = 9000\nrate = '2.5gbit'\n\
         [[links]]\nbetween = ['s', 't']\ncount = 2\n";
    drawing.push(format!("two switches, long addresses\n{}", show(&parse(wide))));
    let drawing = drawing.join("\n\n");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(golden, &drawing).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(golden).unwrap_or_default(),
        drawing,
        "UPDATE_GOLDEN=1 cargo test rewrites {golden}"
    );
}

/// Thirty-two hosts by two links each at one switch; the first half connects to the second.
fn thirty_two() -> String {
    let hosts = |range: std::ops::Range<usize>| {
        let names: Vec<String> = range.map(|number| format!("'h{number}'")).collect();
        format!("[{}]", names.join(", "))
    };
    let sections: String = (0..32).map(|number| format!("h{number} = {{ team = 't' }}\n")).collect();
    format!(
        "[teams]\nt = {{ mode = 'balance-alb' }}\n[switches]\ns = {{}}\n[hosts]\n{sections}[[links]]\nbetween = [{}, 's']\n\
         count = 2\n[workloads.w]\nkind = 'tcp'\npattern = 'pairwise'\nfrom = {}\nto = {}\n[[runs]]\nname = 'r'\nworkloads = 'w'\n",
        hosts(0..32),
        hosts(0..16),
        hosts(16..32)
    )
}

#[test]
fn like_hosts_are_drawn_and_named_as_one() {
    let file = format!("title = 'Many'\n{}", thirty_two());
    let experiment = experiment::parse("many", "many.toml", &file, &Default::default()).unwrap();
    let drawing = show(&experiment);
    let picture = drawing.split("\nhosts\n").next().unwrap();
    assert!(picture.contains("h0 to h15 ") && picture.contains("h16 to h31 "), "{drawing}");
    assert!(picture.contains("16 hosts") && picture.contains("2 plain ports each"), "{drawing}");
    assert!(picture.lines().count() < 10, "{picture}");
    assert!(drawing.contains("h0 -> h16, h1 -> h17") && drawing.contains(" and 8 more"), "{drawing}");
    assert!(drawing.contains("all 32 links of h0 to h15\n"), "{drawing}");
    assert!(drawing.lines().all(|line| line.chars().count() <= 100), "{drawing}");
    // One that differs stands alone.
    let other = file.replace("h5 = { team = 't' }", "h5 = { team = 't', processor = '50mbit' }");
    let drawing = show(&experiment::parse("many", "many.toml", &other, &Default::default()).unwrap());
    assert!(drawing.contains("h0 to h4 and h6 to h15") && drawing.contains("\nh5 "), "{drawing}");
}

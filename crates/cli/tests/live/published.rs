//! The configurations of published tests T1 and T3, word by word: each is a running team after one command, and the other end's
//! configuration comes from the same file.

use std::fs;

use nicteam_testnet::{Host, Switch, assert_reach, datagrams, may_make_networks};

use crate::common::teams::TeamHost;
use crate::published::{DLADM, INTERFACES, article_files};

/// What a host of the tests had, and what becomes of it here.
struct Published {
    /// Files, as published.
    files: Vec<(&'static str, String)>,
    devices: &'static [&'static str],
    team: &'static str,
    mode: &'static str,
    /// The team's address, and another one in its network.
    addresses: [&'static str; 2],
    /// The address is given by hand: it is not in the files.
    by_hand: bool,
    route: Option<&'static str>,
}

fn all() -> [Published; 3] {
    [
        Published {
            files: vec![("interfaces", INTERFACES.to_owned())],
            devices: &["eth1", "eth2", "eth3", "eth4"],
            team: "bond0",
            mode: "balance-rr",
            addresses: ["10.10.250.2", "10.10.250.1"],
            by_hand: false,
            route: None,
        },
        Published {
            files: article_files().to_vec(),
            devices: &["eth0", "eth1"],
            team: "bond0",
            mode: "balance-rr",
            addresses: ["10.0.0.1", "10.0.0.254"],
            by_hand: false,
            route: Some("default via 10.0.0.254 dev bond0"),
        },
        // illumos names its devices so; on Linux they are made with these names, so that nothing is to be edited.
        Published {
            files: vec![("aggr", DLADM.to_owned())],
            devices: &["igb0", "igb1", "igb2", "igb3"],
            team: "aggr01",
            mode: "balance-xor",
            addresses: ["10.10.250.2", "10.10.250.1"],
            by_hand: true,
            route: None,
        },
    ]
}

#[test]
fn published_configurations_are_running_teams_after_one_command() {
    if !may_make_networks() {
        return;
    }
    all().iter().for_each(comes_up);
}

#[track_caller]
fn comes_up(published: &Published) {
    let Published { files, devices, team, addresses: [near_address, far_address], .. } = published;
    let (mut near, mut far, mut switch) = (Host::quiet(), Host::quiet(), Switch::new());
    for (number, device) in devices.iter().enumerate() {
        switch.join(&mut near, device, &format!("a{number}"));
    }
    switch.join(&mut far, "eth0", "b0");
    far.address("eth0", &[(far_address, 24)]);
    let mut near = TeamHost::new(near);
    let before = near.host.snapshot(&["dp"]);
    let folder = near.state.join("published");
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    // One file is named by its path, several by their folder.
    let path = if let [(name, _)] = files.as_slice() { folder.join(name) } else { folder.clone() };
    let path = path.to_str().unwrap();
    let done = |arguments: &[&str]| {
        let output = near.nicteam(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        said
    };
    done(&["up", path]);
    let status = near.status(team);
    assert_eq!(status["mode"], published.mode);
    let members = status["members"].as_array().unwrap().iter();
    assert_eq!(members.map(|member| member["name"].as_str().unwrap()).collect::<Vec<_>>(), *devices);
    for arguments in [&["export", "--to", "cisco", path][..], &["export", "--to", "cisco", "--running", team]] {
        let switch_side = done(arguments);
        let range = format!("interface range GigabitEthernet0/1 - {}\n", devices.len());
        assert!(switch_side.contains(&range) && switch_side.contains("channel-group 1 mode on\n"), "{switch_side}");
    }
    if published.by_hand {
        near.host.address(team, &[(near_address, 24)]);
    }
    let lines = near.host.snapshot(&[]);
    assert!(published.route.is_none_or(|route| lines.iter().any(|line| line == route)), "{lines:#?}");
    let [a, b] = [near_address, far_address].map(|address| (address.parse::<std::net::IpAddr>().unwrap(), 7000).into());
    let sockets = datagrams((&near.host, a), (&far, b));
    assert_reach(&sockets, team);
    let back = (sockets.1, sockets.0);
    back.1.set_read_timeout(Some(std::time::Duration::from_millis(20))).unwrap();
    assert_reach(&back, team);
    let output = near.nicteam(&["down", team]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    nicteam_testnet::assert_becomes(|| near.host.snapshot(&["dp"]), &before, "down");
}

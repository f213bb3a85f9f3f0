//! The files of `/etc/nicteam`, and what systemd is to start of them.

use std::fs;
use std::path::{Path, PathBuf};

use nicteam_host::service::{self, generate};

use crate::common::Root;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> (Root, PathBuf) {
    let root = Root::new();
    let folder = root.path().join("etc/nicteam");
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    (root, folder)
}

/// Every link below a folder, with what it leads to.
fn links(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for target in fs::read_dir(folder).unwrap().flatten() {
        for link in fs::read_dir(target.path()).unwrap().flatten() {
            let to = fs::read_link(link.path()).unwrap();
            let path = link.path();
            found.push(format!("{} -> {}", path.strip_prefix(folder).unwrap().display(), to.display()));
        }
    }
    found.sort();
    found
}

const GOOD: &str = "[teams.team0]\nmembers = [\"eth1\", \"eth2\"]\nmode = \"active-backup\"\nmiimon = 100\n";

#[test]
fn each_team_has_an_instance_that_the_boot_wants() {
    let two = "[teams.uplink]\nmembers = [\"eth3\"]\n[teams.my-team]\nmembers = [\"eth4\"]\n";
    let (root, etc) = folder(&[("team0.toml", GOOD), ("two.toml", two), ("old.toml.bak", GOOD), (".team9.toml", two)]);
    let units = root.path().join("units");
    let made = generate(&etc, &units);
    assert_eq!(made.complaints, [] as [&str; 0]);
    assert_eq!(made.teams, ["my-team", "team0", "uplink"]);
    let golden = "\
multi-user.target.wants/nicteam@my-team.service -> /usr/lib/systemd/system/nicteam@.service
multi-user.target.wants/nicteam@team0.service -> /usr/lib/systemd/system/nicteam@.service
multi-user.target.wants/nicteam@uplink.service -> /usr/lib/systemd/system/nicteam@.service
network-online.target.wants/nicteam@my-team.service -> /usr/lib/systemd/system/nicteam@.service
network-online.target.wants/nicteam@team0.service -> /usr/lib/systemd/system/nicteam@.service
network-online.target.wants/nicteam@uplink.service -> /usr/lib/systemd/system/nicteam@.service";
    assert_eq!(links(&units).join("\n"), golden);
    assert_eq!(generate(&etc, &units), made, "again");
    assert_eq!(links(&units).join("\n"), golden);
}

#[test]
fn what_is_wrong_is_said_and_keeps_no_other_team_from_booting() {
    let wrong_value = "[teams.team1]\nmembers = [\"eth1\"]\nmiimon = \"often\"\n";
    let broken = "[teams.team2]\nmembers = [\"eth1\"\nmode = 802.3ad\n";
    let no_unit = "[teams.\"a+b\"]\nmembers = [\"eth1\"]\n";
    let files =
        [("0.toml", GOOD), ("1.toml", wrong_value), ("2.toml", broken), ("3.toml", "x = 1\n"), ("4.toml", no_unit)];
    let (root, etc) = folder(&files);
    fs::create_dir(etc.join("5.toml")).unwrap();
    nix::unistd::mkfifo(&etc.join("6.toml"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let units = root.path().join("units");
    let made = generate(&etc, &units);
    // The sections that are wrong have their units, which say what is wrong.
    assert_eq!(made.teams, ["team0", "team1", "team2"], "{:?}", made.complaints);
    let complaints = made.complaints.join("\n").replace(&etc.display().to_string(), "DIR");
    let golden = "\
cannot read DIR/5.toml: it is not a file
cannot read DIR/6.toml: it is not a file
DIR/3.toml has no section [teams.NAME]; hint: `nicteam check DIR/3.toml` says what is wrong
team `a+b` in DIR/4.toml will not start at boot; hint: systemd allows letters, digits and any of `:-_.` in such a name";
    assert_eq!(complaints, golden);
    assert_eq!(generate(&root.path().join("nowhere"), &units), service::Generated::default());
}

#[test]
fn a_team_is_found_in_its_file_alone() {
    let wrong = "[teams.team1]\nmembers = [\"eth1\"]\nmiimon = \"often\"\n";
    let (_root, etc) =
        folder(&[("0.toml", GOOD), ("1.toml", wrong), ("2.toml", "[teams.twice]\n"), ("3.toml", "[teams.twice]\n")]);
    let team = service::named(&etc, "team0").unwrap();
    assert_eq!(team.members, ["eth1", "eth2"]);
    let said =
        |team: &str| service::named(&etc, team).unwrap_err().to_string().replace(&etc.display().to_string(), "DIR");
    assert!(said("team1").contains("DIR/1.toml") && said("team1").contains("miimon"), "{}", said("team1"));
    assert_eq!(said("twice"), "team `twice` stands in DIR/2.toml and in DIR/3.toml; hint: remove it from one of them");
    assert_eq!(said("team7"), "no file in DIR has a team `team7`; hint: the teams there are team0, team1, twice");
    fs::remove_dir_all(&etc).unwrap();
    assert_eq!(
        said("team7"),
        "no file in DIR has a team `team7`; hint: there is none; a file there with a section [teams.NAME] makes one"
    );
}

#[test]
fn a_section_that_is_wrong_keeps_no_other_team_of_its_file_down() {
    let text = "[teams.team1]\nmembers = [\"eth3\"]\nmiimon = \"often\"\nroutes = [\n  \"default via 10.0.0.1\",\n]\n";
    let (_root, etc) =
        folder(&[("0.toml", &format!("{text}{GOOD}[teams.team2]\nmembers = [\"eth4\"]\nnothing = 1\n"))]);
    assert_eq!(service::named(&etc, "team0").unwrap().members, ["eth1", "eth2"]);
    for (team, place) in [("team1", "0.toml:3:10"), ("team2", "0.toml:13:1")] {
        let said = service::named(&etc, team).unwrap_err().to_string();
        assert!(said.contains(place), "{said}");
    }
    // What is wrong outside of all sections may mean any of them.
    let (_root, etc) = folder(&[("0.toml", &format!("x = 1\n{GOOD}"))]);
    assert!(service::named(&etc, "team0").is_err());
}

/// Files of any bytes, and cut ones, make neither a panic nor a unit that the systemd does not take.
#[test]
fn a_generator_survives_any_file() {
    let (root, etc) = folder(&[("0.toml", GOOD)]);
    for cut in 0..GOOD.len() {
        fs::write(etc.join("1.toml"), &GOOD.as_bytes()[..cut]).unwrap();
        let made = generate(&etc, &root.path().join("units"));
        assert!(made.teams.contains(&"team0".to_owned()), "{cut}: {made:?}");
    }
    fs::write(etc.join("1.toml"), [0xff, 0xfe, 0]).unwrap();
    let made = generate(&etc, &root.path().join("units"));
    assert_eq!((made.teams.len(), made.complaints.len()), (1, 1), "{made:?}");
}

//! teamd's JSON in the files of RHEL and of NetworkManager.

use nicteam_formats::{Import, toml};

use super::{left, read_all, switched_off};

const TEAM: &str = "\
DEVICE=team0
DEVICETYPE=Team
ONBOOT=yes
BOOTPROTO=none
IPADDR=10.0.0.1
PREFIX=24
TEAM_CONFIG='{
  \"runner\": {\"name\": \"activebackup\"},
  \"link_watch\": {\"name\": \"ethtool\", \"delay_up\": 200}
}'
";
const PORT: &str = "DEVICE=eth1\nDEVICETYPE=TeamPort\nONBOOT=yes\nTEAM_MASTER=team0\n\
                    TEAM_PORT_CONFIG=\"{\\\"prio\\\": 100, \\\"queue_id\\\": 2}\"\n";
const OTHER_PORT: &str = "DEVICE=eth2\nDEVICETYPE=TeamPort\nTEAM_MASTER=team0\nTEAM_PORT_CONFIG='{\"sticky\": true}'\n";

const EXPECTED: &str = "\
[teams.team0]
members = [\"eth1\", \"eth2\"]
mode = \"active-backup\"
updelay = 200
primary = \"eth1\"
primary_reselect = \"failure\"
queue_id = \"eth1:2\"
prio = \"eth1:100\"
addresses = [\"10.0.0.1/24\"]
";

fn written(import: &Import) -> String {
    toml::write(&Import { network: import.network.clone(), ..Import::default() })
}

#[test]
fn of_rhel() {
    let files = [("ifcfg-team0", TEAM), ("ifcfg-eth1", PORT), ("ifcfg-eth2", OTHER_PORT)];
    let import = read_all("ifcfg", &files).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((written(&import).as_str(), left(&import)), (EXPECTED, vec![]));
    let expected = [
        "set `ONBOOT=no` in the file of the member `eth1` | sed -i 's/^ONBOOT=.*/ONBOOT=no/' ifcfg-eth1",
        "set `ONBOOT=no` in the file of the member `eth2` | sed -i '$a ONBOOT=no' ifcfg-eth2",
        "set `ONBOOT=no` in the file of the team `team0` | sed -i 's/^ONBOOT=.*/ONBOOT=no/' ifcfg-team0",
    ];
    assert_eq!(switched_off(&import), expected);
    // As NetworkManager writes it; and what DHCP needs stays.
    let of_nm = "NAME=team0\nUUID=1-2\nDEVICE=team0\nDEVICETYPE=Team\nBOOTPROTO=dhcp\n\
                 TEAM_CONFIG=$'{\\n\"runner\": {\"name\": \"roundrobin\"}, \"debug_level\": 1}'\n";
    let files = [("ifcfg-team0", of_nm), ("ifcfg-p", "DEVICE=eth1\nDEVICETYPE=TeamPort\nTEAM_MASTER_UUID=1-2\n")];
    let import = read_all("ifcfg", &files).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(written(&import), "[teams.team0]\nmembers = [\"eth1\"]\nmode = \"balance-rr\"\n");
    assert!(left(&import)[1].starts_with("6 \"debug_level\": 1 | what happens to a team"), "{:?}", left(&import));
    assert!(switched_off(&import)[1].ends_with("| sed -i '4s/^/#/; 6s/^/#/' ifcfg-team0"), "{:?}", import.disable);
    // Of wicked, other words.
    let wicked = [("ifcfg-team0", "TEAM_RUNNER='activebackup'\nTEAM_PORT_DEVICE_0='eth0'\n")];
    let expected = ["1 team0 | wicked's words for teamd are not read: import what `teamdctl NAME config dump` prints"];
    assert_eq!(left(&read_all("ifcfg", &wicked).unwrap()), expected);
}

/// A profile without IPv6.
const IP: &str = "[ipv4]\naddress1=10.0.0.1/24\nmethod=manual\n[ipv6]\nmethod=ignore\n[proxy]\n";

#[test]
fn of_network_manager() {
    let profile = |device: &str, kind: &str, rest: &str| {
        format!("[connection]\nid={device}\nuuid=u-{device}\ntype={kind}\ninterface-name={device}\n{rest}")
    };
    let config = "{\\n\\t\"runner\": {\"name\": \"activebackup\"},\\n\\t\"link_watch\": {\"name\": \"ethtool\", \"delay_up\": 200}}";
    let team = profile("team0", "team", &format!("[team]\nconfig={config}\n{IP}"));
    let port = profile(
        "eth1",
        "ethernet",
        "master=u-team0\nslave-type=team\n[team-port]\nconfig={\"prio\": 100, \"queue_id\": 2}\n",
    );
    let other =
        profile("eth2", "ethernet", "controller=team0\nport-type=team\n[team-port]\nconfig={\"sticky\": true}\n");
    let files = [("team0", team.as_str()), ("eth1", port.as_str()), ("eth2", other.as_str())];
    let import = read_all("keyfile", &files).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((written(&import).as_str(), left(&import)), (EXPECTED, vec![]));
    assert_eq!(
        switched_off(&import)[2],
        "set `autoconnect=false` in the profile of the team `team0` | \
         nmcli connection modify u-team0 connection.autoconnect no"
    );
}

#[test]
fn what_is_wrong_in_the_json_has_its_place_in_the_file() {
    let bare = |config: &str| format!("DEVICE=t\nDEVICETYPE=Team\nTEAM_CONFIG={config}\n");
    let nm = |config: &str| format!("[connection]\ntype=team\ninterface-name=t\n[team]\nconfig={config}\n");
    for (format, text, place, message) in [
        ("ifcfg", TEAM.replace("activebackup", "activebakup"), (8, 22), "teamd has no runner `activebakup`"),
        ("ifcfg", TEAM.replace("delay_up", "delay"), (9, 37), "teamd has no `delay` here"),
        ("ifcfg", bare("'{\n\"a\": 1,\n}'"), (5, 1), "this is no JSON: a comma stands before the end"),
        ("ifcfg", bare("\"{\\\"runner\\\": {\\\"x\\\": 1}}\""), (3, 28), "teamd has no `x` here"),
        ("ifcfg", bare("$'{\\n\"runner\": {\"x\": 1}}'"), (3, 29), "teamd has no `x` here"),
        ("ifcfg", bare("'{\"ports\": 1'"), (3, 14), "this is no JSON: `{` is not closed"),
        ("ifcfg", PORT.replace("100", "x"), (5, 30), "this is no JSON: `x` is no value"),
        ("keyfile", nm("{\\n\\t\"runner\": {\"x\": 1}}"), (5, 24), "teamd has no `x` here"),
        ("keyfile", nm("{\"x\": \\s1, \"x\": 2}"), (5, 19), "`x` stands twice in one mapping"),
    ] {
        let error = read_all(format, &[("a", &text)]).unwrap_err();
        let entry = error.entries().swap_remove(0);
        assert_eq!(entry.line.zip(entry.column), Some(place), "{text}\n{error}");
        assert!(entry.message.starts_with(message), "{error}");
    }
}

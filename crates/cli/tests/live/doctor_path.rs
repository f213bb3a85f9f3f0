//! `nicteam doctor path`, between hosts of which one has no nicteam.

use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use nicteam_testnet::{Host, cables, may_make_networks};
use serde_json::Value;

/// Two hosts back to back by two cables; this end's devices have an MTU of 9000, the other's second one has 1500.
fn hosts() -> [Host; 2] {
    let (mut a, mut b) = (Host::new(), Host::new());
    cables(&mut a, &mut b, 2);
    for (host, end) in [(&mut a, 1), (&mut b, 2)] {
        for link in 0..2 {
            let device = format!("eth{link}");
            let index = host.index(&device);
            let mtu = if (end, link) == (2, 1) { 1500 } else { 9000 };
            host.netlink.set_mtu(index, mtu).unwrap();
            host.address(&device, &[(&format!("10.0.{link}.{end}"), 24)]);
        }
    }
    [a, b]
}

fn doctor(host: &Host, arguments: &[&str]) -> Output {
    let run = || Command::new(env!("CARGO_BIN_EXE_nicteam")).args(["doctor", "path"]).args(arguments).output().unwrap();
    host.netns.run(run).unwrap()
}

#[test]
fn the_path_that_is_wrong_is_named_with_its_cure() {
    if !may_make_networks() {
        return;
    }
    let [a, _b] = hosts();
    let good = doctor(&a, &["10.0.0.2"]);
    assert_eq!(good.status.code(), Some(0), "{good:?}");
    let both = doctor(&a, &["10.0.0.2", "10.0.1.2"]);
    let text = String::from_utf8_lossy(&both.stdout);
    assert_eq!(both.status.code(), Some(1), "{text}");
    for words in
        ["1504, far end", "the other host's MTU is 1500", "cure: on the other host: `ip link set DEVICE mtu 9000`"]
    {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
    let json = doctor(&a, &["10.0.0.2", "10.0.1.2", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let paths = json["paths"].as_array().unwrap();
    assert_eq!((&paths[0]["good"], &paths[1]["good"]), (&Value::Bool(true), &Value::Bool(false)));
    assert_eq!(paths[1]["there"]["by"]["what"], "other_host");
    assert_eq!((&paths[1]["device"], &paths[1]["own_mtu"]), (&Value::from("eth1"), &Value::from(9000)));
}

#[test]
fn what_cannot_be_asked_is_told() {
    if !may_make_networks() {
        return;
    }
    let [a, _b] = hosts();
    let nowhere = doctor(&a, &["10.99.0.1"]);
    let said = String::from_utf8_lossy(&nowhere.stderr).into_owned();
    assert!(nowhere.status.code() == Some(1) && said.contains("hint: there is no route"), "{said}");
    let foreign = doctor(&a, &["10.0.0.2", "--from", "10.0.9.9"]);
    let said = String::from_utf8_lossy(&foreign.stderr).into_owned();
    assert!(foreign.status.code() == Some(1) && said.contains("address of --from"), "{said}");
    let unknown = doctor(&a, &["no.such.host.invalid"]);
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
    // Without privileges, where others may run the program at all.
    let run = || {
        let nobody = 65_534;
        Command::new(env!("CARGO_BIN_EXE_nicteam"))
            .args(["doctor", "path", "10.0.0.2"])
            .uid(nobody)
            .gid(nobody)
            .output()
    };
    if let Ok(refused) = a.netns.run(run).unwrap() {
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(3) && said.contains("CAP_NET_RAW"), "{said}");
    }
}

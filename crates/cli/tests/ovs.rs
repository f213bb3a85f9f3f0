//! `nicteam ovs`, run as a user would.

use std::process::{Command, Output};

/// The command of that name with its arguments.
pub fn ovs(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nicteam")).arg("ovs").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn a_bucket_is_printed_as_open_vswitch_prints_it() {
    for (arguments, bucket) in [
        (&["50:54:00:00:00:01"][..], "144\n"),
        (&["50:54:00:00:00:01", "10"], "60\n"),
        (&["50:54:00:00:00:01", "10", "7"], "70\n"),
        (&["50:54:0:0:0:1", "4095", "4294967295"], "54\n"),
    ] {
        let output = ovs(&[&["bond/hash"], arguments].concat());
        assert_eq!((text(&output.stdout), text(&output.stderr)), (bucket, ""), "{arguments:?}");
        assert!(output.status.success());
    }
}

#[test]
fn what_open_vswitch_takes_without_a_word_is_taken_with_one() {
    let output = ovs(&["bond/hash", "50:54:00:00:00:01", "5000"]);
    let warning = "warning: vlan `5000`: a VLAN ID is a number from 0 to 4095; taken for 5000, as Open vSwitch does\n";
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("81\n", warning));
    let output = ovs(&["bond/hash", "50:54:00:00:00:01:\u{1b}", "-1", "1x"]);
    assert!(output.status.success());
    let said = text(&output.stderr);
    assert_eq!(said.lines().count(), 3, "{said}");
    assert!(said.contains("taken for 65535,") && said.contains("taken for 1,"), "{said}");
    assert!(said.contains("mac `50:54:00:00:00:01:\\u{1b}`"), "{said}");
}

#[test]
fn what_it_refuses_is_refused_in_its_words() {
    for (arguments, said) in [
        (&["x", "y", "z"][..], "nicteam: invalid vlan: `y`\nhint: a VLAN ID is a number from 0 to 4095\n"),
        (&["x", "1", "z"], "nicteam: invalid basis: `z`\nhint: a basis is a number from 0 to 4294967295\n"),
        (&["x", "1", "2"], "nicteam: invalid mac: `x`\nhint: an address has colons: 02:00:00:00:00:01\n"),
    ] {
        let output = ovs(&[&["bond/hash"], arguments].concat());
        assert_eq!((text(&output.stdout), text(&output.stderr)), ("", said));
        assert_eq!(output.status.code(), Some(2));
    }
    let output = ovs(&["bond/hash"]);
    let said = "nicteam: \"bond/hash\" command requires at least 1 arguments\nhint: nicteam ovs bond/hash MAC [VLAN] [BASIS]\n";
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(2), said));
}

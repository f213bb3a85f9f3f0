//! `nicteam ovs` beside a real `ovs-vswitchd`: the same text on standard output, the same words where one refuses.

use nicteam_oracle::Unixctl;
use nicteam_testnet::OpenVSwitch;

use crate::ovs::ovs;

/// Arguments of `bond/hash`, from common to odd.
const QUESTIONS: &[&[&str]] = &[
    &["50:54:00:00:00:01"],
    &["50:54:00:00:00:01", "0"],
    &["50:54:00:00:00:01", "1"],
    &["50:54:00:00:00:01", "4095", "7"],
    &["FF:FF:FF:FF:FF:FF", "007", "4294967295"],
    &["5:4:0:0:0:1", "4096"],
    &["50:54:00:00:00:01", "65536"],
    &["50:54:00:00:00:01", "-1"],
    &["50:54:00:00:00:01", "+5", "+6"],
    &["50:54:00:00:00:01", "5x", "6 7"],
    &["50:54:00:00:00:01", " 5", "\t6"],
    &["50:54:00:00:00:01", "0x10"],
    &["50:54:00:00:00:01", "1", "4294967296"],
    &["50:54:00:00:00:01", "1", "-1"],
    &["50:54:00:00:00:01", "1", "99999999999999999999999999"],
    &["50:54:00:00:00:01:02"],
    &["50:54:00:00:00:01 and more"],
    &["150:54:00:00:00:01"],
    &[" 50: 54:0x00:00:00:+1"],
    &["50:54:00:00:00:01", ""],
    &["50:54:00:00:00:01", "1", ""],
    &["50:54:00:00:00:01", "x"],
    &["50:54:00:00:00:01", "1", "x"],
    &["50:54:00:00:00:01", "-"],
    &["", "1", "2"],
    &["50:54:00:00:00"],
    &["50:54:00:00:00:"],
    &["50-54-00-00-00-01"],
    &["50 :54:00:00:00:01"],
    &["0x:54:00:00:00:01"],
    &["x", "y", "z"],
    &["x", "1", "z"],
];

#[test]
fn bond_hash_answers_as_the_real_one() {
    let Some(switch) = OpenVSwitch::start_or_skip() else { return };
    let mut theirs = Unixctl::connect(&switch.control_socket());
    for question in QUESTIONS {
        let ours = ovs(&[&["bond/hash"], *question].concat());
        let said = String::from_utf8(ours.stderr).unwrap();
        match theirs.call("bond/hash", question) {
            Ok(bucket) => {
                assert!(ours.status.success(), "{question:?}: {said}");
                assert_eq!(String::from_utf8(ours.stdout).unwrap(), format!("{}\n", bucket.trim_end()), "{question:?}");
            }
            Err(words) => {
                assert_eq!(ours.status.code(), Some(2), "{question:?}: theirs {words}");
                assert!(said.starts_with(&format!("nicteam: {}: ", words.trim_end())), "{question:?}: {words}: {said}");
            }
        }
    }
}

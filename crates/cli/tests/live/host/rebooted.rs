//! What `up` noted before the machine was started anew is nothing.

use std::fs;

use nicteam_testnet::assert_becomes;

use super::{Network, TEAM};
use crate::common::teams::may_test_bpf;

#[test]
fn a_journal_of_an_earlier_boot_is_forgotten() {
    if !may_test_bpf() {
        return;
    }
    let network = Network::new();
    let file = network.file("teams.toml", TEAM);
    network.done(&["up", &file]);
    let folders = fs::read_dir(&network.near.state).unwrap().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    let journal =
        files.map(|file| file.path()).find(|path| path.extension().is_some_and(|end| end == "found")).unwrap();
    let noted = fs::read_to_string(&journal).unwrap();
    network.done(&["down", "team0"]);
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let stale = noted.replace(boot.trim(), "00000000-0000-4000-8000-000000000000");
    assert_ne!(stale, noted);
    // This boot has given the member more.
    network.ip("address add 10.3.0.7/24 dev eth0");
    let before = network.snapshot();
    let leave = || {
        fs::create_dir_all(journal.parent().unwrap()).unwrap();
        fs::write(&journal, &stale).unwrap();
    };
    leave();
    let (code, said) = network.nicteam(&["down", "team0"]);
    assert!(code == 2 && said.contains("no team `team0`"), "{said}");
    assert_becomes(|| network.snapshot(), &before, "down");
    leave();
    let said = network.done(&["check", &file]);
    assert!(said.contains("team0: would come up") && said.contains("add 10.3.0.7/24 to team0"), "{said}");
    network.done(&["up", &file]);
    assert!(network.snapshot().iter().any(|line| line.starts_with("team0") && line.contains("10.3.0.7/24")));
    network.done(&["down", "team0"]);
    assert_becomes(|| network.snapshot(), &before, "down after up");
}

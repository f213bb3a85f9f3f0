//! Tables that keep frames from the host's stack, while others load their rules anew.

use std::process::Command;

use nicteam_netlink::nft::{Keeper, Owns, undo};
use nicteam_sys::netns::NetNs;

use nicteam_testnet::may_make_networks;

fn nft(words: &[&str]) -> String {
    let output = Command::new("nft").args(words).output().unwrap();
    assert!(output.status.success(), "nft {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn tables() -> Vec<String> {
    let listed = nft(&["list", "tables"]);
    listed.lines().filter_map(|line| line.split(' ').nth(2)).map(str::to_owned).collect()
}

#[test]
fn a_flushed_ruleset_leaves_what_the_kernel_lets_a_socket_own() {
    if !may_make_networks() {
        return;
    }
    for (owns, left, after_the_end) in [
        (Owns::Lasting, &["nicteam-lo"][..], &["nicteam-lo"][..]),
        (Owns::Passing, &["nicteam-lo-own"], &["nicteam-lo"]),
        (Owns::Nothing, &[], &["nicteam-lo"]),
    ] {
        NetNs::new().unwrap().run(|| check(owns, left, after_the_end)).unwrap();
    }
}

fn check(owns: Owns, left: &[&str], after_the_end: &[&str]) {
    let keeper = Keeper::owning(owns).unwrap();
    keeper.drop_ingress("lo").unwrap();
    assert!(keeper.has("lo").unwrap() && keeper.take_news(), "{owns:?}");
    nft(&["flush", "ruleset"]);
    assert_eq!(tables(), left, "{owns:?}");
    let whole = owns == Owns::Lasting;
    assert_eq!((keeper.has("lo").unwrap(), keeper.take_news()), (whole, !whole), "{owns:?}");
    keeper.drop_ingress("lo").unwrap();
    assert!(keeper.has("lo").unwrap(), "{owns:?}");
    // The process ends; the next one takes over, with another socket.
    drop(keeper);
    assert_eq!(tables(), after_the_end, "{owns:?}: frames go on to be dropped");
    let next = Keeper::owning(owns).unwrap();
    next.drop_ingress("lo").unwrap();
    assert!(next.has("lo").unwrap(), "{owns:?}");
    next.undo("lo").unwrap();
    assert_eq!(tables(), [] as [&str; 0], "{owns:?}");
    next.drop_ingress("lo").unwrap();
    drop(next);
    // A process that takes down the rules of a dead one has no socket that owns them.
    undo("lo").unwrap();
    assert_eq!(tables(), [] as [&str; 0], "{owns:?}");
}

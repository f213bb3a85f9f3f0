//! `show --format teamdctl` and `teamdctl-view` beside the real teamdctl. The
//! dumps in `data/teamdctl` are what teamdctl 1.31 printed for `NAME state dump`,
//! the views what it printed for `NAME state`, given our dump where teamd's would
//! come from: it reads every field, and refuses a dump that lacks one.

use nicteam_daemon::{TeamStatus, show};

fn read(name: &str) -> String {
    let path = format!("{}/tests/data/teamdctl/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn dump_and_view_are_teamdctls() {
    for name in ["lacp", "lacp-passive", "active-backup", "balance-rr"] {
        let status: TeamStatus = serde_json::from_str(&read(&format!("{name}.status.json"))).unwrap();
        let (dump, view) = (show::teamdctl(&status), show::teamdctl_view(&status));
        assert_eq!(dump, read(&format!("{name}.dump.json")), "{name}");
        assert_eq!(view, read(&format!("{name}.view.txt")), "{name}");
    }
}

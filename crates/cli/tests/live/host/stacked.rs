//! Teams that stand on teams, in one file.

use nicteam_testnet::{assert_becomes, assert_same_network};

use super::{FAR, Network, Session};
use crate::common::teams::may_test_bpf;

const STACKED: &str = "[teams.top]\nmembers = [\"low\"]\nmode = \"active-backup\"\nmiimon = 10\n\n\
                       [teams.low]\nmembers = [\"eth0\", \"eth1\"]\nmode = \"active-backup\"\nmiimon = 10\n";

#[test]
fn a_team_comes_up_behind_the_one_that_it_stands_on() {
    if !may_test_bpf() {
        return;
    }
    let network = Network::new();
    let before = network.snapshot();
    let mut session = Session::new(&network, (FAR, 0).into());
    let file = network.file("teams.toml", STACKED);
    let said = network.done(&["check", &file]);
    assert!(said.find("low: would come up") < said.find("top: would come up"), "{said}");
    let said = network.done(&["up", &file]);
    assert!(said.find("team low is up") < said.find("team top is up"), "{said}");
    session.live_on("the addresses are at the upper team");
    assert!(network.snapshot().iter().any(|line| line.contains("10.3.0.1/24") && line.contains("top")));
    network.done(&["down", &file]);
    session.live_on("they are back at the device");
    assert_becomes(|| network.snapshot(), &before, "down");

    let file = network.file("round.toml", &STACKED.replace("\"eth1\"", "\"top\""));
    let (code, said) = network.nicteam(&["up", &file]);
    assert!(code == 2 && said.contains("stands on") && said.contains("which stands on it"), "{code}: {said}");
    assert_same_network(&network.snapshot(), &before, "refused");
}

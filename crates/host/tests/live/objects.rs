//! What is read of the kernel's objects is set again as it was.

use nicteam_host::survey::Survey;
use nicteam_netlink::Netlink;
use nicteam_netlink::object::{Address, Neighbour, Route, Rule};
use nicteam_testnet::{assert_becomes, may_make_networks};

use crate::common::network::Network;

#[test]
fn addresses_routes_and_rules_are_set_as_they_were_read() {
    if !may_make_networks() {
        return;
    }
    let network = Network::laden();
    let before = network.host.snapshot(&[]);
    let survey = network.host.netns.run(|| Survey::take(&[])).unwrap().unwrap();
    let index = survey.link("eth0").unwrap().index;
    let mut netlink = network.host.netns.run(Netlink::open).unwrap().unwrap();
    let routes: Vec<&Route> =
        survey.routes.iter().filter(|route| !route.is_automatic() && !route.is_connected()).collect();
    let rules: Vec<&Rule> = survey.rules.iter().filter(|rule| rule.names("eth0") || rule.names("eth1")).collect();
    let addresses: Vec<&Address> = survey.addresses.iter().filter(|address| address.index() == index).collect();
    assert!(routes.len() >= 7 && rules.len() == 2 && addresses.len() >= 6, "{routes:?} {rules:?} {addresses:?}");
    rules.iter().for_each(|rule| netlink.remove_rule(rule).unwrap());
    routes.iter().rev().for_each(|route| netlink.remove_route(route).unwrap());
    addresses.iter().rev().for_each(|address| netlink.remove_address_object(address).unwrap());
    assert_ne!(network.host.snapshot(&[]), before);
    // As texts of a file, too.
    let read = |text: String| Address::from_hex(&text).unwrap();
    addresses.iter().for_each(|address| netlink.add_address_object(&read(address.to_hex())).unwrap());
    let (behind, near): (Vec<&Route>, Vec<&Route>) = routes.into_iter().partition(|route| route.has_gateway());
    let read = |text: String| Route::from_hex(&text).unwrap();
    near.iter().chain(&behind).for_each(|route| netlink.add_route(&read(route.to_hex())).unwrap());
    // With the last address its neighbours went.
    let neighbours: Vec<&Neighbour> = survey.neighbours.iter().filter(|neighbour| neighbour.is_set()).collect();
    let read = |text: String| Neighbour::from_hex(&text).unwrap();
    neighbours.iter().for_each(|neighbour| netlink.set_neighbour(&read(neighbour.to_hex())).unwrap());
    rules.iter().for_each(|rule| netlink.add_rule(&Rule::from_hex(&rule.to_hex()).unwrap()).unwrap());
    // The kernel has made the connected route anew that somebody had removed.
    netlink.routes().unwrap().iter().filter(|route| route.is_connected() && !route.is_automatic()).for_each(|route| {
        if route.to() == Some(([10, 0, 0, 0].into(), 24)) {
            netlink.remove_route(route).unwrap();
        }
    });
    assert_becomes(|| network.host.snapshot(&[]), &before, "set again");
}

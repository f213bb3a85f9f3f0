//! nicteam's own file: what is read, what is written, its schema.

use std::fs;

use nicteam_formats::{Address, Import, Left, Network, Place, Route, Source, Team, toml};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
const BEGIN: &str = "<!-- keys: written by `UPDATE_GOLDEN=1 cargo test -p nicteam-formats docs` -->\n";
const END: &str = "<!-- end of keys -->";

const TEXT: &str = "\
[teams.team0]
members = [\"eth1\", \"eth2\"]
mode = \"802.3ad\"
miimon = 100
mac = \"02:00:00:00:00:01\"
mtu = 9000
dataplane = \"packet\"
addresses = [\"10.0.0.1/24\", \"2001:db8::1/64\"]
routes = [\"default via 10.0.0.254\", \"10.9.0.0/16 via 10.0.0.9 metric 100 table 5\"]

[teams.\"team1.5\"]
members = [\"eth3\"]
";

fn network(text: &str) -> Network {
    let source = Source::new("a.toml", text);
    toml::read(&[source]).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_is_written_is_what_was_read() {
    let network = network(TEXT);
    let route = Route {
        to: "10.9.0.0/16".parse().unwrap(),
        via: Some("10.0.0.9".parse().unwrap()),
        metric: Some(100),
        table: Some(5),
    };
    assert_eq!(network.teams[0].routes[1], route);
    assert_eq!(toml::write(&Import { network, ..Import::default() }), TEXT);
}

#[test]
fn values_are_the_kernels_however_they_are_written() {
    let text = "[teams.t]\nmiimon = \"50\"\nlacp-rate = 1\nmode = 4\nall_slaves_active = true\nmembers = [\"a\"]\n";
    let expected = "[teams.t]\nmembers = [\"a\"]\nmode = \"802.3ad\"\nmiimon = 50\nlacp_rate = \"fast\"\n\
                    all_slaves_active = 1\n";
    assert_eq!(toml::write(&Import { network: network(text), ..Import::default() }), expected);
}

#[test]
fn a_next_hop_on_the_link_becomes_a_route() {
    let text = "[teams.t]\nmembers = [\"a\"]\nroutes = [\"default via 192.0.2.1 dev t onlink\"]\n";
    let routes: Vec<String> = network(text).teams[0].routes.iter().map(ToString::to_string).collect();
    assert_eq!(routes, ["192.0.2.1/32", "default via 192.0.2.1"]);
}

#[test]
fn what_stays_is_a_comment() {
    let left = |line, team: Option<&str>, text: &str| Left {
        place: Place { path: "interfaces".to_owned(), line, column: 1 },
        text: text.to_owned(),
        why: "a reason\u{7}".to_owned(),
        team: team.map(str::to_owned),
    };
    let teams = vec![Team { name: "t".to_owned(), members: vec!["a".to_owned()], ..Team::default() }];
    let import = Import {
        network: Network { teams },
        left: vec![left(3, Some("t"), "two\nlines"), left(9, None, "mapping \u{1b}[31m")],
        ..Import::default()
    };
    let expected = "\
[teams.t]
members = [\"a\"]
# Not taken over:
# interfaces:3:1: two
# lines
#   a reason\\u{7}

# Not taken over:
# interfaces:9:1: mapping \\u{1b}[31m
#   a reason\\u{7}
";
    let text = toml::write(&import);
    assert_eq!(text, expected);
    assert_eq!(network(&text), import.network);
}

#[test]
fn a_team_of_two_files_is_refused() {
    let source = |path: &str, member: &str| Source::new(path, format!("[teams.t]\nmembers = [\"{member}\"]\n"));
    let error = toml::read(&[source("a.toml", "a"), source("b.toml", "b")]).unwrap_err();
    let expected = "\
error: a second team `t`
 --> b.toml:1:8
  |
1 | [teams.t]
  |        ^
  |
  = hint: the other one stands at a.toml:1:8: choose another name, or join the two

1 error in b.toml
";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn every_error_of_a_route_has_its_words() {
    for (text, message, hint) in [
        ("", "a route without a destination", "a route is `default via 10.0.0.254`"),
        ("via 10.0.0.1", "a route without a destination", "a route is"),
        ("default via", "nothing follows `via`", "an address follows: `via 10.0.0.254`"),
        ("default metric", "nothing follows `metric`", "a number follows: `metric 100`"),
        ("10.0.0.0/8 src", "nothing follows `src`", "remove `src`, or say what it is"),
        ("dflt via 10.0.0.1", "`dflt` is no destination", "a route is"),
        ("default via gw", "`gw` is no IP address", "an address is `10.0.0.1/24`"),
        ("10.0.0.0/33", "`33` is no netmask and no length of a prefix", "a prefix has 0 to 32 bits: `24`"),
        ("2001:db8::/129", "`129` is no netmask and no length of a prefix", "a prefix has 0 to 128 bits: `64`"),
        ("10.9.0.1/16", "the destination 10.9.0.1/16 has bits beyond its prefix", "its network is `10.9.0.0/16`"),
        ("10.9.0.0/16 via ::1", "10.9.0.0/16 and ::1 are of two families", "destination and next hop are both"),
        ("default metric -1", "`-1` is no number for `metric`", "a whole number from 0 to 4294967295"),
        ("default table uplink", "the table `uplink` is known by that name on its machine alone", "write its number"),
        ("blackhole 10.0.0.0/8", "a route of type `blackhole` leads by no team", "add it by `ip route` yourself"),
        ("default nexthop via 10.0.0.1", "`nexthop` is nothing that a team's route has", "leave it out, or add"),
        ("default dev eth0", "`dev` is nothing that a team's route has", "a team's routes are by the team"),
        ("default via 10.0.0.1 onlink", "`onlink` is nothing that a team's route has", "give the next hop a route"),
        ("default proto static", "`proto static` is nothing that a team's route has", "leave it out, or add"),
        ("default via 10.0.0.1 mtric 5", "`mtric` is no word of a route", "a route is"),
    ] {
        let error = text.parse::<Route>().unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
        assert!(error.hint().starts_with(hint), "{text}: {}", error.hint());
    }
}

#[test]
fn routes_are_ip_routes() {
    for (text, shown) in [
        ("default via 10.0.0.1", "default via 10.0.0.1"),
        ("default via 2001:db8::1", "default via 2001:db8::1"),
        ("any", "default"),
        ("::/0", "::/0"),
        ("unicast to 10.0.0.1 priority 0x10 table main", "10.0.0.1/32 metric 16"),
        ("10.0.0.0/255.0.0.0 via inet 10.0.0.1 table local", "10.0.0.0/8 via 10.0.0.1 table 255"),
    ] {
        let route: Route = text.parse().unwrap();
        assert_eq!(route.to_string(), shown);
        assert_eq!(shown.parse(), Ok(route));
    }
}

#[test]
fn an_address_has_a_prefix() {
    for (text, message, hint) in [
        (
            "10.0.0.1",
            "`10.0.0.1` has no length of its prefix",
            "add it: `10.0.0.1/24`; `10.0.0.1/32` for the address alone",
        ),
        ("::1", "`::1` has no length of its prefix", "add it: `::1/64`; `::1/128` for the address alone"),
        ("10.0.0/24", "`10.0.0` is no IP address", "an address is `10.0.0.1/24` or `2001:db8::1/64`"),
        (
            "10.0.0.1/255.0.255.0",
            "`255.0.255.0` is no netmask and no length of a prefix",
            "a prefix has 0 to 32 bits: `24`; as a netmask `255.255.255.0`",
        ),
        (
            "10.0.0.1/+4",
            "`+4` is no netmask and no length of a prefix",
            "a prefix has 0 to 32 bits: `24`; as a netmask `255.255.255.0`",
        ),
    ] {
        let error = text.parse::<Address>().unwrap_err();
        assert_eq!((error.to_string().as_str(), error.hint().as_str()), (message, hint));
    }
    assert_eq!("10.0.0.1/255.255.0.0".parse::<Address>().unwrap().to_string(), "10.0.0.1/16");
}

fn compare(file: &str, wanted: &str) {
    let path = format!("{DOCS}/{file}");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "docs/{file} is stale; rewrite it: UPDATE_GOLDEN=1 cargo test -p nicteam-formats docs");
}

#[test]
fn docs_have_the_schema() {
    compare("nicteam.schema.json", &toml::schema());
}

#[test]
fn docs_have_the_keys() {
    let text = fs::read_to_string(format!("{DOCS}/import.md")).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("docs/import.md has the mark where the keys begin");
    let (_, after) = rest.split_once(END).expect("docs/import.md has the mark where the keys end");
    compare("import.md", &format!("{before}{BEGIN}{}\n{END}{after}", toml::key_reference()));
}

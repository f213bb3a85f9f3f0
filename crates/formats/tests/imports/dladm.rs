//! illumos' command lines.

use super::{format, left, read, shown};
use crate::published::DLADM;
use nicteam_formats::Source;

/// T1's line and the address that it goes on to give.
fn t1() -> String {
    DLADM.to_owned() + "ifconfig aggr01 plumb 10.10.250.2 netmask 255.255.255.0 up\n"
}

#[test]
fn t1s_aggregation() {
    assert!(format("dladm").recognises(&Source::new("-", t1())));
    assert_eq!(
        shown("dladm", &t1()),
        "[teams.aggr01]\n\
         members = [\"igb0\", \"igb1\", \"igb2\", \"igb3\"]\n\
         mode = \"balance-xor\"\n\
         xmit_hash_policy = \"L4\"\n\
         addresses = [\"10.10.250.2/24\"]\n"
    );
    assert_eq!(
        left(&read("dladm", &t1())),
        [
            "1 aggr01 | the members have illumos' names (igb0, igb1, igb2, igb3): put this host's names in their place (`ip -br \
          link` lists them)"
        ]
    );
}

#[test]
fn lacp_and_all_options() {
    let text = "dladm create-aggr -P L2,L3 -L passive -T long -u 2:8:20:0:a:1 -t --link=net0 -lnet1 aggr1\n\
                dladm set-linkprop -p mtu=9000 aggr1\nipadm create-ip aggr1\n\
                ipadm create-addr -T static -a local=10.0.0.1/24 aggr1/v4\n\
                ipadm create-addr -T addrconf aggr1/v6\nroute -p add default 10.0.0.254\n";
    assert_eq!(
        shown("dladm", text),
        "[teams.aggr1]\nmembers = [\"net0\", \"net1\"]\nmode = \"802.3ad\"\nlacp_active = \"off\"\n\
         xmit_hash_policy = \"L2,L3\"\nlacp_rate = \"slow\"\nmac = \"02:08:20:00:0a:01\"\nmtu = 9000\n\
         addresses = [\"10.0.0.1/24\"]\nroutes = [\"default via 10.0.0.254\"]\n"
    );
    let left = left(&read("dladm", text));
    assert!(left.len() == 2 && left[1].starts_with("5 ipadm create-addr -T addrconf aggr1/v6 | "), "{left:?}");
}

#[test]
fn solaris_10_has_devices_and_keys() {
    let text = "dladm create-aggr -P L4 -l active -d bge0 -d bge1 1\nifconfig aggr1 plumb 192.168.1.5 up\n";
    let import = read("dladm", text);
    let [team] = import.network.teams.as_slice() else { panic!("{import:?}") };
    assert_eq!((team.name.as_str(), team.members.join(",")), ("aggr1", "bge0,bge1".to_owned()));
    assert!(team.options.contains(&("lacp_rate".to_owned(), "fast".to_owned())), "{team:?}");
    assert_eq!(team.addresses[0].to_string(), "192.168.1.5/24");
    assert!(left(&import)[1].contains("no netmask"), "{:?}", left(&import));
}

#[test]
fn a_timer_without_lacp_stays() {
    let left = left(&read("dladm", "dladm create-aggr -T short -l a0 -l a1 aggr0\n"));
    assert_eq!(left[0], "1 -T | without LACP (`-L`) it has no timer");
}

#[test]
fn pfexec_prompts_and_variables_are_read() {
    let expected = shown("dladm", "dladm create-aggr -l net0 -l net1 aggr0\n");
    for text in [
        "pfexec dladm create-aggr -l net0 -l net1 aggr0\n",
        "# dladm create-aggr -l net0 -l net1 aggr0\n# dladm show-aggr\n",
        "root@solaris:~# dladm create-aggr -l net0 -l net1 aggr0\n",
        "A=aggr0\n/usr/sbin/dladm create-aggr -l net0 -l net1 $A\n",
        "dladm create-aggr -l off -l net0 -l net1 aggr0\n",
    ] {
        assert!(format("dladm").recognises(&Source::new("-", text)), "{text}");
        assert_eq!(shown("dladm", text), expected, "{text}");
    }
}

#[test]
fn dlmp_asks_nothing_of_the_switch() {
    let import = read("dladm", "dladm create-aggr -m dlmp -P L4 -l net0 -l net1 aggr0\n");
    assert_eq!(import.network.teams[0].options, [("mode".to_owned(), "ovs-balance-slb".to_owned())]);
    let left = left(&import);
    assert!(left.iter().any(|left| left.contains("it is of trunks")), "{left:?}");
    assert!(left.iter().any(|left| left.contains("not probed from end to end")), "{left:?}");
}

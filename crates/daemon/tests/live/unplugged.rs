//! Members whose devices go and come while their team runs, and a filter of addresses in front of one.

use nicteam_daemon::{PersistedTeam, Service};
use nicteam_dataplane::Kind;
use nicteam_sys::ethtool::Ethtool;
use nicteam_testnet::{Host, cable, eventually};

use crate::common::{assert_reach, cabled, on_each_dataplane, spec, start, team_sockets};

/// A team of eth0 and eth1 that is kept.
fn serve(host: &Host, options: &[(&str, &str)], kind: Kind) -> Service {
    let persisted = PersistedTeam::of(&spec(options, kind), None);
    host.netns.run(|| Service::start(&persisted, Box::new(|_| {}))).unwrap().unwrap()
}

/// The members' names, and the missing ones'.
fn names(service: &Service) -> (Vec<String>, Vec<String>) {
    let status = service.handle().status().unwrap();
    (status.members.into_iter().map(|member| member.name).collect(), status.missing)
}

fn are(service: &Service, members: &[&str], missing: &[&str]) -> bool {
    let (here, gone) = names(service);
    here == members && gone == missing
}

#[test]
fn a_member_that_is_unplugged_comes_back_by_its_name() {
    on_each_dataplane(|kind| {
        let options = [("mode", "active-backup"), ("miimon", "10")];
        let (mut a, mut b) = cabled();
        let (service, far) = (serve(&a, &options, kind), start(&b, spec(&options, kind)).unwrap());
        a.address("team0", &[("10.2.0.1", 24)]);
        b.address("team0", &[("10.2.0.2", 24)]);
        let index = a.index("eth1");
        a.netlink.delete(index).unwrap();
        eventually("the loss", || are(&service, &["eth0"], &["eth1"]));
        let status = service.handle().status().unwrap();
        assert!(status.problems.iter().any(|of| of.text == "member eth1 is missing: its device is gone"), "{status:?}");
        let sockets = team_sockets(&a, &b, 7000);
        assert_reach(&sockets, "a datagram by the member that is left");
        // It is called otherwise first, as udev does.
        cable(&mut a, "new0", &mut b, "again");
        assert!(are(&service, &["eth0"], &["eth1"]));
        let index = a.index("new0");
        a.netlink.set_up(index, false).unwrap();
        a.netlink.set_name(index, "eth1").unwrap();
        eventually("the return", || are(&service, &["eth0", "eth1"], &[]));
        assert_eq!(service.handle().status().unwrap().members[1].place, 1);
        assert!(a.link("eth1").up, "{kind}: it is set up as every member");
        drop(far);
        a.netns.run(|| service.end()).unwrap().unwrap();
    });
}

#[test]
fn a_team_waits_without_any_member_and_forgets_one_that_is_given_up() {
    on_each_dataplane(|kind| {
        let (mut a, mut b) = cabled();
        let service = serve(&a, &[("mode", "balance-xor"), ("miimon", "10")], kind);
        for device in ["eth0", "eth1"] {
            let index = a.index(device);
            a.netlink.delete(index).unwrap();
        }
        eventually("the loss of all", || are(&service, &[], &["eth0", "eth1"]));
        assert!(!a.link("team0").carrier, "{kind}");
        cable(&mut a, "eth1", &mut b, "again1");
        eventually("the return of one", || are(&service, &["eth1"], &["eth0"]));
        eventually("the team's carrier", || a.link("team0").carrier);
        a.netns.run(|| service.handle().remove_member("eth0")).unwrap().unwrap();
        cable(&mut a, "eth0", &mut b, "again0");
        assert!(are(&service, &["eth1"], &[]), "{kind}: nobody waits for it");
        a.netns.run(|| service.end()).unwrap().unwrap();
    });
}

/// `ethtool -K` while frames flow: what members do with frames changes, not which arrive.
#[test]
fn offloads_may_be_switched_under_traffic() {
    on_each_dataplane(|kind| {
        let options = [("mode", "balance-xor"), ("miimon", "10")];
        let (mut a, mut b) = cabled();
        let (near, far) = (start(&a, spec(&options, kind)).unwrap(), start(&b, spec(&options, kind)).unwrap());
        a.address("team0", &[("10.2.0.1", 24)]);
        b.address("team0", &[("10.2.0.2", 24)]);
        let sockets = team_sockets(&a, &b, 7000);
        let ethtool = a.netns.run(Ethtool::open).unwrap().unwrap();
        for on in [false, true] {
            for device in ["eth0", "eth1", "team0"] {
                ethtool.set_segmentation(device, on).unwrap();
                assert_reach(&sockets, "a datagram beside the change");
            }
        }
        assert!(near.handle().status().unwrap().members.iter().all(|member| member.link_failures == 0), "{kind}");
        drop(far);
    });
}

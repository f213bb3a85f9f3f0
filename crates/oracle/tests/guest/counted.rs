//! The guest that counts: it comes up, its counts repeat, and what it counts is
//! what it is asked to: a hash of layer 4 sends by every member.

use nicteam_oracle::protocol::Request;
use nicteam_oracle::{Clock, Generated, Guest};

const AGENT: &str = env!("CARGO_BIN_EXE_nicteam-oracle-agent");
const BOND: &str = "bond0";
const MEMBERS: usize = 4;
const PACKETS: u64 = 10_000;
/// How much two counts of the same may differ, as a share.
const SCATTER: f64 = 0.01;

#[test]
fn counts_repeat_and_packets_leave_as_they_are_hashed() {
    let Some(mut guest) = nicteam_oracle::emulated_guest(AGENT, &[], Clock::Instructions) else { return };
    let near: Vec<String> = (0..MEMBERS).map(|member| format!("a{member}")).collect();
    let far: Vec<String> = (0..MEMBERS).map(|member| format!("b{member}")).collect();
    for (name, peer) in near.iter().zip(&far) {
        guest.must(Request::AddVeth { name: name.clone(), peer: peer.clone() });
        guest.must(Request::SetUp { name: peer.clone(), up: true });
    }
    let mut counted: Vec<[f64; 3]> = Vec::new();
    for _ in 0..2 {
        guest.must(Request::SetUp { name: near[0].clone(), up: true });
        let raw = generate(&mut guest, &near[0], &far);
        assert!(raw.shares().1 > 0.99, "{raw:?}");
        let [layer2, layer34] = ["layer2", "layer3+4"].map(|policy| {
            add_bond(&mut guest, policy, &near);
            let generated = generate(&mut guest, BOND, &far);
            guest.must(Request::Delete { name: BOND.to_owned() });
            generated
        });
        assert!(layer2.shares().1 > 0.99, "one address, one member: {layer2:?}");
        assert!(layer34.shares().0 > 0.2, "a thousand ports, every member: {layer34:?}");
        counted.push([raw, layer2, layer34].map(|generated| generated.instructions));
    }
    eprintln!("instructions per packet of Linux {}: raw, layer2, layer3+4: {counted:?}", guest.kernel());
    for (first, second) in counted[0].iter().zip(counted[1]) {
        assert!((first - second).abs() <= SCATTER * first, "{counted:?}");
    }
    let [raw, layer2, layer34] = counted[0];
    assert!(
        raw < layer2 && layer2 < layer34,
        "a bond costs more than a cable, and four layers more than two: {counted:?}"
    );
}

#[track_caller]
fn generate(guest: &mut Guest, device: &str, far: &[String]) -> Generated {
    Generated::by(guest, device, PACKETS, far).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn add_bond(guest: &mut Guest, policy: &str, members: &[String]) {
    guest.write("/sys/class/net/bonding_masters", &format!("+{BOND}")).unwrap();
    for (name, value) in [("mode", "balance-xor"), ("miimon", "1000"), ("xmit_hash_policy", policy)] {
        guest.set_option(BOND, name, value).unwrap();
    }
    for name in members {
        guest.must(Request::SetUp { name: name.clone(), up: false });
        guest.must(Request::SetMaster { name: name.clone(), master: Some(BOND.to_owned()) });
    }
    guest.must(Request::SetUp { name: BOND.to_owned(), up: true });
}

//! The bucket of every address, VLAN and basis: `bond/hash` against [`slb::bucket`].
//!
//! `NICTEAM_SOAK=1` takes fifty times as many; `NICTEAM_SEED` others.

use nicteam_oracle::frames::Random;
use nicteam_oracle::{Unixctl, is_soak, seed};
use nicteam_team::hash::slb;
use nicteam_testnet::OpenVSwitch;
use nicteam_wire::Mac;

const SAMPLE: usize = 2_000;
const SOAK: usize = 100_000;
/// Differences that are printed.
const SHOWN: usize = 20;

#[test]
fn every_source_has_the_bucket_that_it_has_in_open_vswitch() {
    let Some(switch) = OpenVSwitch::start_or_skip() else { return };
    let mut theirs = Unixctl::connect(&switch.control_socket());
    let mut random = Random(seed());
    let mut differences = Vec::new();
    let count = if is_soak() { SOAK } else { SAMPLE };
    for _ in 0..count {
        let (source, vlan, basis) = question(&mut random);
        let arguments = [source.to_string(), vlan.to_string(), basis.to_string()];
        let answer = theirs.run("bond/hash", &arguments.each_ref().map(String::as_str));
        let ours = slb::bucket(source, vlan, basis);
        if answer.trim_end() != ours.to_string() {
            differences.push(format!("{}: theirs {answer}, ours {ours}", arguments.join(" ")));
        }
    }
    differences.truncate(SHOWN);
    assert!(differences.is_empty(), "of {count} differ, the first:\n{}", differences.join("\n"));
}

/// Any, and often what is common: no tag, no basis, addresses numbered in turn.
fn question(random: &mut Random) -> (Mac, u16, u32) {
    let source = match random.one_in(4) {
        true => [2, 0, 0, 0, 0, random.byte()],
        false => std::array::from_fn(|_| random.byte()),
    };
    let vlan = if random.one_in(4) { 0 } else { random.below(4096) as u16 };
    let basis = if random.one_in(4) { 0 } else { random.bits() as u32 };
    (Mac(source), vlan, basis)
}

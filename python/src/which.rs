//! The member that a flow takes.

use nicteam_team::{HashPolicy, MAX_BUCKETS, MAX_MEMBERS, hash};
use nicteam_wire::flow_text::{Flow, Transport};
use nicteam_wire::{Frame, Mac};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The hash policies: the kernel's, those of switches, illumos aggr's.
#[pyfunction]
pub fn policies() -> Vec<&'static str> {
    HashPolicy::ALL.map(HashPolicy::name).to_vec()
}

/// The member, from 0, that the frames of a flow take.
#[pyfunction]
#[pyo3(signature = (flow, policy, members, hash_buckets, src_mac, dst_mac))]
pub fn which(
    flow: &str,
    policy: &str,
    members: usize,
    hash_buckets: u32,
    src_mac: Option<&str>,
    dst_mac: Option<&str>,
) -> PyResult<usize> {
    let wrong = |text: String| PyValueError::new_err(text);
    let policy = policy.parse::<HashPolicy>().map_err(|error| wrong(error.to_string()))?;
    let flow: Flow = flow.parse().map_err(wrong)?;
    if !(1..=MAX_MEMBERS).contains(&members) {
        return Err(wrong(format!("a team has 1 to {MAX_MEMBERS} members, not {members}")));
    }
    if hash_buckets as usize > MAX_BUCKETS {
        return Err(wrong(format!("a hash has at most {MAX_BUCKETS} values, not {hash_buckets}")));
    }
    let hashes_echo = matches!(policy, HashPolicy::Layer34 | HashPolicy::Encap34);
    if hashes_echo && matches!(flow.transport, Transport::Echo { id: None }) {
        return Err(wrong(format!("{policy} hashes the identifier of an ICMP echo: add it to the flow (`... id 7`)")));
    }
    let mac = |name: &str, text: Option<&str>, needed: bool| match text {
        Some(text) => text.parse::<Mac>().map_err(|error| wrong(format!("{name}: {error}"))),
        None if needed => Err(wrong(format!("{policy} hashes MAC addresses: give {name}"))),
        None => Ok(Mac::default()),
    };
    let (src, dst) = policy.hashes_macs();
    let bytes = flow.frame(mac("src_mac", src_mac, src)?, mac("dst_mac", dst_mac, dst)?);
    let frame = Frame::parse(&bytes).map_err(|error| wrong(error.to_string()))?;
    Ok(hash::place(hash::hash(policy, &frame), hash_buckets, members).expect("there is a member"))
}

//! `nicteam which`: the member that a flow, or each frame of a capture, takes.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use nicteam_capture::{ReadError, Reader};
use nicteam_team::{AggrLayers, HashPolicy, hash};
use nicteam_wire::flow_text::{Flow, Transport};
use nicteam_wire::{Frame, Mac};

use crate::failure::Failure;
use crate::{say, value};

/// Tell which member a flow, or each frame of a capture, takes.
///
/// Members count from 0 in the order in which they joined; all of them are
/// taken to be up. With --pcap, prints `frame,member` as CSV, frames counted
/// from 0 in the order of the file. A VLAN tag is taken off first, as the
/// kernel does with a frame it forwards.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("question").required(true).args(["pcap", "flow"]))]
pub(crate) struct Args {
    /// layer2, layer2+3, layer3+4, encap2+3, encap3+4, vlan+srcmac; a switch's: src-mac, dst-mac, src-dst-mac,
    /// src-dst-ip, src-dst-port, src-ip, dst-ip, src-xor-dst-ip; illumos aggr's: L2, L3, L4 or several, with commas between.
    #[arg(long, value_name = "POLICY", value_parser = value::hash_policy)]
    xmit_hash_policy: HashPolicy,
    /// How many members the team has, 1 to 32.
    #[arg(long, value_name = "N", value_parser = value::member_count)]
    members: u32,
    /// How many values the hash has, assigned to the members in turn, 1 to 256: 8 at a Catalyst. As many as members by default.
    #[arg(long, value_name = "N", value_parser = value::hash_buckets)]
    hash_buckets: Option<u32>,
    /// A pcap or pcapng file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["src_mac", "dst_mac"])]
    pcap: Option<PathBuf>,
    /// One flow: "tcp 10.0.0.1:40000 -> 10.0.0.2:5001", "udp [fd00::1]:53 -> [fd00::2]:53", "icmp 10.0.0.1 -> 10.0.0.2 id 7".
    #[arg(long)]
    flow: Option<Flow>,
    /// The flow's source MAC address, where the policy hashes it.
    #[arg(long, value_name = "MAC")]
    src_mac: Option<Mac>,
    /// The flow's destination MAC address (the next hop's), where the policy hashes it.
    #[arg(long, value_name = "MAC")]
    dst_mac: Option<Mac>,
}

/// Prints the answer on standard output and what it rests on on standard error.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match (&args.flow, &args.pcap) {
        (Some(flow), _) => which_flow(args, flow),
        (None, Some(path)) => which_frames(args, path),
        (None, None) => Err(Failure::wrong_input("nothing to ask about: give --pcap FILE or --flow FLOW")),
    }
}

fn which_flow(args: &Args, flow: &Flow) -> Result<(), Failure> {
    let policy = args.xmit_hash_policy;
    let missing = missing_macs(args);
    if !missing.is_empty() {
        let missing = missing.join(" and ");
        return Err(Failure::wrong_input(format!("{policy} hashes MAC addresses: add {missing} (02:00:00:00:00:01)")));
    }
    let hashes_echo = matches!(policy, HashPolicy::Layer34 | HashPolicy::Encap34);
    if hashes_echo && matches!(flow.transport, Transport::Echo { id: None }) {
        return Err(Failure::wrong_input(format!(
            "{policy} hashes the identifier of an ICMP echo: add it to the flow (`icmp 10.0.0.1 -> 10.0.0.2 id 7`)",
        )));
    }
    let bytes = flow.frame(args.src_mac.unwrap_or_default(), args.dst_mac.unwrap_or_default());
    let frame = Frame::parse(&bytes).map_err(Failure::failed)?;
    let hash = hash::hash(policy, &frame);
    let member = member_of(args, hash);
    let made_of = ingredients(policy, flow, &frame);
    match args.hash_buckets {
        None => {
            say::line(format_args!("{policy} hashes {made_of}: {hash} modulo {} members is {member}", args.members))
        }
        Some(buckets) => say::line(format_args!(
            "{policy} hashes {made_of}: {hash} modulo {buckets} buckets is {}, which is member {member}'s",
            hash % buckets
        )),
    }
    say::data(format_args!("{member}\n"))
}

/// The member of a frame with this hash.
fn member_of(args: &Args, hash: u32) -> usize {
    // There is a member at least.
    hash::place(hash, args.hash_buckets.unwrap_or(0), args.members as usize).unwrap_or(0)
}

/// The options that the policy needs for a flow and that were not given.
fn missing_macs(args: &Args) -> Vec<&'static str> {
    let (src, dst) = args.xmit_hash_policy.hashes_macs();
    let needs = [("--src-mac", src && args.src_mac.is_none()), ("--dst-mac", dst && args.dst_mac.is_none())];
    needs.into_iter().filter(|(_, missing)| *missing).map(|(option, _)| option).collect()
}

/// What of this flow a policy hashes, with the values.
fn ingredients(policy: HashPolicy, flow: &Flow, frame: &Frame<'_>) -> String {
    let Mac([.., src]) = frame.src();
    let Mac([.., dst]) = frame.dst();
    let ethertype = frame.ethertype();
    let addresses = format!("the addresses {} and {}", flow.src, flow.dst);
    match policy {
        HashPolicy::Layer2 => {
            format!("the MAC addresses' last bytes {src:02x} and {dst:02x}, EtherType {ethertype:#06x}")
        }
        HashPolicy::Layer23 | HashPolicy::Encap23 => {
            format!("the MAC addresses' last bytes {src:02x} and {dst:02x}, EtherType {ethertype:#06x}, {addresses}")
        }
        HashPolicy::SrcMac => format!("the source MAC address's last byte {src:02x}"),
        HashPolicy::DstMac => format!("the destination MAC address's last byte {dst:02x}"),
        HashPolicy::SrcDstMac => format!("the MAC addresses' last bytes {src:02x} and {dst:02x}"),
        HashPolicy::VlanSrcMac => {
            format!("the source MAC address {} (and the VLAN tag, of which a flow has none)", frame.src())
        }
        HashPolicy::SrcDstIp => addresses,
        HashPolicy::SrcIp => format!("the last byte of the source address {}", flow.src),
        HashPolicy::DstIp => format!("the last byte of the destination address {}", flow.dst),
        HashPolicy::SrcXorDstIp => format!("the last bytes of {addresses}"),
        HashPolicy::Layer34 | HashPolicy::Encap34 => match flow.transport {
            Transport::Ports { src, dst, .. } => format!("{addresses}, the ports {src} and {dst}"),
            Transport::Echo { id } => format!("{addresses}, ICMP echo request, identifier {}", id.unwrap_or_default()),
        },
        HashPolicy::SrcDstPort => match flow.transport {
            Transport::Ports { src, dst, .. } => format!("{addresses}, the ports {src} and {dst}"),
            Transport::Echo { .. } => addresses,
        },
        HashPolicy::Aggr(layers) => aggr_ingredients(layers, flow, frame),
    }
}

fn aggr_ingredients(layers: AggrLayers, flow: &Flow, frame: &Frame<'_>) -> String {
    let mut parts = Vec::new();
    if layers.contains(AggrLayers::L2) {
        parts.push(format!("the MAC addresses {} and {}", frame.src(), frame.dst()));
    }
    if layers.contains(AggrLayers::L3) {
        parts.push(format!("the addresses {} and {}", flow.src, flow.dst));
    }
    match flow.transport {
        Transport::Ports { src, dst, .. } if layers.contains(AggrLayers::L4) => {
            parts.push(format!("the ports {src} and {dst}"));
        }
        Transport::Echo { .. } if layers == AggrLayers::L4 => parts.push("nothing of an ICMP echo".to_owned()),
        _ => {}
    }
    parts.join(", ")
}

/// Fewer captured bytes than this may hide something that a policy hashes:
/// Ethernet, a tag, IPv4 with options, ICMP, the same of the packet it is
/// about, ports. A policy that walks through headers may need all there are.
fn enough_bytes(policy: HashPolicy) -> usize {
    match policy {
        HashPolicy::Encap23 | HashPolicy::Encap34 | HashPolicy::Aggr(_) => usize::MAX,
        _ => 14 + 4 + 60 + 8 + 60 + 8,
    }
}

fn which_frames(args: &Args, path: &Path) -> Result<(), Failure> {
    let in_file = |error: ReadError| Failure::wrong_input(format!("{}: {error}", path.display()));
    let capture = Reader::open(path).map_err(in_file)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let enough = enough_bytes(args.xmit_hash_policy);
    let mut captured_short = 0_u64;
    let header = writeln!(out, "frame,member").map_err(ReadError::Sink);
    let read = header.and_then(|()| {
        capture.for_each_frame(|number, bytes, length| {
            captured_short += u64::from(bytes.len() < length && bytes.len() < enough);
            match Frame::parse_untagged(bytes) {
                Ok(frame) => {
                    let member = member_of(args, hash::hash(args.xmit_hash_policy, &frame));
                    writeln!(out, "{number},{member}")
                }
                Err(error) => {
                    say::line(format_args!("nicteam: frame {number} left out: {error}"));
                    Ok(())
                }
            }
        })
    });
    let flushed = out.flush().map_err(ReadError::Sink);
    if captured_short > 0 {
        say::line(format_args!(
            "nicteam: {captured_short} frames were captured short; what is missing may change their member"
        ));
    }
    match read.and(flushed) {
        Err(ReadError::Sink(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(ReadError::Sink(error)) => Err(Failure::failed(format!("standard output: {error}"))),
        Err(error) => Err(in_file(error)),
        Ok(()) => Ok(()),
    }
}

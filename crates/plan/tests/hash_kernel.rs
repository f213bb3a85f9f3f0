//! The kernel's hash policies against answers of the kernel's own bonding driver.

use crate::common::{ANSWERS, ENCAP_ANSWERS, ENCAP_FRAMES, FRAMES, pcap_frames};
use nicteam_options::HashPolicy;
use nicteam_plan::hash;
use nicteam_wire::Frame;

/// One column of the answers: how the frames reached the bond, its policy, its members.
struct Column {
    forwarded: bool,
    policy: HashPolicy,
    members: u32,
}

#[test]
fn every_frame_takes_the_member_that_the_kernel_chose() {
    compare(FRAMES, ANSWERS);
}

#[test]
fn and_so_does_every_frame_in_a_tunnel() {
    compare(ENCAP_FRAMES, ENCAP_ANSWERS);
}

fn compare(frames: &[u8], answers: &str) {
    let frames = pcap_frames(frames);
    let mut lines = answers.lines();
    let columns: Vec<Column> = lines.next().unwrap().split(',').skip(2).map(column).collect();
    assert_eq!(columns.len(), 24, "two ways, three policies, four counts of members");

    let mut compared = 0;
    let mut differences = Vec::new();
    for (line, bytes) in lines.zip(&frames) {
        let mut fields = line.split(',');
        let (number, kind) = (fields.next().unwrap(), fields.next().unwrap());
        for (column, answer) in columns.iter().zip(fields) {
            let ours = member(column, bytes);
            compared += 1;
            if ours.to_string() != answer {
                let way = if column.forwarded { "forwarded" } else { "sent" };
                let Column { policy, members, .. } = column;
                differences.push(format!("{number} {kind} {way} {policy} of {members}: kernel {answer}, ours {ours}"));
            }
        }
    }
    assert_eq!(compared, frames.len() * columns.len());
    assert!(differences.is_empty(), "{} of {compared} differ:\n{}", differences.len(), differences.join("\n"));
}

fn column(title: &str) -> Column {
    let [way, policy, members] = title.split(' ').collect::<Vec<_>>()[..] else { panic!("column {title}") };
    Column { forwarded: way == "forwarded", policy: policy.parse().unwrap(), members: members.parse().unwrap() }
}

fn member(column: &Column, bytes: &[u8]) -> u32 {
    let frame = if column.forwarded { Frame::parse_untagged(bytes) } else { Frame::parse(bytes) };
    hash::hash(column.policy, &frame.unwrap()) % column.members
}

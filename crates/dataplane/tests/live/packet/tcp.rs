//! Two hosts with a packet team each; TCP between them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use nicteam_team::{Choose, HashPolicy};
use nicteam_testnet::may_make_networks;

use crate::common::hosts::{packet, pair, pair_plan};
use crate::common::{counters, id};

const BYTES: usize = 32 << 20;
/// Everything that hangs is given up after this; no outcome depends on it.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_stream_arrives_whole_and_in_gso_frames() {
    if !may_make_networks() {
        return;
    }
    let (a, b) = pair();
    let plan = pair_plan(Choose::Hash { policy: HashPolicy::Layer34, table: vec![id(0), id(1)] });
    let (team_a, team_b) = (a.start(packet, &plan), b.start(packet, &plan));

    let listener = b.run(|| TcpListener::bind(("10.9.0.2", 0)).unwrap());
    let to = listener.local_addr().unwrap();
    let sent: Vec<u8> = (0..BYTES).map(|i| (i % 65_521) as u8).collect();
    let mut sender = a.run(|| TcpStream::connect_timeout(&to, PATIENCE).unwrap());
    let mut receiver = listener.accept().unwrap().0;
    sender.set_write_timeout(Some(PATIENCE)).unwrap();
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    let received = thread::scope(|scope| {
        let bytes = &sent;
        scope.spawn(move || sender.write_all(bytes).unwrap());
        let mut received = Vec::with_capacity(BYTES);
        receiver.read_to_end(&mut received).unwrap();
        received
    });
    assert!(received == sent, "{} of {} bytes, or others", received.len(), sent.len());

    let carried = [0, 1].map(|place| counters(&*team_a, place));
    let (bytes, frames) = (carried[0].tx_bytes + carried[1].tx_bytes, carried[0].tx_frames + carried[1].tx_frames);
    assert!(bytes >= BYTES as u64);
    assert!(bytes / frames > 4000, "{frames} frames for {bytes} bytes: no GSO frames");
    a.stop(team_a);
    b.stop(team_b);
}

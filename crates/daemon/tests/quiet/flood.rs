//! More frames for the control side than it can handle: what comes through, what
//! is said of it, and that ordinary processes have their turn.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::aggregate::{aggregating, fast, problems};
use crate::common::{cabled, on_each_dataplane, spec, start, switched};
use nicteam_daemon::{ControlFrames, Happened, RunningTeam, TeamSpec};
use nicteam_sys::packet::{BATCH, Batch, Offload, Outgoing, PacketSocket, Received};
use nicteam_testnet::{SetAtEnd, eventually};
use nicteam_wire::{Hello, HelloKind, Lacpdu, Mac, Marker, MarkerKind, PortInfo};

/// Frames a second; many more than are handled of any kind.
const FLOOD: u64 = 20_000;
const FLOODED: Duration = Duration::from_secs(1);

/// Sends these frames over and over while `meanwhile` goes on; how many.
fn flooded(by: &PacketSocket, frames: &[Vec<u8>], meanwhile: impl FnOnce()) -> u64 {
    let (done, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut batch = Batch::new();
    for frame in frames.iter().cycle().take(BATCH) {
        assert!(batch.push(Received { bytes: frame, tag: None, offload: Offload::default() }));
    }
    let queue: Vec<Outgoing> = (0..BATCH).map(|place| Outgoing { place, ..Outgoing::default() }).collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            while !done.load(Relaxed) {
                while sent.load(Relaxed) < start.elapsed().as_micros() as u64 * FLOOD / 1_000_000 {
                    sent.fetch_add(by.send(&batch, &queue).frames, Relaxed);
                }
                thread::sleep(Duration::from_micros(500));
            }
        });
        // Also after a panic, or the sender would go on for ever.
        let _end = SetAtEnd(&done);
        meanwhile();
    });
    sent.load(Relaxed)
}

/// What a team says of a kind of frames.
fn frames_of(team: &RunningTeam, kind: &str) -> ControlFrames {
    let all = team.handle().status().unwrap().control_frames;
    all.into_iter().find(|frames| frames.kind == kind).unwrap()
}

/// The scheduling policy of the thread of a team of this process.
fn policy(team: &str) -> String {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let stats = tasks.filter_map(|task| fs::read_to_string(task.path().join("stat")).ok());
    let mut stats = stats.filter_map(|stat| {
        let (head, rest) = stat.rsplit_once(") ")?;
        head.ends_with(&format!("(team {team}")).then(|| rest.split(' ').nth(38).unwrap().to_owned())
    });
    stats.next().unwrap()
}

const ORDINARY: &str = "0";
const ROUND_ROBIN: &str = "2";

#[test]
fn a_flood_of_hellos_is_said_and_makes_the_thread_an_ordinary_one() {
    on_each_dataplane(|kind| {
        let (a, b, mut switch) = switched(2);
        let keyed = || spec(&[("mode", "stripe"), ("stripe_key", "nicteam-flood-key")], kind);
        let team = start(&a, TeamSpec { name: "flooded".to_owned(), ..keyed() }).unwrap();
        let _peer = start(&b, keyed()).unwrap();
        let paths_work = || {
            let peers = team.handle().status().unwrap().peers;
            matches!(&peers[..], [peer] if peer.working() == 2 && peer.paths.len() == 2)
        };
        eventually("all paths", paths_work);
        let before = policy("flooded");
        // A striping team that has another key, and says a lot.
        let stranger = Mac([2, 0, 0, 0, 9, 9]);
        let hello = Hello {
            kind: HelloKind::Announce,
            system: 0x0909,
            sequence: 1,
            team: stranger,
            place: 0,
            stamp: 0,
            next_ms: 1000,
            takes_rtags: true,
            rivals: 0,
            members: Vec::new(),
        };
        let tagged = Hello::frame_of(&hello.encode_tagged(|_| [7; Hello::TAG]), Hello::GROUP, stranger);
        let mut seen = None;
        let sent = flooded(&switch.host.packet_socket("a0"), &[tagged], || {
            thread::sleep(FLOODED);
            let flood = "a flood of hellos comes to eth0";
            eventually("it is said", || problems(&team).contains(flood));
            assert!(paths_work(), "{kind}");
            seen = Some((policy("flooded"), frames_of(&team, "hellos"), frames_of(&team, "echoes")));
        });
        let (during, hellos, echoes) = seen.unwrap();
        let before_and_during = if before == ROUND_ROBIN { [ROUND_ROBIN, ORDINARY] } else { [ORDINARY, ORDINARY] };
        assert_eq!([&before[..], &during[..]], before_and_during, "{kind}");
        eprintln!("{kind}: {sent} sent, {hellos:?}, {echoes:?}");
        assert_eq!((&hellos.flooded[..], echoes.dropped), (&["eth0".to_owned()][..], 0), "{kind}");
        assert!(hellos.dropped > hellos.handled && hellos.handled < sent / 3, "{kind}: {sent} sent, {hellos:?}");
        assert!(hellos.dropped < sent * 3, "{kind}: {sent} sent, {hellos:?}");
        eventually("it is over", || frames_of(&team, "hellos").flooded.is_empty());
        assert_eq!(policy("flooded"), before, "{kind}");
        assert!(!problems(&team).contains("flood"), "{kind}");
        let said = team.handle().journal().after(0).into_iter().filter_map(|entry| match entry.happened {
            Happened::Flood { member, kind, begins } => Some((member, kind, begins)),
            _ => None,
        });
        let of_eth0 = |begins| ("eth0".to_owned(), "hellos".to_owned(), begins);
        assert_eq!(said.collect::<Vec<_>>(), [of_eth0(true), of_eth0(false)], "{kind}");
    });
}

#[test]
fn a_lacp_partner_is_kept_among_garbage_and_a_flood_of_markers() {
    on_each_dataplane(|kind| {
        let (a, mut b) = cabled();
        let members = ["eth0", "eth1"];
        let teams = [&a, &b].map(|host| start(host, fast(&members, &[], kind)).unwrap());
        let aggregate = || teams.iter().all(|team| aggregating(team) == [true, true]);
        eventually("both aggregate", aggregate);
        let generations = || teams.each_ref().map(|team| team.handle().status().unwrap().generation);
        let before = generations();
        let partner = Mac(b.link("eth0").mac);
        let info = PortInfo { system: partner, port: 1, ..PortInfo::default() };
        let garbage = |at: usize| {
            let mut frame = Lacpdu::new(info, info).frame(partner);
            frame[at] ^= 0x55;
            frame
        };
        let marker = Marker { kind: MarkerKind::Information, port: 1, system: partner, transaction: 1 };
        let stranger = Mac([2, 0, 0, 0, 9, 9]);
        // The subtype, and the lengths of the actor and the partner.
        let frames = [garbage(14), garbage(17), garbage(37), marker.frame(stranger)];
        let sent = flooded(&b.packet_socket("eth0"), &frames, || {
            // A partner that is not heard is left after three seconds.
            thread::sleep(FLOODED * 4);
            assert!(aggregate(), "{kind}");
        });
        assert_eq!(generations(), before, "{kind}: a port was left");
        let (lacp, markers) = (frames_of(&teams[0], "LACPDUs"), frames_of(&teams[0], "markers"));
        eprintln!("{kind}: {sent} sent, {lacp:?}, {markers:?}");
        assert_eq!((lacp.dropped, &lacp.flooded[..]), (0, &[][..]), "{kind}");
        assert_eq!(markers.flooded, ["eth0"], "{kind}");
        assert!(markers.handled < 1000 && markers.dropped > markers.handled, "{kind}: {sent} sent, {markers:?}");
    });
}

//! A target that ends a write before it has all the data, which real ones do when they are busy; tgt does not.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use nicteam_iscsi::{Buffer, Event, Isid, Library, Login, Outcome};
use nix::sys::socket::{setsockopt, sockopt};

use super::common::{Pair, content};

const WRITE: usize = 256 << 10;
const SEGMENT: usize = 8192;

/// A basic header segment: the operation code, flags, and whose task it is about.
fn header(opcode: u8, flags: u8, itt: [u8; 4], data: usize) -> [u8; 48] {
    let mut header = [0; 48];
    (header[0], header[1]) = (opcode, flags);
    header[4..8].copy_from_slice(&u32::try_from(data).unwrap().to_be_bytes());
    header[16..20].copy_from_slice(&itt);
    // StatSN; the next command is 1, and the last that may come is 100.
    header[24..36].copy_from_slice(&[0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 100]);
    header
}

/// Reads a PDU: its header and its data.
fn pdu(stream: &mut TcpStream) -> ([u8; 48], Vec<u8>) {
    let mut header = [0; 48];
    stream.read_exact(&mut header).unwrap();
    let length = u32::from_be_bytes(header[4..8].try_into().unwrap()) as usize;
    let mut data = vec![0; length.next_multiple_of(4)];
    stream.read_exact(&mut data).unwrap();
    data.truncate(length);
    (header, data)
}

fn itt(header: &[u8; 48]) -> [u8; 4] {
    header[16..20].try_into().unwrap()
}

/// Takes a login and the first PDU of a write, answers that so (opcode 21h), and reads the rest when it is told to: what it
/// read.
fn target(listener: &TcpListener, go_on: &Receiver<()>, end: Answer) -> Vec<u8> {
    let (mut stream, _) = listener.accept().unwrap();
    let (login, _) = pdu(&mut stream);
    let keys =
        format!("InitialR2T=No\0ImmediateData=Yes\0FirstBurstLength={WRITE}\0MaxRecvDataSegmentLength={SEGMENT}\0");
    // To the full feature phase.
    let mut answer = header(0x23, 0x87, itt(&login), keys.len());
    answer[8..14].copy_from_slice(&login[8..14]);
    let padded = keys.into_bytes();
    let padding = vec![0; padded.len().next_multiple_of(4) - padded.len()];
    stream.write_all(&[&answer[..], &padded, &padding].concat()).unwrap();

    let (command, mut data) = pdu(&mut stream);
    assert_eq!((command[0] & 0x3f, data.len()), (0x01, SEGMENT), "a command with immediate data");
    // The length of the sense data, the data, and padding.
    let mut sense = [0; 20];
    (sense[1], sense[2], sense[4], sense[9], sense[14]) = (18, 0x70, 6, 10, 0x29);
    let (status, sense) = if end == Answer::UnitAttention { (2, &sense[..]) } else { (0, &[][..]) };
    let mut answer = header(0x21, 0x80, itt(&command), sense.len());
    answer[3] = status;
    stream.write_all(&[&answer[..], sense].concat()).unwrap();

    go_on.recv().unwrap();
    while data.len() < WRITE {
        let (header, more) = pdu(&mut stream);
        assert_eq!((header[0] & 0x3f, itt(&header)), (0x05, itt(&command)), "data of the write");
        data.extend(more);
    }
    data
}

/// How it answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    UnitAttention,
    Good,
}

/// A session with it, and a write that it answers before it has all the data; what the target has read at the end.
struct World {
    pair: Pair,
    go_on: Sender<()>,
    target: JoinHandle<Vec<u8>>,
    written: Buffer,
}

fn world_or_skip(end: Answer) -> Option<World> {
    let library = Library::open().map_err(|absent| eprintln!("SKIPPED: {absent}")).ok()?;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    setsockopt(&listener, sockopt::RcvBuf, &4096).unwrap();
    let portal = listener.local_addr().unwrap();
    let (go_on, told) = channel();
    let target = std::thread::spawn(move || target(&listener, &told, end));

    let login = Login::new(portal, "iqn.2026-01.test:impatient", 0, "iqn.2026-01.test:host", Isid::new(1, 1));
    let mut pair = Pair::begin(&library, Login { security_stage: false, ..login });
    pair.logged_in();
    setsockopt(&pair.session.fd().unwrap(), sockopt::SndBuf, &4096).unwrap();
    let written = content(5, WRITE);
    pair.session.write(1, 0, written.clone());
    Some(World { pair, go_on, target, written })
}

#[test]
fn a_write_keeps_its_buffer_until_its_data_is_sent() {
    let Some(World { mut pair, go_on, target, written }) = world_or_skip(Answer::UnitAttention) else { return };
    assert_eq!(pair.next_within(Duration::from_millis(100)), None, "its data is queued");
    assert_eq!(pair.session.outstanding(), 1);
    go_on.send(()).unwrap();
    let (buffer, outcome) = pair.done(1);
    assert_eq!(outcome, Outcome::UnitAttention { asc: 0x29, ascq: 0 });
    assert!(buffer.as_ref() == Some(&written));
    assert_eq!(pair.session.outstanding(), 0);
    assert!(target.join().unwrap() == *written, "the target got other bytes");
}

#[test]
fn a_write_that_is_done_before_its_data_is_sent_leaves_its_memory_alone() {
    let Some(World { mut pair, go_on, target, written }) = world_or_skip(Answer::Good) else { return };
    let (buffer, outcome) = pair.done(1);
    assert_eq!((outcome, pair.session.outstanding()), (Outcome::Good, 0));
    // The owner of the buffer may use it, or free it, at once.
    let mut buffer = buffer.unwrap();
    assert_eq!(buffer.len(), WRITE);
    buffer.fill(0xff);
    drop(buffer);
    let others: Vec<Buffer> = (0..16).map(|_| Buffer::from(vec![0xee; WRITE])).collect();
    go_on.send(()).unwrap();
    while !target.is_finished() {
        let event = pair.next_within(Duration::from_millis(10));
        // It closes the connection once it has all.
        assert!(matches!(event, None | Some(Event::Broken { .. })), "{event:?}");
    }
    assert!(target.join().unwrap() == *written, "the target got what others wrote into that memory");
    drop(others);
}

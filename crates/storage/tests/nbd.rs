//! The NBD export, by the programs that people use and by bytes that none of them sends.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use nicteam_storage::Watch;
use nicteam_storage::nbd::{Address, Server};
use nix::poll::PollFlags;
use nix::sys::eventfd::EventFd;

use crate::common::memory::Memory;
use crate::common::{Folder, has_programs, output};

const SIZE: usize = 64 << 20;
/// The longest read or write that is taken.
const LONGEST: u32 = 32 << 20;

/// Serves a volume while `clients` run; what became of it.
fn serve(address: &Address, mut volume: Memory, clients: impl FnOnce() + Send) -> Memory {
    let mut server = Server::bind(address, "disk", &volume).unwrap();
    let stop = EventFd::new().unwrap();
    thread::scope(|scope| {
        let clients = scope.spawn(|| {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(clients));
            stop.write(1).unwrap();
            result
        });
        let mut others = [Watch::new(stop.as_fd(), PollFlags::POLLIN)];
        while others[0].found.is_empty() {
            server.turn(&mut volume, None, &mut others).unwrap();
        }
        if let Err(panic) = clients.join().unwrap() {
            std::panic::resume_unwind(panic);
        }
    });
    volume
}

#[test]
fn fio_verifies_what_it_wrote_by_several_connections() {
    if !has_programs(&["fio"]) {
        return;
    }
    let folder = Folder::new("nbd-fio");
    let socket = folder.file("socket");
    let volume = serve(&Address::Unix(socket.clone()), Memory::new(SIZE), || {
        let uri = format!("--uri=nbd+unix:///disk?socket={}", socket.display());
        let jobs = ["--name=mixed", "--ioengine=nbd", "--rw=randrw", "--bs=512-128k", "--iodepth=32", "--size=16m"];
        let check = ["--numjobs=2", "--offset_increment=16m", "--verify=crc32c", "--fsync=20", "--thread"];
        let told = output(Command::new("fio").args(jobs).args(check).arg(&uri).current_dir(&folder.0));
        assert!(told.contains("err= 0"), "{told}");
    });
    assert!(volume.flushes > 0 && volume.most_outstanding > 8, "{} {}", volume.flushes, volume.most_outstanding);
    assert!(!socket.exists(), "the socket goes with its server");
}

#[test]
fn qemu_img_reads_the_whole_disk_over_tcp() {
    if !has_programs(&["qemu-img"]) {
        return;
    }
    let folder = Folder::new("nbd-qemu");
    let copy = folder.file("copy");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut volume = Memory::new(SIZE);
    nicteam_storage::Pattern::new(1).fill(0, 0, &mut volume.content);
    let volume = serve(&Address::Tcp(port), volume, || {
        let url = format!("nbd://{port}/disk");
        let told = output(Command::new("qemu-img").args(["info", &url]));
        assert!(told.contains("64 MiB (67108864 bytes)"), "{told}");
        output(Command::new("qemu-img").args(["convert", "-O", "raw", &url]).arg(&copy));
    });
    assert!(std::fs::read(&copy).unwrap() == volume.content);
}

/// A client of our own, which asks for whatever it likes.
struct Client(UnixStream);

impl Client {
    fn new(socket: &std::path::Path) -> Client {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).unwrap();
        assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
        stream.write_all(&3_u32.to_be_bytes()).unwrap();
        stream.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0").unwrap();
        let mut export = [0; 10];
        stream.read_exact(&mut export).unwrap();
        assert_eq!(export[..8], (SIZE as u64).to_be_bytes());
        Client(stream)
    }

    fn ask(&mut self, command: u16, offset: u64, length: u32, data: &[u8]) {
        self.0.write_all(&Client::request(command, offset, length, data)).unwrap();
    }

    /// A request, whose number is its command.
    fn request(command: u16, offset: u64, length: u32, data: &[u8]) -> Vec<u8> {
        let mut request = 0x2560_9513_u32.to_be_bytes().to_vec();
        request.extend(u32::from(command).to_be_bytes());
        request.extend(u64::from(command).to_be_bytes());
        request.extend(offset.to_be_bytes());
        request.extend(length.to_be_bytes());
        request.extend(data);
        request
    }

    /// The error of the next reply, and whose it is.
    fn reply(&mut self) -> (u32, u64) {
        let mut header = [0; 16];
        self.0.read_exact(&mut header).unwrap();
        assert_eq!(header[..4], 0x6744_6698_u32.to_be_bytes());
        let number =
            |range: std::ops::Range<usize>| header[range].iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
        (number(4..8) as u32, number(8..16))
    }

    fn is_closed(&mut self) -> bool {
        match self.0.read(&mut [0; 1]) {
            Ok(count) => count == 0,
            // Nothing comes, and it is open.
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        }
    }
}

#[test]
fn what_is_not_offered_or_not_there_is_refused_in_its_own_words() {
    let folder = Folder::new("nbd-refused");
    let socket = folder.file("socket");
    let mut volume = Memory::new(SIZE);
    volume.broken_at = Some(8192);
    serve(&Address::Unix(socket.clone()), volume, || {
        let mut client = Client::new(&socket);
        let (read, write, disconnect, trim, write_zeroes) = (0, 1, 2, 4, 6);
        for (command, offset, length, data, error) in [
            (trim, 0, 4096, 0, 95),
            (write_zeroes, 0, 4096, 0, 95),
            (read, SIZE as u64 - 512, 1024, 0, 22),
            (read, 100, 512, 0, 22),
            (read, u64::MAX, 512, 0, 22),
            (read, 0, LONGEST + 512, 0, 22),
            (read, 0, 0, 0, 22),
            (write, SIZE as u64, 512, 512, 22),
            (write, 8192, 512, 512, 5),
            (read, 8192, 512, 0, 5),
            (write, 4096, 512, 512, 0),
        ] {
            client.ask(command, offset, length, &vec![1; data]);
            assert_eq!(client.reply(), (error, u64::from(command)), "{command} {offset} {length}");
        }
        // Many at once, and the last one leaves: each is answered first.
        for _ in 0..100 {
            client.ask(read, 4096, 512, &[]);
        }
        client.ask(disconnect, 0, 0, &[]);
        for _ in 0..100 {
            assert_eq!(client.reply(), (0, 0));
            let mut data = [0; 512];
            client.0.read_exact(&mut data).unwrap();
            assert_eq!(data, [1; 512]);
        }
        assert!(client.is_closed());
        // Who breaks a rule is disconnected, and others stay.
        let (mut good, mut bad) = (Client::new(&socket), Client::new(&socket));
        bad.0.write_all(&[0; 28]).unwrap();
        assert!(bad.is_closed());
        good.ask(write, 0, 512, &[2; 512]);
        assert_eq!(good.reply(), (0, 1));
        // Its data would have to be read, for nothing.
        let mut long = Client::new(&socket);
        long.ask(write, 0, LONGEST + 512, &[]);
        assert!(long.is_closed());
        // A write that never becomes whole is never made.
        let mut half = Client::new(&socket);
        half.ask(write, 0, 512, &[3; 100]);
        drop(half);
        good.ask(read, 0, 512, &[]);
        assert_eq!(good.reply(), (0, 0));
        let mut data = [0; 512];
        good.0.read_exact(&mut data).unwrap();
        assert_eq!(data, [2; 512]);
    });
}

#[test]
fn a_client_that_does_not_wait_for_the_handshake_loses_nothing() {
    let folder = Folder::new("nbd-early");
    let socket = folder.file("socket");
    let volume = serve(&Address::Unix(socket.clone()), Memory::new(SIZE), || {
        let mut said = 3_u32.to_be_bytes().to_vec();
        said.extend(b"IHAVEOPT\0\0\0\x01\0\0\0\0");
        said.extend(Client::request(1, 512, 1024, &[7; 1024]));
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(&said).unwrap();
        stream.read_exact(&mut [0; 18 + 10]).unwrap();
        assert_eq!(Client(stream).reply(), (0, 1));
    });
    assert!(volume.content[512..1536].iter().all(|byte| *byte == 7) && volume.content[1536] == 0);
}

#[test]
fn a_client_with_much_outstanding_is_not_read_from() {
    let folder = Folder::new("nbd-much");
    let socket = folder.file("socket");
    let mut volume = Memory::new(SIZE);
    volume.is_stuck = true;
    let mut server = Server::bind(&Address::Unix(socket.clone()), "disk", &volume).unwrap();
    let client = thread::spawn(move || {
        let mut client = Client::new(&socket);
        (0..70).for_each(|_| client.ask(0, 0, 1 << 20, &[]));
        client
    });
    while !client.is_finished() {
        server.turn(&mut volume, Some(Duration::from_millis(1)), &mut []).unwrap();
    }
    let mut client = client.join().unwrap();
    (0..20).for_each(|_| server.turn(&mut volume, Some(Duration::from_millis(1)), &mut []).unwrap());
    assert_eq!(volume.most_outstanding, 64, "64 MiB");
    // What is done, or refused, is outstanding no more.
    volume.is_stuck = false;
    let mut data = vec![0; 1 << 20];
    let client = thread::spawn(move || {
        for _ in 0..70 {
            assert_eq!(client.reply(), (0, 0));
            client.0.read_exact(&mut data).unwrap();
        }
        for _ in 0..70 {
            client.ask(1, SIZE as u64, 1 << 20, &data);
            assert_eq!(client.reply(), (22, 1));
        }
    });
    while !client.is_finished() {
        server.turn(&mut volume, Some(Duration::from_millis(1)), &mut []).unwrap();
    }
    client.join().unwrap();
}

#[test]
fn a_flush_that_fails_is_said_to_each_client_once() {
    let folder = Folder::new("nbd-flush");
    let socket = folder.file("socket");
    let mut volume = Memory::new(SIZE);
    volume.failing_flushes = 1;
    serve(&Address::Unix(socket.clone()), volume, || {
        let (mut one, mut other) = (Client::new(&socket), Client::new(&socket));
        let flush = |client: &mut Client| {
            client.ask(3, 0, 0, &[]);
            client.reply()
        };
        // What could not be written may have been the other one's.
        assert_eq!((flush(&mut one), flush(&mut other)), ((5, 3), (5, 3)));
        assert_eq!((flush(&mut one), flush(&mut other)), ((0, 3), (0, 3)));
        assert_eq!(flush(&mut Client::new(&socket)), (0, 3));
    });
}

#[test]
fn a_client_that_has_left_is_not_looked_at_while_its_requests_are_under_way() {
    let folder = Folder::new("nbd-left");
    let socket = folder.file("socket");
    let mut volume = Memory::new(SIZE);
    volume.is_stuck = true;
    let mut server = Server::bind(&Address::Unix(socket.clone()), "disk", &volume).unwrap();
    let client = thread::spawn(move || {
        let mut client = Client::new(&socket);
        client.ask(0, 0, 512, &[]);
        client.ask(2, 0, 0, &[]);
    });
    while !client.is_finished() {
        server.turn(&mut volume, Some(Duration::from_millis(1)), &mut []).unwrap();
    }
    client.join().unwrap();
    let begun = Instant::now();
    (0..20).for_each(|_| server.turn(&mut volume, Some(Duration::from_millis(5)), &mut []).unwrap());
    assert!(begun.elapsed() > Duration::from_millis(50), "it waits: {:?}", begun.elapsed());
    assert_eq!(server.clients(), 1, "its request is under way");
    volume.is_stuck = false;
    (0..2).for_each(|_| server.turn(&mut volume, Some(Duration::from_millis(5)), &mut []).unwrap());
    assert_eq!(server.clients(), 0);
}

#[test]
fn a_socket_that_was_left_is_replaced_and_one_in_use_is_not() {
    let folder = Folder::new("nbd-socket");
    let address = Address::Unix(folder.file("socket"));
    drop(std::os::unix::net::UnixListener::bind(folder.file("socket")).unwrap());
    let volume = Memory::new(SIZE);
    let server = Server::bind(&address, "disk", &volume).unwrap();
    let refused = Server::bind(&address, "disk", &volume).unwrap_err().to_string();
    assert!(refused.contains("cannot listen on") && refused.contains("in use"), "{refused}");
    drop(server);
    std::fs::write(folder.file("socket"), "precious").unwrap();
    assert!(Server::bind(&address, "disk", &volume).is_err());
    assert_eq!(std::fs::read_to_string(folder.file("socket")).unwrap(), "precious");
}

//! A file of a real NFS server (nfs-ganesha) as a volume.

use std::time::{Duration, Instant};

use nicteam_storage::{Buffer, Done, Error, Kind, NfsFile, NfsSpec, Operation, Volume};
use nicteam_testnet::Host;

use crate::common::nfs::Server;
use crate::common::work::Work;

const BYTES: u64 = 32 << 20;

/// A host with a server; the test's thread moves there.
fn server(limits: &str) -> Option<(Host, Server)> {
    if !nicteam_testnet::may_make_networks() {
        return None;
    }
    let mut host = Host::quiet();
    host.set_up("lo", true);
    let server = Server::start_or_skip(&host, BYTES, limits)?;
    host.netns.enter().unwrap();
    Some((host, server))
}

/// Opens the file once the server is ready.
#[track_caller]
fn open(spec: &NfsSpec) -> NfsFile {
    let start = Instant::now();
    loop {
        match NfsFile::open(spec) {
            Ok(file) => return file,
            Err(error) => assert!(start.elapsed() < Duration::from_secs(30), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Does one operation.
#[track_caller]
fn one(file: &mut NfsFile, kind: Kind, offset: u64, buffer: Buffer) -> Done {
    file.submit(Operation { id: 1, kind, offset, buffer }).unwrap();
    let start = Instant::now();
    loop {
        if let Some(done) = file.next_done() {
            return done;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "nothing is done");
        file.wait(Some(Duration::from_millis(100)), &mut []).unwrap();
    }
}

#[test]
fn what_is_written_is_in_the_file_and_is_read() {
    let Some((_host, server)) = server("") else { return };
    let mut file = open(&Server::spec("127.0.0.1"));
    assert_eq!(file.bytes(), BYTES);
    let mut work = Work::new(&file, 64 << 10, 32);
    work.write(&mut file, |done| done >= 1000);
    assert!(work.written >= 1000 && work.failed == 0, "{:?}", work.last_error);
    assert_eq!(one(&mut file, Kind::Flush, 0, Buffer::default()).result, Ok(()));
    work.verify(&mut file);
    work.verify_file(&server.file());
}

#[test]
fn an_operation_larger_than_the_server_takes_is_cut_into_calls() {
    let Some((_host, server)) = server("MaxRead = 65536; MaxWrite = 32768;") else { return };
    let mut file = open(&NfsSpec { connections: 4, ..Server::spec("127.0.0.1") });
    assert_eq!((file.limits().read_bytes, file.limits().write_bytes), (65_536, 32_768));
    assert_eq!(file.sockets().count(), 4);
    // Neither a whole number of WRITEs nor of READs.
    let mut work = Work::new(&file, 200 << 10, 8);
    work.write(&mut file, |done| done >= 300);
    work.verify(&mut file);
    work.verify_file(&server.file());
}

#[test]
fn a_file_is_created_with_its_size() {
    let Some((_host, server)) = server("") else { return };
    let spec = NfsSpec { file: "new".to_owned(), create_bytes: Some(1 << 20), ..Server::spec("127.0.0.1") };
    drop(open(&spec));
    assert_eq!(std::fs::metadata(server.file().with_file_name("new")).unwrap().len(), 1 << 20);
    let again = open(&NfsSpec { create_bytes: Some(2 << 20), ..spec.clone() });
    assert_eq!(again.bytes(), 2 << 20);
    let found = open(&NfsSpec { create_bytes: None, ..spec });
    assert_eq!(found.bytes(), 2 << 20);
}

#[test]
fn what_is_not_there_is_named() {
    let Some((_host, _server)) = server("") else { return };
    drop(open(&Server::spec("127.0.0.1")));
    let because = |spec: NfsSpec| match NfsFile::open(&spec) {
        Err(error @ Error::Nfs { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let missing = because(NfsSpec { file: "nothing".to_owned(), ..Server::spec("127.0.0.1") });
    assert!(missing.contains("lookup: no such file or folder"), "{missing}");
    let denied = because(NfsSpec { export: "/secrets".to_owned(), ..Server::spec("127.0.0.1") });
    assert!(denied.contains("mount: "), "{denied}");
    let refused = because(NfsSpec { port: 2050, ..Server::spec("127.0.0.1") });
    assert!(refused.contains("cannot connect to 127.0.0.1:2050"), "{refused}");
    let wrong = because(NfsSpec { port: NfsSpec::MOUNT_PORT, ..Server::spec("127.0.0.1") });
    assert!(wrong.contains("no such program"), "{wrong}");
    let mut file = open(&Server::spec("127.0.0.1"));
    let beyond = Operation { id: 1, kind: Kind::Read, offset: BYTES, buffer: Buffer::new(512) };
    assert!(matches!(file.submit(beyond), Err(Error::Range { .. })));
}

#[test]
fn a_file_that_becomes_shorter_ends_a_read() {
    let Some((_host, server)) = server("") else { return };
    let mut file = open(&Server::spec("127.0.0.1"));
    std::fs::File::options().write(true).open(server.file()).unwrap().set_len(BYTES - 4096).unwrap();
    let reason = one(&mut file, Kind::Read, BYTES - 8192, Buffer::new(8192)).result.unwrap_err().to_string();
    assert!(reason.contains("the file ends before"), "{reason}");
    assert_eq!(one(&mut file, Kind::Read, BYTES - 8192, Buffer::new(4096)).result, Ok(()));
}

#[test]
fn a_killed_server_fails_what_is_outstanding_and_all_that_follows() {
    let Some((host, mut server)) = server("") else { return };
    let mut file = open(&Server::spec("127.0.0.1"));
    for id in 0..32 {
        let operation = Operation { id, kind: Kind::Write, offset: id << 19, buffer: Buffer::new(512 << 10) };
        file.submit(operation).unwrap();
    }
    server.kill();
    let (start, mut ended) = (Instant::now(), 0);
    while file.outstanding() > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "{} are outstanding", file.outstanding());
        file.wait(Some(Duration::from_millis(100)), &mut []).unwrap();
    }
    while let Some(done) = file.next_done() {
        assert_eq!(done.buffer.len(), 512 << 10, "its buffer comes back");
        ended += 1;
    }
    assert_eq!(ended, 32);
    server.restart(&host);
    drop(open(&Server::spec("127.0.0.1")));
    assert!(one(&mut file, Kind::Flush, 0, Buffer::default()).result.is_err(), "a lost connection is not made again");
}

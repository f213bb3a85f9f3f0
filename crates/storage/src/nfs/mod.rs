//! A file of an NFS 3 server as a volume.
//!
//! The client is our own, small as it is: RPC over a nonblocking TCP connection with any number of calls outstanding,
//! as the kernel's client has them. (`nfs3_client` keeps one call outstanding a connection, and allocates by lengths
//! off the wire.) Ports are given, so no portmapper is asked.

mod calls;
mod rpc;
mod xdr;

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use calls::{Handle, Refusal};
pub use rpc::MOST_BYTES;
use rpc::{Connection, Piece};
use xdr::Reader;

use crate::{Done, Error, IoError, Kind, Operation, Volume, Watch, watch};

/// A file of an NFS 3 server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NfsSpec {
    /// The server.
    pub server: IpAddr,
    /// Its port of NFS.
    pub port: u16,
    /// Its port of the mount protocol.
    pub mount_port: u16,
    /// The exported folder.
    pub export: String,
    /// The file's name in that folder.
    pub file: String,
    /// Create the file, or change its size to this, bytes; else it must be there.
    pub create_bytes: Option<u64>,
    /// Connections that the calls are spread over (Linux: `nconnect`), 1 to 16.
    pub connections: usize,
    /// How long the server may say nothing while it is asked for something (default a minute, as Linux's `timeo` over
    /// TCP); then it is lost.
    pub patience: Duration,
}

impl NfsSpec {
    /// The usual port of NFS.
    pub const PORT: u16 = 2049;
    /// The usual port of the mount protocol, where it is a fixed one.
    pub const MOUNT_PORT: u16 = 20_048;
    const MOST_CONNECTIONS: usize = 16;

    /// A file that is there, by one connection to the usual ports.
    pub fn new(server: IpAddr, export: &str, file: &str) -> NfsSpec {
        NfsSpec {
            server,
            port: Self::PORT,
            mount_port: Self::MOUNT_PORT,
            export: export.to_owned(),
            file: file.to_owned(),
            create_bytes: None,
            connections: 1,
            patience: Duration::from_secs(60),
        }
    }
}

/// What a server allows (FSINFO), and this client uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NfsLimits {
    /// Most bytes of a READ.
    pub read_bytes: u32,
    /// Most bytes of a WRITE.
    pub write_bytes: u32,
}

/// A file of an NFS 3 server. See [`Volume`] for what is done with it.
///
/// A flush is a COMMIT; it fails if the server restarted since it was last asked, as what was written may be lost. A
/// connection that is lost is not made again: every operation fails from then on. It works in the network namespace
/// of the thread that opens it.
#[derive(Debug)]
pub struct NfsFile {
    file: Handle,
    bytes: u64,
    limits: NfsLimits,
    connections: Vec<Connection>,
    pending: BTreeMap<u64, Pending>,
    last: u64,
    done: VecDeque<Done>,
    /// The server's last verifier.
    verifier: Option<[u8; 8]>,
    /// It had another before, and no flush has reported that yet.
    is_forgotten: bool,
    /// Why nothing is done any more.
    lost: Option<String>,
    patience: Duration,
    /// When the server last answered, or got a request while nothing was outstanding.
    heard: Instant,
}

/// An operation that is not done.
#[derive(Debug)]
struct Pending {
    operation: Operation,
    begun: Instant,
    /// Calls without an answer.
    calls: usize,
    failed: Option<String>,
}

impl NfsFile {
    /// Bytes of a block: the format has none, programs like this.
    const BLOCK: u32 = 512;
    /// How long a server may take to answer when the file is opened.
    const LONGEST: Duration = Duration::from_secs(10);

    /// Mounts the export, finds or creates the file, and connects.
    ///
    /// # Errors
    /// [`Error::Nfs`] where the server is not there, refuses the export or the file, or its answer makes no sense.
    pub fn open(spec: &NfsSpec) -> Result<NfsFile, Error> {
        NfsFile::try_open(spec).map_err(|reason| Error::Nfs {
            file: spec.file.clone(),
            export: spec.export.clone(),
            server: spec.server,
            reason,
        })
    }

    fn try_open(spec: &NfsSpec) -> Result<NfsFile, String> {
        if !(1..=NfsSpec::MOST_CONNECTIONS).contains(&spec.connections) {
            return Err(format!("{} connections are not 1 to {}", spec.connections, NfsSpec::MOST_CONNECTIONS));
        }
        let mut mount = connect(spec.server, spec.mount_port, calls::MOUNT)?;
        let folder = ask(&mut mount, "mount", calls::MNT, &calls::mount(&spec.export), calls::mounted)?;
        let connections: Result<Vec<_>, _> =
            (0..spec.connections).map(|_| connect(spec.server, spec.port, calls::NFS)).collect();
        let mut connections = connections?;
        let first = &mut connections[0];
        let (file, bytes) = find(first, &folder, spec)?;
        let (read, write) = ask(first, "fsinfo", calls::FSINFO, &calls::fsinfo(&file), calls::sizes)?;
        let usable = |what: &str, bytes: u32| {
            let whole = bytes.min(MOST_BYTES) / Self::BLOCK * Self::BLOCK;
            if whole == 0 { Err(format!("the server allows only {bytes} bytes of a {what}")) } else { Ok(whole) }
        };
        Ok(NfsFile {
            file,
            bytes: bytes / u64::from(Self::BLOCK) * u64::from(Self::BLOCK),
            limits: NfsLimits { read_bytes: usable("READ", read)?, write_bytes: usable("WRITE", write)? },
            connections,
            pending: BTreeMap::new(),
            last: 0,
            done: VecDeque::new(),
            verifier: None,
            is_forgotten: false,
            lost: None,
            patience: spec.patience,
            heard: Instant::now(),
        })
    }

    /// What the server allows.
    pub fn limits(&self) -> NfsLimits {
        self.limits
    }

    /// The connections: for `TCP_INFO`.
    pub fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.connections.iter().map(Connection::fd)
    }

    /// Operations that are not done.
    pub fn outstanding(&self) -> usize {
        self.pending.len()
    }

    /// Makes the calls for so many bytes of an operation from `start` on.
    fn call(&mut self, number: u64, start: usize, bytes: usize) {
        let Some(pending) = self.pending.get_mut(&number) else { return };
        let (kind, offset) = (pending.operation.kind, pending.operation.offset);
        let most = match kind {
            Kind::Read => self.limits.read_bytes,
            Kind::Write | Kind::Flush => self.limits.write_bytes,
        } as usize;
        let end = start + bytes;
        // A flush has one call, without bytes.
        for start in (start..end.max(start + 1)).step_by(most) {
            let piece = Piece { operation: number, start, bytes: most.min(end - start) };
            let (offset, count) = (offset + piece.start as u64, piece.bytes as u32);
            let (procedure, arguments) = match kind {
                Kind::Read => (calls::READ, calls::read(&self.file, offset, count)),
                Kind::Write => (calls::WRITE, calls::write(&self.file, offset, count)),
                Kind::Flush => (calls::COMMIT, calls::commit(&self.file)),
            };
            pending.calls += 1;
            let idlest = self.connections.iter_mut().min_by_key(|connection| connection.outstanding());
            if let Some(connection) = idlest {
                connection.call(procedure, &arguments, piece, kind == Kind::Write);
            }
        }
    }

    /// Sends what the connections take.
    fn send(&mut self) {
        let pending = &self.pending;
        let data = |piece: Piece| {
            let buffer = pending.get(&piece.operation).map_or(&[][..], |pending| &pending.operation.buffer);
            buffer.get(piece.start..piece.start + piece.bytes).unwrap_or_default()
        };
        let failed = self.connections.iter_mut().find_map(|connection| connection.send(data).err());
        if let Some(error) = failed {
            self.lose(&error.to_string());
        }
    }

    /// Takes what has come.
    fn receive(&mut self, ready: &[bool]) {
        let mut again = Vec::new();
        let mut failed = None;
        for (connection, _) in self.connections.iter_mut().zip(ready).filter(|(_, ready)| **ready) {
            let (pending, verifier, is_forgotten) = (&mut self.pending, &mut self.verifier, &mut self.is_forgotten);
            let result = connection.receive(|piece, answer| {
                let Some(operation) = pending.get_mut(&piece.operation) else { return };
                operation.calls -= 1;
                let mut server = Server { verifier, is_forgotten };
                match operation.answered(piece, answer, &mut server) {
                    Ok(bytes) if bytes < piece.bytes => again.push((piece, bytes)),
                    Ok(_) => {}
                    Err(reason) => operation.failed = operation.failed.take().or(Some(reason)),
                }
            });
            failed = failed.or(result.err());
        }
        for (piece, bytes) in again {
            self.call(piece.operation, piece.start + bytes, piece.bytes - bytes);
        }
        match failed {
            Some(error) => self.lose(&error.to_string()),
            None => self.finish(),
        }
    }

    /// Ends operations that have all their answers.
    fn finish(&mut self) {
        let ended: Vec<u64> =
            self.pending.iter().filter(|(_, pending)| pending.calls == 0).map(|(at, _)| *at).collect();
        self.done.extend(ended.iter().filter_map(|at| self.pending.remove(at)).map(Pending::end));
    }

    /// Ends everything.
    fn lose(&mut self, reason: &str) {
        self.lost.get_or_insert_with(|| reason.to_owned());
        self.connections.clear();
        for (_, mut pending) in std::mem::take(&mut self.pending) {
            pending.failed.get_or_insert_with(|| reason.to_owned());
            self.done.push_back(pending.end());
        }
    }
}

impl Volume for NfsFile {
    fn block_bytes(&self) -> u32 {
        Self::BLOCK
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn submit(&mut self, operation: Operation) -> Result<(), Error> {
        operation.check(Self::BLOCK, self.bytes)?;
        let bytes = if operation.kind == Kind::Flush { 0 } else { operation.buffer.len() };
        let pending = Pending { operation, begun: Instant::now(), calls: 0, failed: self.lost.clone() };
        if pending.failed.is_some() {
            self.done.push_back(pending.end());
            return Ok(());
        }
        if self.pending.is_empty() {
            self.heard = Instant::now();
        }
        self.last += 1;
        self.pending.insert(self.last, pending);
        self.call(self.last, 0, bytes);
        self.send();
        Ok(())
    }

    fn wait(&mut self, limit: Option<Duration>, others: &mut [Watch<'_>]) -> Result<(), Error> {
        let limit = if self.done.is_empty() { limit } else { Some(Duration::ZERO) };
        let silence_ends = (!self.pending.is_empty()).then(|| self.patience.saturating_sub(self.heard.elapsed()));
        let mut own: Vec<Watch<'_>> = self.connections.iter().map(Connection::watch).collect();
        watch::wait(limit.into_iter().chain(silence_ends).min(), &mut own, others)?;
        let ready: Vec<bool> = own.iter().map(|watch| !watch.found.is_empty()).collect();
        // That there is room to send in says that the server takes what it is sent.
        if ready.contains(&true) {
            self.heard = Instant::now();
            self.receive(&ready);
            self.send();
        } else if !self.pending.is_empty() && self.heard.elapsed() >= self.patience {
            self.lose(&format!("no answer of the server for {:.0} s", self.patience.as_secs_f64()));
        }
        Ok(())
    }

    fn next_done(&mut self) -> Option<Done> {
        self.done.pop_front()
    }
}

/// What is known of the server by its verifiers, which it changes when it restarts.
struct Server<'a> {
    verifier: &'a mut Option<[u8; 8]>,
    is_forgotten: &'a mut bool,
}

impl Server<'_> {
    fn says(&mut self, verifier: [u8; 8]) {
        *self.is_forgotten |= self.verifier.replace(verifier).is_some_and(|known| known != verifier);
    }

    /// It says that what was written is on its medium.
    fn has_committed(&mut self, verifier: [u8; 8]) -> Result<(), String> {
        self.says(verifier);
        let reason = "the server restarted: what was written since the last flush may be lost";
        if std::mem::take(self.is_forgotten) { Err(reason.to_owned()) } else { Ok(()) }
    }
}

impl Pending {
    /// Takes an answer: how many bytes of the piece are done.
    fn answered(
        &mut self,
        piece: Piece,
        answer: Result<Reader<'_>, String>,
        server: &mut Server<'_>,
    ) -> Result<usize, String> {
        let words = |refusal: Refusal| refusal.to_string();
        let answer = answer?;
        match self.operation.kind {
            Kind::Read => {
                let (data, is_end) = calls::read_data(answer, piece.bytes).map_err(words)?;
                if data.is_empty() || (is_end && data.len() < piece.bytes) {
                    return Err("the file ends before".to_owned());
                }
                self.operation.buffer[piece.start..][..data.len()].copy_from_slice(data);
                Ok(data.len())
            }
            Kind::Write => {
                let (count, verifier) = calls::written(answer).map_err(words)?;
                server.says(verifier);
                // A write of no bytes would be made again for ever; and the rest must be whole words.
                match usize::try_from(count) {
                    Ok(count) if (1..=piece.bytes).contains(&count) && count.is_multiple_of(4) => Ok(count),
                    _ => Err(format!("the server wrote {count} of {} bytes", piece.bytes)),
                }
            }
            Kind::Flush => {
                server.has_committed(calls::committed(answer).map_err(words)?)?;
                Ok(0)
            }
        }
    }

    fn end(self) -> Done {
        let Pending { operation, begun, failed, .. } = self;
        let result = failed.map_or(Ok(()), |reason| Err(IoError { what: operation.words(), reason }));
        Done { id: operation.id, buffer: operation.buffer, result, took: begun.elapsed() }
    }
}

fn connect(server: IpAddr, port: u16, program: u32) -> Result<Connection, String> {
    let server = SocketAddr::new(server, port);
    Connection::open(server, program, NfsFile::LONGEST).map_err(|error| format!("cannot connect to {server}: {error}"))
}

fn ask<T>(
    connection: &mut Connection,
    what: &str,
    procedure: u32,
    arguments: &[u8],
    then: impl Fn(Reader<'_>) -> Result<T, Refusal>,
) -> Result<T, String> {
    match connection.ask(procedure, arguments, NfsFile::LONGEST, then)? {
        Ok(answer) => Ok(answer),
        Err(refusal) => Err(format!("{what}: {refusal}")),
    }
}

/// Finds or creates the file: its handle, and its size in bytes.
fn find(connection: &mut Connection, folder: &Handle, spec: &NfsSpec) -> Result<(Handle, u64), String> {
    let name = &calls::lookup(folder, &spec.file);
    let mut found = connection.ask(calls::LOOKUP, name, NfsFile::LONGEST, calls::looked_up)?;
    if found == Err(Refusal::Status(calls::NO_ENTRY)) && spec.create_bytes.is_some() {
        ask(connection, "create", calls::CREATE, &calls::create(folder, &spec.file), calls::created)?;
        found = connection.ask(calls::LOOKUP, name, NfsFile::LONGEST, calls::looked_up)?;
    }
    let (file, mut bytes) = found.map_err(|refusal| format!("lookup: {refusal}"))?;
    if let Some(wanted) = spec.create_bytes
        && bytes != Some(wanted)
    {
        ask(connection, "resize", calls::SETATTR, &calls::resize(&file, wanted), calls::resized)?;
        bytes = Some(wanted);
    }
    bytes.map(|bytes| (file, bytes)).ok_or_else(|| "the server does not report the file's size".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that takes the connection and says nothing.
    #[test]
    fn a_server_that_is_silent_is_lost_after_a_while() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let connection = Connection::open(listener.local_addr().unwrap(), calls::NFS, NfsFile::LONGEST).unwrap();
        let begun = Instant::now();
        let mut file = NfsFile {
            file: calls::mounted(Reader(&[0; 8])).unwrap(),
            bytes: 4096,
            limits: NfsLimits { read_bytes: 4096, write_bytes: 4096 },
            connections: vec![connection],
            pending: BTreeMap::new(),
            last: 0,
            done: VecDeque::new(),
            verifier: None,
            is_forgotten: false,
            lost: None,
            patience: Duration::from_millis(50),
            heard: Instant::now(),
        };
        file.submit(Operation { id: 1, kind: Kind::Read, offset: 0, buffer: crate::Buffer::new(512) }).unwrap();
        let done = loop {
            assert!(begun.elapsed() < NfsFile::LONGEST, "it waits for ever");
            file.wait(Some(NfsFile::LONGEST), &mut []).unwrap();
            if let Some(done) = file.next_done() {
                break done;
            }
        };
        let error = done.result.unwrap_err().to_string();
        assert!(error.starts_with("a read of 512 bytes at offset 0 failed: no answer of the server for"), "{error}");
        assert!(begun.elapsed() >= file.patience, "it is waited for");
    }

    #[test]
    fn a_server_that_restarted_between_write_and_flush_is_noticed() {
        let (mut verifier, mut is_forgotten) = (None, false);
        let mut server = Server { verifier: &mut verifier, is_forgotten: &mut is_forgotten };
        let (before, after) = ([1; 8], [2; 8]);
        server.says(before);
        assert_eq!(server.has_committed(before), Ok(()));
        server.says(before);
        assert!(server.has_committed(after).is_err(), "between write and flush");
        assert_eq!(server.has_committed(after), Ok(()), "it is said once");
        server.says(before);
        server.says(after);
        assert!(server.has_committed(after).is_err(), "between two writes");
    }
}

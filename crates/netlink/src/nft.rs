//! One thing of nf_tables: to keep the frames of a device from the host's own stack.
//!
//! A batch of hand-made netlink messages (Linux
//! `include/uapi/linux/netfilter/nf_tables.h`); the `nft` program is not needed.
//! Works in a user namespace. See what stands with
//! `nft list table netdev nicteam-DEVICE`.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_NETFILTER};

use nicteam_sys::{Context, Error, Result};

/// Keeps the frames of devices from the host's own stack, as [`drop_ingress`] does, while it lives and
/// beyond. Where the kernel can (Linux 5.12), no other program can remove what it made, by `nft flush ruleset` neither.
#[derive(Debug)]
pub struct Keeper {
    /// What owns the tables.
    owner: Socket,
    owns: Owns,
    news: Socket,
}

/// How much a socket can own tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owns {
    /// They stay when it is closed (Linux 6.9).
    Lasting,
    /// They go with it (Linux 5.12): beside each stands one that anybody can remove.
    Passing,
    /// Not at all: anybody can remove them.
    Nothing,
}

impl Keeper {
    /// In the caller's network namespace.
    ///
    /// # Errors
    /// As [`drop_ingress`].
    pub fn open() -> Result<Keeper> {
        let mut keeper = Keeper::owning(Owns::Lasting)?;
        let can = |owns: &Owns| {
            let mut batch = Batch::new();
            let table = table_name("probe?");
            batch.new_own_table(&table, owns.flags());
            batch.delete_table(&table);
            batch.commit(&keeper.owner).is_ok()
        };
        keeper.owns = [Owns::Lasting, Owns::Passing].into_iter().find(can).unwrap_or(Owns::Nothing);
        Ok(keeper)
    }

    /// As [`Keeper::open`], on a kernel that can no more than this.
    ///
    /// # Errors
    /// As that.
    pub fn owning(owns: Owns) -> Result<Keeper> {
        let sockets = || {
            let mut news = Socket::new(NETLINK_NETFILTER)?;
            news.bind_auto()?;
            news.set_non_blocking(true)?;
            news.add_membership(NEWS_GROUP)?;
            Ok::<_, io::Error>((connected()?, news))
        };
        let (owner, news) = sockets().map_err(explain).context(|| "hear of changes of nf_tables".to_owned())?;
        Ok(Keeper { owner, owns, news })
    }

    /// As the function of this name.
    ///
    /// # Errors
    /// As that.
    pub fn drop_ingress(&self, device: &str) -> Result<()> {
        self.tables(device).try_for_each(|(table, flags)| drop_by(&self.owner, &table, device, flags))
    }

    /// As the function of this name.
    ///
    /// # Errors
    /// As that.
    pub fn undo(&self, device: &str) -> Result<()> {
        self.tables(device).try_for_each(|(table, _)| undo_by(&self.owner, &table, device))
    }

    /// True if all that [`Keeper::drop_ingress`] made is there.
    ///
    /// # Errors
    /// nf_tables cannot be asked.
    pub fn has(&self, device: &str) -> Result<bool> {
        let has = |(table, _): (String, u32)| {
            let mut question = Batch { bytes: Vec::with_capacity(128), messages: 0 };
            question.message(GET_CHAIN, 0, |bytes| {
                string(bytes, CHAIN_TABLE, &table);
                string(bytes, CHAIN_NAME, CHAIN);
            });
            match question.send(&self.owner) {
                Ok(()) => Ok(true),
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(false),
                Err(error) => Err(Error::new(format!("ask nf_tables for the chain of {device}"), error)),
            }
        };
        self.tables(device).map(has).try_fold(true, |all, has| Ok(all && has?))
    }

    /// True if somebody, perhaps this, has changed nf_tables since the last call.
    pub fn take_news(&self) -> bool {
        let mut any = false;
        loop {
            match self.news.recv_from_full() {
                Ok(_) => any = true,
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => any = true,
                Err(_) => return any,
            }
        }
    }

    /// The tables for a device, and their flags.
    fn tables(&self, device: &str) -> impl Iterator<Item = (String, u32)> + use<> {
        let table = table_name(device);
        let beside = (self.owns == Owns::Passing).then(|| (format!("{table}-own"), OWNED));
        let flags = if self.owns == Owns::Lasting { self.owns.flags() } else { 0 };
        beside.into_iter().chain([(table, flags)])
    }
}

impl Owns {
    fn flags(self) -> u32 {
        match self {
            Owns::Lasting => OWNED | PERSISTS,
            Owns::Passing => OWNED,
            Owns::Nothing => 0,
        }
    }
}

/// Readable when nf_tables were changed.
impl AsFd for Keeper {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.news.as_fd()
    }
}

/// Drops everything that `device` receives behind the packet sockets' taps
/// (a netdev ingress chain whose policy is drop, in a table of its own named
/// after the device). Goes with the namespace; [`undo`] removes it earlier.
/// What an earlier call left is replaced.
///
/// # Errors
/// `EPERM` without `CAP_NET_ADMIN`; where the kernel lacks nf_tables or its
/// ingress hook, the error says so. Without such a device: `ENOENT` from older
/// kernels, while newer ones (6.18 is one) wait for it.
pub fn drop_ingress(device: &str) -> Result<()> {
    let what = || format!("keep the frames of {device} from the host's stack (nf_tables)");
    drop_by(&connected().map_err(explain).context(what)?, &table_name(device), device, 0)
}

fn drop_by(socket: &Socket, table: &str, device: &str, flags: u32) -> Result<()> {
    let mut batch = Batch::new();
    // Deleting what is not there would fail the whole batch: make it first.
    batch.new_table(table);
    batch.delete_table(table);
    batch.new_own_table(table, flags);
    batch.new_ingress_chain(table, device, NF_DROP);
    let committed = batch.commit(socket).map_err(explain);
    committed.context(|| format!("keep the frames of {device} from the host's stack (nf_tables)"))
}

/// Removes what [`drop_ingress`] made; no error if there is nothing.
pub fn undo(device: &str) -> Result<()> {
    let what = || format!("give {device} back to the host's stack (nf_tables)");
    undo_by(&connected().map_err(explain).context(what)?, &table_name(device), device)
}

fn undo_by(socket: &Socket, table: &str, device: &str) -> Result<()> {
    let mut batch = Batch::new();
    batch.delete_table(table);
    match batch.commit(socket) {
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
        result => result.map_err(explain).context(|| format!("give {device} back to the host's stack (nf_tables)")),
    }
}

/// Tries whether [`drop_ingress`] can work here, and leaves nothing behind.
pub fn probe() -> Result<()> {
    let table = table_name("probe?");
    let mut batch = Batch::new();
    batch.new_table(&table);
    batch.new_ingress_chain(&table, "lo", NF_ACCEPT);
    batch.delete_table(&table);
    let committed = connected().and_then(|socket| batch.commit(&socket));
    committed.map_err(explain).context(|| "use nf_tables at a device's ingress".to_owned())
}

/// A socket that speaks to the kernel.
fn connected() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_NETFILTER)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket.set_non_blocking(true)?;
    Ok(socket)
}

/// Message types within nf_tables (`enum nf_tables_msg_types`).
const NEW_TABLE: u16 = libc::NFT_MSG_NEWTABLE as u16;
const DELETE_TABLE: u16 = libc::NFT_MSG_DELTABLE as u16;
const NEW_CHAIN: u16 = libc::NFT_MSG_NEWCHAIN as u16;
const GET_CHAIN: u16 = libc::NFT_MSG_GETCHAIN as u16;
/// `NFNLGRP_NFTABLES`.
const NEWS_GROUP: u32 = 7;
/// `NFT_TABLE_F_OWNER`: the table is the socket's alone; `NFT_TABLE_F_PERSIST`: it stays when the socket is closed.
const OWNED: u32 = 2;
const PERSISTS: u32 = 4;
/// Our chain in its table.
const CHAIN: &str = "ingress";
/// Attributes (`enum nft_table_attributes`, `nft_chain_attributes`, `nft_hook_attributes`).
const TABLE_NAME: u16 = 1;
const TABLE_FLAGS: u16 = 2;
const CHAIN_TABLE: u16 = 1;
const CHAIN_NAME: u16 = 3;
const CHAIN_HOOK: u16 = 4;
const CHAIN_POLICY: u16 = 5;
const CHAIN_TYPE: u16 = 7;
const HOOK_NUMBER: u16 = 1;
const HOOK_PRIORITY: u16 = 2;
const HOOK_DEVICE: u16 = 3;
/// Marks an attribute that holds attributes (`NLA_F_NESTED`).
const NESTED: u16 = 1 << 15;
/// Verdicts (`include/uapi/linux/netfilter.h`).
const NF_DROP: u32 = libc::NF_DROP as u32;
const NF_ACCEPT: u32 = libc::NF_ACCEPT as u32;
/// Among the ingress chains of a device: before those of other programs.
const PRIORITY: i32 = -500;
/// Bytes of `struct nlmsghdr` and of `struct nlmsgerr` up to the error number's end.
const MESSAGE_HEADER: usize = 16;
const ERROR_END: usize = MESSAGE_HEADER + 4;

fn table_name(device: &str) -> String {
    format!("nicteam-{device}")
}

/// Messages that take effect together or not at all.
struct Batch {
    bytes: Vec<u8>,
    messages: u32,
}

impl Batch {
    fn new() -> Batch {
        let mut batch = Batch { bytes: Vec::with_capacity(512), messages: 0 };
        batch.bracket(libc::NFNL_MSG_BATCH_BEGIN);
        batch
    }

    fn new_table(&mut self, table: &str) {
        self.message(NEW_TABLE, libc::NLM_F_CREATE, |bytes| string(bytes, TABLE_NAME, table));
    }

    fn new_own_table(&mut self, table: &str, flags: u32) {
        self.message(NEW_TABLE, libc::NLM_F_CREATE, |bytes| {
            string(bytes, TABLE_NAME, table);
            attribute(bytes, TABLE_FLAGS, &flags.to_be_bytes());
        });
    }

    fn delete_table(&mut self, table: &str) {
        self.message(DELETE_TABLE, 0, |bytes| string(bytes, TABLE_NAME, table));
    }

    /// A base chain without rules: its policy decides.
    fn new_ingress_chain(&mut self, table: &str, device: &str, policy: u32) {
        self.message(NEW_CHAIN, libc::NLM_F_CREATE, |bytes| {
            string(bytes, CHAIN_TABLE, table);
            string(bytes, CHAIN_NAME, CHAIN);
            nested(bytes, CHAIN_HOOK, |bytes| {
                attribute(bytes, HOOK_NUMBER, &(libc::NF_NETDEV_INGRESS as u32).to_be_bytes());
                attribute(bytes, HOOK_PRIORITY, &PRIORITY.to_be_bytes());
                string(bytes, HOOK_DEVICE, device);
            });
            attribute(bytes, CHAIN_POLICY, &policy.to_be_bytes());
            string(bytes, CHAIN_TYPE, "filter");
        });
    }

    /// Hands the messages to the kernel, which has answered when `send`
    /// returns: with an error, or with one acknowledgement a message.
    fn commit(mut self, socket: &Socket) -> io::Result<()> {
        self.bracket(libc::NFNL_MSG_BATCH_END);
        self.send(socket)
    }

    fn send(self, socket: &Socket) -> io::Result<()> {
        // What is left of an answer with an error is nobody's.
        while socket.recv_from_full().is_ok() {}
        socket.send(&self.bytes, 0)?;
        let mut acknowledged = 0;
        while acknowledged < self.messages {
            let (answer, _) = socket.recv_from_full()?;
            acknowledged += acknowledgements(&answer)?;
        }
        Ok(())
    }

    /// The begin or the end of the batch.
    fn bracket(&mut self, kind: libc::c_int) {
        let subsystem = (libc::NFNL_SUBSYS_NFTABLES as u16).to_be_bytes();
        put_message(&mut self.bytes, kind as u16, 0, [libc::AF_UNSPEC as u8, 0, subsystem[0], subsystem[1]], |_| {});
    }

    fn message(&mut self, kind: u16, flags: libc::c_int, attributes: impl FnOnce(&mut Vec<u8>)) {
        let kind = (libc::NFNL_SUBSYS_NFTABLES as u16) << 8 | kind;
        let flags = flags | libc::NLM_F_ACK;
        put_message(&mut self.bytes, kind, flags, [libc::NFPROTO_NETDEV as u8, 0, 0, 0], attributes);
        self.messages += 1;
    }
}

/// `struct nlmsghdr`, `struct nfgenmsg`, attributes.
fn put_message(
    bytes: &mut Vec<u8>,
    kind: u16,
    flags: libc::c_int,
    family: [u8; 4],
    attributes: impl FnOnce(&mut Vec<u8>),
) {
    let start = bytes.len();
    bytes.extend([0; MESSAGE_HEADER]);
    bytes.extend(family);
    attributes(bytes);
    let len = (bytes.len() - start) as u32;
    let header = &mut bytes[start..start + MESSAGE_HEADER];
    header[..4].copy_from_slice(&len.to_ne_bytes());
    header[4..6].copy_from_slice(&kind.to_ne_bytes());
    header[6..8].copy_from_slice(&((flags | libc::NLM_F_REQUEST) as u16).to_ne_bytes());
}

/// Netlink strings end with a zero byte.
fn string(bytes: &mut Vec<u8>, kind: u16, text: &str) {
    nested_raw(bytes, kind, |bytes| {
        bytes.extend(text.as_bytes());
        bytes.push(0);
    });
}

fn attribute(bytes: &mut Vec<u8>, kind: u16, payload: &[u8]) {
    nested_raw(bytes, kind, |bytes| bytes.extend(payload));
}

fn nested(bytes: &mut Vec<u8>, kind: u16, payload: impl FnOnce(&mut Vec<u8>)) {
    nested_raw(bytes, kind | NESTED, payload);
}

/// `struct nlattr` around a payload, padded to four bytes.
fn nested_raw(bytes: &mut Vec<u8>, kind: u16, payload: impl FnOnce(&mut Vec<u8>)) {
    let start = bytes.len();
    bytes.extend([0; 4]);
    payload(bytes);
    let len = (bytes.len() - start) as u16;
    bytes[start..start + 2].copy_from_slice(&len.to_ne_bytes());
    bytes[start + 2..start + 4].copy_from_slice(&kind.to_ne_bytes());
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// Acknowledgements in the kernel's answer, or the first error in it.
fn acknowledgements(answer: &[u8]) -> io::Result<u32> {
    let mut count = 0;
    let mut rest = answer;
    while let Some(header) = rest.first_chunk::<ERROR_END>() {
        let [a, b, c, d, kind @ .., e, f, g, h] = header;
        let len = u32::from_ne_bytes([*a, *b, *c, *d]) as usize;
        if u16::from_ne_bytes([kind[0], kind[1]]) == libc::NLMSG_ERROR as u16 {
            match i32::from_ne_bytes([*e, *f, *g, *h]) {
                0 => count += 1,
                error => return Err(io::Error::from_raw_os_error(error.saturating_neg())),
            }
        }
        rest = rest.get(len.max(MESSAGE_HEADER).next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(count)
}

/// Says what a kernel lacks that answers so.
fn explain(error: io::Error) -> io::Error {
    let missing = match error.raw_os_error() {
        Some(libc::EPROTONOSUPPORT) => "netfilter's netlink (CONFIG_NETFILTER_NETLINK)",
        Some(libc::EAFNOSUPPORT) => "nf_tables for devices (CONFIG_NF_TABLES_NETDEV)",
        Some(libc::EOPNOTSUPP) => "nf_tables or its ingress hook (CONFIG_NF_TABLES, CONFIG_NETFILTER_INGRESS)",
        Some(libc::EPERM) => return io::Error::new(error.kind(), format!("{error}; hint: this needs CAP_NET_ADMIN")),
        _ => return error,
    };
    io::Error::new(io::ErrorKind::Unsupported, format!("this kernel has no {missing}: {error}"))
}

//! The calls of NFS 3 and of its mount protocol (RFC 1813): arguments and results, without I/O.

use super::xdr::{Malformed, Reader, Writer};

/// The programs (both version 3).
pub const NFS: u32 = 100_003;
pub const MOUNT: u32 = 100_005;

/// Procedures of [`MOUNT`].
pub const MNT: u32 = 1;
/// Procedures of [`NFS`].
pub const SETATTR: u32 = 2;
pub const LOOKUP: u32 = 3;
pub const READ: u32 = 6;
pub const WRITE: u32 = 7;
pub const CREATE: u32 = 8;
pub const FSINFO: u32 = 19;
pub const COMMIT: u32 = 21;

/// Bytes of a file handle at most.
const HANDLE: usize = 64;
/// Bytes of `fattr3`, and where the size stands in it.
const ATTRIBUTES: usize = 84;
const SIZE_AT: usize = 20;
/// Bytes of `wcc_attr`.
const BEFORE: usize = 24;
/// `NFS3ERR_NOENT`, `MNT3ERR_NOENT`
pub const NO_ENTRY: u32 = 2;
/// `UNSTABLE`: the server may keep what is written in memory until it is committed.
const UNSTABLE: u32 = 0;

/// A file or folder, in the server's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handle(Vec<u8>);

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The server refused, with this number.
    #[error("{words} ({0})", words = status_words(*.0))]
    Status(u32),
    /// The answer is no answer.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

fn status_words(status: u32) -> &'static str {
    match status {
        1 => "not owner",
        NO_ENTRY => "no such file or folder",
        5 => "I/O error",
        13 => "permission denied",
        17 => "file exists",
        20 => "not a folder",
        21 => "is a folder",
        22 => "invalid argument",
        27 => "file too large",
        28 => "no space left",
        30 => "read-only file system",
        69 => "quota exceeded",
        70 => "stale file handle",
        10_001 => "bad file handle",
        10_004 => "not supported",
        10_006 => "server fault",
        10_008 => "try again later",
        _ => "refused",
    }
}

fn checked(reader: &mut Reader<'_>) -> Result<(), Refusal> {
    match reader.u32()? {
        0 => Ok(()),
        status => Err(Refusal::Status(status)),
    }
}

fn handle(reader: &mut Reader<'_>) -> Result<Handle, Malformed> {
    reader.opaque(HANDLE).map(|bytes| Handle(bytes.to_vec()))
}

/// `post_op_attr`: the file's size, if the server reports it.
fn attributes(reader: &mut Reader<'_>) -> Result<Option<u64>, Malformed> {
    if !reader.bool()? {
        return Ok(None);
    }
    let attributes = reader.bytes(ATTRIBUTES)?;
    Reader(&attributes[SIZE_AT..]).u64().map(Some)
}

/// `wcc_data`, which is not looked at.
fn changes(reader: &mut Reader<'_>) -> Result<(), Malformed> {
    if reader.bool()? {
        reader.bytes(BEFORE)?;
    }
    attributes(reader).map(|_| ())
}

/// MNT of an export.
pub fn mount(export: &str) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.opaque(export.as_bytes());
    writer.0
}

/// The export's folder.
pub fn mounted(mut reader: Reader<'_>) -> Result<Handle, Refusal> {
    checked(&mut reader)?;
    Ok(handle(&mut reader)?)
}

fn named(folder: &Handle, name: &str) -> Writer {
    let mut writer = Writer::default();
    writer.opaque(&folder.0).opaque(name.as_bytes());
    writer
}

/// LOOKUP of a name in a folder.
pub fn lookup(folder: &Handle, name: &str) -> Vec<u8> {
    named(folder, name).0
}

/// The file, and its size if the server reports it.
pub fn looked_up(mut reader: Reader<'_>) -> Result<(Handle, Option<u64>), Refusal> {
    checked(&mut reader)?;
    let found = handle(&mut reader)?;
    Ok((found, attributes(&mut reader)?))
}

/// CREATE of a file in a folder, for its owner to read and write (UNCHECKED); it may exist.
pub fn create(folder: &Handle, name: &str) -> Vec<u8> {
    let mut writer = named(folder, name);
    // UNCHECKED; a mode, and neither owner, group, size nor times.
    writer.u32(0).u32(1).u32(0o600).u32(0).u32(0).u32(0).u32(0).u32(0);
    writer.0
}

/// Only whether it was created: the file is looked up afterwards.
pub fn created(mut reader: Reader<'_>) -> Result<(), Refusal> {
    checked(&mut reader)
}

/// SETATTR of a file's size.
pub fn resize(file: &Handle, bytes: u64) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.opaque(&file.0).u32(0).u32(0).u32(0).u32(1).u64(bytes).u32(0).u32(0).u32(0);
    writer.0
}

/// Whether it was done.
pub fn resized(mut reader: Reader<'_>) -> Result<(), Refusal> {
    checked(&mut reader)
}

/// FSINFO of a file's file system.
pub fn fsinfo(file: &Handle) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.opaque(&file.0);
    writer.0
}

/// Most bytes of a READ (rtmax) and of a WRITE (wtmax).
pub fn sizes(mut reader: Reader<'_>) -> Result<(u32, u32), Refusal> {
    checked(&mut reader)?;
    attributes(&mut reader)?;
    let read = reader.u32()?;
    // rtpref, rtmult
    reader.bytes(8)?;
    Ok((read, reader.u32()?))
}

/// READ.
pub fn read(file: &Handle, offset: u64, count: u32) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.opaque(&file.0).u64(offset).u32(count);
    writer.0
}

/// What was read, at most so many bytes, and whether the file ends there.
pub fn read_data(mut reader: Reader<'_>, most: usize) -> Result<(&[u8], bool), Refusal> {
    checked(&mut reader)?;
    attributes(&mut reader)?;
    let _count = reader.u32()?;
    let is_end = reader.bool()?;
    Ok((reader.opaque(most)?, is_end))
}

/// WRITE without its data, which follows: so many bytes, a multiple of four.
pub fn write(file: &Handle, offset: u64, count: u32) -> Vec<u8> {
    debug_assert!(count.is_multiple_of(4), "no padding follows the data");
    let mut writer = Writer::default();
    writer.opaque(&file.0).u64(offset).u32(count).u32(UNSTABLE).u32(count);
    writer.0
}

/// How many bytes were written, and the server's verifier: a server that restarted has another.
pub fn written(mut reader: Reader<'_>) -> Result<(u32, [u8; 8]), Refusal> {
    checked(&mut reader)?;
    changes(&mut reader)?;
    let count = reader.u32()?;
    let _committed = reader.u32()?;
    Ok((count, reader.verifier()?))
}

/// COMMIT of the whole file.
pub fn commit(file: &Handle) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.opaque(&file.0).u64(0).u32(0);
    writer.0
}

/// The server's verifier.
pub fn committed(mut reader: Reader<'_>) -> Result<[u8; 8], Refusal> {
    checked(&mut reader)?;
    changes(&mut reader)?;
    Ok(reader.verifier()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A result as a server would write it: a status, then whatever.
    fn result(status: u32, rest: impl FnOnce(&mut Writer)) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.u32(status);
        rest(&mut writer);
        writer.0
    }

    fn with_size(writer: &mut Writer, size: u64) {
        writer.u32(1);
        let start = writer.0.len();
        writer.0.resize(start + ATTRIBUTES, 0);
        writer.0[start + SIZE_AT..][..8].copy_from_slice(&size.to_be_bytes());
    }

    #[test]
    fn a_file_is_found_with_its_size() {
        let bytes = result(0, |writer| with_size(writer.opaque(b"handle"), 12_345_678));
        assert_eq!(looked_up(Reader(&bytes)), Ok((Handle(b"handle".to_vec()), Some(12_345_678))));
        let refused = looked_up(Reader(&result(NO_ENTRY, |_| ()))).unwrap_err();
        assert_eq!(refused.to_string(), "no such file or folder (2)");
    }

    #[test]
    fn data_comes_with_its_end() {
        let bytes = result(0, |writer| {
            with_size(writer, 8);
            writer.u32(8).u32(1).opaque(b"12345678");
        });
        assert_eq!(read_data(Reader(&bytes), 8), Ok((&b"12345678"[..], true)));
        assert_eq!(read_data(Reader(&bytes), 4), Err(Refusal::Malformed(Malformed)), "more than was asked for");
    }

    #[test]
    fn a_write_tells_its_count_and_verifier() {
        let bytes = result(0, |writer| {
            // Attributes before, and none after.
            writer.u32(1);
            writer.0.resize(writer.0.len() + BEFORE, 0);
            writer.u32(0).u32(4096).u32(UNSTABLE).u64(77);
        });
        assert_eq!(written(Reader(&bytes)), Ok((4096, 77u64.to_be_bytes())));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let reader = Reader(&bytes);
            let _ = mounted(reader);
            let _ = looked_up(reader);
            let _ = sizes(reader);
            let _ = read_data(reader, 100);
            let _ = written(reader);
            let _ = committed(reader);
        }
    }
}

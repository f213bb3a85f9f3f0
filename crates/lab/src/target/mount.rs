//! A mount of an NFS 3 export, to see whether it can be had.
//!
//! One call of MOUNT's procedure MNT (RFC 1813, appendix I) over TCP, in a record of one fragment (RFC 5531).

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long an answer may take: a guard, since who asks asks again.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest answer that is read, bytes.
const LONGEST: usize = 1024;
const CALL: u32 = 0;
const REPLY: u32 = 1;
const RPC_VERSION: u32 = 2;
const MOUNT: u32 = 100_005;
const MOUNT_VERSION: u32 = 3;
const MNT: u32 = 1;
const AUTH_NONE: u32 = 0;
const AUTH_SYS: u32 = 1;
/// The record's one fragment is its last.
const LAST: u32 = 1 << 31;
const ID: u32 = 1;

/// Whether an export can be mounted.
pub(super) fn is_granted(service: SocketAddr, export: &str) -> bool {
    try_mount(service, export).unwrap_or(false)
}

fn try_mount(service: SocketAddr, export: &str) -> io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&service, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&call(export))?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut answer = vec![0; ((u32::from_be_bytes(length) & !LAST) as usize).min(LONGEST)];
    stream.read_exact(&mut answer)?;
    Ok(says_yes(&answer))
}

/// The record.
fn call(export: &str) -> Vec<u8> {
    // AUTH_SYS: a stamp, a machine's name, user and group 0, and no further groups.
    let mut credential = words(&[0]);
    credential.extend(opaque(b"nicteam"));
    credential.extend(words(&[0, 0, 0]));
    let mut body = words(&[ID, CALL, RPC_VERSION, MOUNT, MOUNT_VERSION, MNT, AUTH_SYS]);
    body.extend(opaque(&credential));
    body.extend(words(&[AUTH_NONE, 0]));
    body.extend(opaque(export.as_bytes()));
    let mut record = words(&[LAST | body.len() as u32]);
    record.extend(body);
    record
}

/// Whether the call was accepted (0, after the verifier: 0) and the mount granted (0).
fn says_yes(answer: &[u8]) -> bool {
    let word = |place: usize| {
        let bytes = answer.get(place * 4..)?.first_chunk::<4>()?;
        Some(u32::from_be_bytes(*bytes))
    };
    let accepted = [word(0), word(1), word(2)] == [Some(ID), Some(REPLY), Some(0)];
    // The verifier: its kind, its length, its bytes.
    let verifier_words = word(4).map_or(0, |length| length.min(LONGEST as u32).div_ceil(4) as usize);
    accepted && [word(5 + verifier_words), word(6 + verifier_words)] == [Some(0), Some(0)]
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Bytes behind their length, padded.
fn opaque(bytes: &[u8]) -> Vec<u8> {
    let mut written = words(&[bytes.len() as u32]);
    written.extend(bytes);
    written.resize(written.len().next_multiple_of(4), 0);
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_one_fragment() {
        let record = call("/disk");
        let length = u32::from_be_bytes([record[0], record[1], record[2], record[3]]);
        assert_eq!(length, LAST | (record.len() - 4) as u32);
        assert!(record.ends_with(b"\0\0\0\x05/disk\0\0\0"), "{record:?}");
    }

    #[test]
    fn only_a_mount_that_is_granted_is_a_yes() {
        // Identifier, reply, accepted, verifier of no length, success, status.
        assert!(says_yes(&words(&[ID, 1, 0, 0, 0, 0, 0, 9])));
        // Behind a verifier of five bytes.
        assert!(says_yes(&words(&[ID, 1, 0, 0, 5, 7, 7, 0, 0])));
        for no in
            [&[ID, 1, 0, 0, 0, 0, 13][..], &[ID, 1, 1, 0, 0, 0, 0], &[ID, 1, 0, 0, 0, 1], &[9, 1, 0, 0, 0, 0, 0], &[]]
        {
            assert!(!says_yes(&words(no)), "{no:?}");
        }
        assert!(!says_yes(&words(&[ID, 1, 0, 0, u32::MAX, 0, 0])));
    }
}

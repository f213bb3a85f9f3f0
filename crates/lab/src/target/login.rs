//! A login at an iSCSI target, to see whether it takes one.
//!
//! One Login Request from the operational stage to the full feature phase (RFC 7143, sections 11.12 and 11.13); the
//! connection then ends, and with it the session.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long an answer may take: a guard, since who asks asks again.
const PATIENCE: Duration = Duration::from_secs(2);
/// A Basic Header Segment, bytes.
const HEADER: usize = 48;
/// Opcode of a Login Request, which is always immediate, and of its answer.
const LOGIN: u8 = 0x43;
const LOGIN_ANSWER: u8 = 0x23;
/// Transit from the operational stage (1) to the full feature phase (3).
const TRANSIT: u8 = 0x80 | 1 << 2 | 3;
/// The one who asks.
const INITIATOR: &str = "iqn.2026-11.test.nicteam:is-it-ready";

/// Whether a target takes a login.
pub(super) fn is_taken(portal: SocketAddr, target: &str) -> bool {
    try_login(portal, target).unwrap_or(false)
}

fn try_login(portal: SocketAddr, target: &str) -> io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&portal, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&request(target))?;
    let mut answer = [0; HEADER];
    stream.read_exact(&mut answer)?;
    Ok(says_yes(&answer))
}

/// The whole PDU.
fn request(target: &str) -> Vec<u8> {
    let keys = [("InitiatorName", INITIATOR), ("SessionType", "Normal"), ("TargetName", target)];
    let text: String = keys.iter().map(|(key, value)| format!("{key}={value}\0")).collect();
    let mut pdu = vec![0; HEADER];
    pdu[0] = LOGIN;
    pdu[1] = TRANSIT;
    // The length of the data has three bytes.
    pdu[5..8].copy_from_slice(&(text.len() as u32).to_be_bytes()[1..]);
    // The initiator's part of the session's identifier: of the kind that is made at random.
    pdu[8] = 0x80;
    pdu[9..13].copy_from_slice(&std::process::id().to_be_bytes());
    pdu.extend(text.as_bytes());
    pdu.resize(pdu.len().next_multiple_of(4), 0);
    pdu
}

/// Whether the answer is a login's, and its status class success.
fn says_yes(answer: &[u8; HEADER]) -> bool {
    answer[0] & 0x3f == LOGIN_ANSWER && answer[36] == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_its_length_and_is_padded() {
        let request = request("iqn.2026-11.test.nicteam:disk");
        let length = u32::from_be_bytes([0, request[5], request[6], request[7]]) as usize;
        let text = String::from_utf8(request[HEADER..HEADER + length].to_vec()).unwrap();
        assert_eq!(text.split('\0').nth(2), Some("TargetName=iqn.2026-11.test.nicteam:disk"));
        assert!(text.ends_with('\0') && request.len().is_multiple_of(4) && request.len() < HEADER + length + 4);
    }

    #[test]
    fn only_a_login_that_succeeded_is_a_yes() {
        let answer = |opcode, class| {
            let mut answer = [0; HEADER];
            (answer[0], answer[36]) = (opcode, class);
            says_yes(&answer)
        };
        assert!(answer(0x23, 0));
        // An initiator's error, and another PDU.
        assert!(!answer(0x23, 2) && !answer(0x3f, 0));
    }
}

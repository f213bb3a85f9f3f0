//! Questions and answers as bytes.

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Send all of this back: echo.
    Echo,
    /// Tell the time: the answer is short, however long the question. IPv4 alone; many hosts do not answer.
    Timestamp,
}

/// Types of ICMP (RFC 792) and of ICMPv6 (RFC 4443).
pub(super) const ECHO_REPLY: u8 = 0;
const ECHO: u8 = 8;
const TIMESTAMP: u8 = 13;
pub(super) const TIMESTAMP_REPLY: u8 = 14;
const ECHO_V6: u8 = 128;
pub(super) const ECHO_REPLY_V6: u8 = 129;

/// Bytes of type, code, checksum, number of the socket and number of the question.
const HEADER: usize = 8;
/// The shortest IPv4 header, bytes.
const SHORTEST_IPV4: usize = 20;

/// A question's bytes; none for a time stamp by IPv6, which has no such question. The kernel computes the checksum of
/// ICMPv6 alone.
pub(super) fn request(question: Question, v4: bool, ident: u16, sequence: u16, payload: &[u8]) -> Option<Vec<u8>> {
    let kind = match (question, v4) {
        (Question::Echo, true) => ECHO,
        (Question::Echo, false) => ECHO_V6,
        (Question::Timestamp, true) => TIMESTAMP,
        (Question::Timestamp, false) => return None,
    };
    let mut message = Vec::with_capacity(HEADER + payload.len());
    message.extend([kind, 0, 0, 0]);
    message.extend(ident.to_be_bytes());
    message.extend(sequence.to_be_bytes());
    message.extend(payload);
    if v4 {
        let sum = checksum(&message).to_be_bytes();
        message[2..4].copy_from_slice(&sum);
    }
    Some(message)
}

/// An answer that a raw socket gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) question: Question,
    pub(super) ident: u16,
    pub(super) sequence: u16,
    /// Of IPv4, whose header is there.
    pub(super) ttl: Option<u8>,
    /// Where the payload begins.
    pub(super) payload_from: usize,
}

/// Reads one; none if it is none, or cut within its headers.
pub(super) fn answer(packet: &[u8], v4: bool) -> Option<Answer> {
    let (ttl, begin) = if v4 {
        let header = packet.first_chunk::<SHORTEST_IPV4>()?;
        (Some(header[8]), Some(usize::from(header[0] & 0xf) * 4).filter(|length| *length >= SHORTEST_IPV4)?)
    } else {
        (None, 0)
    };
    let question = match (packet.get(begin)?, v4) {
        (&ECHO_REPLY, true) | (&ECHO_REPLY_V6, false) => Question::Echo,
        (&TIMESTAMP_REPLY, true) => Question::Timestamp,
        _ => return None,
    };
    let (ident, sequence) = numbers(packet.get(begin..)?)?;
    Some(Answer { question, ident, sequence, ttl, payload_from: begin + HEADER })
}

/// The numbers of socket and question in an ICMP message.
pub(super) fn numbers(message: &[u8]) -> Option<(u16, u16)> {
    let [_, _, _, _, a, b, c, d] = *message.first_chunk::<HEADER>()?;
    Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut sum: u64 = pairs.iter().map(|pair| u64::from(u16::from_be_bytes(*pair))).sum();
    sum += rest.first().map_or(0, |byte| u64::from(*byte) << 8);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_sums_up_to_nothing_and_its_answer_is_read() {
        for (question, reply) in [(Question::Echo, ECHO_REPLY), (Question::Timestamp, TIMESTAMP_REPLY)] {
            let mut message = request(question, true, 0x1234, 7, b"odd").unwrap();
            assert_eq!(checksum(&message), 0);
            message[0] = reply;
            let mut header = vec![0x46, 0, 0, 0, 0, 0, 0, 0, 61, 1];
            header.resize(24, 0);
            let packet = [header, message].concat();
            let read = Answer { question, ident: 0x1234, sequence: 7, ttl: Some(61), payload_from: 32 };
            assert_eq!(answer(&packet, true), Some(read));
            (0..32).for_each(|length| assert_eq!(answer(&packet[..length], true), None, "{length}"));
            let short = [&[0x04], &packet[1..]].concat();
            assert_eq!(answer(&short, true), None, "a header that ends within itself");
        }
    }

    #[test]
    fn an_echo_of_ipv6_is_read_without_its_header() {
        let mut message = request(Question::Echo, false, 1, 2, b"").unwrap();
        assert_eq!(request(Question::Timestamp, false, 1, 2, b""), None);
        assert_eq!(answer(&message, false), None, "a question is no answer");
        message[0] = ECHO_REPLY_V6;
        let read = Answer { question: Question::Echo, ident: 1, sequence: 2, ttl: None, payload_from: 8 };
        assert_eq!(answer(&message, false), Some(read));
    }
}

//! How a client and the server agree on the export: bytes in, bytes out.

use super::protocol::{
    CAN_MULTI_CONN, FIXED_NEWSTYLE, Fields, HAS_FLAGS, INFO_BLOCK_SIZE, INFO_EXPORT, INIT_MAGIC, LONGEST_BYTES,
    NO_ZEROES, OPT_ABORT, OPT_EXPORT_NAME, OPT_GO, OPT_INFO, OPT_LIST, OPTION_MAGIC, OPTION_REPLY_MAGIC, REP_ACK,
    REP_ERR_INVALID, REP_ERR_UNKNOWN, REP_ERR_UNSUP, REP_INFO, REP_SERVER, SEND_FLUSH,
};

/// What is exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Export {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) block_bytes: u32,
}

/// A handshake that is under way.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    /// The flags came; without `NO_ZEROES` the answer to the oldest option is padded.
    flags: Option<u32>,
}

/// The result of a message of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// More is needed.
    More,
    /// Requests follow.
    Transmission,
    /// The client leaves, or broke a rule.
    Close,
}

/// What a server says first.
pub(super) fn greeting() -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(INIT_MAGIC.to_be_bytes());
    out.extend(OPTION_MAGIC.to_be_bytes());
    out.extend((FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
    out
}

impl Handshake {
    /// Takes what is whole off the front of `input` and appends the answers to `output`.
    pub(super) fn handle(&mut self, export: &Export, input: &mut Vec<u8>, output: &mut Vec<u8>) -> Next {
        let mut fields = Fields(input);
        let (next, left) = loop {
            let before = fields.0.len();
            match self.step(export, &mut fields, output) {
                Some(Next::More) => {}
                Some(next) => break (next, fields.0.len()),
                None => break (Next::More, before),
            }
        };
        input.drain(..input.len() - left);
        // No option that is answered is longer; a client that sends for ever fills no memory.
        if next == Next::More && input.len() > LONGEST_OPTION { Next::Close } else { next }
    }

    /// One message; none if it is not whole.
    fn step(&mut self, export: &Export, fields: &mut Fields<'_>, output: &mut Vec<u8>) -> Option<Next> {
        let Some(flags) = self.flags else {
            let flags = fields.u32()?;
            self.flags = Some(flags);
            let is_known = flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) == 0;
            return Some(if is_known { Next::More } else { Next::Close });
        };
        let (magic, option, length) = (fields.u64()?, fields.u32()?, fields.u32()? as usize);
        if magic != OPTION_MAGIC || length > LONGEST_OPTION {
            return Some(Next::Close);
        }
        let data = fields.bytes(length)?;
        match option {
            OPT_EXPORT_NAME if export.has_name(data) => {
                output.extend(export.bytes.to_be_bytes());
                output.extend(TRANSMISSION_FLAGS.to_be_bytes());
                if flags & u32::from(NO_ZEROES) == 0 {
                    output.extend([0; 124]);
                }
                return Some(Next::Transmission);
            }
            // This option has no answer that says no.
            OPT_EXPORT_NAME => return Some(Next::Close),
            OPT_ABORT => {
                answer(output, option, REP_ACK, &[]);
                return Some(Next::Close);
            }
            OPT_LIST if data.is_empty() => {
                let name = export.name.as_bytes();
                let server = [&(name.len() as u32).to_be_bytes()[..], name].concat();
                answer(output, option, REP_SERVER, &server);
                answer(output, option, REP_ACK, &[]);
            }
            OPT_LIST => answer(output, option, REP_ERR_INVALID, &[]),
            OPT_INFO | OPT_GO => return Some(describe(export, option, data, output)),
            _ => answer(output, option, REP_ERR_UNSUP, &[]),
        }
        Some(Next::More)
    }
}

impl Export {
    /// A client that names no export gets the only one.
    fn has_name(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.name.as_bytes()
    }

    /// Requests are multiples of the first, better of the second, and at most the third.
    fn block_sizes(&self) -> [u32; 3] {
        [self.block_bytes, self.block_bytes.max(4096), LONGEST_BYTES]
    }
}

/// Answers `OPT_INFO` and `OPT_GO`.
fn describe(export: &Export, option: u32, data: &[u8], output: &mut Vec<u8>) -> Next {
    let mut fields = Fields(data);
    let name = fields.u32().and_then(|length| fields.bytes(length as usize));
    let Some((name, wishes)) = name.and_then(|name| Some((name, fields.u16()?))) else {
        answer(output, option, REP_ERR_INVALID, &[]);
        return Next::More;
    };
    if fields.0.len() != usize::from(wishes) * 2 {
        answer(output, option, REP_ERR_INVALID, &[]);
        return Next::More;
    }
    if !export.has_name(name) {
        answer(output, option, REP_ERR_UNKNOWN, &[]);
        return Next::More;
    }
    let (kind, flags) = (INFO_EXPORT.to_be_bytes(), TRANSMISSION_FLAGS.to_be_bytes());
    answer(output, option, REP_INFO, &[&kind[..], &export.bytes.to_be_bytes(), &flags].concat());
    let sizes = export.block_sizes().map(u32::to_be_bytes).concat();
    answer(output, option, REP_INFO, &[&INFO_BLOCK_SIZE.to_be_bytes()[..], &sizes].concat());
    answer(output, option, REP_ACK, &[]);
    if option == OPT_GO { Next::Transmission } else { Next::More }
}

fn answer(output: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    output.extend(OPTION_REPLY_MAGIC.to_be_bytes());
    output.extend(option.to_be_bytes());
    output.extend(kind.to_be_bytes());
    output.extend((data.len() as u32).to_be_bytes());
    output.extend(data);
}

const TRANSMISSION_FLAGS: u16 = HAS_FLAGS | SEND_FLUSH | CAN_MULTI_CONN;
/// Names have at most 4096 bytes.
const LONGEST_OPTION: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn export() -> Export {
        Export { name: "disk".to_owned(), bytes: 1 << 20, block_bytes: 512 }
    }

    fn option(number: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = OPTION_MAGIC.to_be_bytes().to_vec();
        bytes.extend(number.to_be_bytes());
        bytes.extend((data.len() as u32).to_be_bytes());
        bytes.extend(data);
        bytes
    }

    fn go(name: &[u8], wishes: &[u16]) -> Vec<u8> {
        let mut data = (name.len() as u32).to_be_bytes().to_vec();
        data.extend(name);
        data.extend((wishes.len() as u16).to_be_bytes());
        wishes.iter().for_each(|wish| data.extend(wish.to_be_bytes()));
        data
    }

    /// What follows, and the kinds of the answers, byte by byte.
    fn talk(input: &[u8]) -> (Next, Vec<u32>, usize) {
        let (mut handshake, mut waiting, mut output) = (Handshake::default(), Vec::new(), Vec::new());
        let mut next = Next::More;
        for byte in input {
            assert_eq!(next, Next::More, "there is more input");
            waiting.push(*byte);
            next = handshake.handle(&export(), &mut waiting, &mut output);
        }
        let (mut fields, mut kinds) = (Fields(&output), Vec::new());
        while fields.0.len() >= 20 && fields.u64() == Some(OPTION_REPLY_MAGIC) {
            fields.u32();
            kinds.push(fields.u32().unwrap());
            let length = fields.u32().unwrap();
            fields.bytes(length as usize).unwrap();
        }
        (next, kinds, output.len())
    }

    #[test]
    fn clients_of_all_ages_get_the_export() {
        let new = 3_u32.to_be_bytes();
        let (next, kinds, _) = talk(&[&new[..], &option(OPT_GO, &go(b"disk", &[INFO_BLOCK_SIZE]))].concat());
        assert_eq!((next, kinds), (Next::Transmission, vec![REP_INFO, REP_INFO, REP_ACK]));
        let (next, _, bytes) = talk(&[&new[..], &option(OPT_EXPORT_NAME, b"")].concat());
        assert_eq!((next, bytes), (Next::Transmission, 10));
        let (next, _, bytes) = talk(&[&1_u32.to_be_bytes()[..], &option(OPT_EXPORT_NAME, b"disk")].concat());
        assert_eq!((next, bytes), (Next::Transmission, 134));
    }

    #[test]
    fn what_is_not_offered_is_refused_and_the_client_may_go_on() {
        let mut input = 3_u32.to_be_bytes().to_vec();
        input.extend(option(8, b""));
        input.extend(option(5, b""));
        input.extend(option(OPT_LIST, b""));
        input.extend(option(OPT_LIST, b"x"));
        input.extend(option(OPT_GO, &go(b"other", &[])));
        input.extend(option(OPT_GO, b"\0\0\0\xff"));
        input.extend(option(OPT_INFO, &go(b"", &[])));
        let (next, kinds, _) = talk(&input);
        let expected = [
            &[REP_ERR_UNSUP, REP_ERR_UNSUP, REP_SERVER, REP_ACK, REP_ERR_INVALID][..],
            &[REP_ERR_UNKNOWN, REP_ERR_INVALID, REP_INFO, REP_INFO, REP_ACK],
        ];
        assert_eq!((next, kinds), (Next::More, expected.concat()));
    }

    #[test]
    fn who_breaks_a_rule_or_leaves_is_closed() {
        let new = 3_u32.to_be_bytes();
        assert_eq!(talk(&0x80_u32.to_be_bytes()).0, Next::Close);
        assert_eq!(talk(&[&new[..], &option(OPT_ABORT, b"")].concat()), (Next::Close, vec![REP_ACK], 20));
        assert_eq!(talk(&[&new[..], &option(OPT_EXPORT_NAME, b"other")].concat()).0, Next::Close);
        assert_eq!(talk(&[&new[..], &[0; 16]].concat()).0, Next::Close);
        let endless = [&option(OPT_LIST, b"")[..12], &u32::MAX.to_be_bytes()].concat();
        assert_eq!(talk(&[&new[..], &endless].concat()).0, Next::Close);
    }
}

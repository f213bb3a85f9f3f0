use std::time::Duration;

use nicteam_capture::{Direction, Interface, Packet, Pcapng, Statistics, filter};
use pcap_parser::{Block, PcapBlockOwned, PcapError, PcapNGOption, create_reader};

fn whole(frame: &[u8]) -> Vec<u8> {
    let mut pcapng = Pcapng::default();
    let mut file = pcapng.section("nicteam", "Linux");
    let interface = |name: &str| Interface {
        name: name.to_owned(),
        description: "member of team0".to_owned(),
        mac: Some([2, 0, 0, 0, 0, 1]),
        speed_bps: Some(1_000_000_000),
        filter: Some("tcp".to_owned()),
    };
    for (number, name) in ["team0", "eth0"].into_iter().enumerate() {
        let (given, block) = pcapng.interface(&interface(name));
        assert_eq!(given, number as u32);
        file.extend(block);
    }
    let at = Duration::new(1_800_000_000, 123_456_789);
    let packet = Packet {
        interface: 1,
        at,
        bytes: frame,
        original: frame.len() + 7,
        direction: Direction::Out,
        comment: "by eth0: balance-xor",
    };
    file.extend(pcapng.packet(&packet));
    file.extend(pcapng.statistics(1, &Statistics { at, received: 5, dropped: 4 }));
    file
}

/// Without its padding.
fn value<'a>(option: &'a PcapNGOption<'_>) -> &'a [u8] {
    &option.value[..option.len.into()]
}

/// Bytes, flags, comment and time of a frame.
type Read = (Vec<u8>, u32, String, u64);

/// What another reader finds: names of interfaces, frames, and how many were dropped.
fn read(file: &[u8]) -> (Vec<String>, Vec<Read>, u64) {
    let mut reader = create_reader(65536, file).unwrap();
    let (mut names, mut frames, mut dropped) = (Vec::new(), Vec::new(), 0);
    loop {
        match reader.next() {
            Ok((offset, block)) => {
                match &block {
                    PcapBlockOwned::NG(Block::InterfaceDescription(block)) => {
                        assert_eq!((block.if_tsresol, block.snaplen), (9, 262_144));
                        let name = block.options.iter().find(|option| option.code.0 == 2).unwrap();
                        names.push(String::from_utf8(value(name).to_vec()).unwrap());
                    }
                    PcapBlockOwned::NG(Block::EnhancedPacket(block)) => {
                        let option = |code| block.options.iter().find(|option| option.code.0 == code).unwrap();
                        let flags = u32::from_le_bytes(*value(option(2)).first_chunk().unwrap());
                        let comment = String::from_utf8(value(option(1)).to_vec()).unwrap();
                        let at = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
                        assert_eq!(block.origlen, block.caplen + 7);
                        frames.push((block.data[..block.caplen as usize].to_vec(), flags, comment, at));
                    }
                    PcapBlockOwned::NG(Block::InterfaceStatistics(block)) => {
                        let option = block.options.iter().find(|option| option.code.0 == 5).unwrap();
                        dropped = u64::from_le_bytes(*value(option).first_chunk().unwrap());
                    }
                    _ => {}
                }
                reader.consume(offset);
            }
            Err(PcapError::Eof) => return (names, frames, dropped),
            Err(PcapError::Incomplete(_)) => reader.refill().unwrap(),
            Err(error) => panic!("{error:?}"),
        }
    }
}

#[test]
fn another_reader_finds_what_was_written_at_every_length() {
    for length in 0..70 {
        let frame: Vec<u8> = (0..length).collect();
        let (names, frames, dropped) = read(&whole(&frame));
        assert_eq!(names, ["team0", "eth0"]);
        let expected = (frame, 2, "by eth0: balance-xor".to_owned(), 1_800_000_000_123_456_789);
        assert_eq!(frames, [expected]);
        assert_eq!(dropped, 4);
    }
}

#[test]
fn what_tcpdump_prints_is_read_and_anything_else_refused() {
    let program = filter::read("2\n40 0 0 12\n6 0 0 262144\n").unwrap();
    assert_eq!((program.len(), program[0].code, program[1].k), (2, 40, 262_144));
    for text in ["", "0\n", "3\n6 0 0 0\n", "1\n6 0 0\n", "1\n6 0 256 0\n", "1\n6 0 0 0 0\n", "1\nx 0 0 0\n", "5000\n"]
    {
        assert_eq!(filter::read(text), None, "{text:?}");
    }
}

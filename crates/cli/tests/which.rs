//! `nicteam which`, run as a user would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../plan/tests/data/kernel-6.1");

fn which(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nicteam")).arg("which").args(arguments).output().unwrap()
}

fn capture(policy: &str, members: &str, file: &Path) -> Output {
    which(&["--xmit-hash-policy", policy, "--members", members, "--pcap", file.to_str().unwrap()])
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// A file of this content, in a folder that the build owns.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).unwrap();
    path
}

#[test]
fn a_capture_is_answered_as_the_kernel_answered() {
    compare("", &[("layer2", "3"), ("layer2+3", "7"), ("layer3+4", "4")]);
    compare("encap-", &[("encap2+3", "7"), ("encap3+4", "4"), ("vlan+srcmac", "3")]);
}

fn compare(which: &str, columns: &[(&str, &str)]) {
    let answers = fs::read_to_string(Path::new(RECORDED).join(format!("{which}answers.csv"))).unwrap();
    let titles: Vec<_> = answers.lines().next().unwrap().split(',').collect();
    for &(policy, members) in columns {
        let title = format!("forwarded {policy} {members}");
        let column = titles.iter().position(|known| *known == title).unwrap();
        let mut expected = "frame,member\n".to_owned();
        for line in answers.lines().skip(1) {
            let fields: Vec<_> = line.split(',').collect();
            expected += &format!("{},{}\n", fields[0], fields[column]);
        }
        let output = capture(policy, members, &Path::new(RECORDED).join(format!("{which}frames.pcap")));
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stdout(&output), expected, "{title}");
    }
}

/// Two frames that layer2 sends by members 1 and 2 of 4.
fn frames() -> [Vec<u8>; 2] {
    [1, 2].map(|last| [&[2, 0, 0, 0, 0, last, 2, 0, 0, 0, 0, 0, 0x08, 0x00][..], &[0; 33]].concat())
}

/// Puts numbers into bytes, in either byte order.
#[derive(Clone, Copy)]
struct Order {
    big: bool,
}

impl Order {
    fn u32(self, number: u32) -> [u8; 4] {
        if self.big { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    fn u16(self, number: u16) -> [u8; 2] {
        if self.big { number.to_be_bytes() } else { number.to_le_bytes() }
    }
}

fn pcap(order: Order, magic: u32, link_type: u32) -> Vec<u8> {
    let mut file = [&order.u32(magic)[..], &order.u16(2), &order.u16(4), &[0; 8], &order.u32(65535)].concat();
    file.extend(order.u32(link_type));
    for frame in frames() {
        let length = order.u32(frame.len() as u32);
        file.extend([&[0; 8][..], &length, &length, &frame].concat());
    }
    file
}

fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = body.len().next_multiple_of(4) - body.len();
    let length = order.u32((12 + body.len() + padding) as u32);
    [&order.u32(kind)[..], &length, body, &[0; 3][..padding], &length].concat()
}

fn pcapng(order: Order, link_type: u16) -> Vec<u8> {
    let section = [&order.u32(0x1a2b_3c4d)[..], &order.u16(1), &order.u16(0), &[0xff; 8]].concat();
    let interface = [&order.u16(link_type)[..], &[0; 2], &order.u32(0)].concat();
    let [enhanced, simple] = frames();
    let length = order.u32(enhanced.len() as u32);
    let enhanced = [&order.u32(0)[..], &[0; 8], &length, &length, &enhanced].concat();
    let simple = [&length[..], &simple].concat();
    let blocks = [(0x0a0d_0d0a, section), (1, interface), (6, enhanced), (4, vec![0; 4]), (3, simple)];
    blocks.iter().flat_map(|(kind, body)| block(order, *kind, body)).collect()
}

#[test]
fn every_kind_of_file_is_read() {
    for big in [false, true] {
        let order = Order { big };
        for (name, content) in [
            (format!("micro-{big}.pcap"), pcap(order, 0xa1b2_c3d4, 1)),
            (format!("nano-{big}.pcap"), pcap(order, 0xa1b2_3c4d, 1)),
            (format!("{big}.pcapng"), pcapng(order, 1)),
        ] {
            let output = capture("layer2", "4", &file(&name, &content));
            assert!(output.status.success(), "{name}: {}", stderr(&output));
            assert_eq!(stdout(&output), "frame,member\n0,1\n1,2\n", "{name}");
        }
    }
}

#[test]
fn a_file_that_is_cut_off_is_answered_as_far_as_it_goes() {
    let order = Order { big: false };
    for (name, whole) in [("cut.pcap", pcap(order, 0xa1b2_c3d4, 1)), ("cut.pcapng", pcapng(order, 1))] {
        let output = capture("layer2", "4", &file(name, &whole[..whole.len() - 1]));
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert_eq!(stdout(&output), "frame,member\n0,1\n", "{name}");
        assert!(stderr(&output).contains("cut off after 1 whole frames"), "{name}: {}", stderr(&output));
    }
}

#[test]
fn no_damage_makes_it_panic() {
    let order = Order { big: false };
    for (name, whole) in [("damaged.pcap", pcap(order, 0xa1b2_c3d4, 1)), ("damaged.pcapng", pcapng(order, 1))] {
        // The headers and the first frame; the second repeats them.
        for place in (0..130).step_by(3) {
            let mut damaged = whole.clone();
            damaged[place] ^= 0xff;
            let output = capture("layer3+4", "4", &file(name, &damaged));
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 2)), "{name}, byte {place}: {code:?} {}", stderr(&output));
        }
    }
}

#[test]
fn what_is_no_capture_of_ethernet_is_refused() {
    let order = Order { big: false };
    for (name, content, why) in [
        ("text", b"frame,member\n".to_vec(), "neither a pcap nor a pcapng file"),
        ("empty", Vec::new(), "neither a pcap nor a pcapng file"),
        ("raw.pcap", pcap(order, 0xa1b2_c3d4, 101), "link type 101"),
        ("raw.pcapng", pcapng(order, 101), "link type 101"),
    ] {
        let output = capture("layer2", "4", &file(name, &content));
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stderr(&output).contains(why), "{name}: {}", stderr(&output));
    }
    let output = capture("layer2", "4", Path::new("/no/such/file"));
    assert!(stderr(&output).contains("/no/such/file: No such file"), "{}", stderr(&output));
}

#[test]
fn a_runt_is_left_out_and_keeps_its_number() {
    let order = Order { big: false };
    let mut content = pcap(order, 0xa1b2_c3d4, 1);
    let runt = [&[0; 8][..], &order.u32(5), &order.u32(60), &[0; 5]].concat();
    content.splice(24..24, runt);
    let output = capture("layer2", "4", &file("runt.pcap", &content));
    assert_eq!(stdout(&output), "frame,member\n1,1\n2,2\n");
    assert!(stderr(&output).contains("frame 0 left out"), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 frames were captured short"), "{}", stderr(&output));
}

#[test]
fn a_flow_is_answered_and_explained() {
    let flow = "tcp 10.0.0.1:40000 -> 10.0.0.2:5001";
    // fold(0x8913409c ^ 0x03000000) >> 1 = 1162669218
    let output = which(&["--xmit-hash-policy", "layer3+4", "--members", "4", "--flow", flow]);
    assert_eq!((stdout(&output), output.status.code()), ("2\n", Some(0)));
    let said = stderr(&output);
    assert_eq!(said.lines().count(), 1);
    assert!(said.contains("10.0.0.1 and 10.0.0.2") && said.contains("40000 and 5001"), "{said}");
    assert!(said.contains("1162669218 modulo 4"), "{said}");
}

#[test]
fn a_flow_needs_what_the_policy_hashes() {
    let ask = |policy: &str, more: &[&str]| {
        let flow = ["--xmit-hash-policy", policy, "--members", "4", "--flow", "udp [fd00::1]:1 -> [fd00::2]:2"];
        which(&[&flow[..], more].concat())
    };
    let (src, dst) = (["--src-mac", "02:00:00:00:00:03"], ["--dst-mac", "02:00:00:00:00:05"]);
    for (policy, missing) in [
        ("layer2", "--src-mac and --dst-mac"),
        ("encap2+3", "--src-mac and --dst-mac"),
        ("l3,l2", "--src-mac and --dst-mac"),
        ("vlan+srcmac", "add --src-mac ("),
        ("src-mac", "add --src-mac ("),
        ("dst-mac", "add --dst-mac ("),
    ] {
        let output = ask(policy, &[]);
        assert_eq!((stdout(&output), output.status.code()), ("", Some(2)), "{policy}");
        assert!(stderr(&output).contains(missing), "{policy}: {}", stderr(&output));
    }
    assert_eq!(stdout(&ask("src-mac", &src)), "3\n");
    assert_eq!(stdout(&ask("dst-mac", &dst)), "1\n");
    assert_eq!(stdout(&ask("src-dst-mac", &[src, dst].concat())), "2\n");
    assert_eq!(stdout(&ask("vlan+srcmac", &src)), "3\n");
    for (policy, member, made_of) in [
        ("L3", "3\n", "the addresses fd00::1 and fd00::2"),
        ("l4,l3", "0\n", "the addresses fd00::1 and fd00::2, the ports 1 and 2"),
        ("encap3+4", "0\n", "the addresses fd00::1 and fd00::2, the ports 1 and 2"),
    ] {
        let output = ask(policy, &[]);
        assert_eq!(stdout(&output), member, "{policy}: {}", stderr(&output));
        assert!(stderr(&output).contains(made_of), "{policy}: {}", stderr(&output));
    }
    let echo = |flow| which(&["--xmit-hash-policy", "layer3+4", "--members", "4", "--flow", flow]);
    assert!(stderr(&echo("icmp 10.0.0.1 -> 10.0.0.2")).contains("identifier"));
    assert!(echo("icmp 10.0.0.1 -> 10.0.0.2 id 7").status.success());
}

#[test]
fn a_hash_of_eight_values_is_assigned_to_the_members() {
    let ask = |more: &[&str]| {
        let flow = ["--members", "3", "--flow", "tcp 10.0.0.8:1 -> 10.0.0.2:2"];
        which(&[&["--xmit-hash-policy", "src-ip"], &flow[..], more].concat())
    };
    // 8 modulo three is 2; of eight values it is the first, which is the first member's.
    assert_eq!(stdout(&ask(&[])), "2\n");
    let output = ask(&["--hash-buckets", "8"]);
    assert_eq!(stdout(&output), "0\n");
    assert!(stderr(&output).contains("8 modulo 8 buckets is 0, which is member 0's"), "{}", stderr(&output));
    assert!(stderr(&ask(&["--hash-buckets", "0"])).contains("1 to 256"));
}

#[test]
fn a_wrong_command_line_says_so() {
    for (arguments, why) in [
        (&["--xmit-hash-policy", "layer2", "--members", "4"][..], "--pcap"),
        (&["--xmit-hash-policy", "layer2", "--members", "0", "--pcap", "x"], "1 to 32, for example 4"),
        (&["--xmit-hash-policy", "layer2", "--members", "33", "--pcap", "x"], "1 to 32, for example 4"),
        (&["--xmit-hash-policy", "layer4", "--members", "4", "--pcap", "x"], "layer3+4"),
        (&["--xmit-hash-policy", "layer2", "--members", "4", "--flow", "tcp"], "tcp 10.0.0.1:40000"),
    ] {
        let output = which(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(why), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_mode_without_a_hash_is_refused_with_what_it_does() {
    for (mode, says) in
        [("stripe", "by the member that is free first"), ("balance-rr", "in turn"), ("broadcast", "a copy")]
    {
        let refused = which(&["--xmit-hash-policy", mode, "--members", "4", "--flow", "tcp 10.0.0.1:1 -> 10.0.0.2:2"]);
        assert_eq!(refused.status.code(), Some(2), "{mode}");
        assert!(stderr(&refused).contains(says), "{mode}: {}", stderr(&refused));
    }
}

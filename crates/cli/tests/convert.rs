//! `nicteam import` and `nicteam export`, run as a user would.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::common::lab::Folder;
use crate::published::DLADM;

/// Runs `nicteam` with this standard input.
fn nicteam(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Who is refused by its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

const NETPLAN: &str = "network:\n  bonds:\n    bond0:\n      interfaces: [eth1, eth2]\n      dhcp4: true\n      parameters: {mode: 802.3ad}\n";

#[test]
fn a_line_from_standard_input() {
    let output = nicteam(&["import", "-"], DLADM);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let expected = "[teams.aggr01]\nmembers = [\"igb0\", \"igb1\", \"igb2\", \"igb3\"]\nmode = \"balance-xor\"\nxmit_hash_policy = \"L4\"\n";
    let left = "-:1:51: `aggr01`\n    the members have illumos' names (igb0, igb1, igb2, igb3): put this host's names in \
                their place (`ip -br link` lists them)\n";
    let comments = left.replace("-:1:51: `aggr01`\n    ", "# -:1:51: aggr01\n#   ");
    assert_eq!(text(&output.stdout), format!("{expected}# Not taken over:\n{comments}"));
    assert_eq!(
        text(&output.stderr),
        format!("aggr01: not taken over:\n  {left}")
            + "switch off in the old place, before a team takes over:\n  \
         -:1:51: where this host still runs illumos: take the aggregation aggr01 away\n    dladm delete-aggr aggr01\n"
    );
}

#[test]
fn programs_read_json() {
    let output = nicteam(&["import", "--json", "-"], NETPLAN);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let read: Value = serde_json::from_slice(&output.stdout).unwrap();
    let place = json!({"path": "-", "line": 5, "column": 7});
    assert_eq!(
        read["teams"],
        json!([{
            "name": "bond0", "members": ["eth1", "eth2"], "options": {"mode": "802.3ad"}, "mac": null, "mtu": null,
            "accept_ra": null, "dataplane": null, "addresses": [], "routes": []
        }])
    );
    assert_eq!(
        (&read["left"][0]["place"], &read["left"][0]["text"], &read["left"][0]["team"]),
        (&place, &json!("dhcp4: true"), &json!("bond0"))
    );
    let commands: Vec<&Value> = read["disable"].as_array().unwrap().iter().map(|of| &of["command"]).collect();
    assert!(commands.contains(&&json!("netplan set bonds.bond0=null")), "{read:#}");
    let output = nicteam(&["import", "--json", "--strict", "-"], NETPLAN);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--strict allows none"));
    let lines = "[teams.team0]\nmembers = [\"a\"]\nmode = \"1\"\nmac = \"02:00:00:00:00:01\"\nmtu = 9000\n\
                 addresses = [\"10.0.0.1/24\"]\nroutes = [\"default via 10.0.0.254\"]\n";
    let read: Value = serde_json::from_slice(&nicteam(&["import", "--json", "-"], lines).stdout).unwrap();
    let team = &read["teams"][0];
    assert_eq!((&team["mac"], &team["mtu"]), (&json!("02:00:00:00:00:01"), &json!(9000)));
    assert_eq!((&team["addresses"][0], &team["routes"][0]), (&json!("10.0.0.1/24"), &json!("default via 10.0.0.254")));
}

#[test]
fn what_is_left_is_listed_and_strict_refuses_it() {
    for (arguments, code) in [(&["import", "-"][..], 0), (&["import", "--strict", "-"], 2)] {
        let output = nicteam(arguments, NETPLAN);
        assert_eq!(output.status.code(), Some(code));
        assert!(text(&output.stdout).contains("[teams.bond0]"));
        let said = text(&output.stderr);
        assert!(said.starts_with("bond0: not taken over:\n  -:5:7: `dhcp4: true`\n    a team does not ask"), "{said}");
        assert!(said.contains("netplan set bonds.bond0=null\n"), "{said}");
        assert_eq!(said.contains("--strict allows none"), code == 2);
    }
}

#[test]
fn what_is_wrong_is_pointed_at() {
    let output = nicteam(&["import", "-"], &NETPLAN.replace("802.3ad", "802.3"));
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
    assert!(text(&output.stderr).contains(" --> -:6:26\n"), "{}", text(&output.stderr));
    for (arguments, input, words) in [
        (&["import", "/no/such/file"][..], "", "cannot read /no/such/file: "),
        (&["import", "-"], "hello\n", "nicteam: standard input is no format that is read\nhint: `--from FORMAT`"),
        (&["import", "-"], "\n", "nicteam: standard input is empty\n"),
        (&["import", "--from", "dladn", "-"], "", "did you mean `dladm`?"),
        (&["import", "--from", "dladm", "-"], "# nothing\n", "no bond is in there\nhint: "),
        (&["import", "--from", "ifupdown", "-"], "source interfaces.d/*\n", "name it beside this one, if there is one"),
        (&["import"], "", "<FILE>"),
        (&["export", "--to", "netplam", "-"], "", "did you mean `netplan`?"),
        (&["export", "--to", "netplan", "--force", "-"], "", "--dir"),
    ] {
        let output = nicteam(arguments, input);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn a_folder_is_of_one_format() {
    let folder = Folder::new("netplan");
    let path = |name: &str| PathBuf::from(folder.path(name));
    fs::write(path("60-b.yaml"), "network: {bonds: {bond0: {mtu: 9000}}}\n").unwrap();
    fs::write(path("50-a.yaml"), NETPLAN).unwrap();
    fs::write(path("50-a.yaml.bak"), "network: [\n").unwrap();
    fs::write(path("hook"), "#!/bin/sh\nip link set eth1 up\n").unwrap();
    let dir = folder.path("");
    let output = nicteam(&["import", &dir], "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("mtu = 9000\n"), "{}", text(&output.stdout));
    fs::write(path("team.conf"), "{\"device\": \"t\", \"runner\": {\"name\": \"lacp\"}}").unwrap();
    let output = nicteam(&["import", &dir], "");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("are not of one format") && said.contains("team.conf is teamd"), "{said}");
    let output = nicteam(&["import", "--from", "netplan", &dir], "");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn no_file_of_a_folder_is_lost_without_a_word() {
    let folder = Folder::new("convert-encodings");
    let (dir, path) = (folder.path(""), |name: &str| PathBuf::from(folder.path(name)));
    fs::write(path("ifcfg-bond0"), "DEVICE=bond0\nTYPE=Bond\nBONDING_OPTS='mode=1'\n").unwrap();
    fs::write(path("ifcfg-eth1"), "DEVICE=eth1\nMASTER=bond0\nSLAVE=yes\n").unwrap();
    // Latin-1, in a comment.
    fs::write(path("ifcfg-eth2"), b"# r\xfcckw\xe4rtig\nDEVICE=eth2\nMASTER=bond0 # \xe4\nSLAVE=yes\n").unwrap();
    let output = nicteam(&["import", "--strict", &dir], "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("members = [\"eth1\", \"eth2\"]"), "{}", text(&output.stdout));

    // A program and a large file are no configuration: they are named.
    fs::write(path("ifcfg-program"), b"\x7fELF\0\0").unwrap();
    fs::write(path("ifcfg-large"), vec![b'#'; (4 << 20) + 1]).unwrap();
    fs::write(path("ifcfg-long"), vec![b'\n'; 250_001]).unwrap();
    let output = nicteam(&["import", "--strict", &dir], "");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for words in [
        "ifcfg-program is no text",
        "ifcfg-large is larger than 4 MiB",
        "ifcfg-long has more than 250000 lines",
        "3 left, and --strict allows none",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    fs::remove_file(path("ifcfg-program")).unwrap();
    fs::remove_file(path("ifcfg-large")).unwrap();
    fs::remove_file(path("ifcfg-long")).unwrap();

    // Such a byte in a value is wrong, and so is a file that cannot be opened.
    fs::write(path("ifcfg-eth3"), b"DEVICE=eth3\nMASTER=b\xf6nd0\n").unwrap();
    let output = nicteam(&["import", &dir], "");
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{said}");
    assert!(said.contains("ifcfg-eth3:2:9: the byte 0xf6 is not UTF-8\nhint: in comments any"), "{said}");
    fs::write(path("ifcfg-eth3"), "DEVICE=eth3\nMASTER=bond0\n").unwrap();
    fs::set_permissions(path("ifcfg-eth3"), fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-dac_override,-dac_read_search", env!("CARGO_BIN_EXE_nicteam"), "import", &dir]);
    let output = command.output().unwrap();
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{said}");
    assert!(said.contains("ifcfg-eth3: Permission denied") && said.contains("hint: run this as root"), "{said}");
}

#[test]
fn teams_are_written_and_nothing_is_overwritten() {
    let folder = Folder::new("export");
    let own = "[teams.team0]\nmembers = [\"eth1\", \"eth2\"]\nmode = \"802.3ad\"\nlacp_lease = 5000\n";
    let output = nicteam(&["export", "--to", "cisco", "-"], own);
    assert!(text(&output.stdout).contains("channel-group 1 mode active\n"), "{}", text(&output.stderr));
    let output = nicteam(&["export", "--to", "netplan", "-"], own);
    assert!(text(&output.stdout).starts_with("# /etc/netplan/60-nicteam.yaml\n"));
    assert_eq!(text(&output.stderr), "team0: the kernel's driver has no `lacp_lease`\n");
    let dir = folder.path("");
    let write = |more: &[&str]| nicteam(&[&["export", "--to", "netplan", "--dir", &dir, "-"], more].concat(), own);
    assert!(write(&[]).status.success());
    let file = PathBuf::from(folder.path("etc/netplan/60-nicteam.yaml"));
    assert!(fs::read_to_string(&file).unwrap().contains("interfaces: [eth1, eth2]"));
    let again = write(&[]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("is there already, and nothing was written\nhint: --force"));
    assert!(write(&["--force"]).status.success());
    let back = nicteam(&["import", file.to_str().unwrap()], "");
    assert!(text(&back.stdout).contains("[teams.team0]"));
    let none = nicteam(
        &["export", "--to", "netplan", "-"],
        &own.replace("802.3ad", "stripe").replace("lacp_lease = 5000\n", ""),
    );
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("mode stripe is not the kernel's"));
}

#[test]
fn help_names_the_formats() {
    for (command, name) in [("import", "teamd"), ("export", "cisco")] {
        let output = nicteam(&[command, "--help"], "");
        assert!(text(&output.stdout).contains(&format!("\n  {name} ")), "{}", text(&output.stdout));
    }
}

#[test]
fn a_hidden_file_makes_no_folder_ours() {
    let folder = Folder::new("convert-hidden");
    fs::write(folder.path(".team0.toml"), "[teams.team0]\nmembers = [\"eth0\"]\n").unwrap();
    fs::write(folder.path("interfaces"), "iface bond0 inet manual\n bond-slaves nope0\n").unwrap();
    let output = nicteam(&["check", &folder.path("")], "");
    assert!(text(&output.stderr).contains("nope0") || text(&output.stdout).contains("nope0"), "{output:?}");
}

#[test]
fn an_empty_folder_of_ours_says_what_makes_a_file() {
    let hint = "hint: `nicteam import` makes one from the configuration that you have";
    for arguments in ["check", "check team0", "check /etc/nicteam", "export --to netplan"] {
        let script = format!(
            "mount -t tmpfs none /etc && mkdir /etc/nicteam && exec {} {arguments}",
            env!("CARGO_BIN_EXE_nicteam")
        );
        let output = Command::new("unshare").args(["--mount", "sh", "-c", &script]).output().unwrap();
        if text(&output.stderr).contains("unshare failed") {
            return eprintln!("SKIPPED: needs root for a namespace of mounts");
        }
        assert!(text(&output.stderr).contains(hint), "{arguments}: {output:?}");
    }
}

#[test]
fn members_of_a_profile_alone_are_named() {
    let bond = "[connection]\ntype=bond\ninterface-name=bond0\n[bond]\nmode=802.3ad\n";
    let output = nicteam(&["import", "-"], bond);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("its ports have profiles of their own: name the folder") && said.contains("--members"),
        "{said}"
    );
    let output = nicteam(&["import", "--members", "eth1,eth2", "-"], bond);
    assert!(text(&output.stdout).starts_with("[teams.bond0]\nmembers = [\"eth1\", \"eth2\"]\nmode = \"802.3ad\"\n"));
    let template = "auto lo\n% for bond in bonds:\niface ${bond} inet manual\n% endfor\n";
    let output = nicteam(&["import", "--from", "ifupdown", "-"], template);
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), said.matches("error").count()), (Some(2), 2), "{said}");
    assert!(said.contains("-:2:1") && said.contains("this is a template (Mako)"), "{said}");
}

/// A shape of texts that multiplies or is very long, for so many bytes.
type Shape = (&'static str, fn(usize) -> String);

/// Texts that nobody wrote for a network.
const HOSTILE: &[Shape] = &[
    ("ifupdown", |bytes| {
        numbered(bytes, |n| format!("auto b{n}\niface b{n} inet manual\n bond-slaves e{n}a e{n}b\n bond-mode 4\n"))
    }),
    ("ifupdown", |bytes| {
        "iface b inet manual\n bond-slaves e1\n".to_owned() + &" up ip link set a up\n".repeat(bytes / 21)
    }),
    ("ifupdown", |bytes| format!("iface b inet manual\n bond-slaves {}\n", "e ".repeat(bytes / 2))),
    ("ifupdown", |bytes| {
        let route = |n: usize| format!(" up ip route add 10.{}.{}.{} dev b\n", n >> 16, (n >> 8) & 255, n & 255);
        "iface b inet manual\n bond-slaves e1\n".to_owned() + &numbered(bytes, route)
    }),
    ("ifupdown", |bytes| {
        let stanza = |n: usize| format!("iface b inet manual\n up ip link set e{} master b\n", n & 15);
        "iface b inet manual\n bond-slaves e1\n".to_owned() + &numbered(bytes, stanza)
    }),
    ("ifcfg", |bytes| {
        "DEVICE=b\nTYPE=Bond\n".to_owned()
            + &numbered(bytes, |n| format!("IPADDR{n}=10.0.{}.{}\n", (n >> 8) & 255, n & 255))
    }),
    ("keyfile", |bytes| {
        let route = |n: usize| format!("route{n}=10.{}.{}.{}/32,10.0.0.1\n", n >> 16, (n >> 8) & 255, n & 255);
        "[connection]\ntype=bond\ninterface-name=b\n[ipv4]\nmethod=manual\n".to_owned() + &numbered(bytes, route)
    }),
    ("ifcfg", |bytes| format!("DEVICE=b\nTYPE=Bond\nA=abcdefgh\n{}", "A=\"$A$A\"\n".repeat(bytes / 9))),
    ("iproute2", |bytes| format!("ip link add b type bond\na=abcdefgh\n{}", "a=$a$a\n".repeat(bytes / 7))),
    ("iproute2", |bytes| format!("ip link add b type bond\necho {}\n", "{a,b}".repeat(bytes / 5))),
    ("iproute2", |bytes| format!("ip link add b type bond\n{}", "a b\n".repeat(bytes / 4))),
    ("netplan", |bytes| {
        format!("network:\n  bonds:\n{}", numbered(bytes, |n| format!("    b{n}: {{interfaces: [e{n}]}}\n")))
    }),
    ("netplan", |bytes| format!("network: {{bonds: {{b: {{interfaces: [{}]}}}}}}\n", "e,".repeat(bytes / 2))),
    ("netplan", |bytes| format!("network: {}", "[".repeat(bytes))),
    ("teamd", |bytes| {
        format!("{{\"device\": \"t\", \"ports\": {{{}\"x\": {{}}}}}}", numbered(bytes, |n| format!("\"e{n}\": {{}},")))
    }),
    ("keyfile", |bytes| {
        format!("[connection]\ntype=bond\ninterface-name=b\n[bond]\n{}", "miimon=1\n".repeat(bytes / 9))
    }),
    ("networkd", |bytes| format!("[NetDev]\nKind=bond\nName=b\n{}", "[Bond]\n".repeat(bytes / 7))),
    ("toml", |bytes| numbered(bytes, |n| format!("[teams.b{n}]\nmembers = [\"e{n}\"]\n"))),
    ("ovs-vsctl", |bytes| format!("ovs-vsctl add-bond br b {}\n", "e ".repeat(bytes / 2))),
    ("nmstate", |bytes| {
        format!(
            "interfaces:\n{}",
            numbered(bytes, |n| format!("- {{name: b{n}, type: bond, link-aggregation: {{port: [e{n}]}}}}\n"))
        )
    }),
    ("freebsd", |bytes| numbered(bytes, |n| format!("ifconfig_l{n}=\"laggproto lacp laggport e{n}\"\n"))),
];

/// Pieces with a number each, up to so many bytes.
fn numbered(bytes: usize, piece: fn(usize) -> String) -> String {
    let mut all = String::new();
    for number in 0.. {
        let piece = piece(number);
        if all.len() + piece.len() > bytes {
            break;
        }
        all.push_str(&piece);
    }
    all
}

/// The largest text that is read takes no more memory than a small machine has, and no more than eight times the time of one
/// of a fourth of its size.
#[test]
fn a_hostile_text_takes_little_memory_and_time() {
    let whole = if nicteam_testnet::is_soak() { (4 << 20) - 512 } else { 128 << 10 };
    let folder = Folder::new("convert-hostile");
    let path = folder.path("text");
    for (place, (format, shape)) in HOSTILE.iter().enumerate() {
        let took_ms = [whole / 4, whole].map(|bytes| {
            fs::write(&path, shape(bytes)).unwrap();
            // KiB of address space: what is taken, and what the program itself is. Processor time, so other programs do not count.
            let script = format!(
                "ulimit -v 600000; TIMEFORMAT='%3U %3S'; time {} import --from {format} {path} >/dev/null 2>&1; exit $?",
                env!("CARGO_BIN_EXE_nicteam")
            );
            let output = Command::new("bash").args(["-c", &script]).output().unwrap();
            assert!(matches!(output.status.code(), Some(0 | 2)), "{place} {format}: {output:?}");
            let seconds = text(&output.stderr).split_whitespace().map(|part| part.parse::<f64>().unwrap()).sum::<f64>();
            (seconds * 1000.0).max(20.0)
        });
        assert!(took_ms[1] < took_ms[0] * 8.0, "{place} {format}: {took_ms:?}");
    }
}

//! Command lines and scripts. They need a POSIX shell on the machine, `ip` of iproute2, and GNU's coreutils.

use sha2::{Digest, Sha256};

/// How long a keeper that hears nothing of its lab waits before it gives everything back, seconds.
pub const SILENCE_S: u64 = 12;
/// How often a lab says that it is there, seconds.
pub const SIGN_S: u64 = 2;

/// The program and its arguments that let a machine execute a script. `program` is `ssh`, or another program with its own
/// arguments, with spaces between them. It asks nobody for anything: it would wait for an answer for ever.
pub fn command(program: Option<&str>, destination: &str, script: &str) -> Vec<String> {
    let mut words: Vec<String> = program.unwrap_or("ssh").split_whitespace().map(str::to_owned).collect();
    let options = ["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=4", "ServerAliveCountMax=3"];
    words.push("-T".to_owned());
    words.extend(options.into_iter().flat_map(|option| ["-o".to_owned(), option.to_owned()]));
    words.extend(["--".to_owned(), destination.to_owned(), format!("exec sh -c {}", quoted(script))]);
    words
}

/// A word of the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What tells how a machine is. It changes nothing there. With links it takes a second, in which they are to be idle.
pub fn look(links: &[String]) -> String {
    let links: Vec<String> = links.iter().map(|link| quoted(link)).collect();
    LOOK.replace("LINKS", &links.join(" "))
}

const LOOK: &str = r#"
echo "system $(uname -s) $(uname -m) $(uname -r)"
if [ "$(id -u)" = 0 ]; then echo "root yes"; elif sudo -n true 2>/dev/null; then echo "root sudo"; else echo "root no"; fi
echo "free $(df -Pk "${TMPDIR:-/tmp}" | awk 'NR == 2 { print $4 }')"
command -v ip >/dev/null || echo "absent ip"
command -v sha256sum >/dev/null || echo "absent sha256sum"
for link in LINKS; do
  at=/sys/class/net/$link
  [ -e "$at" ] || { echo "missing $link"; continue; }
  # A virtual device has no rate, whatever it says.
  speed=-1
  [ -e "$at/device" ] && speed=$(cat "$at/speed" 2>/dev/null || echo -1)
  echo "link $link $speed"
  for upper in "$at"/upper_*; do [ -e "$upper" ] && echo "upper $link ${upper##*/upper_}"; done
  ip -o addr show dev "$link" scope global | awk -v link="$link" '{ print "address " link " " $4 }'
done
counted() {
  for link in LINKS; do
    at=/sys/class/net/$link/statistics
    [ -e "$at" ] && echo "$1 $link $(cat "$at/rx_packets") $(cat "$at/tx_packets")"
  done
}
if [ -n "LINKS" ]; then
  counted before
  sleep 1
  counted after
fi
ip -o addr show scope global 2>/dev/null | awk '{ print "holds " $4 }'
:
"#;

/// A program to copy to other machines, with its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its bytes.
    pub bytes: Vec<u8>,
    digest: String,
}

impl Program {
    /// The program with these bytes.
    pub fn of(bytes: Vec<u8>) -> Program {
        let digest = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Program { bytes, digest }
    }
}

/// What takes a program from its standard input and becomes its keeper. The copy is in a folder of its own, which goes when
/// the copy is not whole, and with the keeper.
pub fn install(program: &Program, keeper: &[String], with_sudo: bool) -> String {
    let arguments: Vec<String> = keeper.iter().map(|word| quoted(word)).collect();
    let script = copied(program) + KEEP;
    script.replace("SUDO", if with_sudo { "sudo -n" } else { "" }).replace("ARGUMENTS", &arguments.join(" "))
}

/// What takes a program from its standard input and becomes it, with these arguments, as root where the login can. The copy goes
/// before the program begins: nothing of it stays, however the program ends.
pub fn once(program: &Program, arguments: &[String]) -> String {
    let arguments: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
    let script = SAME_KIND.replace("MACHINE", std::env::consts::ARCH) + &copied(program) + ONCE;
    script.replace("ARGUMENTS", &arguments.join(" "))
}

fn copied(program: &Program) -> String {
    COPY.replace("BYTES", &program.bytes.len().to_string()).replace("DIGEST", &program.digest)
}

const SAME_KIND: &str = r#"
if [ "$(uname -s) $(uname -m)" != "Linux MACHINE" ]; then
  echo "the machine is $(uname -s) $(uname -m), and this program is built for Linux MACHINE" >&2
  exit 126
fi
"#;

const COPY: &str = r#"
umask 077
d=$(mktemp -d "${TMPDIR:-/tmp}/nicteam-XXXXXXXX") || exit 1
trap 'rm -rf "$d"' EXIT
trap 'exit 1' HUP INT TERM PIPE
head -c BYTES >"$d/nicteam" || exit 1
if [ "$(sha256sum <"$d/nicteam" | cut -c 1-64)" != DIGEST ]; then
  echo "the copy of nicteam differs from what was sent" >&2
  exit 1
fi
chmod 700 "$d/nicteam"
"#;

const KEEP: &str = r#"exec SUDO "$d/nicteam" keep --folder "$d" ARGUMENTS
"#;

/// The shell that opens the copy is root's, as sudo closes what its caller has open.
const ONCE: &str = r#"sudo=
[ "$(id -u)" = 0 ] || { sudo -n true 2>/dev/null && sudo="sudo -n"; }
exec $sudo sh -c 'exec 3<"$0" && rm -r "${0%/*}" && exec /proc/self/fd/3 "$@"' "$d/nicteam" ARGUMENTS
"#;

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_program_with_arguments_takes_the_place_of_ssh() {
        let words = command(Some("ssh -F /etc/test config"), "root@a", "echo 'x'");
        assert_eq!(words[..4], ["ssh", "-F", "/etc/test", "config"]);
        assert_eq!(words[words.len() - 3..], ["--", "root@a", r"exec sh -c 'echo '\''x'\'''"]);
        assert_eq!(command(None, "a", "").first().map(String::as_str), Some("ssh"));
    }

    /// Runs the script here, with this on its standard input.
    fn installed(folder: &std::path::Path, sent: &[u8], script: &str) -> (bool, String) {
        use std::io::Write as _;
        let mut child = Command::new("sh")
            .args(["-c", script])
            .env("TMPDIR", folder)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // Fails if it does not want it.
        let _ = child.stdin.take().unwrap().write_all(sent);
        let ended = child.wait_with_output().unwrap();
        (ended.status.success(), String::from_utf8([ended.stdout, ended.stderr].concat()).unwrap())
    }

    #[test]
    fn a_whole_copy_is_executed_and_a_part_of_it_leaves_nothing() {
        let folder = std::env::temp_dir().join(format!("remote-test-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let program = Program::of(b"#!/bin/sh\necho \"$1 $4\"\nrm -r \"$3\"\n".to_vec());
        let (keep, once) = (install(&program, &["it's".to_owned()], false), once(&program, &["it's".to_owned()]));
        assert_eq!(installed(&folder, &program.bytes, &keep), (true, "keep it's\n".to_owned()));
        for script in [&keep, &once] {
            let (is_whole, said) = installed(&folder, &program.bytes[..10], script);
            assert!(!is_whole && said.contains("differs from what was sent"), "{said}");
        }
        // Fails if something is left.
        std::fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn a_copy_that_runs_once_is_gone_before_it_begins() {
        let folder = std::env::temp_dir().join(format!("remote-once-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        // No script: its interpreter would look for it by its name.
        let Ok(bytes) = std::fs::read("/bin/ls") else { return };
        let program = Program::of(bytes);
        let words = ["-A", folder.to_str().unwrap()].map(str::to_owned);
        let script = once(&program, &words);
        assert_eq!(installed(&folder, &program.bytes, &script), (true, String::new()));
        let (is_done, said) = installed(&folder, &program.bytes, &script.replace("uname -m", "echo mips"));
        assert!(!is_done && said.contains("the machine is Linux mips, and this program is built for Linux"), "{said}");
        std::fs::remove_dir(&folder).unwrap();
    }
}

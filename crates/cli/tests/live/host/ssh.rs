//! Somebody who is logged in by the link that becomes a team.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nicteam_sys::process;
use nicteam_testnet::{assert_same_network, eventually, is_soak};

use super::{Network, TEAM};
use crate::common::teams::{Killed, may_test_bpf};

/// The real server, where it is installed.
fn sshd() -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin";
    let found = std::env::split_paths(&path).map(|folder| folder.join("sshd")).find(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: needs sshd (Debian: openssh-server)");
    }
    found
}

/// `sshd` on the near host, at its address in the network.
fn serve(network: &Network, sshd: &PathBuf) -> (Killed, String) {
    let folder = network.near.state.join("ssh");
    fs::create_dir_all(&folder).unwrap();
    // Where a server of Debian's gives up its rights; nothing is ever in it.
    fs::create_dir_all("/run/sshd").unwrap();
    for name in ["host", "user"] {
        let made =
            Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(folder.join(name)).status();
        assert!(made.unwrap().success());
    }
    let path = |name: &str| folder.join(name).display().to_string();
    let keys = fs::read_to_string(path("user.pub")).unwrap();
    fs::write(path("authorized"), keys).unwrap();
    fs::set_permissions(path("authorized"), fs::Permissions::from_mode(0o600)).unwrap();
    let lines = [
        format!("HostKey {}", path("host")),
        format!("AuthorizedKeysFile {}", path("authorized")),
        format!("PidFile {}", path("pid")),
        "Port 2222\nListenAddress 10.3.0.1\nStrictModes no\nUsePAM no\nPermitRootLogin prohibit-password".to_owned(),
    ];
    fs::write(path("config"), lines.join("\n") + "\n").unwrap();
    let mut command = Command::new(sshd);
    command.args(["-D", "-e", "-f", &path("config")]).stdin(Stdio::null()).stderr(Stdio::null());
    process::in_netns(&mut command, &network.near.host.netns);
    (Killed(command.spawn().unwrap()), path("user"))
}

/// `ssh` from the far host.
fn ssh(network: &Network, key: &str, line: &str) -> Command {
    let mut command = Command::new("ssh");
    let options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR", "IdentitiesOnly=yes"];
    command.args(["-F", "/dev/null", "-i", key, "-p", "2222"]).args(options.iter().flat_map(|option| ["-o", option]));
    command.args(["root@10.3.0.1", line]).stdin(Stdio::null());
    process::in_netns(&mut command, &network.far.netns);
    command
}

#[test]
fn a_login_by_the_team_itself_lives_on() {
    if !is_soak() || !may_test_bpf() {
        return;
    }
    let Some(sshd) = sshd() else { return };
    let network = Network::new();
    let before = network.snapshot();
    let (_server, key) = serve(&network, &sshd);
    eventually("a server", || ssh(&network, &key, "true").status().unwrap().success());
    let mut login =
        ssh(&network, &key, "cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map(Killed).unwrap();
    let (mut typed, mut screen) = (login.0.stdin.take().unwrap(), BufReader::new(login.0.stdout.take().unwrap()));
    let mut lives = |when: &str| {
        let mut line = String::new();
        typed.write_all(format!("{when}\n").as_bytes()).unwrap();
        screen.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), when);
    };
    lives("before");
    let file = network.file("teams.toml", TEAM);
    let (state, program) = (network.near.state.display(), env!("CARGO_BIN_EXE_nicteam"));
    let by_login = |line: &str| {
        let output = ssh(&network, &key, &format!("NICTEAM_STATE_DIR={state} {program} {line}")).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    };
    by_login(&format!("up {file} --confirm 3s"));
    let is_up = |line: &String| line.starts_with("team0") && line.contains("10.3.0.1/24");
    assert!(network.snapshot().iter().any(is_up));
    lives("while it is up");
    eventually("the way back", || network.snapshot() == before);
    lives("after it was taken down again");
    by_login(&format!("up {file} --confirm 60s"));
    by_login("confirm");
    lives("confirmed");
    by_login("down team0");
    lives("down");
    assert_same_network(&network.snapshot(), &before, "down");
}

//! Ssh servers of hosts, without a service and without a trace.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};

use nicteam_sys::process;

use crate::{Host, eventually};

const PROGRAM: &str = "/usr/sbin/sshd";

/// The ssh servers of several hosts. Logins as root have the folder [`SshServers::temporary`] for temporary files, and
/// [`SshServers::run`] for what teams and daemons keep while they run.
#[derive(Debug)]
pub struct SshServers {
    folder: PathBuf,
    servers: Vec<Child>,
}

impl SshServers {
    /// A server at each of these addresses. None if OpenSSH's server is not installed, which is said. `lab`: the host whose
    /// connections are waited for.
    #[track_caller]
    pub fn start_or_skip(hosts: &[(&Host, &str)], lab: &Host) -> Option<SshServers> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        if !Path::new(PROGRAM).exists() {
            eprintln!("SKIPPED: needs {PROGRAM} (package openssh-server)");
            return None;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("testnet-ssh-{}-{number}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        for name in ["tmp", "run"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
        for name in ["host", "user", "stranger"] {
            let key = folder.join(name);
            let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(key).status();
            assert!(made.unwrap().success());
        }
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        fs::write(folder.join("keys"), text("user.pub")).unwrap();
        let mut known = String::new();
        for (_, address) in hosts {
            write!(known, "{address} {}", text("host.pub")).unwrap();
        }
        fs::write(folder.join("known"), known).unwrap();
        let at = folder.display();
        // A cipher that processors know: what is copied is large.
        let client = format!(
            "Ciphers aes128-gcm@openssh.com\nUserKnownHostsFile {at}/known\nIdentitiesOnly yes\nUser root\nIdentityFile {at}"
        );
        fs::write(folder.join("config"), format!("{client}/user\n")).unwrap();
        fs::write(folder.join("stranger-config"), format!("{client}/stranger\n")).unwrap();
        let servers = hosts.iter().map(|(host, address)| start(host, address, &folder)).collect();
        let servers = SshServers { folder, servers };
        for (_, address) in hosts {
            let connects = || TcpStream::connect((*address, 22)).is_ok();
            eventually("the ssh server listens", || lab.netns.run(connects).unwrap());
        }
        Some(servers)
    }

    /// The client, with its configuration.
    pub fn client(&self) -> String {
        format!("ssh -F {}/config", self.folder.display())
    }

    /// The same with a key that no server accepts.
    pub fn client_of_stranger(&self) -> String {
        format!("ssh -F {}/stranger-config", self.folder.display())
    }

    /// The folder that stands for `/run` where those who log in call commands of nicteam and of Open vSwitch.
    pub fn run(&self) -> PathBuf {
        self.folder.join("run")
    }

    /// The folder for temporary files of those who log in.
    pub fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }
}

/// Starts a server. Its `/sys` shows the host's devices, and its `/run` is its own.
fn start(host: &Host, address: &str, folder: &Path) -> Child {
    let at = folder.display();
    let config = folder.join(format!("server-{address}"));
    let text = format!(
        "Port 22\nListenAddress {address}\nHostKey {at}/host\nPidFile none\nAuthorizedKeysFile {at}/keys\nStrictModes no\n\
         UsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\nSetEnv TMPDIR={at}/tmp NICTEAM_STATE_DIR={at}/run OVS_RUNDIR={at}/run\n"
    );
    fs::write(&config, text).unwrap();
    let script = format!(
        "mount -t sysfs sysfs /sys && mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && \
         exec {PROGRAM} -D -E {at}/log -f {}",
        config.display()
    );
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script]);
    process::in_netns(&mut command, &host.netns);
    process::die_with_parent(&mut command);
    command.spawn().unwrap()
}

impl Drop for SshServers {
    fn drop(&mut self) {
        for server in &mut self.servers {
            // Fails if it has ended.
            let _ = server.kill();
            let _ = server.wait();
        }
        // What stays is a folder for temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

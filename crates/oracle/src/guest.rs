//! A guest: a process of the host that is a whole Linux.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nicteam_sys::process;

use crate::cable::Cable;
use crate::emulated::{self, Clock};
use crate::protocol::{self, Answer, Bytes, Departures, Hello, MORE, Refusal, Reply, Request, Sample, Step, Stray};
use crate::shares::{Experiment, Second};
use crate::{EmulatedImage, Image, Missing};

/// A running guest. It ends when this is dropped.
pub struct Guest {
    child: Child,
    requests: ChildStdin,
    replies: Receiver<String>,
    console: Arc<Mutex<Vec<u8>>>,
    kernel: String,
    /// Where its modules lie, by its own paths.
    modules: PathBuf,
    /// The frames that the agent keeps.
    kept: Vec<Vec<u8>>,
}

/// Why a guest did not come up.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// A path that cannot stand on a kernel's command line.
    #[error("`{}` has white space in it; hint: set CARGO_TARGET_DIR to a path without", .0.display())]
    Path(PathBuf),
    /// The kernel could not be started.
    #[error("cannot start {}: {source}", kernel.display())]
    Start {
        /// The program.
        kernel: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// What has to lie in the guest cannot be gathered.
    #[error(transparent)]
    Files(#[from] Missing),
    /// It started, and its agent did not say a word.
    #[error("the guest does not come up; its console:\n{console}")]
    Silent {
        /// The end of what it said.
        console: String,
    },
}

/// How long to wait for an answer: long enough for the busiest machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes of the console that are kept.
const CONSOLE: usize = 8 << 10;
/// What bonds, their cables, their ports and the bridge in front of them need.
const MODULES: [&str; 4] = ["bonding max_bonds=0", "veth", "bridge", "tun"];

impl Guest {
    /// Boots one with the modules that bonds need, IPv6 switched off, so that no
    /// device speaks by itself. It ends with the thread that calls this.
    pub fn boot(image: &Image, agent: &Path) -> Result<Guest, BootError> {
        Guest::boot_cabled(image, agent, Vec::new())
    }

    /// The same with a port `a0`, `a1`, ... at each of these cables, down. A port's
    /// speed can be set, and its carrier ([`Guest::plug`]).
    pub fn boot_cabled(image: &Image, agent: &Path, cables: Vec<Cable>) -> Result<Guest, BootError> {
        if agent.to_string_lossy().contains(char::is_whitespace) {
            return Err(BootError::Path(agent.to_owned()));
        }
        let (mut command, count) = (command(image, agent), cables.len());
        for (number, cable) in cables.into_iter().enumerate() {
            let fd = process::inherit(&mut command, cable.into_guests_end());
            command.arg(format!("vec{number}:transport=fd,fd={fd}"));
        }
        let mut guest = Guest::start(command)?;
        guest.prepare(&image.modules, &MODULES);
        for number in 0..count {
            guest.must(Request::AddPort { name: format!("a{number}"), cable: format!("vec{number}") });
        }
        Ok(guest)
    }

    /// Boots one in QEMU, with one processor that is emulated. It has these programs in `/bin`,
    /// with their libraries, and modules for bonds, teams and packet generation.
    pub fn boot_emulated(
        image: &EmulatedImage,
        agent: &Path,
        programs: &[&Path],
        clock: Clock,
    ) -> Result<Guest, BootError> {
        let files = emulated::Files::new(image, agent, programs)?;
        let mut guest = Guest::start(emulated::command(image, &files, clock))?;
        guest.prepare(Path::new(emulated::MODULES_FOLDER), &emulated::MODULES);
        Ok(guest)
    }

    /// Loads one more module and those it depends on. A guest of [`Guest::boot_emulated`] has of Debian's kernel also
    /// `openvswitch`, `8021q`, `macvlan` and `bridge`; one of [`Guest::boot`] has whatever its kernel's package has.
    ///
    /// # Errors
    /// If the guest does not have it, or its kernel refuses it.
    pub fn load_module(&mut self, name: &str) -> Result<(), Refusal> {
        self.ask(&Request::Load { folder: self.modules.clone(), modules: vec![name.to_owned()] }).map(drop)
    }

    /// Starts a guest's kernel and waits for its agent.
    fn start(mut command: Command) -> Result<Guest, BootError> {
        process::die_with_parent(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|source| BootError::Start { kernel: command.get_program().into(), source })?;
        let (Some(requests), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            unreachable!("all three were asked for")
        };
        let console = Arc::new(Mutex::new(Vec::new()));
        keep(stderr, Arc::clone(&console));
        let (replies, kernel, modules) = (lines(stdout), String::new(), PathBuf::new());
        let mut guest = Guest { child, requests, replies, console, kernel, modules, kept: Vec::new() };
        let hello: Option<Hello> =
            guest.replies.recv_timeout(PATIENCE).ok().and_then(|line| serde_json::from_str(&line).ok());
        guest.kernel = hello.ok_or_else(|| BootError::Silent { console: guest.console() })?.kernel;
        Ok(guest)
    }

    /// Loads modules, and switches IPv6 off, so that no device speaks by itself.
    fn prepare(&mut self, folder: &Path, modules: &[&str]) {
        folder.clone_into(&mut self.modules);
        let modules = modules.iter().map(|&module| module.to_owned()).collect();
        self.must(Request::Load { folder: folder.to_owned(), modules });
        for of in ["all", "default"] {
            self.must(Request::Write { path: format!("/proc/sys/net/ipv6/conf/{of}/disable_ipv6"), text: "1".into() });
        }
    }

    /// The guest's kernel, as `uname -r` says it.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// The process of the host that is its kernel; all the others are that one's children.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks the agent for something.
    ///
    /// # Panics
    /// If the guest does not answer: it has crashed or hangs.
    #[track_caller]
    pub fn ask(&mut self, request: &Request) -> Result<Answer, Refusal> {
        let text = serde_json::to_string(request).unwrap_or_else(|error| panic!("{request:?}: {error}"));
        for (piece, last) in protocol::pieces(&text) {
            let line = if last { format!("{piece}\n") } else { format!("{MORE}{piece}\n") };
            if let Err(error) = self.requests.write_all(line.as_bytes()) {
                self.lost(&error.to_string());
            }
            if !last && !self.next_line().starts_with(MORE) {
                self.lost("it does not take a long request");
            }
        }
        let line = self.next_line();
        match serde_json::from_str(&line) {
            Ok(Reply::Ok(answer)) => Ok(answer),
            Ok(Reply::Err(refusal)) => Err(refusal),
            Err(error) => self.lost(&format!("{error} in `{line}`")),
        }
    }

    /// Asks for something that cannot be refused in this test.
    #[track_caller]
    pub fn must(&mut self, request: Request) -> Answer {
        self.ask(&request).unwrap_or_else(|refusal| panic!("the guest ({}): {refusal}", self.kernel))
    }

    /// The content of a file of the guest, white space at its end left out.
    #[track_caller]
    pub fn read(&mut self, path: &str) -> Result<String, Refusal> {
        match self.ask(&Request::Read { path: path.to_owned() })? {
            Answer::Text(text) => Ok(text.trim_end().to_owned()),
            other => self.lost(&format!("not a file's content: {other:?}")),
        }
    }

    /// Writes to a file of the guest, in one system call.
    #[track_caller]
    pub fn write(&mut self, path: &str, text: &str) -> Result<(), Refusal> {
        self.ask(&Request::Write { path: path.to_owned(), text: text.to_owned() }).map(drop)
    }

    /// The value of a bond's option, as `/sys/class/net/BOND/bonding/NAME` shows it.
    #[track_caller]
    pub fn option(&mut self, bond: &str, name: &str) -> Result<String, Refusal> {
        self.read(&format!("/sys/class/net/{bond}/bonding/{name}"))
    }

    /// Sets it there.
    #[track_caller]
    pub fn set_option(&mut self, bond: &str, name: &str, value: &str) -> Result<(), Refusal> {
        self.write(&format!("/sys/class/net/{bond}/bonding/{name}"), value)
    }

    /// `/proc/net/bonding/BOND`.
    #[track_caller]
    pub fn proc_bonding(&mut self, bond: &str) -> Result<String, Refusal> {
        self.read(&format!("/proc/net/bonding/{bond}"))
    }

    /// Gives a port of [`Guest::boot_cabled`], which must be up, carrier or takes it away.
    #[track_caller]
    pub fn plug(&mut self, port: &str, carrier: bool) {
        let carrier = if carrier { "1" } else { "0" };
        self.write(&format!("/sys/class/net/{port}/carrier"), carrier).unwrap_or_else(|refusal| panic!("{refusal}"));
    }

    /// Gives the agent frames for [`Request::Inject`], if it does not keep just these: a serial port is slow.
    #[track_caller]
    pub fn keep(&mut self, frames: Vec<Vec<u8>>) {
        if self.kept != frames {
            self.must(Request::Frames { frames: frames.iter().cloned().map(Bytes).collect() });
            self.kept = frames;
        }
    }

    /// Sends the frames kept by `into`, and says by which of `out` each came out.
    #[track_caller]
    pub fn inject(&mut self, into: &str, out: &[String]) -> Departures {
        match self.must(Request::Inject { into: into.to_owned(), out: out.to_vec() }) {
            Answer::Departed(departures) => departures,
            other => self.lost(&format!("not departures: {other:?}")),
        }
    }

    /// Runs a program of the guest to its end; what it printed.
    #[track_caller]
    pub fn run(&mut self, program: &str, arguments: &[&str]) -> Result<String, Refusal> {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        match self.ask(&Request::Run { program: program.to_owned(), arguments })? {
            Answer::Text(text) => Ok(text),
            other => self.lost(&format!("not what a program printed: {other:?}")),
        }
    }

    /// Does some things, and hears what devices receive until nothing has come for so long.
    #[track_caller]
    pub fn hear(&mut self, on: &[&str], requests: Vec<Request>, quiet_ms: u64) -> Vec<Stray> {
        let on = on.iter().map(|&name| name.to_owned()).collect();
        match self.must(Request::Hear { on, requests, quiet_ms }) {
            Answer::Heard(frames) => frames,
            other => self.lost(&format!("not what was heard: {other:?}")),
        }
    }

    /// Takes steps and watches files.
    #[track_caller]
    pub fn trace(&mut self, steps: Vec<Step>, watch: Vec<String>) -> Vec<Sample> {
        match self.must(Request::Trace { steps, watch }) {
            Answer::Traced(samples) => samples,
            other => self.lost(&format!("not a trace: {other:?}")),
        }
    }

    /// Drives a team or bond through an experiment.
    ///
    /// In user-mode Linux it takes its time; where instructions are its clock
    /// ([`Clock::Instructions`]) nobody waits for an idle processor.
    #[track_caller]
    pub fn share(&mut self, experiment: &Experiment, members: &[String]) -> Result<Vec<Second>, Refusal> {
        match self.ask(&Request::Share { experiment: experiment.clone(), members: members.to_vec() })? {
            Answer::Shared(seconds) => Ok(seconds),
            other => self.lost(&format!("not what was seen: {other:?}")),
        }
    }

    #[track_caller]
    fn next_line(&self) -> String {
        match self.replies.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => self.lost("no answer"),
            Err(RecvTimeoutError::Disconnected) => self.lost("it has ended"),
        }
    }

    #[track_caller]
    fn lost(&self, what: &str) -> ! {
        panic!("the guest ({}) is lost: {what}; its console:\n{}", self.kernel, self.console())
    }

    fn console(&self) -> String {
        let console = self.console.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&console).into_owned()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // It keeps nothing that it would have to put in order first.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guest").field("kernel", &self.kernel).finish_non_exhaustive()
    }
}

fn command(image: &Image, agent: &Path) -> Command {
    let mut command = Command::new(&image.kernel);
    command
        .arg("mem=192M")
        .args(["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"])
        .arg(format!("init={}", agent.display()))
        // The first serial port speaks by standard input and output, the console by
        // standard error. User-mode Linux wants pipes there and nothing else.
        .args(["con=null", "con0=null,fd:2", "ssl=null", "ssl0=fd:0,fd:1"])
        // No folder for a management socket, which would stay behind.
        .args(["uml_dir=/dev/null/", "quiet", "panic=-1"])
        .env("LD_PRELOAD", &image.preload);
    // The guest's memory is a file that has no name from the start; best it is no disk's.
    if Path::new("/dev/shm").is_dir() {
        command.env("TMPDIR", "/dev/shm");
    }
    command
}

/// The agent's lines, without what the kernel prints before it has a console.
fn lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        for line in lines.filter(|line| line.starts_with(['{', MORE])) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Keeps the end of what is said.
fn keep(mut output: impl Read + Send + 'static, kept: Arc<Mutex<Vec<u8>>>) {
    thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(len @ 1..) = output.read(&mut buffer) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&buffer[..len]);
            let excess = kept.len().saturating_sub(CONSOLE);
            kept.drain(..excess);
        }
    });
}

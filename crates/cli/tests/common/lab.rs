//! Labs of a test: experiments run by the command, their folders, their processes, how they end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output};

use nicteam_record::Record;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// A folder of a test; it goes with this value.
pub struct Folder(pub PathBuf);

impl Folder {
    /// In the folder for temporary files, for all to write in.
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("nicteam-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        Folder(path)
    }

    /// Something in it.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// What is in it.
    pub fn entries(&self) -> Vec<String> {
        fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The processes that another has started: a lab its agents, an agent its daemons.
pub fn children_of(parent: u32) -> Vec<u32> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let children = fs::read_to_string(path).unwrap_or_default();
    children.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// True as long as there is such a process that has not ended.
pub fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next()).is_some_and(|state| state != "Z")
}

/// What a terminal does on Ctrl-C: the whole process group gets the signal.
pub fn press_ctrl_c(lab: &Child) {
    killpg(Pid::from_raw(lab.id() as i32), Signal::SIGINT).unwrap();
}

/// A command that failed with this exit code, and said all of these words.
#[track_caller]
pub fn assert_failure(output: &Output, code: i32, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for word in words {
        assert!(said.contains(word), "`{word}` is not in: {said}");
    }
}

/// Whether the machine has these programs; says which it lacks.
pub fn has(programs: &[&str]) -> bool {
    let folders = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];
    let lacks =
        programs.iter().find(|name| folders.iter().all(|folder| !fs::exists(format!("{folder}/{name}")).unwrap()));
    lacks.inspect(|name| eprintln!("SKIPPED: needs {name}")).is_none()
}

/// Runs an experiment: what it said on standard output and error, its record if it ended.
pub fn run(name: &str, experiment: &str) -> (String, String, Option<Record>) {
    let (output, record) = run_with(name, experiment, &["--duration", "1500ms"]);
    (words(&output.stdout), words(&output.stderr), record)
}

/// The same with these arguments, as it ended.
pub fn run_with(name: &str, experiment: &str, arguments: &[&str]) -> (Output, Option<Record>) {
    let folder = Folder::new(&format!("lab-{name}"));
    let (file, bundle) = (folder.path("experiment.toml"), folder.path("bundle"));
    fs::write(&file, experiment).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_nicteam"))
        .args(["lab", "run", &file, "--output", &bundle])
        .args(arguments)
        .output()
        .unwrap();
    let record = fs::read(folder.path("bundle/record.json")).ok();
    (output, record.map(|record| serde_json::from_slice(&record).unwrap()))
}

/// What was printed, in one line.
pub fn words(printed: &[u8]) -> String {
    String::from_utf8_lossy(printed).split_whitespace().collect::<Vec<_>>().join(" ")
}

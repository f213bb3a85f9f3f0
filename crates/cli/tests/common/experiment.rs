//! Experiments, run by the command.

use std::process::Command;

use nicteam_record::Record;

/// Runs an experiment: what it said on standard output and error, its record if it ended.
pub fn run(name: &str, experiment: &str) -> (String, String, Option<Record>) {
    let folder = std::env::temp_dir().join(format!("nicteam-lab-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, bundle) = (folder.join("experiment.toml"), folder.join("bundle"));
    std::fs::write(&file, experiment).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_nicteam"))
        .args(["lab", "run"])
        .arg(&file)
        .args(["--duration", "1500ms", "--output"])
        .arg(&bundle)
        .output()
        .unwrap();
    let record = std::fs::read(bundle.join("record.json")).ok();
    let _ = std::fs::remove_dir_all(&folder);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    (text(&output.stdout), text(&output.stderr), record.map(|record| serde_json::from_slice(&record).unwrap()))
}

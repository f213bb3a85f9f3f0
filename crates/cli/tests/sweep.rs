//! `nicteam sweep`: it finds the Python package, or says how to get it.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

fn sweep(python: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
    command.arg("sweep").args(args).env("NICTEAM_PYTHON", python).output().unwrap()
}

#[test]
fn without_the_package_it_says_how_to_get_it() {
    for (python, problem) in [("/nowhere/python3", "`/nowhere/python3`: "), ("false", "has no package `nicteam`")] {
        let output = sweep(python, &["s.toml"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(problem) && said.contains("hint: ") && said.contains("make python"), "{said}");
    }
}

#[test]
fn the_package_gets_the_options_and_the_program() {
    let python = std::env::temp_dir().join(format!("nicteam-sweep-python-{}", std::process::id()));
    std::fs::write(&python, "#!/bin/sh\n[ \"$2\" = -c ] || echo \"$NICTEAM $*\"\n").unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = sweep(python.to_str().unwrap(), &["s.toml", "--scheduler", "tcp://10.0.0.1:8786"]);
    std::fs::remove_file(&python).unwrap();
    let expected = format!("{} -P -m nicteam s.toml --scheduler tcp://10.0.0.1:8786\n", env!("CARGO_BIN_EXE_nicteam"));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

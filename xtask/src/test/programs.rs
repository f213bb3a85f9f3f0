//! The test programs that cargo built, and the tests in them.

use std::path::Path;

use serde_json::Value;

use crate::failure::Failure;
use crate::test::case::Case;
use crate::test::lane::Lane;
use crate::test::program::Program;
use crate::tools;

/// Its tests wait for the timers of the kernel's driver, up to a minute each: they begin first, so that none is left over
/// when all others are done.
const LONGEST: &str = "oracle/tests";

/// Every test of the programs that a build's messages name.
pub(crate) fn tests(messages: &str) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    let mut programs: Vec<Program> = messages.lines().filter_map(program).collect();
    programs.sort_by_key(|program| program.name != LONGEST);
    for program in programs {
        let listed = tools::output(program.command().args(["--list", "--format", "terse"]))?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        cases.extend(listed.lines().filter_map(|line| line.strip_suffix(": test")).map(|test| Case {
            name: format!("{} {test}", program.name),
            test: test.to_owned(),
            lane: Lane::of(test),
            program: program.clone(),
        }));
    }
    Ok(cases)
}

/// The test program that a message names, if it does.
fn program(message: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    // A benchmark has no list of tests: asked for one, it runs.
    if message["target"]["kind"].as_array()?.iter().any(|kind| kind == "bench") {
        return None;
    }
    let manifest = Path::new(message["manifest_path"].as_str()?);
    let folder = manifest.parent()?.to_owned();
    let of = folder.file_name()?.to_string_lossy().into_owned();
    Some(Program {
        path: message["executable"].as_str()?.into(),
        name: format!("{of}/{}", message["target"]["name"].as_str()?.trim_start_matches("nicteam_")),
        folder,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benchmarks_and_libraries_are_no_test_programs() {
        let message = |kind: &str, test: bool| {
            let target = serde_json::json!({ "kind": [kind], "name": "nicteam_plan" });
            let (manifest, executable) = ("/x/crates/plan/Cargo.toml", "/x/target/debug/deps/plan");
            serde_json::json!({
                "reason": "compiler-artifact", "manifest_path": manifest, "target": target, "profile": { "test": test },
                "executable": executable,
            })
            .to_string()
        };
        assert_eq!(program(&message("test", true)).map(|it| it.name).as_deref(), Some("plan/plan"));
        assert!(program(&message("lib", true)).is_some());
        assert!(program(&message("bench", true)).is_none() && program(&message("lib", false)).is_none());
    }
}

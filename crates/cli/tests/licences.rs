//! Every dependency's licence is one that this project may carry.

use std::process::Command;

use serde_json::Value;

/// Licences that ask for no more than their text: a word a licence of SPDX.
const ALLOWED: [&str; 9] =
    ["Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Unicode-3.0", "Unlicense", "Zlib", "0BSD"];

/// True if the SPDX expression can be met with allowed licences alone.
fn acceptable(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    // `WITH` exceptions only give more; brackets occur round alternatives only.
    let plain = expression.replace(['(', ')'], " ").replace(" WITH LLVM-exception", "");
    plain.split(" AND ").all(|part| part.split(" OR ").any(|licence| ALLOWED.contains(&licence.trim())))
}

#[test]
fn every_dependency_may_be_carried() {
    // What other systems would need is neither built nor there.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", &platform])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    assert!(packages.len() > 20, "cargo listed {} packages only", packages.len());
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(acceptable))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(refused.is_empty(), "not allowed:\n{}", refused.join("\n"));
}

#[test]
fn expressions_are_read() {
    assert!(acceptable("MIT OR Apache-2.0"));
    assert!(acceptable("LGPL-2.1-only OR BSD-2-Clause"));
    assert!(acceptable("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(acceptable("MIT/Apache-2.0"));
    assert!(!acceptable("GPL-3.0-only"));
    assert!(!acceptable("MIT AND GPL-2.0-only"));
}

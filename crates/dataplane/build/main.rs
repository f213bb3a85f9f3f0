//! Compiles the eBPF programs with clang, if clang is there.
//!
//! Sets `cfg(nicteam_bpf)` if the object was made; without it the crate builds
//! and says at run time why it has no eBPF dataplane.

mod abi;
mod btf;
mod header;
mod layout;
/// Those of `nicteam-machine`.
#[path = "../../machine/src/constants.rs"]
mod machine;
/// This crate's numbers.
#[path = "../src/bpf/constants.rs"]
mod own;
/// Those of `nicteam-wire`.
#[path = "../../wire/src/constants.rs"]
mod wire;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rustc-check-cfg=cfg(nicteam_bpf)");
    println!("cargo:rerun-if-env-changed=CLANG");
    // Read when it runs: a build folder may be moved from one checkout to another.
    let manifest_dir = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it for build scripts");
    let sources = Path::new(&manifest_dir).join("../../bpf");
    println!("cargo:rerun-if-changed={}", sources.display());
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    if Command::new(&clang).arg("--version").output().is_err() {
        println!("cargo:warning=no clang: building without the eBPF dataplane; install clang and build again");
        return;
    }
    let header = header::header(&[wire::ALL, machine::ALL, own::IN_MAPS, own::BESIDE]);
    fs::write(out_dir().join("constants.h"), header).expect("cargo's folder for what is built can be written");
    const STRIPE: &str = "-DNICTEAM_STRIPE";
    const FAILOVER: &str = "-DNICTEAM_FAILOVER";
    let built = |source: &str, object: &str, defines: &[&str]| {
        let (source, object) = (format!("{source}.bpf.c"), out_dir().join(format!("{object}.bpf.o")));
        compile(Path::new(&clang), &sources.join(source), &object, defines);
        btf::maps(&fs::read(object).expect("clang has just written it"))
    };
    let small = built("team", "team", &[]);
    let whole = built("team", "team-stripe", &[STRIPE]);
    // Whichever of a kind the kernel takes, the next process may take another one.
    assert_eq!(built("team", "team-failover", &[FAILOVER]), small);
    assert_eq!(built("team", "team-stripe-failover", &[STRIPE, FAILOVER]), whole);
    let carrier = built("carrier", "carrier", &[STRIPE]);
    assert!(carrier.iter().all(|map| whole.contains(map)), "the programs on a member's way out have other maps");
    let layout = layout::number([&small, &whole], own::IN_MAPS, own::LAYOUT_EPOCH);
    fs::write(out_dir().join("abi.rs"), abi::abi(layout, &whole)).expect("as above");
    println!("cargo:rustc-cfg=nicteam_bpf");
}

fn out_dir() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"))
}

/// Ends the build with clang's words if the source does not compile.
fn compile(clang: &Path, source: &Path, object: &Path, defines: &[&str]) {
    let mut command = Command::new(clang);
    command.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror"]).args(defines);
    command.arg("-I").arg(out_dir());
    for folder in include_folders() {
        command.arg("-isystem").arg(folder);
    }
    command.arg("-c").arg(source).arg("-o").arg(object);
    let output = command.output().expect("clang answered --version");
    assert!(
        output.status.success(),
        "{} does not compile:\n{}",
        source.display(),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// libbpf's headers, which its crate carries, and the machine's `asm/types.h`,
/// which Debian keeps in a folder that clang does not search for this target.
fn include_folders() -> Vec<PathBuf> {
    let libbpf = env::var_os("DEP_BPF_INCLUDE").map(PathBuf::from);
    let arch = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets CARGO_CFG_TARGET_ARCH");
    let multiarch = PathBuf::from(format!("/usr/include/{arch}-linux-gnu"));
    libbpf.into_iter().chain(multiarch.is_dir().then_some(multiarch)).collect()
}

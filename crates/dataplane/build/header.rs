//! The numbers that both sides have, as a header for C.

use std::fmt::Write;

/// The name, the Rust type and the value of a constant.
pub type Constant = (&'static str, &'static str, i128);

/// A header that defines these.
pub fn header(constants: &[&[Constant]]) -> String {
    let mut text = String::from(
        "/* Written by the build, from crates/{wire/src,machine/src,dataplane/src/bpf}/constants.rs. */\n#pragma once\n\n",
    );
    for (name, kind, value) in constants.iter().copied().flatten() {
        // What is shorter is an `int` in C whatever its type.
        let suffix = match *kind {
            "u64" => "ULL",
            "i64" => "LL",
            "u8" | "u16" | "u32" | "usize" => "",
            other => panic!("{name}: what is `{other}` in C?"),
        };
        writeln!(text, "#define {name} {value}{suffix}").expect("a string takes everything");
    }
    text
}

//! What libbpf says: kept from stderr, put into errors.

use std::cell::RefCell;
use std::fmt::Display;
use std::sync::Once;

use libbpf_rs::{PrintLevel, set_print};

use crate::Error;

/// Lines of libbpf that an error carries at most; the last ones say the reason.
const MOST_LINES: usize = 8;

thread_local! {
    /// What libbpf said on this thread since the current operation began.
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Does something with libbpf. `operation` completes "cannot ..." in the error,
/// which carries what `f` and libbpf said.
pub(super) fn attempt<T, E: Display>(
    operation: impl FnOnce() -> String,
    f: impl FnOnce() -> Result<T, E>,
) -> Result<T, Error> {
    listen();
    SAID.take();
    f().map_err(|error| Error::Bpf { operation: operation(), message: explain(&error.to_string(), &SAID.take()) })
}

/// Collects libbpf's warnings from now on, instead of printing them.
fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        set_print(Some((PrintLevel::Warn, |_, line| SAID.with_borrow_mut(|said| said.push(line)))));
    });
}

fn explain(error: &str, said: &[String]) -> String {
    let text = said.concat();
    let lines: Vec<&str> = text.lines().map(|line| line.trim_start_matches("libbpf: ")).collect();
    let last = &lines[lines.len().saturating_sub(MOST_LINES)..];
    match last {
        [] => error.to_owned(),
        lines => format!("{error} ({})", lines.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_carries_the_last_lines() {
        let said: Vec<String> = (0..20).map(|n| format!("libbpf: line {n}\n")).collect();
        let text = explain("refused", &said);
        assert!(text.starts_with("refused (line 12; ") && text.ends_with("line 19)"), "{text}");
        assert_eq!(explain("refused", &[]), "refused");
    }
}

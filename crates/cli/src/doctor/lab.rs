//! `nicteam doctor --lab`: what the lab can use of this machine, and how to get the rest.

use std::fmt::Write;
use std::process::ExitCode;

use nicteam_lab::parts::{Ability, Part, abilities, install_line, parts};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::{privileges, say};

/// Something is missing, as everywhere in this program.
const MISSING: u8 = 3;

/// Looks, and prints what it found.
pub(super) fn run(as_json: bool) -> Result<ExitCode, Failure> {
    // As a lab does; where it cannot, no namespace can be made, which is told there.
    let _ = privileges::obtain();
    let (parts, abilities) = (parts(), abilities());
    match as_json {
        true => say::data(format_args!("{:#}\n", found(&parts, &abilities)))?,
        false => say::data(text(&parts, &abilities))?,
    }
    Ok(if install_line(&parts).is_some() { ExitCode::from(MISSING) } else { ExitCode::SUCCESS })
}

fn found(parts: &[Part], abilities: &[Ability]) -> Value {
    let part = |part: &Part| {
        json!({
            "name": part.name,
            "purpose": part.purpose,
            "package": part.package,
            "version": part.found.as_ref().ok().cloned().flatten(),
            "missing": part.found.as_ref().err(),
        })
    };
    let ability = |of: &Ability| json!({ "name": of.name, "lacks": of.lacks, "otherwise": of.otherwise });
    json!({
        "programs": parts.iter().map(part).collect::<Vec<_>>(),
        "kernel": abilities.iter().map(ability).collect::<Vec<_>>(),
        "install": install_line(parts),
    })
}

/// Without what to do about it, which is to be another user.
fn brief(reason: &str) -> &str {
    reason.split("; hint:").next().unwrap_or(reason)
}

fn text(parts: &[Part], abilities: &[Ability]) -> String {
    let state = |part: &Part| match &part.found {
        Ok(Some(version)) => version.clone(),
        Ok(None) => "there".to_owned(),
        Err(_) => "missing".to_owned(),
    };
    let width = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let names = width(&mut parts.iter().map(|part| part.name.len()).chain(abilities.iter().map(|of| of.name.len())));
    let states = width(&mut parts.iter().map(|part| state(part).len()));
    let mut out = String::from("programs\n");
    for part in parts {
        let _ = writeln!(out, "  {:<names$}  {:<states$}  {}", part.name, state(part), part.purpose);
    }
    out.push_str("\nkernel\n");
    for of in abilities {
        let state = match &of.lacks {
            None => "yes".to_owned(),
            Some(reason) => format!("no: {}; {}", say::visible(brief(reason)), of.otherwise),
        };
        let _ = writeln!(out, "  {:<names$}  {state}", of.name);
    }
    match install_line(parts) {
        Some(line) => {
            let missing = parts.iter().filter_map(|part| part.found.as_ref().err());
            let reasons = missing.map(say::visible).collect::<Vec<_>>().join("; ");
            let _ = write!(out, "\nmissing: {reasons}\nhint: {line}\n");
        }
        None => out.push_str("\nnothing is missing\n"),
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen() -> (Vec<Part>, Vec<Ability>) {
        let part = |name, found| Part { name, purpose: "serves", package: "tgt", found };
        let parts = vec![
            part("tgtd", Err("there is no tgtd".to_owned())),
            part("rpcbind", Ok(None)),
            part("fio", Ok(Some("3.33".to_owned()))),
        ];
        let ability = |name, lacks| Ability { name, otherwise: "it is skipped", lacks };
        (parts, vec![ability("bonding", Some("no driver".to_owned())), ability("eBPF", None)])
    }

    #[test]
    fn what_is_missing_is_named_with_the_line_that_installs_it() {
        let (parts, abilities) = seen();
        let text = text(&parts, &abilities);
        assert!(text.contains("  tgtd     missing  serves\n  rpcbind  there    serves\n"), "{text}");
        assert!(text.contains("  bonding  no: no driver; it is skipped\n  eBPF     yes\n"), "{text}");
        assert!(text.ends_with("\nmissing: there is no tgtd\nhint: apt-get install tgt\n"), "{text}");
    }

    #[test]
    fn programs_read_the_same() {
        let (parts, abilities) = seen();
        let found = found(&parts, &abilities);
        assert_eq!(
            (&found["programs"][0]["missing"], &found["programs"][0]["version"]),
            (&"there is no tgtd".into(), &Value::Null)
        );
        assert_eq!(
            (&found["programs"][2]["missing"], &found["programs"][2]["version"]),
            (&Value::Null, &"3.33".into())
        );
        assert_eq!(
            (&found["kernel"][0]["lacks"], &found["install"]),
            (&"no driver".into(), &"apt-get install tgt".into())
        );
    }
}

//! Verdicts in the format of JUnit, which test runners and CI read.

use std::fmt::Write as _;

use nicteam_expect::{Found, Judged, Verdict};

use super::text::bound;

/// A suite for each experiment: its name, what messages call its file, and its verdicts. What is undecided is an error.
pub fn junit(suites: &[(&str, &str, &[Judged<'_>])]) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n".to_owned();
    for (name, file, judged) in suites {
        let count = |verdict| judged.iter().filter(|one| one.verdict == verdict).count();
        let (failures, errors) = (count(Verdict::Missed), count(Verdict::Undecided));
        let name = xml(name);
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\">",
            judged.len()
        );
        for one in *judged {
            let title = xml(&format!("{}: {} {}", one.run, one.expectation.subject(), bound(one)));
            let place = format!("file=\"{}\" line=\"{}\"", xml(file), one.expectation.line);
            let _ = write!(out, "    <testcase classname=\"{name}\" name=\"{title}\" {place}");
            let element = match one.verdict {
                Verdict::Holds => {
                    out.push_str("/>\n");
                    continue;
                }
                Verdict::Missed => "failure",
                Verdict::Undecided => "error",
            };
            let _ = writeln!(out, "><{element} message=\"{}\"/></testcase>", xml(&message(one)));
        }
        out.push_str("  </testsuite>\n");
    }
    out + "</testsuites>\n"
}

fn message(judged: &Judged<'_>) -> String {
    let verdict = judged.verdict.name();
    match &judged.found {
        Found::Figure { interval: found, .. } => {
            format!("{verdict}: {} ({} to {})", found.middle, found.low, found.high)
        }
        Found::Finding(with, of) => format!("{verdict}: in {with} of {of} repetitions"),
        Found::Nothing(why) => format!("{verdict}: {why}"),
    }
}

/// Text as it may stand in an attribute; characters that XML cannot have are replaced.
fn xml(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other if other.is_control() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_attribute() {
        assert_eq!(xml("a<b>&\"'\u{1b}\n"), "a&lt;b&gt;&amp;&quot;&apos;\u{fffd}\u{fffd}");
    }
}

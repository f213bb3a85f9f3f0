//! The README's headline figures, between two marks.

use super::page::number;
use super::{PartResult, find};

/// What stands before and behind the figures in the README.
const BEGIN: &str = "<!-- xtask figures: begin -->\n";
const END: &str = "<!-- xtask figures: end -->\n";

/// A figure of a part, and what the README calls it.
struct Headline {
    part: &'static str,
    figure: &'static str,
    words: &'static str,
}

/// At most eight.
const HEADLINES: [Headline; 4] = [
    Headline {
        part: "stripe-peers",
        figure: "one-stripe: of limit",
        words: "One TCP connection over four links, mode stripe: share of what four links can carry",
    },
    Headline {
        part: "stripe-peers",
        figure: "both-stripe: slower way, of limit",
        words: "The same with one connection each way at once, the slower way",
    },
    Headline {
        part: "stripe-hosts",
        figure: "four-to-one: of limit",
        words: "Four hosts with four links each send to one, mode stripe",
    },
    Headline {
        part: "instructions",
        figure: "layer3+4, added to a packet",
        words: "Instructions that a team on eBPF adds to a packet, layer3+4",
    },
];

/// The README with the figures that were measured; `None` if it has no marks.
pub(super) fn into_readme(readme: &str, parts: &[PartResult]) -> Option<String> {
    let (before, rest) = readme.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{}{END}{after}", table(parts)))
}

fn table(parts: &[PartResult]) -> String {
    let rows: String = HEADLINES.iter().filter_map(|headline| row(parts, headline)).collect();
    if rows.is_empty() {
        return "No figure has been measured since result files exist: `make accept` measures them.\n".to_owned();
    }
    format!("| figure | median [interval], n | peer | command |\n|---|---|---|---|\n{rows}")
}

fn row(parts: &[PartResult], headline: &Headline) -> Option<String> {
    let (part, figure) = find(parts, headline.part, headline.figure)?;
    let measured = match (figure.median, figure.low, figure.high, figure.n) {
        (Some(median), Some(low), Some(high), Some(n)) => {
            format!("{} [{}, {}], {n}", number(median), number(low), number(high))
        }
        _ => figure.text.clone()?,
    };
    let peer = figure.peer.as_deref().unwrap_or("-");
    Some(format!("| {} | {measured} | {peer} | `{}` |\n", headline.words, part.command))
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn the_readme_gets_what_was_measured_between_its_marks() {
        let readme = format!("a\n{BEGIN}old\n{END}b\n");
        let written = into_readme(&readme, &sample()).unwrap();
        assert!(written.starts_with("a\n") && written.ends_with("b\n") && !written.contains("old"), "{written}");
        assert!(
            written.contains("| 0.992 [0.991, 0.993], 3 | - | `scripts/accept.sh --only stripe-peers` |"),
            "{written}"
        );
        assert_eq!(written.lines().filter(|line| line.starts_with("| ")).count(), 2, "no row without a measurement");
        assert_eq!(into_readme(&written, &sample()).as_deref(), Some(written.as_str()));
        assert_eq!(into_readme("no marks", &sample()), None);
        assert!(into_readme(&readme, &[]).unwrap().contains("`make accept` measures them"));
    }

    #[test]
    fn there_are_at_most_eight() {
        const { assert!(HEADLINES.len() <= 8) };
    }
}

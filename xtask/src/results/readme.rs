//! What stands in the README between marks: the picture, if it could be drawn, and the headline figures.

use super::page::number;
use super::picture::{self, PICTURE};
use super::result::{PartResult, find};

/// A figure of a part, and what the README calls it.
struct Headline {
    part: &'static str,
    figure: &'static str,
    words: &'static str,
}

/// At most eight.
const HEADLINES: [Headline; 8] = [
    Headline {
        part: "big-link",
        figure: "one-stripe: delivered_bps / one-big",
        words: "One connection over 4 x 1 Gbit/s in mode `stripe`, of what one link of 4 Gbit/s delivers",
    },
    Headline {
        part: "big-link",
        figure: "both-stripe: slower_way / both-big",
        words: "The same with one connection each way at once, the slower way",
    },
    Headline {
        part: "stripe-compared",
        figure: "one-stripe: of_limit",
        words: "One connection over 4 x 100 Mbit/s in mode `stripe`, MTU-sized packets: share of what the links can carry",
    },
    Headline {
        part: "one-sided",
        figure: "one-stripe: of_limit",
        words: "The same to a plain host with one link of the sum of the rates, by one end alone",
    },
    Headline {
        part: "stripe-many",
        figure: "four-to-one: of_limit",
        words: "Four hosts with four links each send to one in mode `stripe`: share of what the links can carry",
    },
    Headline {
        part: "stripe-faults",
        figure: "near-pulled: fault_lost",
        words: "Mode `stripe`, each of four cables pulled once under 1,000 datagrams a second: datagrams lost",
    },
    Headline {
        part: "unlimited",
        figure: "xor-one: delivered_bps / bare-one",
        words: "balance-xor on eBPF, one connection without a limit, of a bare cable's throughput",
    },
    Headline {
        part: "instructions",
        figure: "balance-xor layer3+4: added to the raw veth",
        words: "Instructions that balance-xor with layer3+4 adds to a packet",
    },
];

/// The README with what was measured; `None` if it lacks marks.
pub(super) fn generate(readme: &str, parts: &[PartResult]) -> Option<String> {
    replaced(&replaced(readme, "picture", &picture_block(parts))?, "figures", &table(parts))
}

/// The text with what stands between the marks of this name replaced.
fn replaced(text: &str, name: &str, block: &str) -> Option<String> {
    let [begin, end] = ["begin", "end"].map(|edge| format!("<!-- xtask {name}: {edge} -->\n"));
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}{block}{end}{after}"))
}

fn picture_block(parts: &[PartResult]) -> String {
    match picture::picture(parts) {
        Ok(_) => format!("![What one TCP connection gets of four links, by the way they are used]({PICTURE})\n"),
        Err(_) => format!("(The picture of one connection over four links is drawn by `{}`.)\n", picture::COMMAND),
    }
}

fn table(parts: &[PartResult]) -> String {
    let rows: String = HEADLINES.iter().filter_map(|headline| row(parts, headline)).collect();
    if rows.is_empty() {
        return "None of the headline figures has a result file yet: `make accept` measures them.\n".to_owned();
    }
    format!("| figure | median [interval], n | peer | command |\n|---|---|---|---|\n{rows}")
}

/// A row, if the figure was measured.
fn row(parts: &[PartResult], headline: &Headline) -> Option<String> {
    let Some((part, figure)) = find(parts, headline.part, headline.figure) else {
        if parts.iter().any(|part| part.part == headline.part) {
            eprintln!("xtask: README: the results of {} have no `{}`", headline.part, headline.figure);
        }
        return None;
    };
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

    const README: &str = "a\n<!-- xtask picture: begin -->\nold\n<!-- xtask picture: end -->\nb\n\
                          <!-- xtask figures: begin -->\nold\n<!-- xtask figures: end -->\nc\n";

    #[test]
    fn the_readme_gets_what_was_measured_between_its_marks() {
        let written = generate(README, &sample()).unwrap();
        assert!(written.starts_with("a\n") && written.ends_with("c\n") && !written.contains("old"), "{written}");
        assert!(written.contains("| 0.992 [0.991, 0.993], 3 | - | `nicteam lab check stripe-compared` |"), "{written}");
        assert!(written.contains("](docs/one-connection.svg)\n"), "{written}");
        assert_eq!(written.lines().filter(|line| line.starts_with("| ")).count(), 2, "no row without a measurement");
        assert_eq!(generate(&written, &sample()).as_deref(), Some(written.as_str()));
        assert_eq!(generate("no marks", &sample()), None);
    }

    #[test]
    fn without_results_the_readme_shows_neither_picture_nor_figure() {
        let written = generate(README, &[]).unwrap();
        assert!(!written.contains("](docs/") && !written.contains("| "), "{written}");
        assert!(written.contains("`nicteam lab check stripe-compared`") && written.contains("`make accept` measures"));
    }

    #[test]
    fn the_readme_is_read_in_a_minute() {
        let readme = std::fs::read_to_string(crate::tools::repository().join("README.md")).unwrap();
        assert!(readme.lines().count() <= 120, "{} lines", readme.lines().count());
        let long: Vec<&str> = readme.lines().filter(|line| line.chars().count() > 300).collect();
        assert!(long.is_empty(), "{long:?}");
    }

    #[test]
    fn there_are_at_most_eight() {
        const { assert!(HEADLINES.len() <= 8) };
    }
}

//! `docs/figures.md`: every measurement a row.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::result::{FigureResult, PartResult};

/// What the page begins with.
const HEAD: &str = "# Figures

`make accept` and `make bench` (`xtask figures`) generate this page from the result files in
`docs/results`. Do not edit it. Each row is one measurement:

- **Median**: the median of *n* repetitions.
- **Interval**: with 6 repetitions or more, the interval that contains the true median with a
  probability of 95 % (sign test). With fewer, the lowest and the highest value.
- **Holds**: whether the median satisfies the bound. `?` means that the interval reaches beyond the
  bound.
- **Peer**: the result of the compared program or setting in the same run.

Below each heading stand the command, the day, the commit and the machine of the measurement. `+`
behind the commit means that the checkout had other changes.
";

/// The longest text of a cell; a longer one stands below its table.
const LONGEST_CELL: usize = 60;

/// What it says while nothing was measured.
const NOTHING: &str = "
There is no result file yet. `make accept` and `make bench` write them.
";

/// The page of these parts.
pub(super) fn page(parts: &[PartResult]) -> String {
    let mut page = HEAD.to_owned();
    if parts.is_empty() {
        page.push_str(NOTHING);
        return page;
    }
    let machines = machines(parts);
    page.push_str("\n| machine | what it is |\n|---|---|\n");
    let mut numbered: Vec<(&&str, &usize)> = machines.iter().collect();
    numbered.sort_by_key(|(_, number)| **number);
    for (machine, number) in numbered {
        let _ = writeln!(page, "| {number} | {} |", cell(machine));
    }
    for part in parts {
        let PartResult { part: name, command, date, commit, machine, .. } = part;
        let machine = machines[machine.as_str()];
        let _ = writeln!(page, "\n## {name}\n\n`{command}`, {date}, commit {commit}, machine {machine}");
        for section in &part.sections {
            let _ = writeln!(page, "\n### {}\n", cell(&section.title));
            page.push_str("| figure | median | interval | n | bound | holds | peer |\n");
            page.push_str("|---|---|---|---|---|---|---|\n");
            let mut notes = Vec::new();
            section.figures.iter().for_each(|figure| page.push_str(&row(figure, &mut notes)));
            for (number, note) in (1..).zip(&notes) {
                let before = if number == 1 { "\n" } else { "" };
                let _ = writeln!(page, "{before}- note {number}: {note}");
            }
        }
    }
    page
}

/// Each machine's number, from 1, in the order in which they come.
fn machines(parts: &[PartResult]) -> BTreeMap<&str, usize> {
    let mut machines = BTreeMap::new();
    for part in parts {
        let next = machines.len() + 1;
        machines.entry(part.machine.as_str()).or_insert(next);
    }
    machines
}

/// One measurement; texts that are too long for a cell go to the notes.
fn row(figure: &FigureResult, notes: &mut Vec<String>) -> String {
    let median = match (figure.median, &figure.text) {
        (Some(median), _) => format!("{} {}", number(median), figure.unit),
        (None, Some(text)) => text.clone(),
        (None, None) => "-".to_owned(),
    };
    let interval = match (figure.low, figure.high) {
        (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
        _ => "-".to_owned(),
    };
    let n = figure.n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let holds = match (figure.holds, figure.doubtful) {
        (Some(true), false) => "yes",
        (Some(true), true) => "yes?",
        (Some(false), false) => "**no**",
        (Some(false), true) => "**no?**",
        (None, _) => "-",
    };
    let mut short = |text: &str| {
        if text.chars().count() <= LONGEST_CELL {
            return cell(text);
        }
        notes.push(text.replace('\n', " "));
        format!("note {}", notes.len())
    };
    let (name, median) = (cell(&figure.name), short(median.trim_end()));
    let mut or_dash = |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), &mut short);
    let (bound, peer) = (or_dash(&figure.bound), or_dash(&figure.peer));
    format!("| {name} | {median} | {interval} | {n} | {bound} | {holds} | {peer} |\n")
}

/// Three decimals; none from a thousand on.
pub(super) fn number(value: f64) -> String {
    if value.abs() >= 1000.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

/// Text that stays within its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn a_measurement_is_a_row() {
        let page = page(&sample());
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| one-stripe")).collect();
        let expected = "| one-stripe: of_limit | 0.992 | 0.991 to 0.993 | 3 | >= 0.97 | yes | - |";
        assert_eq!(rows, [expected]);
        assert!(page.contains("| frames lost | 0, 0, 1 | - | - | 0 | **no** | a \\| b |"), "{page}");
        assert!(page.contains("| 1 | 2 x a processor, Linux 6.18 |"), "{page}");
        assert!(page.contains("`nicteam lab check stripe-compared`, 2026-11-23, commit abc1234, machine 1"), "{page}");
    }

    #[test]
    fn a_text_that_is_too_long_for_a_cell_stands_below_the_table() {
        let mut parts = sample();
        let long = "x".repeat(LONGEST_CELL + 1);
        parts[0].sections[0].figures[0].peer = Some(long.clone());
        let page = page(&parts);
        assert!(page.contains(">= 0.97 | yes | note 1 |\n"), "{page}");
        assert!(page.contains(&format!("|\n\n- note 1: {long}\n")), "{page}");
    }

    #[test]
    fn without_results_the_page_says_how_to_get_them() {
        assert!(page(&[]).contains("`make accept` and `make bench` write them"));
    }

    #[test]
    fn machines_have_numbers_in_the_order_in_which_they_come() {
        let mut parts = sample();
        parts.push(PartResult { machine: "another".to_owned(), part: "b".to_owned(), ..parts[0].clone() });
        parts.push(PartResult { part: "c".to_owned(), ..parts[0].clone() });
        assert_eq!(machines(&parts), BTreeMap::from([("2 x a processor, Linux 6.18", 1), ("another", 2)]));
    }
}

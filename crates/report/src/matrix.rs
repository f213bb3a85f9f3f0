//! Runs whose names form a grid, as in the tables of published tests: `slb-lacp-1-send` stands in the row `slb-lacp` and
//! the column `1 send`.

use std::collections::{BTreeMap, BTreeSet};

use nicteam_record::{Record, Run};

/// Fewer runs are a list.
const FEWEST: usize = 6;
/// More runs, and more parts of a name, are not looked at: a record may come from a stranger.
const MOST: usize = 200;
const MOST_PARTS: usize = 8;

/// A full grid: every row has a run in every column.
#[derive(Clone, Debug)]
pub(crate) struct Matrix<'a> {
    /// The last parts of the runs' names.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<MatrixRow<'a>>,
    /// The names of the runs that are not in it.
    pub(crate) others: Vec<&'a str>,
}

/// Runs whose names begin alike.
#[derive(Clone, Debug)]
pub(crate) struct MatrixRow<'a> {
    /// The first part of their names.
    pub(crate) name: &'a str,
    /// The mode of the hosts' teams, where it tells rows apart; else empty.
    pub(crate) mode: &'a str,
    /// By column: the run by each engine, with its place in the record.
    pub(crate) cells: Vec<Vec<(usize, &'a Run)>>,
}

/// The grid that the runs of a record form; none if they form none.
pub(crate) fn matrix(record: &Record) -> Option<Matrix<'_>> {
    let mut by_name: BTreeMap<&str, Vec<(usize, &Run)>> = BTreeMap::new();
    let mut names: Vec<&str> = Vec::new();
    for (place, run) in record.runs.iter().enumerate() {
        let name = run.variant.as_ref().map_or(run.name.as_str(), |variant| &variant.of);
        if !by_name.contains_key(name) {
            names.push(name);
        }
        by_name.entry(name).or_default().push((place, run));
    }
    let grid = grid(&names)?;
    let cell = |row: &str, column: &str| by_name.get(format!("{row}-{column}").as_str()).cloned();
    let rows = grid.rows.iter().map(|row| {
        let cells: Option<Vec<_>> = grid.columns.iter().map(|column| cell(row, column)).collect();
        Some(MatrixRow { name: row, mode: "", cells: cells? })
    });
    let mut rows: Vec<MatrixRow<'_>> = rows.collect::<Option<_>>()?;
    name_modes(&mut rows);
    let inside: BTreeSet<String> =
        grid.rows.iter().flat_map(|row| grid.columns.iter().map(move |column| format!("{row}-{column}"))).collect();
    let others = names.into_iter().filter(|name| !inside.contains(*name)).collect();
    let columns = grid.columns.iter().map(|column| column.replace('-', " ")).collect();
    Some(Matrix { columns, rows, others })
}

/// Rows that differ by the mode of the hosts' teams are given it.
fn name_modes(rows: &mut [MatrixRow<'_>]) {
    let modes: Vec<Option<&str>> = rows.iter().map(mode).collect();
    let distinct: BTreeSet<_> = modes.iter().collect();
    if distinct.len() > 1 && modes.iter().all(Option::is_some) {
        rows.iter_mut().zip(modes).for_each(|(row, mode)| row.mode = mode.unwrap_or_default());
    }
}

/// The one mode of all hosts' teams of a row; none if there are several, or none.
fn mode<'a>(row: &MatrixRow<'a>) -> Option<&'a str> {
    let runs = row.cells.iter().flatten().map(|(_, run)| *run);
    let teams = runs.flat_map(|run| {
        run.topology.teams.iter().filter(|team| run.topology.hosts.iter().any(|host| host.name == team.node))
    });
    let mut modes = teams.map(|team| team.mode.as_str());
    let first = modes.next()?;
    modes.all(|mode| mode == first).then_some(first)
}

/// The factors of names: every row with every column is a name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Grid<'n> {
    rows: Vec<&'n str>,
    columns: Vec<&'n str>,
}

/// The grid in these names: of several that with the most factors, then the largest one, then the first one.
fn grid<'n>(names: &[&'n str]) -> Option<Grid<'n>> {
    let parts = names.iter().map(|name| name.split('-').count()).max().unwrap_or(0).min(MOST_PARTS);
    let size = |grid: &Grid<'_>| (factors(&grid.columns), grid.rows.len() * grid.columns.len());
    let all = (1..parts).filter(|_| names.len() <= MOST).flat_map(|count| grids(names, count));
    let large = all.filter(|grid| size(grid).1 >= FEWEST);
    large.reduce(|best, next| if size(&next) > size(&best) { next } else { best })
}

/// Grids whose columns are the last `count` parts of the names.
fn grids<'n>(names: &[&'n str], count: usize) -> Vec<Grid<'n>> {
    let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
    for (row, column) in names.iter().filter_map(|name| cut(name, count)) {
        match rows.iter_mut().find(|(known, _)| *known == row) {
            Some((_, columns)) => columns.push(column),
            None => rows.push((row, vec![column])),
        }
    }
    // The columns of each row, and those that two rows share.
    let shared = |one: &[&'n str], other: &[&str]| -> Vec<&'n str> {
        one.iter().copied().filter(|name| other.contains(name)).collect()
    };
    let mut sets: Vec<Vec<&str>> = Vec::new();
    for set in rows.iter().flat_map(|(_, one)| rows.iter().map(|(_, other)| shared(one, other))) {
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    let grid = |columns: &Vec<&'n str>| {
        let full = rows.iter().filter(|(_, own)| columns.iter().all(|column| own.contains(column)));
        Grid { rows: full.map(|(row, _)| *row).collect(), columns: columns.clone() }
    };
    sets.iter().map(grid).filter(|grid| grid.rows.len() > 1 && grid.columns.len() > 1).collect()
}

/// A name before and behind its last `count` parts; nothing is left before them of a short name.
fn cut(name: &str, count: usize) -> Option<(&str, &str)> {
    let (at, _) = name.rmatch_indices('-').nth(count - 1)?;
    Some((&name[..at], &name[at + 1..]))
}

/// Of how many factors columns are the product: two if each first part stands with each last part, else one.
fn factors(columns: &[&str]) -> usize {
    let cut: Option<Vec<(&str, &str)>> = columns.iter().map(|column| column.rsplit_once('-')).collect();
    let Some(cut) = cut else { return 1 };
    let firsts: BTreeSet<&str> = cut.iter().map(|(first, _)| *first).collect();
    let lasts: BTreeSet<&str> = cut.iter().map(|(_, last)| *last).collect();
    if firsts.len() > 1 && lasts.len() > 1 && firsts.len() * lasts.len() == columns.len() { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(rows: &[&str], columns: &[&str]) -> Vec<String> {
        rows.iter().flat_map(|row| columns.iter().map(move |column| format!("{row}-{column}"))).collect()
    }

    #[track_caller]
    fn check(names: &[String], expected: Option<(&[&str], &[&str])>) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let expected = expected.map(|(rows, columns)| Grid { rows: rows.to_vec(), columns: columns.to_vec() });
        assert_eq!(grid(&names), expected);
    }

    #[test]
    fn a_published_table_of_three_factors_is_found_among_other_runs() {
        let (rows, columns) =
            (["active-backup", "slb", "slb-lacp", "tcp-lacp"], ["1-send", "1-receive", "2-send", "2-receive"]);
        let mut all = names(&rows, &columns);
        all.extend(
            ["active-backup-lacp-1-send", "active-backup-lacp-1-receive", "tcp-1-send", "slb-2-send-unlucky"]
                .map(str::to_owned),
        );
        check(&all, Some((&rows, &columns)));
    }

    #[test]
    fn columns_of_several_parts_are_one_factor() {
        let (rows, columns) = (["baseline", "raid10-4", "raid10-8"], ["100-read", "real-life", "50-read", "random-8k"]);
        let all = [names(&rows, &columns), names(&["tuned"], &columns[1..])].concat();
        check(&all, Some((&rows, &columns)));
    }

    #[test]
    fn two_factors() {
        let (rows, columns) = (["one", "four", "sixteen", "both"], ["stripe", "rr", "mptcp"]);
        check(&[names(&rows, &columns), vec!["one-big".into()]].concat(), Some((&rows, &columns)));
    }

    #[test]
    fn few_runs_and_runs_without_a_grid_are_a_list() {
        check(&names(&["a", "b"], &["x", "y"]), None);
        check(&["one", "two", "three", "four", "five", "six", "seven"].map(str::to_owned), None);
        check(&["a-b", "c-d", "e-f", "g-h", "i-j", "k-l", ""].map(str::to_owned), None);
        check(&[], None);
    }
}

//! Runs that differ by the engine of the hosts' teams alone, side by side.

use nicteam_record::{Record, Run, Variant};

/// A row a run of the file, a column an engine.
#[derive(Clone, Debug)]
pub(crate) struct Columns<'a> {
    /// In the order in which they were named.
    pub(crate) engines: Vec<&'a str>,
    pub(crate) rows: Vec<Row<'a>>,
}

/// A run of the file.
#[derive(Clone, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    /// By engine.
    pub(crate) cells: Vec<Cell<'a>>,
}

/// What became of it with one engine.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'a> {
    /// It was carried out; its place in the record, and the run.
    Run(usize, &'a Run),
    /// It was left out.
    Skipped,
    /// It is not in the record, which is partial.
    Missing,
}

impl<'a> Row<'a> {
    /// Those that were carried out.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (usize, &'a Run)> {
        self.cells.iter().filter_map(|cell| match *cell {
            Cell::Run(place, run) => Some((place, run)),
            Cell::Skipped | Cell::Missing => None,
        })
    }
}

/// The runs of a record by row and column; none if no two of them differ by their engine alone.
pub(crate) fn columns(record: &Record) -> Option<Columns<'_>> {
    let carried_out = record.runs.iter().enumerate();
    let carried_out = carried_out.filter_map(|(place, run)| Some((run.variant.as_ref()?, Cell::Run(place, run))));
    let skipped = record.skipped.iter().filter_map(|skipped| Some((skipped.variant.as_ref()?, Cell::Skipped)));
    let mut cells: Vec<(&Variant, Cell<'_>)> = carried_out.chain(skipped).collect();
    // As they were to run: what was left out stands at its place.
    let place = |variant: &Variant| {
        let name = format!("{}.{}", variant.of, variant.engine);
        record.experiment.order.iter().position(|known| *known == name)
    };
    cells.sort_by_key(|(variant, _)| place(variant));
    let mut engines: Vec<&str> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for (variant, _) in &cells {
        if !engines.contains(&variant.engine.as_str()) {
            engines.push(&variant.engine);
        }
        if !names.contains(&variant.of.as_str()) {
            names.push(&variant.of);
        }
    }
    let cell = |of: &str, engine: &str| {
        let found = cells.iter().find(|(variant, _)| variant.of == of && variant.engine == engine);
        found.map_or(Cell::Missing, |(_, cell)| *cell)
    };
    let row = |name| Row { name, cells: engines.iter().map(|engine| cell(name, engine)).collect() };
    let rows: Vec<Row<'_>> = names.into_iter().map(row).collect();
    (!rows.is_empty()).then_some(Columns { engines, rows })
}

/// A line for each run that was left out.
pub(crate) fn skipped(record: &Record) -> impl Iterator<Item = String> {
    record.skipped.iter().map(|skipped| format!("{} was skipped: {}", skipped.run, skipped.reason))
}

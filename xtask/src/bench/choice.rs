//! Nanoseconds per choice of the plan, for each policy.

use std::collections::BTreeMap;
use std::process::Command;

use crate::bench::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::noise::Noise;
use crate::part::Part;
use crate::tools;
use nicteam_statistics::Estimate;

/// Nanoseconds per choice of the plan.
pub(super) const PART: Part<Arguments> =
    Part { prepare: build, ..Part::new("choice", "choice of the plan", |_| measure()) };

/// How often the example is run; each time it takes the least of several rounds.
const REPEATS: u32 = 5;

/// The row of the plan that chooses nothing: what a call costs by itself.
const EMPTY: &str = "nobody";

/// Compiles the example.
fn build() -> Result<(), Failure> {
    tools::output(&mut example("build")).map(drop)
}

/// Runs it.
fn measure() -> Result<Vec<Figure>, Failure> {
    let (rows, noise) = Noise::around(|| {
        let mut rows = Rows::default();
        for repeat in 1..=REPEATS {
            eprintln!("nanoseconds per choice: {repeat} of {REPEATS}");
            let output = tools::output(&mut example("run"))?;
            rows.add(&String::from_utf8_lossy(&output.stdout));
        }
        Ok(rows)
    })?;
    let empty = rows.words(EMPTY).ok_or_else(|| Failure::failed("the example printed no table"))?;
    let figures = rows.names.iter().filter_map(|name| {
        let figure = Figure::text(name, rows.words(name)?, "-", None).noise(noise);
        Some(if name == EMPTY { figure } else { figure.peer(format!("empty plan: {empty}")) })
    });
    Ok(figures.collect())
}

fn example(step: &str) -> Command {
    let mut command = tools::cargo();
    command.args([step, "--quiet", "--release", "--locked", "--package", "nicteam-dataplane"]);
    command.args(["--example", "ns_per_choice"]);
    command
}

/// The tables that the example printed: nanoseconds of the Rust plan and of the
/// eBPF program, by the plan's name.
#[derive(Clone, Debug, Default)]
struct Rows {
    /// In the order of the table.
    names: Vec<String>,
    ns: BTreeMap<String, (Vec<f64>, Vec<f64>)>,
}

impl Rows {
    /// Takes a table in; lines that are no rows (`NAME RUST BPF`) are passed over.
    fn add(&mut self, table: &str) {
        for line in table.lines() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [name, rust_ns, bpf_ns] = fields[..] else { continue };
            let (Ok(rust_ns), Ok(bpf_ns)) = (rust_ns.parse(), bpf_ns.parse()) else { continue };
            if !self.ns.contains_key(name) {
                self.names.push(name.to_owned());
            }
            let (rust, bpf) = self.ns.entry(name.to_owned()).or_default();
            rust.push(rust_ns);
            bpf.push(bpf_ns);
        }
    }

    fn words(&self, name: &str) -> Option<String> {
        let (rust, bpf) = self.ns.get(name)?;
        let words = |ns: &[f64]| Estimate::of(ns).map(|e| format!("{:.1} [{:.1}, {:.1}] ns", e.median, e.low, e.high));
        Some(format!("Rust {}, eBPF {}", words(rust)?, words(bpf)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read() {
        let mut rows = Rows::default();
        rows.add("plan     rust ns    bpf ns\nnobody   1.5        40\nLayer2   2.5        60\n");
        rows.add("plan     rust ns    bpf ns\nnobody   1.7        42\n");
        assert_eq!(rows.names, ["nobody", "Layer2"]);
        assert_eq!(rows.words("nobody").unwrap(), "Rust 1.6 [1.5, 1.7] ns, eBPF 41.0 [40.0, 42.0] ns");
        assert_eq!(rows.words("plan"), None);
    }
}

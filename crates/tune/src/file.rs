//! An experiment file as it is changed: read, changed, written.

use toml::{Table, Value};

use crate::error::Error;
use crate::finding::Edit;

/// Name of the run, and of its workload, by which the network step measures.
pub const NETWORK: &str = "network";
/// Keys of a workload that model disks: the network step does without.
const DISKS: [&str; 3] = ["hit", "disk_latency", "disk_iops"];

/// An experiment file.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    root: Table,
    /// Names of the runs of step 1, and of step 3.
    steps: [Vec<String>; 2],
}

impl File {
    /// Reads one, and adds the run of the network step: the first run of step 1, without a model of disks.
    ///
    /// # Errors
    /// It is no TOML, or has no run of step 1 with one workload of kind `access-spec`.
    pub fn read(text: &str) -> Result<File, Error> {
        let root: Table = text.parse().map_err(|error| {
            Error::file(format!("the file cannot be read: {error}"), "`nicteam lab show` says more")
        })?;
        let of_step = |step: i64| {
            let runs = root.get("runs").and_then(Value::as_array).into_iter().flatten();
            let own = runs.filter(|run| run.get("step").and_then(Value::as_integer) == Some(step));
            own.filter_map(|run| Some(run.get("name")?.as_str()?.to_owned())).collect::<Vec<_>>()
        };
        let steps = [of_step(1), of_step(3)];
        let mut file = File { root, steps };
        file.add_network_run()?;
        Ok(file)
    }

    fn add_network_run(&mut self) -> Result<(), Error> {
        let Some(first) = self.steps[0].first().cloned() else {
            return Err(Error::file(
                "no run of this experiment belongs to step 1 of a tuning",
                "mark the runs of the baseline with `step = 1` and those of production with `step = 3`, as \
                 t4-iscsi-multipath does",
            ));
        };
        let workload = self.workload_of(&first)?;
        let mut copy = self.workload(&workload).cloned().unwrap_or_default();
        if copy.get("kind").and_then(Value::as_str) != Some("access-spec") {
            return Err(Error::file(
                format!("run `{first}` of step 1 has workload `{workload}`, which is no access specification"),
                "the first run of step 1 has to be `kind = \"access-spec\"`",
            ));
        }
        for key in DISKS {
            copy.remove(key);
        }
        let mut run = self.run(&first).cloned().unwrap_or_default();
        for key in ["published", "published_of_limit", "step"] {
            run.remove(key);
        }
        run.insert("name".to_owned(), NETWORK.into());
        run.insert("description".to_owned(), "Step 2, the network alone".into());
        run.insert("workloads".to_owned(), NETWORK.into());
        if self.run(NETWORK).is_some() || self.workload(NETWORK).is_some() {
            let hint = "rename it";
            return Err(Error::file(
                format!("a run or workload has the name `{NETWORK}`, which the tuning takes"),
                hint,
            ));
        }
        if let Some(workloads) = self.root.get_mut("workloads").and_then(Value::as_table_mut) {
            workloads.insert(NETWORK.to_owned(), Value::Table(copy));
        }
        if let Some(runs) = self.root.get_mut("runs").and_then(Value::as_array_mut) {
            runs.push(Value::Table(run));
        }
        Ok(())
    }

    /// Its title; empty without one.
    pub fn title(&self) -> &str {
        self.root.get("title").and_then(Value::as_str).unwrap_or_default()
    }

    /// Names of the runs of the baseline.
    pub fn baseline(&self) -> &[String] {
        &self.steps[0]
    }

    /// Names of the runs with production settings.
    pub fn production(&self) -> &[String] {
        &self.steps[1]
    }

    /// Whether the network step's first measurement is that of the baseline's first run: nothing was taken from its
    /// workload.
    pub fn begins_as_baseline(&self) -> bool {
        let first = self.baseline().first().and_then(|name| self.workload_of(name).ok());
        first.is_some_and(|name| self.workload(&name) == self.workload(NETWORK))
    }

    /// A key of the workload that the network step measures by.
    pub fn network(&self, key: &str) -> Option<&Value> {
        self.workload(NETWORK)?.get(key)
    }

    /// A key of its target, as its run has it.
    pub fn target(&self, key: &str) -> Option<&Value> {
        let name = self.network("target")?.as_str()?;
        let of = |table: &Table| table.get("targets").and_then(|targets| targets.get(name)?.get(key)).is_some();
        let run = self.run(NETWORK)?;
        let table = if of(run) { run } else { &self.root };
        table.get("targets")?.get(name)?.get(key)
    }

    /// The `[[links]]` to which the cable at this place of the topology belongs, by its place in the file.
    pub fn section_of_cable(&self, cable: usize) -> Option<usize> {
        let ends = |link: &Value| {
            let between = link.get("between").and_then(Value::as_array);
            let names = |end: &Value| end.as_array().map_or(1, Vec::len);
            between.map_or(0, |between| between.iter().map(names).product::<usize>())
        };
        let count =
            |link: &Value| link.get("count").and_then(Value::as_integer).map_or(1, |count| count.max(0) as usize);
        let mut before = 0;
        self.root.get("links")?.as_array()?.iter().position(|link| {
            before += ends(link) * count(link);
            cable < before
        })
    }

    /// Applies a change: to the network step's run, and to those of production.
    ///
    /// # Errors
    /// A run of production has not one workload.
    pub fn apply(&mut self, edit: &Edit) -> Result<(), Error> {
        match edit {
            Edit::LinkMtu { section, mtu } => {
                let links = self.root.get_mut("links").and_then(Value::as_array_mut);
                if let Some(link) = links.and_then(|links| links.get_mut(*section)?.as_table_mut()) {
                    link.insert("mtu".to_owned(), i64::from(*mtu).into());
                }
            }
            Edit::Workload { key, value } => {
                let mut names = vec![NETWORK.to_owned()];
                for run in &self.steps[1] {
                    names.push(self.workload_of(run)?);
                }
                for name in names {
                    let workloads = self.root.get_mut("workloads").and_then(Value::as_table_mut);
                    let Some(workload) = workloads.and_then(|all| all.get_mut(&name)?.as_table_mut()) else { continue };
                    match value {
                        Some(value) => drop(workload.insert((*key).to_owned(), value.clone())),
                        None => drop(workload.remove(*key)),
                    }
                }
            }
            Edit::Target { key, value } => {
                let Some(target) = self.network("target").and_then(Value::as_str).map(str::to_owned) else {
                    return Ok(());
                };
                let names: Vec<String> = self.steps[1].iter().cloned().chain([NETWORK.to_owned()]).collect();
                for name in names {
                    let Some(run) = self.run_mut(&name) else { continue };
                    let targets = run.entry("targets").or_insert_with(|| Value::Table(Table::new()));
                    let Some(targets) = targets.as_table_mut() else { continue };
                    let own = targets.entry(target.as_str()).or_insert_with(|| Value::Table(Table::new()));
                    if let Some(own) = own.as_table_mut() {
                        own.insert((*key).to_owned(), value.clone());
                    }
                }
            }
        }
        Ok(())
    }

    /// The file as it is now. Comments are gone.
    pub fn text(&self) -> String {
        self.root.to_string()
    }

    fn run(&self, name: &str) -> Option<&Table> {
        let runs = self.root.get("runs")?.as_array()?.iter().filter_map(Value::as_table);
        runs.into_iter().find(|run| run.get("name").and_then(Value::as_str) == Some(name))
    }

    fn run_mut(&mut self, name: &str) -> Option<&mut Table> {
        let runs = self.root.get_mut("runs")?.as_array_mut()?.iter_mut().filter_map(Value::as_table_mut);
        runs.into_iter().find(|run| run.get("name").and_then(Value::as_str) == Some(name))
    }

    fn workload(&self, name: &str) -> Option<&Table> {
        self.root.get("workloads")?.get(name)?.as_table()
    }

    /// The one workload of a run.
    fn workload_of(&self, run: &str) -> Result<String, Error> {
        let names = self.run(run).and_then(|run| run.get("workloads"));
        let one = match names {
            Some(Value::String(name)) => Some(name.as_str()),
            Some(Value::Array(names)) if names.len() == 1 => names[0].as_str(),
            _ => None,
        };
        let message = || format!("run `{run}` has not one workload");
        one.map(str::to_owned)
            .ok_or_else(|| Error::file(message(), "a run of steps 1 and 3 has one access specification"))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use nicteam_experiment::{Overrides, parse};

    use super::*;

    /// Two hosts by two links of a switch, a baseline with disks, a run of production.
    pub(crate) const TEXT: &str = r#"
title = "Small"
[defaults]
rate = "100mbit"
[hosts]
esx = {}
filer = {}
[switches]
sw = {}
[[links]]
between = ["esx", "sw"]
count = 2
[[links]]
between = ["filer", "sw"]
[[links]]
between = ["filer", "sw"]
mtu = [1500, 1400]
[targets.disk]
kind = "iscsi"
on = "filer"
size = "64mib"
[workloads.base]
kind = "access-spec"
from = "esx"
to = "filer"
target = "disk"
spec = "max-throughput-100-read"
paths = "all"
iops = 1000
hit = "50%"
disk_iops = 500
[workloads.last]
kind = "access-spec"
from = "esx"
to = "filer"
target = "disk"
spec = "random-8k-70-read"
paths = "all"
[[runs]]
name = "baseline"
step = 1
workloads = "base"
[runs.targets.disk]
max_recv_data = "8kib"
[[runs]]
name = "raid"
step = 3
workloads = ["last"]
"#;

    fn parsed(file: &File) -> nicteam_experiment::Experiment {
        parse("small", "small.toml", &file.text(), &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"))
    }

    #[test]
    fn the_network_step_is_the_baseline_without_disks() {
        let file = File::read(TEXT).unwrap();
        assert_eq!((file.baseline(), file.production()), (&["baseline".to_owned()][..], &["raid".to_owned()][..]));
        assert!(file.network("hit").is_none() && file.network("disk_iops").is_none());
        assert_eq!(file.network("iops").and_then(Value::as_integer), Some(1000));
        assert_eq!(file.target("max_recv_data").and_then(Value::as_str), Some("8kib"), "of the run, not of the file");
        assert_eq!(file.target("size").and_then(Value::as_str), Some("64mib"));
        assert!(!file.begins_as_baseline());
        let without = TEXT.replace("hit = \"50%\"\ndisk_iops = 500\n", "");
        assert!(File::read(&without).unwrap().begins_as_baseline());
        // Hosts keep their order, and with it their addresses.
        let experiment = parsed(&file);
        let names: Vec<&str> = experiment.runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names, ["baseline", "raid", NETWORK]);
        assert_eq!(experiment.runs[2].topology.hosts[0].name, "esx");
    }

    #[test]
    fn cures_change_the_network_step_and_production() {
        let mut file = File::read(TEXT).unwrap();
        file.apply(&Edit::Workload { key: "iops", value: Some(1.into()) }).unwrap();
        file.apply(&Edit::Target { key: "max_recv_data", value: "256kib".into() }).unwrap();
        assert_eq!(file.section_of_cable(3), Some(2));
        file.apply(&Edit::LinkMtu { section: 2, mtu: 1500 }).unwrap();
        let experiment = parsed(&file);
        let run = |name: &str| experiment.runs.iter().find(|run| run.name == name).unwrap();
        for (name, iops, segments) in [("baseline", 1000, "8kib"), (NETWORK, 1, "256kib"), ("raid", 1, "256kib")] {
            let each = run(name).workloads[0].task.each(1, false);
            assert!(each.to_string().contains(&format!("\"iops\":{iops}")), "{name}: {each}");
            let words = format!("{:?}", run(name).topology.targets[0]);
            let bytes = if segments == "8kib" { "8192" } else { "262144" };
            assert!(words.contains(bytes), "{name}: {words}");
        }
        assert!(experiment.runs.iter().all(|run| run.topology.cables.iter().all(|cable| cable.mtu() == 1500)));
        file.apply(&Edit::Workload { key: "iops", value: None }).unwrap();
        assert!(file.network("iops").is_none());
    }

    #[test]
    fn cables_are_counted_as_the_topology_counts_them() {
        let file = File::read(TEXT).unwrap();
        let experiment = parsed(&file);
        let cables = &experiment.runs[0].topology.cables;
        let narrow = cables.iter().position(|cable| cable.mtu() == 1400).unwrap();
        assert_eq!((file.section_of_cable(narrow), file.section_of_cable(cables.len())), (Some(2), None));
        assert_eq!([0, 1, 2].map(|cable| file.section_of_cable(cable)), [Some(0), Some(0), Some(1)]);
    }

    #[test]
    fn a_file_without_steps_is_refused_with_a_hint() {
        let wrong = |text: &str| File::read(text).unwrap_err().to_string();
        assert!(wrong(&TEXT.replace("step = 1\n", "")).contains("hint: mark the runs"));
        assert!(
            wrong(&TEXT.replace("workloads = \"base\"", "workloads = [\"base\", \"last\"]")).contains("one workload")
        );
        assert!(wrong(&TEXT.replace("kind = \"access-spec\"", "kind = \"tcp\"")).contains("no access specification"));
        assert!(wrong("a = ").contains("cannot be read"));
    }
}

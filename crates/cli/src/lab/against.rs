//! `nicteam lab check --against PROGRAM`: the same runs by another nicteam program.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use nicteam_experiment::Experiment;
use nicteam_record::{Record, Repetition, Run};
use nicteam_sys::process;

use crate::failure::Failure;

/// One repetition by the other program.
pub(super) struct Other<'a> {
    pub(super) program: &'a Path,
    pub(super) experiment: &'a Experiment,
    pub(super) number: u32,
    /// Options that change the runs.
    pub(super) changes: Vec<String>,
}

/// What verdicts call the other program.
pub(super) fn name(program: &Path) -> Result<&str, Failure> {
    let name = program.to_str().filter(|_| program.is_file());
    let hint = "--against takes a nicteam program: a path to its file";
    name.ok_or_else(|| Failure::wrong_input(format!("no program {}", program.display())).hint(Some(hint)))
}

impl Other<'_> {
    /// Carries it out, and adds its runs to the record of the other program.
    pub(super) fn carry_out(&self, former: &mut BTreeMap<String, Record>) -> Result<(), Failure> {
        let folder = nicteam_lab::default_output(&format!("{}-against", self.experiment.name))?;
        let cannot = |error| {
            Failure::failed(format!("cannot write the files of the other program in {}: {error}", folder.display()))
        };
        std::fs::create_dir(&folder).map_err(cannot)?;
        let file = folder.join(format!("{}.toml", self.experiment.name));
        std::fs::write(&file, without_expectations(&self.experiment.text)).map_err(cannot)?;
        let mut command = Command::new(self.program);
        command.args(["lab", "run"]).arg(&file).arg("--json").args(&self.changes);
        command.args(self.experiment.runs.iter().flat_map(|run| ["--only", run.name.as_str()]));
        command.arg("--output").arg(folder.join("bundle")).stdin(Stdio::null()).stderr(Stdio::inherit());
        process::die_with_parent(&mut command);
        let named = self.program.display();
        let output = command.output().map_err(|error| Failure::failed(format!("cannot run {named}: {error}")))?;
        if !output.status.success() {
            return Err(Failure::failed(format!("{named} lab run {}: {}", file.display(), output.status)));
        }
        let record: Record = serde_json::from_slice(&output.stdout)
            .map_err(|error| Failure::failed(format!("the record that {named} printed cannot be read: {error}")))?;
        let runs = record.runs.iter().map(|run| repetition(run, self.number)).collect();
        match former.get_mut(name(self.program)?) {
            Some(all) => all.runs.append(&mut { runs }),
            None => drop(former.insert(name(self.program)?.to_owned(), Record { runs, ..record })),
        }
        Ok(())
    }
}

/// The run as the repetition of this number.
fn repetition(run: &Run, number: u32) -> Run {
    let repetition = Some(Repetition { of: run.name.clone(), number });
    Run { name: format!("{}@{number}", run.name), repetition, ..run.clone() }
}

/// The file without its sections `[[expect]]`: an older program does not know each figure.
fn without_expectations(text: &str) -> String {
    let mut is_expected = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.starts_with('[') {
            is_expected = line.starts_with("[[expect]]");
        }
        if !is_expected {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_program_gets_the_file_without_expectations() {
        let file = "title = \"x\"\n[[expect]]\nrun = [\n    \"a\",\n]\nfigure = \"new\"\n\n[[runs]]\nname = \"a\"\n[[expect]]\nrun = \"a\"\n";
        assert_eq!(without_expectations(file), "title = \"x\"\n[[runs]]\nname = \"a\"\n");
        // Every experiment that comes with the program stays one.
        for builtin in nicteam_experiment::builtin() {
            let text = without_expectations(builtin.text);
            let parsed = nicteam_experiment::parse(builtin.name, builtin.name, &text, &Default::default());
            // What random faults may not break is expected without a section.
            let figures = parsed.unwrap().expect.into_iter().map(|expected| expected.subject());
            assert!(figures.into_iter().all(|subject| subject == "broken"), "{}", builtin.name);
        }
    }

    #[test]
    fn a_run_of_the_other_program_is_a_repetition_of_the_same_run() {
        let bundle = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/bundles/two-hosts"));
        let record = nicteam_record::Bundle::open(bundle).unwrap().record;
        let run = repetition(&record.runs[0], 3);
        assert_eq!((run.base_name(), &run.name), (record.runs[0].name.as_str(), &format!("{}@3", record.runs[0].name)));
    }
}

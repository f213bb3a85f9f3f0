//! Targets' files: what is there before a run, and whether what is there afterwards is what was sent.

use nicteam_experiment::{AccessSpec, Copy, Run, Storage};
use nicteam_node::Error;
use nicteam_node::content::{BEFORE, COPIED};
use nicteam_node::protocol::{ConnectionSpec, TargetAct};
use nicteam_node::task::Planned;
use nicteam_record::Transfer;
use serde::Deserialize;

use crate::target;
use crate::testbed::Deployment;

/// Bytes of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    offset: u64,
    bytes: u64,
}

/// What a task needs to be there before it begins: where, and of which generation.
fn before(spec: &ConnectionSpec) -> Option<(Storage, Range, u64)> {
    match spec.kind.as_str() {
        "access-spec" => {
            let access = AccessSpec::deserialize(&spec.each).ok()?;
            let bytes = access.storage.file_bytes;
            // Tasks of one workload use the same part.
            (spec.place == 0).then_some((access.storage, Range { offset: 0, bytes }, BEFORE))
        }
        "copy" => {
            let (copy, range) = copied(spec)?;
            match spec.client_sends {
                false => Some((copy.storage, range, COPIED)),
                true => copy.overwrite.then_some((copy.storage, range, BEFORE)),
            }
        }
        _ => None,
    }
}

/// A copy, and its part of the disk.
fn copied(spec: &ConnectionSpec) -> Option<(Copy, Range)> {
    let copy = Copy::deserialize(&spec.each).ok()?;
    let bytes = copy.storage.file_bytes;
    let offset = u64::from(spec.place) * bytes;
    Some((copy, Range { offset, bytes }))
}

/// The host of a task's target.
fn host<'r>(run: &'r Run, storage: &Storage) -> Option<&'r str> {
    let found = run.topology.targets.iter().find(|target| target.name == storage.target);
    found.map(|target| target.host.as_str())
}

/// Gives targets what tasks need to be there.
///
/// # Errors
/// A target's host cannot write it.
pub(crate) fn prepare(deployment: &mut dyn Deployment, run: &Run, planned: &[Planned]) -> Result<(), Error> {
    for (storage, Range { offset, bytes }, generation) in planned.iter().filter_map(|it| before(&it.spec)) {
        let Some(host) = host(run, &storage) else { continue };
        let act = TargetAct::Fill { offset, bytes, seed: storage.seed, generation };
        target::act(deployment, host, &storage.target, act)?;
    }
    Ok(())
}

/// Asks the targets' hosts for the sums of what was copied, and compares them.
///
/// # Errors
/// A host cannot read its file, or a byte is wrong.
pub(crate) fn compare(
    deployment: &mut dyn Deployment,
    run: &Run,
    planned: &[Planned],
    transfers: &mut [Transfer],
) -> Result<(), Error> {
    for transfer in transfers.iter_mut().filter(|transfer| transfer.took_ms.is_some()) {
        let of = planned.iter().find(|planned| planned.spec.index == transfer.index && planned.spec.kind == "copy");
        let Some((planned, (copy, Range { offset, bytes }))) = of.and_then(|it| Some((it, copied(&it.spec)?))) else {
            continue;
        };
        let Some(host) = host(run, &copy.storage) else { continue };
        let done = target::act(deployment, host, &copy.storage.target, TargetAct::Digest { offset, bytes })?;
        let of_target = done.digest;
        if planned.spec.client_sends { &mut transfer.received_sha256 } else { &mut transfer.sent_sha256 }
            .clone_from(&of_target);
        if transfer.is_intact() == Some(true) {
            transfer.verified_bytes = transfer.bytes;
            continue;
        }
        let message = match &transfer.error {
            Some(error) => format!("what was copied is wrong: {error}"),
            None => format!(
                "what was copied to target {} is not what was sent: SHA-256 {} was sent, {} has arrived",
                copy.storage.target,
                transfer.sent_sha256.as_deref().unwrap_or("none"),
                transfer.received_sha256.as_deref().unwrap_or("none"),
            ),
        };
        return Err(Error::Agent { node: planned.client.clone(), message });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use nicteam_experiment::{Overrides, parse};

    use super::*;
    use crate::testbed::{Action, TeamRuns};
    use nicteam_node::content;
    use nicteam_node::protocol::{Done, Request};
    use nicteam_node::task;

    /// A network of one file: what it is asked for, and the sum that it tells.
    struct OneFile {
        asked: Vec<TargetAct>,
        sum: String,
    }

    impl Deployment for OneFile {
        fn nodes(&self) -> Vec<(String, Option<u32>)> {
            Vec::new()
        }

        fn teams(&self) -> &[TeamRuns] {
            &[]
        }

        fn call(&mut self, node: &str, request: &Request) -> Result<Done, Error> {
            let Request::Target { name, act } = request else { panic!("{request:?}") };
            assert_eq!((node, name.as_str()), ("b", "disk"));
            self.asked.push(act.clone());
            Ok(Done { digest: Some(self.sum.clone()), ..Done::default() })
        }

        fn call_all(&mut self, _request: &Request) -> Result<Vec<(String, Done)>, Error> {
            Ok(Vec::new())
        }

        fn act(&mut self, _action: &Action) -> Result<(), Error> {
            Ok(())
        }
    }

    fn run(direction: &str) -> (Run, Vec<Planned>) {
        let text = format!(
            "title = 'x'\nhosts = {{ a = {{}}, b = {{}} }}\nlinks = [{{ between = ['a', 'b'] }}]\n[targets.disk]\nkind = 'iscsi'\n\
             on = 'b'\nsize = '4mib'\n[workloads.w]\nkind = 'copy'\nfrom = 'a'\nto = 'b'\ntarget = 'disk'\noverwrite = true\n\
             file_size = '1mib'\ndirection = '{direction}'\n[[runs]]\nname = 'r'\nworkloads = 'w'\n"
        );
        let mut experiment =
            parse("x", "x.toml", &text, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"));
        let run = experiment.runs.swap_remove(0);
        let planned = task::plan(&run.workloads[0], 0, 0, &run.topology.hosts);
        (run, planned)
    }

    fn sent(sum: &str) -> Transfer {
        Transfer { bytes: 1 << 20, took_ms: Some(1.0), sent_sha256: Some(sum.to_owned()), ..Transfer::default() }
    }

    #[test]
    fn a_file_that_is_not_what_was_sent_fails_the_run() {
        let (run, planned) = run("send");
        let sum = content::sum(&nicteam_storage::Pattern::new(1), 0, 1 << 20);
        let mut good = [sent(&sum)];
        let mut file = OneFile { asked: Vec::new(), sum: sum.clone() };
        compare(&mut file, &run, &planned, &mut good).unwrap();
        assert_eq!((good[0].verified_bytes, good[0].received_sha256.as_deref()), (1 << 20, Some(sum.as_str())));
        assert_eq!(file.asked, [TargetAct::Digest { offset: 0, bytes: 1 << 20 }]);

        let mut corrupted = OneFile { asked: Vec::new(), sum: "00".repeat(32) };
        let error = compare(&mut corrupted, &run, &planned, &mut [sent(&sum)]).unwrap_err().to_string();
        assert!(error.starts_with("a: what was copied to target disk is not what was sent: SHA-256"), "{error}");

        let unfinished = Transfer { took_ms: None, ..sent(&sum) };
        compare(&mut corrupted, &run, &planned, &mut [unfinished]).unwrap();
    }

    #[test]
    fn what_is_read_and_what_is_overwritten_is_there_before() {
        let (run, planned) = run("both");
        let mut file = OneFile { asked: Vec::new(), sum: String::new() };
        prepare(&mut file, &run, &planned).unwrap();
        let fill = |offset, generation| TargetAct::Fill { offset, bytes: 1 << 20, seed: 1, generation };
        assert_eq!(file.asked, [fill(0, BEFORE), fill(1 << 20, COPIED)]);
    }
}

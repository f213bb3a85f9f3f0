//! Content of targets' files: what is there before a run, and whether what is there afterwards is what was sent.

use nicteam_experiment::{AccessSpec, Copy, Run, Storage};
use nicteam_record::Transfer;
use nicteam_storage::Pattern;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::hexadecimal::hexadecimal;
use crate::protocol::{ConnectionSpec, TargetAct};
use crate::target;
use crate::task::Planned;
use crate::testbed::Deployment;

/// Generation of what is there before.
pub(crate) const BEFORE: u64 = 0;
/// Generation of what is copied.
pub(crate) const COPIED: u64 = 1;

/// Bytes that are made at once.
const CHUNK_BYTES: u64 = 1 << 20;

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

/// SHA-256 of what is copied, hexadecimal.
pub(crate) fn sum(pattern: &Pattern, offset: u64, bytes: u64) -> String {
    let mut sum = Sha256::new();
    chunks(pattern, (offset, bytes), COPIED, |_, chunk| {
        sum.update(chunk);
        Ok::<(), std::convert::Infallible>(())
    })
    .unwrap_or_else(|never| match never {});
    hexadecimal(&sum.finalize())
}

/// Makes content, a chunk after another.
///
/// # Errors
/// What the taker of a chunk returns; then no more are made.
pub(crate) fn chunks<E>(
    pattern: &Pattern,
    (offset, bytes): (u64, u64),
    generation: u64,
    mut take: impl FnMut(u64, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut chunk = vec![0; CHUNK_BYTES.min(bytes) as usize];
    let mut done = 0;
    while done < bytes {
        let length = CHUNK_BYTES.min(bytes - done) as usize;
        pattern.fill(offset + done, generation, &mut chunk[..length]);
        take(offset + done, &chunk[..length])?;
        done += length as u64;
    }
    Ok(())
}

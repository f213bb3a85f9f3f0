//! Reads and writes in a fixed share: one direction was full, and the other has to keep to it.

use nicteam_record::{Finding, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::hop::Hop;
use crate::limits::{FilledBy, Limit};
use crate::storage;
use crate::units::{self, percent, share};

/// Payload of a disk that filled no link, beside that of the other direction, which did.
pub(super) struct ReadShare;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Part of the bytes that were read.
    read: f64,
    /// Whether reads were the direction that was full.
    reads_full: bool,
    /// Whose links were full.
    hosts: Vec<String>,
}

impl Rule for ReadShare {
    fn cause(&self) -> &'static str {
        "read-share"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let run = limit.picture.run;
        let disk = limit.disk().filter(|_| limit.filled_by == FilledBy::Nothing)?;
        let task = storage::operations_of(run, disk).filter(|task| task.read_bytes > 0 && task.written_bytes > 0)?;
        let own = limit.connections().map(|connection| &connection.to).next()?;
        let other_way = |hop: &&Hop<'_>| {
            hop.all_full()
                && hop.connections.iter().any(|connection| {
                    connection.from == *own
                        && storage::path_of(run, connection).is_some_and(|(other, _)| std::ptr::eq(other, disk))
                })
        };
        let mut full: Vec<&Hop<'_>> = limit.picture.hops.iter().filter(other_way).collect();
        let side = full.first()?.side;
        full.retain(|hop| hop.side == side);
        let mut hosts: Vec<String> = full.iter().map(|hop| hop.host().to_owned()).collect();
        hosts.dedup();
        let read = share(task.read_bytes as f64, (task.read_bytes + task.written_bytes) as f64);
        let finding = Finding {
            side: Side::Nowhere,
            hops: full.iter().map(|hop| hop.as_found()).collect(),
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&Details { read, reads_full: *own != disk.host, hosts }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { read, reads_full, hosts } = finding.details()?;
        let (full, other) = if reads_full { ("reads", "writes") } else { ("writes", "reads") };
        Some(format!(
            "{} of the bytes were reads, as asked: {full} filled the links of {}, and {other} come in their share.",
            percent(read),
            units::hosts(&hosts),
        ))
    }
}

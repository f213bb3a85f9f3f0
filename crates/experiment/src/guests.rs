//! Guests: hosts behind a bridge on a host.

use nicteam_diagnostics::Problem;
use nicteam_elements::multipath::Every;
use nicteam_elements::record::{At, Record};

/// Most guests of one host.
pub(crate) const MOST_OF_A_HOST: u64 = 64;
/// Most guests of a file's hosts together: each is a process and a network namespace.
const MOST: usize = 256;

/// The bridge of a host with guests.
pub(crate) const BRIDGE: &str = "br0";
/// The one device of a guest.
pub(crate) const DEVICE: &str = "eth0";

/// A guest as the file has it: its name, at the position of its host's `guests`, and its keys.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    pub(crate) name: At<String>,
    pub(crate) record: Record,
    /// The host it is on.
    pub(crate) parent: String,
}

/// The guests of all hosts, in order; too many of them go to `problems`.
pub(crate) fn of_hosts(hosts: &[(&At<String>, Record)], problems: &mut Vec<Problem>) -> Vec<Guest> {
    let mut guests = Vec::new();
    for (host, record) in hosts {
        let Some(of_host) = record.get::<&[Record]>("guests") else { continue };
        if guests.len() + of_host.value.len() > MOST {
            let problem = Problem::at(&of_host.span, format!("the hosts have more than {MOST} guests together"));
            problems.push(problem.hint("lower `guests`, or split the experiment into several files"));
            return guests;
        }
        guests.extend((1..).zip(of_host.value).map(|(number, record)| Guest {
            name: At { value: format!("{}/guest{number}", host.value), span: of_host.span.clone() },
            record: record.clone(),
            parent: host.value.clone(),
        }));
    }
    guests
}

/// Whether a host has guests.
pub(crate) fn has_some(host: &Record) -> bool {
    host.get::<&[Record]>("guests").is_some_and(|guests| !guests.value.is_empty())
}

/// What keeps a host from having guests.
pub(crate) fn check(host: &At<String>, record: &Record, multipath: Option<Every>) -> Option<Problem> {
    let span = record.get::<&[Record]>("guests").filter(|guests| !guests.value.is_empty())?.span;
    let every = multipath?;
    let message = format!("host `{}` has guests, and a workload from or to it has {}", host.value, every.key());
    Some(Problem::at(&span, message).hint(own_hosts(every)))
}

/// What is wrong where a workload takes every link of a guest.
pub(crate) fn has_one_link(guest: &Guest, every: Every) -> Problem {
    let message =
        format!("guest `{}` has one link, and a workload from or to it has {}", guest.name.value, every.key());
    Problem::at(&guest.name.span, message).hint(own_hosts(every))
}

fn own_hosts(every: Every) -> String {
    format!("{} goes over a host's bare links: take hosts of its own for it", every.name())
}

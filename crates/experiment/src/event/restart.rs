//! `restart`: a switch is restarted: its ports go down, and its tables are empty afterwards.

use super::kind::{Happens, Kind, Told};
use super::nodes::SwitchFault;
use super::shared::required;
use crate::record::{Record, Span};

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[],
    also: &["switch", "for", "every"],
    bridged: |_| Vec::new(),
    relayed: |_| None,
    resolve,
};

const NAME: &str = "restart";
const WORDS: [&str; 2] = ["is restarted: its ports go down", "is up again, with empty tables"];

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    let fault = SwitchFault::resolve((NAME, kind), WORDS, record, told)?;
    let hint = "say how long the switch is down: `for = \"1s\"`";
    required(record, ("for", hint), (NAME, kind), told.problems).then(|| fault.happens())
}

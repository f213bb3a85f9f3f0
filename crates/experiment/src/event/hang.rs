//! `hang`: a switch forwards nothing and sends nothing, and its ports stay up.

use super::cables::Relayed;
use super::kind::{Happens, Kind, Told};
use super::nodes::SwitchFault;
use crate::record::{Record, Span};

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[],
    also: &["switch", "for", "every"],
    bridged: |_| Vec::new(),
    relayed: Relayed::of_switch,
    resolve,
};

const NAME: &str = "hang";
const WORDS: [&str; 2] = ["hangs: it forwards nothing, and its ports stay up", "forwards again"];

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    Some(SwitchFault::resolve((NAME, kind), WORDS, record, told)?.happens())
}

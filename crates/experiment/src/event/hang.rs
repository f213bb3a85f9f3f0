//! `hang`: a switch forwards nothing and sends nothing, and its ports stay up.

use std::sync::Arc;

use serde_json::{Value, json};

use super::cables::Relayed;
use super::kind::{Happens, Kind, Told};
use super::nodes::{ports, switch};
use crate::record::{Record, Span};
use crate::timed::Event;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[],
    also: &["switch", "for", "every"],
    bridged: |_| Vec::new(),
    relayed: Relayed::of_switch,
    resolve,
};

const NAME: &str = "hang";

/// A switch hangs, or works again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchHung {
    /// The switch.
    pub switch: String,
    /// The devices of its ports.
    pub ports: Vec<String>,
    /// True: it works again.
    pub works: bool,
}

impl Event for SwitchHung {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> String {
        let what = if self.works { "forwards again" } else { "hangs: it forwards nothing, and its ports stay up" };
        format!("switch {} {what}", self.switch)
    }

    fn node(&self) -> &str {
        &self.switch
    }

    fn details(&self) -> Value {
        let SwitchHung { switch, ports, works } = self;
        json!({ "switch": switch, "ports": ports, "works": works })
    }
}

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    let switch = switch(record, (NAME, kind), told.topology, told.problems)?;
    let ports = ports(&switch, told.topology);
    let begins = SwitchHung { switch, ports, works: false };
    let over = SwitchHung { works: true, ..begins.clone() };
    Some(Happens { event: Arc::new(begins), undone: Some(Arc::new(over)) })
}

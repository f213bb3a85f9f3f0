//! `target`: what serves a target is killed, and started again.

use std::sync::Arc;

use nicteam_chaos::Chance;
use serde_json::{Value, json};

use super::kind::{Happens, Kind, PLAIN, Told};
use super::required::required;
use crate::keys::{self, Key, Need, Thing};
use crate::record::{At, Record, Span};
use crate::target::unknown;
use crate::timed::Event;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[Key {
        name: "target",
        kind: keys::Kind::One(Thing::Target),
        need: Need::Otherwise("required by `target`"),
        doc: "`target`: the target whose server is killed, as in a crash. Data that was written is kept.",
    }],
    also: &["for", "every"],
    chance: Chance::Target,
    resolve,
    ..PLAIN
};

const NAME: &str = "target";

/// A target's server is killed, or started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetKilled {
    /// The target.
    pub target: String,
    /// Its host.
    pub host: String,
    /// True: it is started again.
    pub restarted: bool,
}

impl Event for TargetKilled {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> String {
        let what = if self.restarted { "is started again" } else { "is killed" };
        format!("the server of target {} on {} {what}", self.target, self.host)
    }

    fn node(&self) -> &str {
        &self.host
    }

    fn details(&self) -> Value {
        json!({ "target": self.target, "host": self.host, "restarted": self.restarted })
    }
}

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    required(record, ("target", "add, for example, `target = \"disk\"`"), (NAME, kind), told.problems);
    let name = record.get::<&[At<String>]>("target")?.value.first()?;
    let Some(target) = told.topology.targets.iter().find(|target| target.name == name.value) else {
        let known: Vec<&str> = told.topology.targets.iter().map(|target| target.name.as_str()).collect();
        told.problems.push(unknown(name, &known));
        return None;
    };
    let killed = TargetKilled { target: target.name.clone(), host: target.host.clone(), restarted: false };
    let restarted = TargetKilled { restarted: true, ..killed.clone() };
    Some(Happens { event: Arc::new(killed), undone: Some(Arc::new(restarted)) })
}

//! A rule of somebody else's, by what is public alone.

use crate::common::t3;
use nicteam_record::{Finding, Run};
use nicteam_report::{FilledBy, Limit, RULES, Rule, Side, explain, explain_by, findings_by};
use serde::{Deserialize, Serialize};

/// Connections of one host alone that fill a link beside idle ones: it would be quicker by bicycle.
struct Bicycle;

#[derive(Serialize, Deserialize)]
struct Details {
    hosts: usize,
    idle: Vec<String>,
}

impl Rule for Bicycle {
    fn cause(&self) -> &'static str {
        "bicycle"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let FilledBy::Choice { chooser, side } = limit.filled_by else { return None };
        let hop = limit.hops.first()?;
        let idle = hop.links.iter().filter(|link| link.load() < 0.1).map(|link| link.device.to_owned());
        let mut hosts: Vec<&str> = limit.connections().map(|connection| connection.from.as_str()).collect();
        hosts.dedup();
        let finding = Finding {
            side,
            node: Some(chooser.node.to_owned()),
            policy: Some(chooser.by.words().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        (hosts.len() == 1).then(|| finding.with_details(&Details { hosts: hosts.len(), idle: idle.collect() }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { hosts, idle } = finding.details()?;
        Some(format!("A bicycle for {hosts} host would use {} as well.", idle.join(", ")))
    }
}

/// The rules with that one before them.
fn rules() -> Vec<&'static dyn Rule> {
    [&Bicycle as &dyn Rule].into_iter().chain(RULES.iter().copied()).collect()
}

#[test]
fn a_rule_is_a_file_and_a_line() {
    let runs = t3().runs;
    let explanation = explain_by(&rules(), &runs[0]);
    assert_eq!((explanation.side, explanation.policy.as_deref()), (Side::Receiving, Some("src-dst-mac")));
    assert_eq!(explanation.sentence, "A bicycle for 1 host would use b-0, b-1, b-3 as well.");
    assert_eq!(explain_by(&rules(), &runs[4]), explain(&runs[4]), "it passes where it does not apply");
}

#[test]
fn its_findings_are_recorded_and_read_by_those_who_know_it() {
    let run = t3().runs.swap_remove(0);
    let with = Run { findings: findings_by(&rules(), &run), ..run.clone() };
    let text = serde_json::to_string(&with).unwrap();
    let read: Run = serde_json::from_str(&text).unwrap();
    assert_eq!(read.findings[0].cause, "bicycle");
    assert_eq!(explain_by(&rules(), &read).sentence, explain_by(&rules(), &run).sentence);
    assert_eq!(explain(&read), explain(&run), "who does not know the rule explains the run anew");
}

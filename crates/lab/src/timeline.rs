//! What happened in a run, and when.

use std::sync::mpsc;

use nicteam_node::protocol::Notice;
use nicteam_record::{Event, EventKind};

use crate::progress::Progress;
use crate::testbed::Report;

/// What nodes reported, in the order in which it came.
#[derive(Debug, Default)]
pub(crate) struct Timeline(Vec<(String, Notice)>);

impl Timeline {
    /// Takes in what was reported while the topology was built, and tells what went wrong. That every
    /// member came up then is nothing to tell. What is left are samples.
    pub(crate) fn hear_of_the_build(
        &mut self,
        inbox: &mpsc::Receiver<Report>,
        progress: &mut dyn Progress,
    ) -> Vec<Report> {
        let mut left = Vec::new();
        for report in inbox.try_iter() {
            match report {
                Report::Notice(node, notice) => {
                    if notice.kind == EventKind::Trouble {
                        progress.notice(&node, &notice.text);
                    }
                    self.add(node, notice);
                }
                other => left.push(other),
            }
        }
        left
    }

    /// Takes a report in.
    pub(crate) fn add(&mut self, node: String, notice: Notice) {
        self.0.push((node, notice));
    }

    /// In order of time, for a run whose measured window began at a moment of the lab's clock.
    pub(crate) fn events(mut self, start_ns: u64) -> Vec<Event> {
        self.0.sort_by(|(a, one), (b, other)| (one.at_ns, a).cmp(&(other.at_ns, b)));
        let event = |(node, notice): (String, Notice)| Event {
            t_ms: (i128::from(notice.at_ns) - i128::from(start_ns)) as f64 / 1e6,
            node,
            kind: notice.kind,
            team: notice.team,
            member: notice.member,
            text: notice.text,
        };
        self.0.into_iter().map(event).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_in_order_and_count_from_the_window() {
        let notice = |at_ns, text: &str| Notice {
            at_ns,
            kind: EventKind::Team,
            team: Some("team0".to_owned()),
            member: None,
            text: text.to_owned(),
        };
        let mut timeline = Timeline::default();
        timeline.add("b".to_owned(), notice(7_000_000, "late"));
        timeline.add("a".to_owned(), notice(1_000_000, "early"));
        let events = timeline.events(5_000_000);
        let told: Vec<_> = events.iter().map(|event| (event.t_ms, event.node.as_str(), event.text.as_str())).collect();
        assert_eq!(told, [(-4.0, "a", "early"), (2.0, "b", "late")]);
    }
}

//! What an agent says, by all its threads.

use std::io::Write;
use std::sync::{Arc, Mutex};

use nicteam_record::EventKind;

use crate::clock;
use crate::lock::lock;
use crate::protocol::{Message, Notice};

/// The agent's standard output, for all its threads.
#[derive(Clone, Debug, Default)]
pub struct Output(Arc<Mutex<()>>);

impl Output {
    /// Writes one line, whole.
    pub(crate) fn say(&self, message: &Message) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(message).expect("a message has string keys only");
        line.push(b'\n');
        let _whole = lock(&self.0);
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(&line)?;
        stdout.flush()
    }

    /// Tells that something could not be done.
    pub(crate) fn trouble(&self, team: Option<&str>, member: Option<&str>, text: String) {
        self.notice(EventKind::Trouble, team, member, text);
    }

    /// Tells that something happened now.
    pub(crate) fn notice(&self, kind: EventKind, team: Option<&str>, member: Option<&str>, text: String) {
        let (team, member) = (team.map(str::to_owned), member.map(str::to_owned));
        // A closed pipe ends the agent by its standard input, not here.
        let _ = self.say(&Message::Notice(Notice { at_ns: clock::monotonic_ns(), kind, team, member, text }));
    }
}

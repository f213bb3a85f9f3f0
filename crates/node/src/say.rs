//! What an agent says, by all its threads.

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex};

use nicteam_record::EventKind;

use crate::clock;
use crate::lock;
use crate::protocol::{Message, Notice};

/// Where an agent speaks, for all its threads.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    /// Speaks to the lab by this.
    pub fn new(to: impl Write + Send + 'static) -> Output {
        Output(Arc::new(Mutex::new(Box::new(to))))
    }

    /// Writes one line, whole.
    pub fn say(&self, message: &Message) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(message).expect("a message has string keys only");
        line.push(b'\n');
        let mut to = lock(&self.0);
        to.write_all(&line)?;
        to.flush()
    }

    /// Tells that something could not be done.
    pub fn trouble(&self, team: Option<&str>, member: Option<&str>, text: String) {
        self.notice(EventKind::Trouble, team, member, text);
    }

    /// Tells that something has ended without which the node is not what it is to be: the run cannot go on.
    pub fn lost(&self, text: String) {
        // As below.
        let _ = self.say(&Message::Lost { error: text });
    }

    /// Tells that something happened now.
    pub fn notice(&self, kind: EventKind, team: Option<&str>, member: Option<&str>, text: String) {
        let (team, member) = (team.map(str::to_owned), member.map(str::to_owned));
        // A closed pipe ends the agent by its standard input, not here.
        let _ = self.say(&Message::Notice(Notice { at_ns: clock::monotonic_ns(), kind, team, member, text }));
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Output")
    }
}

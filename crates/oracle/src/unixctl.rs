//! Commands of Open vSwitch's daemons, without a process for each.

use std::io::{BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

/// A connection to a daemon's control socket (`unixctl`): what `ovs-appctl` does, command by command.
#[derive(Debug)]
pub struct Unixctl {
    stream: BufReader<UnixStream>,
    sent: u64,
}

/// An answer of JSON-RPC 1.0.
#[derive(Deserialize)]
struct Answer {
    id: u64,
    result: Option<String>,
    error: Option<String>,
}

impl Unixctl {
    /// Longer than any command takes; guards against a hang.
    const LONGEST: Duration = Duration::from_secs(20);

    /// Connects to a daemon's control socket.
    #[track_caller]
    pub fn connect(socket: &Path) -> Unixctl {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Self::LONGEST)).unwrap();
        Unixctl { stream: BufReader::new(stream), sent: 0 }
    }

    /// What a command prints, or the words by which it is refused.
    #[track_caller]
    pub fn call(&mut self, command: &str, arguments: &[&str]) -> Result<String, String> {
        self.sent += 1;
        let request = json!({ "method": command, "params": arguments, "id": self.sent });
        self.stream.get_mut().write_all(request.to_string().as_bytes()).unwrap();
        // Nothing stands between two answers: an object ends where its brace is.
        let answer = Answer::deserialize(&mut serde_json::Deserializer::from_reader(&mut self.stream)).unwrap();
        assert_eq!(answer.id, self.sent, "another command's answer");
        answer.error.map_or(Ok(()), Err)?;
        Ok(answer.result.unwrap_or_default())
    }

    /// The same for what must not be refused.
    #[track_caller]
    pub fn run(&mut self, command: &str, arguments: &[&str]) -> String {
        self.call(command, arguments).unwrap_or_else(|refused| panic!("{command} {arguments:?}: {refused}"))
    }
}

//! Commands of Open vSwitch's daemons, without a process for each (`unixctl`: JSON-RPC 1.0 over a Unix socket).

use std::io::{self, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use crate::{Context, Result};

/// A connection to a daemon's control socket: what `ovs-appctl` does, command by command.
#[derive(Debug)]
pub struct Unixctl {
    socket: PathBuf,
    stream: BufReader<UnixStream>,
    sent: u64,
}

/// An answer.
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
    ///
    /// # Errors
    /// Nobody listens there.
    pub fn connect(socket: &Path) -> Result<Unixctl> {
        let connect = || {
            let stream = UnixStream::connect(socket)?;
            stream.set_read_timeout(Some(Self::LONGEST))?;
            Ok::<_, io::Error>(stream)
        };
        let stream = connect().context(|| format!("connect to {}", socket.display()))?;
        Ok(Unixctl { socket: socket.to_owned(), stream: BufReader::new(stream), sent: 0 })
    }

    /// What a command prints, or the words by which the daemon refuses it.
    ///
    /// # Errors
    /// The daemon has ended, does not answer within 20 s, or answers something else.
    pub fn call(&mut self, command: &str, arguments: &[&str]) -> Result<std::result::Result<String, String>> {
        self.sent += 1;
        let request = json!({ "method": command, "params": arguments, "id": self.sent }).to_string();
        let answer = self.exchange(&request).context(|| format!("ask {} for {command}", self.socket.display()))?;
        Ok(match answer.error {
            Some(refused) => Err(refused),
            None => Ok(answer.result.unwrap_or_default()),
        })
    }

    fn exchange(&mut self, request: &str) -> io::Result<Answer> {
        self.stream.get_mut().write_all(request.as_bytes())?;
        // Nothing stands between two answers: an object ends where its brace is.
        let answer = Answer::deserialize(&mut serde_json::Deserializer::from_reader(&mut self.stream))?;
        if answer.id != self.sent {
            return Err(io::Error::other("another command's answer"));
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixListener;

    use super::*;

    /// A daemon that says this to whatever it is asked.
    fn daemon(name: &str, says: &'static [&'static str]) -> PathBuf {
        let socket = std::env::temp_dir().join(format!("nicteam-unixctl-{name}-{}", std::process::id()));
        // What an earlier test of this number left.
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            for answer in says {
                let mut asked = [0; 200];
                assert!(stream.read(&mut asked).unwrap() > 0);
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        socket
    }

    #[test]
    fn answers_and_refusals_are_told_apart() {
        let answers = &[
            r#"{"id":1,"result":"144\n","error":null}"#,
            r#"{"id":2,"result":null,"error":"no such bond"}"#,
            r#"{"id":9,"result":"","error":null}"#,
        ];
        let socket = daemon("answers", answers);
        let mut daemon = Unixctl::connect(&socket).unwrap();
        assert_eq!(daemon.call("bond/hash", &["02:00:00:00:00:01"]).unwrap(), Ok("144\n".to_owned()));
        assert_eq!(daemon.call("bond/show", &["x"]).unwrap(), Err("no such bond".to_owned()));
        assert!(daemon.call("version", &[]).unwrap_err().to_string().contains("another command's answer"));
        assert!(daemon.call("version", &[]).is_err(), "it has hung up");
        std::fs::remove_file(socket).unwrap();
    }
}

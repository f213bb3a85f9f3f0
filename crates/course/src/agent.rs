//! QEMU's guest agent: programs run in the guest, over a virtual serial line that no network touches.
//!
//! Protocol: JSON objects, one a line (QEMU, docs/interop/qemu-ga-ref).

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nicteam_sys::process;
use serde_json::{Value, json};

use crate::failure::Failure;

/// How long one answer may take: long enough for an emulated processor beside other work.
const ANSWER: Duration = Duration::from_secs(30);
/// How long to wait before it is asked once more whether it is there.
const SILENCE: Duration = Duration::from_secs(2);
/// How often a program is asked whether it has ended.
const POLL: Duration = Duration::from_millis(50);
/// How often a signal is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// The agent of one guest.
pub(super) struct Agent {
    line: UnixStream,
    received: Vec<u8>,
    number: u64,
}

/// How a program ended, and what it printed on both outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// Exit status; 128 and the signal's number if one ended it, as in a shell.
    pub(super) status: i64,
    /// What it printed.
    pub(super) text: String,
}

impl Agent {
    /// At this end of the line.
    pub(super) fn new(line: UnixStream) -> Result<Agent, Failure> {
        line.set_read_timeout(Some(LOOK))
            .and_then(|()| line.set_write_timeout(Some(ANSWER)))
            .map_err(Failure::failed)?;
        Ok(Agent { line, received: Vec::new(), number: 0 })
    }

    /// Waits until the agent answers.
    pub(super) fn wait(&mut self, bound: Duration) -> Result<(), Failure> {
        let start = Instant::now();
        while start.elapsed() < bound {
            // Its number tells the answer from those to earlier questions.
            self.number += 1;
            self.send(&json!({"execute": "guest-sync", "arguments": {"id": self.number}}))?;
            let asked = Instant::now();
            while let Some(left) = SILENCE.checked_sub(asked.elapsed()) {
                match self.line(left)? {
                    Some(answer) if answer["return"] == self.number => return Ok(()),
                    Some(_) => {}
                    None => break,
                }
            }
        }
        Err(Failure::failed(format!("the guest's agent does not answer within {} s", bound.as_secs())))
    }

    /// Runs a shell script to its end.
    pub(super) fn run(&mut self, script: &str, bound: Duration) -> Result<Said, Failure> {
        let pid = self.start(script)?;
        let start = Instant::now();
        loop {
            let status = self.ask(&json!({"execute": "guest-exec-status", "arguments": {"pid": pid}}))?;
            if status["exited"] == true {
                let text = decoded(status["out-data"].as_str().unwrap_or_default())?;
                let signal = || 128 + status["signal"].as_i64().unwrap_or_default();
                let status = status["exitcode"].as_i64().unwrap_or_else(signal);
                return Ok(Said { status, text: String::from_utf8_lossy(&text).into_owned() });
            }
            if start.elapsed() > bound {
                return Err(Failure::failed(format!("`{script}` does not end within {} s", bound.as_secs())));
            }
            process::sleep_or_termination(POLL);
        }
    }

    /// Starts a shell script; its process.
    pub(super) fn start(&mut self, script: &str) -> Result<i64, Failure> {
        let script = format!("exec 2>&1\n{script}");
        let arguments = json!({"path": "/bin/sh", "arg": ["-c", script], "capture-output": true});
        let answer = self.ask(&json!({"execute": "guest-exec", "arguments": arguments}))?;
        answer["pid"].as_i64().ok_or_else(|| Failure::failed(format!("not a process: {answer}")))
    }

    fn ask(&mut self, request: &Value) -> Result<Value, Failure> {
        self.send(request)?;
        let mut answer =
            self.line(ANSWER)?.ok_or_else(|| Failure::failed(format!("the guest's agent is silent on {request}")))?;
        match answer.get_mut("return") {
            Some(returned) => Ok(returned.take()),
            None => Err(Failure::failed(format!("the guest's agent on {request}: {answer}"))),
        }
    }

    fn send(&mut self, request: &Value) -> Result<(), Failure> {
        self.line
            .write_all(format!("{request}\n").as_bytes())
            .map_err(|error| Failure::failed(format!("the guest's serial line: {error}")))
    }

    /// The next line, if one comes within this time; what is no JSON is left out.
    fn line(&mut self, bound: Duration) -> Result<Option<Value>, Failure> {
        let (start, mut buffer) = (Instant::now(), [0; 4096]);
        loop {
            while let Some(end) = self.received.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.received.drain(..=end).collect();
                if let Ok(value) = serde_json::from_slice(&line) {
                    return Ok(Some(value));
                }
            }
            if process::termination().is_some() {
                return Err(Failure::Interrupted);
            }
            if start.elapsed() >= bound {
                return Ok(None);
            }
            match self.line.read(&mut buffer) {
                Ok(0) => return Err(Failure::failed("the guest has ended")),
                Ok(len) => self.received.extend_from_slice(&buffer[..len]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) => return Err(Failure::failed(format!("the guest's serial line: {error}"))),
            }
        }
    }
}

/// Bytes of their form in base64 (RFC 4648, section 4).
fn decoded(text: &str) -> Result<Vec<u8>, Failure> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut have) = (Vec::with_capacity(text.len() / 4 * 3), 0u32, 0);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let value = ALPHABET.iter().position(|known| *known == letter);
        let value = value.ok_or_else(|| Failure::failed("the guest's agent sent what is no base64"))?;
        (bits, have) = (bits << 6 | value as u32, have + 6);
        if have >= 8 {
            have -= 8;
            bytes.push((bits >> have) as u8);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded() {
        // RFC 4648, section 10.
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")] {
            assert_eq!(decoded(text).unwrap(), bytes.as_bytes());
        }
        assert!(decoded("Z-8=").is_err());
    }

    #[test]
    fn answers_to_earlier_questions_are_passed_over() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut agent = Agent::new(ours).unwrap();
        theirs.write_all(b"{\"return\": 7}\nnoise\n{\"return\": 1}\n").unwrap();
        agent.wait(Duration::from_secs(20)).unwrap();
        theirs.write_all(b"{\"return\": {\"pid\": 5}}\n").unwrap();
        theirs.write_all(b"{\"return\": {\"exited\": true, \"exitcode\": 3, \"out-data\": \"Zm9v\"}}\n").unwrap();
        let said = agent.run("false", Duration::from_secs(20)).unwrap();
        assert_eq!(said, Said { status: 3, text: "foo".to_owned() });
        theirs.write_all(b"{\"error\": {\"desc\": \"no\"}}\n").unwrap();
        assert!(agent.start("false").unwrap_err().to_string().contains("\"no\""));
        drop(theirs);
        assert!(agent.start("false").is_err());
    }
}

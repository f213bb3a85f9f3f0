//! A TCP connection that is to live on while something is done.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use nicteam_oracle::protocol::Answer;

use crate::{Agent, Outcome, refused, system};

/// Longer than TCP waits after so many breaks as a guest makes, shorter than a guest's answer is awaited.
const PATIENCE: Duration = Duration::from_secs(110);

/// Both ends.
pub(crate) struct Session {
    near: TcpStream,
    far: TcpStream,
}

impl Agent {
    /// From where this is asked to another host.
    pub(crate) fn connect(&mut self, host: &str, to: SocketAddr) -> Outcome {
        let listener = self.host(host)?.run(|| TcpListener::bind(to)).map_err(system)?;
        let opened = listener.and_then(|listener| {
            let near = TcpStream::connect(to)?;
            let (far, _) = listener.accept()?;
            for end in [&near, &far] {
                end.set_read_timeout(Some(PATIENCE))?;
            }
            Ok(Session { near, far })
        });
        self.session = Some(opened.map_err(|error| refused(format!("connect to {to}"), &error))?);
        Ok(Answer::Done)
    }

    pub(crate) fn exchange(&mut self, bytes: usize) -> Outcome {
        let session = self.session.as_mut().ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected));
        let exchanged = session.and_then(|Session { near, far }| {
            let mut bytes = vec![7; bytes];
            near.write_all(&bytes)?;
            far.read_exact(&mut bytes)?;
            far.write_all(&bytes)?;
            near.read_exact(&mut bytes)
        });
        exchanged.map(|()| Answer::Done).map_err(|error| refused("send there and back".to_owned(), &error))
    }
}

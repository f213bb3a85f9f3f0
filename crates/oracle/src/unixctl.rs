//! Commands of Open vSwitch's daemons for tests, where none may fail.

use std::path::Path;

use nicteam_sys::unixctl;

/// [`unixctl::Unixctl`] whose failures are panics.
#[derive(Debug)]
pub struct Unixctl(unixctl::Unixctl);

impl Unixctl {
    /// Connects to a daemon's control socket.
    #[track_caller]
    pub fn connect(socket: &Path) -> Unixctl {
        Unixctl(unixctl::Unixctl::connect(socket).unwrap_or_else(|error| panic!("{error}")))
    }

    /// What a command prints, or the words by which it is refused.
    #[track_caller]
    pub fn call(&mut self, command: &str, arguments: &[&str]) -> Result<String, String> {
        self.0.call(command, arguments).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same for what must not be refused.
    #[track_caller]
    pub fn run(&mut self, command: &str, arguments: &[&str]) -> String {
        self.call(command, arguments).unwrap_or_else(|refused| panic!("{command} {arguments:?}: {refused}"))
    }
}

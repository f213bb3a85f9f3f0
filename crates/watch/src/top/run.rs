//! The terminal: keys in, frames out. However it ends, the terminal is as it was.

use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use nicteam_sys::signals::Signals;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::model::{Key, Model};
use super::rows::View;
use crate::snapshot::Snapshot;

/// How long a key may take until it has its effect.
const PATIENCE: Duration = Duration::from_millis(100);

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The user asked for it.
    ByUser,
    /// The user pressed Ctrl-C.
    ByInterrupt,
    /// A signal asked for it, or what was looked at has ended.
    BySignal,
}

/// What the view is told.
#[derive(Clone, Debug)]
pub enum Seen {
    /// A look at the host.
    Host(Box<Snapshot>),
    /// What is to be shown, with its rates.
    View(Box<View>),
}

/// Why there is no view any more.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The terminal refused.
    #[error("the terminal: {0}")]
    Terminal(#[from] io::Error),
    /// The host cannot be read.
    #[error("{0}")]
    Look(String),
}

/// Shows the view until the user or a signal ends it. `look` is asked once an interval, by a thread of its own, which also
/// ends the process with code 129 where the terminal is gone.
///
/// # Errors
/// The terminal refuses, or the host cannot be read.
pub fn run(
    model: Model,
    interval: Duration,
    signals: &Signals,
    mut look: impl FnMut() -> Result<Snapshot, String> + Send + 'static,
) -> Result<Ended, Error> {
    let (tell, looks) = channel();
    std::thread::Builder::new().name("look".to_owned()).spawn(move || {
        // Ends when nobody hears it any more.
        while tell.send(look().map(|look| Seen::Host(Box::new(look)))).is_ok() {
            std::thread::sleep(interval);
            if has_hung_up() {
                // The thread that reads keys reads nothing for ever, and there is no terminal to restore.
                std::process::exit(128 + Signal::SIGHUP as i32);
            }
        }
    })?;
    follow(model, &looks, || {
        signals.next().map(|signal| signal.is_some()).map_err(|error| Error::Look(error.to_string()))
    })
}

/// Shows what comes until the user or `is_over` ends it.
///
/// # Errors
/// The terminal refuses, nothing can come any more, or `is_over` says so.
pub fn follow(
    mut model: Model,
    looks: &Receiver<Result<Seen, String>>,
    is_over: impl FnMut() -> Result<bool, Error>,
) -> Result<Ended, Error> {
    // Also restores the terminal when something panics.
    let mut terminal = ratatui::try_init()?;
    let shown = show(&mut terminal, &mut model, looks, is_over);
    let restored = ratatui::try_restore();
    let ended = shown?;
    restored?;
    Ok(ended)
}

/// Whether the terminal is gone: closed at its other end, and no signal said so.
fn has_hung_up() -> bool {
    let output = io::stdout();
    let mut terminal = [PollFd::new(output.as_fd(), PollFlags::empty())];
    let gone = PollFlags::POLLHUP | PollFlags::POLLERR;
    poll(&mut terminal, PollTimeout::ZERO).is_ok()
        && terminal[0].revents().is_some_and(|events| events.intersects(gone))
}

fn show(
    terminal: &mut ratatui::DefaultTerminal,
    model: &mut Model,
    looks: &Receiver<Result<Seen, String>>,
    mut is_over: impl FnMut() -> Result<bool, Error>,
) -> Result<Ended, Error> {
    // A picture that would be the same is not drawn.
    let mut is_new = true;
    loop {
        while let Some(seen) = next(looks)? {
            is_new = true;
            match seen {
                Seen::Host(snapshot) => model.see(*snapshot),
                Seen::View(view) => model.show(*view),
            }
        }
        if is_new {
            terminal.draw(|frame| model.draw(frame))?;
            is_new = false;
        }
        if is_over()? {
            return Ok(Ended::BySignal);
        }
        if event::poll(PATIENCE)? {
            // A key, or another size of the terminal.
            is_new = true;
            if let Event::Key(pressed) = event::read()?
                && let Some(key) = key(pressed)
                && !model.press(key)
            {
                return Ok(if key == Key::Interrupt { Ended::ByInterrupt } else { Ended::ByUser });
            }
        }
    }
}

/// A look that has come.
fn next(looks: &Receiver<Result<Seen, String>>) -> Result<Option<Seen>, Error> {
    match looks.recv_timeout(Duration::ZERO) {
        Ok(look) => look.map(Some).map_err(Error::Look),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(Error::Look("the thread that reads the host has ended".to_owned())),
    }
}

fn key(pressed: KeyEvent) -> Option<Key> {
    const PAGE: i32 = 10;
    if pressed.kind == KeyEventKind::Release {
        return None;
    }
    match pressed.code {
        KeyCode::Char('c') if pressed.modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Interrupt),
        KeyCode::Char('q') | KeyCode::Esc => Some(Key::Quit),
        KeyCode::Char('p' | ' ') => Some(Key::Pause),
        KeyCode::Char('s') => Some(Key::Sort),
        KeyCode::Char('u') => Some(Key::Unit),
        KeyCode::Char('e') => Some(Key::Events),
        KeyCode::Down | KeyCode::Char('j') => Some(Key::Scroll(1)),
        KeyCode::Up | KeyCode::Char('k') => Some(Key::Scroll(-1)),
        KeyCode::PageDown => Some(Key::Scroll(PAGE)),
        KeyCode::PageUp => Some(Key::Scroll(-PAGE)),
        KeyCode::Home => Some(Key::Home),
        _ => None,
    }
}

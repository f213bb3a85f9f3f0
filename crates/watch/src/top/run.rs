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
use crate::snapshot::Snapshot;

/// How long a key may take until it has its effect.
const PATIENCE: Duration = Duration::from_millis(100);

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The user asked for it.
    ByUser,
    /// A signal asked for it.
    BySignal,
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
    mut model: Model,
    interval: Duration,
    signals: &Signals,
    mut look: impl FnMut() -> Result<Snapshot, String> + Send + 'static,
) -> Result<Ended, Error> {
    let (tell, looks) = channel();
    std::thread::Builder::new().name("look".to_owned()).spawn(move || {
        // Ends when nobody hears it any more.
        while tell.send(look()).is_ok() {
            std::thread::sleep(interval);
            if has_hung_up() {
                // The thread that reads keys reads nothing for ever, and there is no terminal to restore.
                std::process::exit(128 + Signal::SIGHUP as i32);
            }
        }
    })?;
    // Also restores the terminal when something panics.
    let mut terminal = ratatui::try_init()?;
    let shown = show(&mut terminal, &mut model, signals, &looks);
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
    signals: &Signals,
    looks: &Receiver<Result<Snapshot, String>>,
) -> Result<Ended, Error> {
    loop {
        while let Some(look) = next(looks)? {
            model.see(look);
        }
        terminal.draw(|frame| model.draw(frame))?;
        if signals.next().map_err(|error| Error::Look(error.to_string()))?.is_some() {
            return Ok(Ended::BySignal);
        }
        if event::poll(PATIENCE)? {
            // A resized terminal is drawn anew at the next turn.
            if let Event::Key(pressed) = event::read()?
                && let Some(key) = key(pressed)
                && !model.press(key)
            {
                return Ok(Ended::ByUser);
            }
        }
    }
}

/// A look that has come.
fn next(looks: &Receiver<Result<Snapshot, String>>) -> Result<Option<Snapshot>, Error> {
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
        KeyCode::Char('c') if pressed.modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Quit),
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

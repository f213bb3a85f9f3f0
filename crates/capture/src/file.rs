//! Where a capture goes: a file, or a pipe. Whole blocks only, so that what is there can always be read.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Stdout, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::error::Error;

/// Bytes gathered before they are written.
const GATHERED: usize = 64 * 1024;

/// What a pipe takes whole (limits.h).
const PIPE_BUF: usize = 4096;

/// How long the reader of a pipe may take, once the capture is to end.
const PATIENCE_MS: u16 = 2000;

/// A file or standard output.
#[derive(Debug)]
pub struct Output {
    name: PathBuf,
    to: To,
    /// Whole blocks that wait.
    waiting: Vec<u8>,
    /// Bytes of whole blocks that were written.
    written: u64,
}

#[derive(Debug)]
enum To {
    File(File),
    Stdout(Stdout),
    /// A line a frame, for people, on standard output.
    Text(Stdout),
}

impl Output {
    /// A file of this name, `-` for standard output. A file that is there is written anew; only its owner may read it,
    /// as it holds what people sent.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn open(path: &Path) -> Result<Output, Error> {
        if path == Path::new("-") {
            return Ok(Output::of("standard output".into(), To::Stdout(io::stdout())));
        }
        let made = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
        match made {
            Ok(file) => Ok(Output::of(path.to_owned(), To::File(file))),
            Err(error) => Err(Error::Create { to: path.to_owned(), error }),
        }
    }

    /// Lines for people on standard output, in place of pcapng.
    pub fn text() -> Output {
        Output::of("standard output".into(), To::Text(io::stdout()))
    }

    /// True of lines for people.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.to, To::Text(_))
    }

    fn of(name: PathBuf, to: To) -> Output {
        Output { name, to, waiting: Vec::new(), written: 0 }
    }

    /// Its name, for people.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Adds a block.
    ///
    /// # Errors
    /// As [`Output::flush`].
    pub fn add(&mut self, block: &[u8], stop: BorrowedFd<'_>) -> io::Result<()> {
        self.waiting.extend_from_slice(block);
        if self.waiting.len() < GATHERED { Ok(()) } else { self.flush(stop) }
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// It cannot be written; the file ends behind its last whole block then. [`ErrorKind::Interrupted`]: the reader of a
    /// pipe reads nothing, and `stop` is readable.
    pub fn flush(&mut self, stop: BorrowedFd<'_>) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        match &mut self.to {
            To::Stdout(stdout) | To::Text(stdout) => write_or_stop(stdout, &waiting, stop)?,
            To::File(file) => {
                if let Err((error, taken)) = write_as_much(file, &waiting) {
                    // Blocks say their length: those that are whole stay.
                    let whole = self.written + whole_blocks(&waiting[..taken]);
                    // A pipe or a device with a name cannot be cut; its reader sees the end.
                    let _ = file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0)));
                    return Err(error);
                }
            }
        }
        self.written += waiting.len() as u64;
        Ok(())
    }
}

/// Waits for the reader, but not for ever: a pipe with room takes [`PIPE_BUF`] bytes at once.
fn write_or_stop(out: &mut (impl Write + AsFd), bytes: &[u8], stop: BorrowedFd<'_>) -> io::Result<()> {
    for piece in bytes.chunks(PIPE_BUF) {
        loop {
            let mut fds = [PollFd::new(out.as_fd(), PollFlags::POLLOUT), PollFd::new(stop, PollFlags::POLLIN)];
            match poll(&mut fds, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            // With both, the rest is written.
            if fds[0].any().unwrap_or(false) {
                break;
            }
            let mut out = [PollFd::new(out.as_fd(), PollFlags::POLLOUT)];
            if fds[1].any().unwrap_or(false) && poll(&mut out, PollTimeout::from(PATIENCE_MS)) == Ok(0) {
                return Err(ErrorKind::Interrupted.into());
            }
        }
        // The library's own buffer would wait for a line's end.
        out.write_all(piece)?;
        out.flush()?;
    }
    Ok(())
}

fn write_as_much(file: &mut File, bytes: &[u8]) -> Result<(), (io::Error, usize)> {
    let mut taken = 0;
    while taken < bytes.len() {
        match file.write(&bytes[taken..]) {
            Ok(0) => return Err((ErrorKind::WriteZero.into(), taken)),
            Ok(count) => taken += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err((error, taken)),
        }
    }
    Ok(())
}

/// Bytes of the whole blocks at the beginning.
fn whole_blocks(bytes: &[u8]) -> u64 {
    let mut at = 0;
    while let Some(length) = bytes.get(at + 4..).and_then(|rest| rest.first_chunk()) {
        let length = u32::from_le_bytes(*length) as usize;
        if length == 0 || at + length > bytes.len() {
            break;
        }
        at += length;
    }
    at as u64
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_reader_that_reads_nothing_holds_up_no_end() {
        let (stop, mut stopped) = UnixStream::pair().unwrap();
        let (mut reader, mut writer) = io::pipe().unwrap();
        let much = vec![7; 1 << 20];
        let error = std::thread::scope(|scope| {
            let writing = scope.spawn(|| write_or_stop(&mut writer, &much, stop.as_fd()));
            std::thread::sleep(std::time::Duration::from_millis(100));
            assert!(!writing.is_finished());
            stopped.write_all(&[1]).unwrap();
            writing.join().unwrap().unwrap_err()
        });
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        // A reader that reads gets all of it, whatever stands at the stop.
        let mut read = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| reader.read_to_end(&mut read).unwrap());
            let sent = write_or_stop(&mut writer, &much[..5000], stop.as_fd());
            drop(writer);
            // It may have found the pipe full still.
            assert!(sent.is_ok() || sent.unwrap_err().kind() == ErrorKind::Interrupted);
        });
        assert!(read.iter().all(|byte| *byte == 7) && read.len() >= 4096);
    }

    #[test]
    fn only_whole_blocks_count() {
        let block =
            |length: u32| [vec![6, 0, 0, 0], length.to_le_bytes().to_vec(), vec![0; length as usize - 8]].concat();
        let two = [block(32), block(40)].concat();
        for (taken, whole) in [(0, 0), (7, 0), (31, 0), (32, 32), (33, 32), (71, 32), (72, 72)] {
            assert_eq!(whole_blocks(&two[..taken]), whole, "{taken}");
        }
        assert_eq!(whole_blocks(&[0; 64]), 0, "a length of nothing goes on for ever");
    }
}

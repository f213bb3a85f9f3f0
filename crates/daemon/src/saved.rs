//! What a team was told lately, in files that outlive a process that is killed.
//!
//! `up:NAME.record` in the folder of the network namespace has the last segment of what is recorded, `up:NAME.record-1` the one
//! before; each is a file as [`nicteam_team::replay::head`] begins it, cut off at its end. So they are a fourth of what a process
//! keeps in memory, at most. The next process names them `up:NAME.former` and `up:NAME.former-1`.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use nicteam_sys::Context;
use nicteam_team::Time;
use nicteam_team::replay::{Recorded, Segment, head};

use crate::Error;
use crate::folder::{Folder, Opened};

/// So long after something was recorded it is saved, with all that came meanwhile.
const PAUSE: Duration = Duration::from_secs(1);
/// Segments that are saved.
const SEGMENTS: usize = 2;
/// The longest file that is read, bytes.
const LONGEST: u64 = 64 << 20;

/// Of which process of a team a recording is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Of the one that runs, or that ended last.
    Last,
    /// Of the one before.
    Former,
}

impl Whose {
    fn end(self) -> &'static str {
        match self {
            Whose::Last => "record",
            Whose::Former => "former",
        }
    }
}

/// The files of a team, while its process writes them.
#[derive(Debug)]
pub(crate) struct Saved {
    folder: Folder,
    team: String,
    /// The folder and the file that is written, from the first time on.
    open: Option<(Opened, Open)>,
    /// Entries that were recorded when it was saved last.
    entries: u64,
    due: Option<Time>,
}

/// A file that is written.
#[derive(Debug)]
struct Open {
    file: File,
    /// The number of its segment's first entry.
    first: u64,
    /// Blocks that are in it to stay, and where they end.
    blocks: usize,
    end: u64,
}

impl Saved {
    /// Of a team; nothing is written yet.
    pub(crate) fn new(folder: &Folder, team: &str) -> Saved {
        Saved { folder: folder.clone(), team: team.to_owned(), open: None, entries: 0, due: None }
    }

    /// When it is to be saved, if something was recorded since.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.due
    }

    /// Saves what was recorded, if it is due.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn save_if_due(&mut self, recorded: &Recorded, now: Time) -> Result<(), Error> {
        if recorded.recorded().1 == self.entries {
            return Ok(());
        }
        match *self.due.get_or_insert(now + PAUSE) {
            due if due <= now => self.save(recorded),
            _ => Ok(()),
        }
    }

    /// Saves what was recorded.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn save(&mut self, recorded: &Recorded) -> Result<(), Error> {
        let operation = || format!("save what team {} was told in {}", self.team, self.folder.path().display());
        if self.open.is_none() {
            let opened = self.folder.make()?;
            let open = begin(&opened, &self.team).context(operation)?;
            self.open = Some((opened, open));
        }
        let Some((opened, open)) = &mut self.open else { return Ok(()) };
        write(opened, &self.team, open, recorded).context(operation)?;
        (self.entries, self.due) = (recorded.recorded().1, None);
        Ok(())
    }
}

/// What a process of a team had saved; `None` if there is nothing.
///
/// # Errors
/// The caller may not look.
pub(crate) fn read(folder: &Folder, team: &str, whose: Whose) -> Result<Option<Vec<u8>>, Error> {
    let Some(opened) = folder.open()? else { return Ok(None) };
    let [older, newer] = names(team, whose);
    let read =
        |name: &str| opened.read_bytes(name, LONGEST).context(|| format!("read {}", opened.named(name).display()));
    let (older, newer) = (read(&older)?, read(&newer)?);
    Ok(match (older, newer) {
        (Some(older), Some(newer)) => Some([&older, without_first_line(&newer)].concat()),
        (_, newer) => newer,
    })
}

/// Removes all of them.
///
/// # Errors
/// One cannot be removed.
pub(crate) fn forget(opened: &Opened, team: &str) -> io::Result<()> {
    let all = [Whose::Last, Whose::Former].into_iter().flat_map(|whose| names(team, whose));
    all.map(|name| opened.remove(&name)).fold(Ok(()), io::Result::and)
}

/// The names of the files: the older segment's and the newer one's.
fn names(team: &str, whose: Whose) -> [String; SEGMENTS] {
    let name = format!("up:{team}.{}", whose.end());
    [format!("{name}-1"), name]
}

/// Puts the files of the process before aside, and begins the first one.
fn begin(opened: &Opened, team: &str) -> io::Result<Open> {
    let ([older, newer], [former_older, former]) = (names(team, Whose::Last), names(team, Whose::Former));
    if opened.rename(&newer, &former)? {
        opened.remove(&former_older)?;
        opened.rename(&older, &former_older)?;
    }
    Open::new(opened, &newer, 0)
}

/// Brings the files up to what is recorded.
fn write(opened: &Opened, team: &str, open: &mut Open, recorded: &Recorded) -> io::Result<()> {
    let [older, newer] = names(team, Whose::Last);
    for segment in recorded.last_segments(SEGMENTS) {
        if segment.first < open.first {
            continue;
        }
        if segment.first > open.first {
            opened.rename(&newer, &older)?;
            *open = Open::new(opened, &newer, segment.first)?;
        }
        open.add(&segment)?;
    }
    match recorded.open_block() {
        // The next time it is longer, or stays.
        Some(block) => open.file.write_all_at(&block, open.end),
        None => Ok(()),
    }
}

impl Open {
    fn new(opened: &Opened, name: &str, first: u64) -> io::Result<Open> {
        let file = opened.create(name)?;
        let about = format!(
            "nicteam: {}\nsaved by the team's process {} while it ran\n",
            env!("CARGO_PKG_VERSION"),
            std::process::id()
        );
        let head = head(&about);
        file.write_all_at(&head, 0)?;
        Ok(Open { file, first, blocks: 0, end: head.len() as u64 })
    }

    fn add(&mut self, segment: &Segment<'_>) -> io::Result<()> {
        let new: Vec<u8> =
            segment.blocks.iter().skip(self.blocks).flat_map(|block: &Arc<[u8]>| block.iter().copied()).collect();
        self.file.write_all_at(&new, self.end)?;
        (self.blocks, self.end) = (segment.blocks.len(), self.end + new.len() as u64);
        Ok(())
    }
}

fn without_first_line(file: &[u8]) -> &[u8] {
    file.iter().position(|byte| *byte == b'\n').map_or(&[], |end| &file[end + 1..])
}

#[cfg(test)]
mod tests {
    use nicteam_team::Config;
    use nicteam_team::replay::{Ending, Recording, Told};
    use nicteam_wire::Mac;

    use super::*;

    /// A team of which an eighth is a block.
    fn team() -> Recorded {
        Recorded::begin(Config::default(), Mac([2, 0, 0, 0, 0, 1]), Time::ZERO, 128 << 10).unwrap()
    }

    fn tell(team: &mut Recorded, from: u64, count: u64) {
        for step in from..from + count {
            team.handle_timeout(Time::from_nanos(step * 1_000_000));
            while team.poll_effect().is_some() {}
        }
    }

    #[test]
    fn the_last_two_segments_outlive_their_process() {
        let root = std::env::temp_dir().join(format!("nicteam-saved-{}", std::process::id()));
        let folder = Folder::of_test(root.clone());
        let (mut team_before, mut saved) = (team(), Saved::new(&folder, "team0"));
        let (mut read_from, mut last) = (0, Vec::new());
        for round in 0..40 {
            tell(&mut team_before, round * 500, 500);
            saved.save(&team_before).unwrap();
            last = read(&folder, "team0", Whose::Last).unwrap().unwrap();
            let recording = Recording::read(&last).unwrap();
            assert_eq!(recording.ending, Ending::CutOff);
            let entries: Vec<_> = recording.entries().map(Result::unwrap).collect();
            assert_eq!(entries.last().unwrap().number + 1, team_before.recorded().1, "round {round}");
            let states = entries.iter().filter(|entry| matches!(entry.told, Told::State(_))).count();
            assert!(states <= SEGMENTS);
            read_from = entries[0].number;
        }
        assert!(read_from > 0, "the eldest segments are forgotten");
        assert!(read(&folder, "team0", Whose::Former).unwrap().is_none());
        // The next process.
        let (mut team_now, mut saved) = (team(), Saved::new(&folder, "team0"));
        tell(&mut team_now, 0, 10);
        saved.save(&team_now).unwrap();
        assert_eq!(read(&folder, "team0", Whose::Former).unwrap(), Some(last));
        let own = read(&folder, "team0", Whose::Last).unwrap().unwrap();
        assert_eq!(Recording::read(&own).unwrap().entries().count(), 11);
        forget(&folder.open().unwrap().unwrap(), "team0").unwrap();
        for whose in [Whose::Last, Whose::Former] {
            assert!(read(&folder, "team0", whose).unwrap().is_none());
        }
        std::fs::remove_dir_all(&root).unwrap();
    }

    /// Printed in a soak alone.
    #[test]
    #[allow(clippy::disallowed_methods, reason = "it measures")]
    fn what_it_costs() {
        if std::env::var_os("NICTEAM_SOAK").is_none() {
            return;
        }
        let root = std::path::PathBuf::from(format!("/dev/shm/nicteam-saved-{}", std::process::id()));
        let (mut team, mut saved) = (team(), Saved::new(&Folder::of_test(root.clone()), "team0"));
        saved.save(&team).unwrap();
        let (mut spent, mut longest) = (Duration::ZERO, Duration::ZERO);
        for round in 0..1000 {
            tell(&mut team, round * 100, 100);
            let start = std::time::Instant::now();
            saved.save(&team).unwrap();
            let took = start.elapsed();
            (spent, longest) = (spent + took, longest.max(took));
        }
        println!("saving 100 entries takes {} us, the longest {} us", spent.as_micros() / 1000, longest.as_micros());
        std::fs::remove_dir_all(&root).unwrap();
    }
}

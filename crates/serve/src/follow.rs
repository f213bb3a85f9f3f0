//! The samples of runs that go on, read as they are written. What is kept of them is bounded, however long a run is.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nicteam_record::{Folder, MAX_SAMPLES_BYTES, Sample};

/// The most runs that are followed at once.
const MOST_RUNS: usize = 4;
/// The most hosts and switches of a run, the most samples that are kept of each, and the most members of a sample.
const MOST_HOSTS: usize = 256;
const MOST_SAMPLES: usize = 320;
const MOST_MEMBERS: usize = 64;
/// The most that is read at once, bytes: the rest is read the next time.
const MOST_AT_ONCE: u64 = 32 << 20;
/// A longer line is no sample.
const LONGEST_LINE: u64 = 4 << 20;

/// Runs that are followed, by their files; the one that was looked at last stands last.
#[derive(Debug, Default)]
pub(crate) struct Followed(Vec<(PathBuf, Follower)>);

/// What is known of a file.
#[derive(Debug, Default)]
struct Follower {
    inode: u64,
    /// Everything ahead of it has been read.
    offset: u64,
    hosts: BTreeMap<String, Thinned>,
    latest_ms: f64,
}

/// Samples of one host: each, or every second one, or every fourth one, and so on.
#[derive(Debug)]
struct Thinned {
    kept: Vec<Sample>,
    each: u64,
    seen: u64,
}

/// What there is to show of a run.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// In order of time, members' counters alone.
    pub(crate) samples: Vec<Sample>,
    /// The time of the latest one, milliseconds of the measured window.
    pub(crate) latest_ms: f64,
}

impl Followed {
    /// Reads what is new in a file.
    pub(crate) fn course(&mut self, dir: &Path, name: &str) -> Course {
        let path = dir.join(name);
        let place = self.0.iter().position(|(of, _)| *of == path);
        let mut follower = place.map_or_else(Follower::default, |place| self.0.remove(place).1);
        // What cannot be read now may be the next time.
        let _ = follower.read(dir, name);
        let course = follower.course();
        self.0.push((path, follower));
        if self.0.len() > MOST_RUNS {
            self.0.remove(0);
        }
        course
    }
}

impl Follower {
    fn read(&mut self, dir: &Path, name: &str) -> Result<(), Box<dyn std::error::Error>> {
        let mut file = Folder::open(dir)?.file_of(name, MAX_SAMPLES_BYTES)?;
        let found = file.metadata()?;
        if found.ino() != self.inode || found.len() < self.offset {
            // A run that is carried out once more begins a new file.
            *self = Follower { inode: found.ino(), ..Follower::default() };
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut reader = BufReader::new(file.take(MOST_AT_ONCE));
        let mut line = Vec::new();
        loop {
            line.clear();
            let count = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? as u64;
            // The last line may not be whole yet.
            if count == 0 || (line.last() != Some(&b'\n') && count < LONGEST_LINE) {
                return Ok(());
            }
            self.offset += count;
            if let Ok(sample) = serde_json::from_slice::<Sample>(&line) {
                self.take(sample);
            }
        }
    }

    fn take(&mut self, sample: Sample) {
        if !sample.t_ms.is_finite() || !self.hosts.contains_key(&sample.host) && self.hosts.len() >= MOST_HOSTS {
            return;
        }
        self.latest_ms = self.latest_ms.max(sample.t_ms);
        let mut members = sample.members;
        members.truncate(MOST_MEMBERS);
        let kept = Sample { t_ms: sample.t_ms, host: sample.host.clone(), members, ..Sample::default() };
        self.hosts.entry(sample.host).or_default().add(kept);
    }

    fn course(&self) -> Course {
        let mut samples: Vec<Sample> = self.hosts.values().flat_map(|host| host.kept.iter().cloned()).collect();
        samples.sort_by(|one, other| one.t_ms.total_cmp(&other.t_ms));
        Course { samples, latest_ms: self.latest_ms }
    }
}

impl Default for Thinned {
    fn default() -> Thinned {
        Thinned { kept: Vec::new(), each: 1, seen: 0 }
    }
}

impl Thinned {
    /// Keeps a sample if it is one of those that are kept. Counters only grow, so those between say nothing about the others.
    fn add(&mut self, sample: Sample) {
        let is_kept = self.seen.is_multiple_of(self.each);
        self.seen += 1;
        if !is_kept {
            return;
        }
        self.kept.push(sample);
        if self.kept.len() > MOST_SAMPLES {
            let mut place = 0;
            self.kept.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.each *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::io::Write;

    fn sample(t_ms: f64, host: &str) -> String {
        nicteam_record::line(&Sample { t_ms, host: host.to_owned(), ..Sample::default() })
    }

    #[test]
    fn what_is_new_is_read_and_half_a_line_waits() {
        let dir = std::env::temp_dir();
        let name = format!("nicteam-follow-{}", std::process::id());
        let path = dir.join(&name);
        let mut file = File::create(&path).unwrap();
        let mut followed = Followed::default();
        let (whole, half) = (sample(100.0, "a"), sample(200.0, "a"));
        file.write_all(format!("{whole}no sample\n{}", &half[..20]).as_bytes()).unwrap();
        let times = |course: &Course| course.samples.iter().map(|sample| sample.t_ms).collect::<Vec<_>>();
        assert_eq!(times(&followed.course(&dir, &name)), [100.0]);
        file.write_all(&half.as_bytes()[20..]).unwrap();
        let course = followed.course(&dir, &name);
        assert_eq!((times(&course), course.latest_ms), (vec![100.0, 200.0], 200.0));
        // The run is carried out once more.
        fs::remove_file(&path).unwrap();
        fs::write(&path, sample(5.0, "b")).unwrap();
        assert_eq!(times(&followed.course(&dir, &name)), [5.0]);
        fs::remove_file(&path).unwrap();
        assert_eq!(times(&followed.course(&dir, &name)), [5.0], "what was read stays");
    }

    #[test]
    fn of_a_long_run_a_bounded_number_of_samples_is_kept() {
        let mut follower = Follower::default();
        let of = |t: u32, host: &str| Sample { t_ms: f64::from(t), host: host.to_owned(), ..Sample::default() };
        (0..100_000).for_each(|t| follower.take(of(t, "a")));
        let kept = &follower.hosts["a"].kept;
        assert!(kept.len() > MOST_SAMPLES / 2 - 1 && kept.len() <= MOST_SAMPLES, "{}", kept.len());
        let steps: Vec<f64> = kept.windows(2).map(|pair| pair[1].t_ms - pair[0].t_ms).collect();
        assert!(steps.iter().all(|step| *step == steps[0]) && kept[0].t_ms == 0.0, "{steps:?}");
        (0..1000).for_each(|host| follower.take(of(1, &format!("h{host}"))));
        assert_eq!(follower.hosts.len(), MOST_HOSTS);
    }
}

//! Writes that are verified afterwards.

use std::time::{Duration, Instant};

use nicteam_storage::{Buffer, Kind, Operation, Pattern, Volume};

/// Random writes of one block size, never two of one place at a time, and what was written last where.
pub struct Work {
    pattern: Pattern,
    block: usize,
    outstanding: usize,
    places: Vec<Place>,
    random: u64,
    pub written: u64,
    /// Writes that failed, and why the last one did.
    pub failed: u64,
    pub last_error: Option<String>,
    /// The longest time in which nothing was done.
    pub longest_stall: Duration,
    /// The longest that one write took.
    pub longest_write: Duration,
    last_done: Instant,
}

#[derive(Clone, Default)]
struct Place {
    generation: u64,
    /// What a write that failed may have left.
    perhaps: Vec<u64>,
    is_busy: bool,
}

impl Work {
    pub fn new(volume: &dyn Volume, block: usize, outstanding: usize) -> Work {
        let places = vec![Place::default(); volume.bytes() as usize / block];
        Work {
            pattern: Pattern::new(places.len() as u64),
            block,
            outstanding,
            places,
            random: 1,
            written: 0,
            failed: 0,
            last_error: None,
            longest_stall: Duration::ZERO,
            longest_write: Duration::ZERO,
            last_done: Instant::now(),
        }
    }

    /// Writes until `enough` says so, which hears how many writes are done; then waits for what is outstanding.
    pub fn write(&mut self, volume: &mut dyn Volume, mut enough: impl FnMut(u64) -> bool) {
        let mut outstanding = 0;
        self.last_done = Instant::now();
        let mut is_over = false;
        while !is_over || outstanding > 0 {
            is_over |= enough(self.written + self.failed);
            while !is_over && outstanding < self.outstanding {
                let place = self.choose();
                let generation = self.places[place].generation + 1 + self.places[place].perhaps.len() as u64;
                let (offset, mut buffer) = ((place * self.block) as u64, Buffer::new(self.block));
                self.pattern.fill(offset, generation, &mut buffer);
                self.places[place].is_busy = true;
                volume.submit(Operation { id: place as u64, kind: Kind::Write, offset, buffer }).unwrap();
                outstanding += 1;
            }
            while let Some(done) = volume.next_done() {
                outstanding -= 1;
                let place = &mut self.places[done.id as usize];
                let generation = place.generation + 1 + place.perhaps.len() as u64;
                place.is_busy = false;
                match done.result {
                    Ok(()) => {
                        *place = Place { generation, ..Place::default() };
                        self.written += 1;
                        self.longest_write = self.longest_write.max(done.took);
                        self.longest_stall = self.longest_stall.max(self.last_done.elapsed());
                        self.last_done = Instant::now();
                    }
                    Err(error) => {
                        place.perhaps.push(generation);
                        self.failed += 1;
                        self.last_error = Some(error.to_string());
                    }
                }
            }
            // Where everything fails at once, too: paths come back by that.
            volume.wait(Some(Duration::from_millis(10)), &mut []).unwrap();
        }
    }

    /// Reads everything; panics at the first byte that is not as it was written.
    #[track_caller]
    pub fn verify(&self, volume: &mut dyn Volume) {
        let (mut next, mut outstanding) = (0, 0);
        while next < self.places.len() || outstanding > 0 {
            while next < self.places.len() && outstanding < 32 {
                let operation = Operation {
                    id: next as u64,
                    kind: Kind::Read,
                    offset: (next * self.block) as u64,
                    buffer: Buffer::new(self.block),
                };
                volume.submit(operation).unwrap();
                (next, outstanding) = (next + 1, outstanding + 1);
            }
            while let Some(done) = volume.next_done() {
                outstanding -= 1;
                done.result.unwrap();
                self.check(done.id as usize, &done.buffer);
            }
            if outstanding > 0 {
                volume.wait(None, &mut []).unwrap();
            }
        }
    }

    /// The same of the file that the target serves.
    #[track_caller]
    pub fn verify_file(&self, file: &std::path::Path) {
        let content = std::fs::read(file).unwrap();
        for (place, bytes) in content.chunks(self.block).enumerate().take(self.places.len()) {
            self.check(place, bytes);
        }
    }

    #[track_caller]
    fn check(&self, place: usize, bytes: &[u8]) {
        let Place { generation, perhaps, .. } = &self.places[place];
        let offset = (place * self.block) as u64;
        let is = |generation: u64| match generation {
            0 if bytes.iter().all(|byte| *byte == 0) => Ok(()),
            _ => self.pattern.verify(offset, generation, bytes),
        };
        if let Err(wrong) = is(*generation)
            && !perhaps.iter().any(|perhaps| is(*perhaps).is_ok())
        {
            panic!("{wrong} (or of {perhaps:?}, which failed)");
        }
    }

    fn choose(&mut self) -> usize {
        loop {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let place = (self.random >> 33) as usize % self.places.len();
            if !self.places[place].is_busy {
                return place;
            }
        }
    }
}

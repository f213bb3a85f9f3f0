//! Which request comes next, as IOmeter's access specifications say it. Without I/O; the seed decides.

use nicteam_experiment::AccessSpec;
use nicteam_storage::Kind;

use crate::random::Random;

/// Requests in which the parts of an access specification are kept to exactly.
const DECK: u32 = 1000;

/// A request to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Next {
    /// Read or write.
    pub(super) kind: Kind,
    /// Where, bytes.
    pub(super) offset: u64,
}

/// The requests of a task, one after another without end.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    random: Random,
    reads: Deck,
    jumps: Deck,
    block_bytes: u64,
    align_bytes: u64,
    file_bytes: u64,
    /// Where the next one begins that follows the one before.
    position: u64,
}

impl Requests {
    /// Those of a specification. Tasks with other `number`s begin elsewhere and draw other numbers.
    pub(super) fn new(spec: &AccessSpec, number: u32) -> Requests {
        let (block_bytes, align_bytes) = (spec.storage.block_bytes, spec.align_bytes.max(1));
        let random = Random::of(spec.storage.seed, number);
        let mut requests = Requests {
            random,
            reads: Deck::new(spec.read.as_f64()),
            jumps: Deck::new(spec.random.as_f64()),
            block_bytes,
            align_bytes,
            file_bytes: spec.storage.file_bytes,
            position: 0,
        };
        if number > 0 {
            requests.position = requests.anywhere();
        }
        requests
    }

    /// The next one.
    pub(super) fn next(&mut self) -> Next {
        let kind = if self.reads.draw(&mut self.random) { Kind::Read } else { Kind::Write };
        if self.jumps.draw(&mut self.random) {
            self.position = self.anywhere();
        } else if self.position + self.block_bytes > self.file_bytes {
            self.position = 0;
        }
        let offset = self.position;
        self.position += self.block_bytes;
        Next { kind, offset }
    }

    /// A random place where a whole request fits.
    fn anywhere(&mut self) -> u64 {
        let places = self.file_bytes.saturating_sub(self.block_bytes) / self.align_bytes + 1;
        self.random.below(places) * self.align_bytes
    }
}

/// Cards of two kinds, of which a part of all is of the first: dealt in random order, and shuffled again when all are dealt.
#[derive(Clone, Debug)]
struct Deck {
    all: u32,
    left: u32,
    left_all: u32,
}

impl Deck {
    fn new(part: f64) -> Deck {
        Deck { all: (part * f64::from(DECK)).round() as u32, left: 0, left_all: 0 }
    }

    /// Whether the next card is of the first kind.
    fn draw(&mut self, random: &mut Random) -> bool {
        if self.left_all == 0 {
            (self.left, self.left_all) = (self.all, DECK);
        }
        let is_first = random.below(u64::from(self.left_all)) < u64::from(self.left);
        self.left_all -= 1;
        self.left -= u32::from(is_first);
        is_first
    }
}

#[cfg(test)]
mod tests {
    use nicteam_experiment::{Overrides, parse};

    use super::*;

    /// A specification with these keys.
    fn spec(keys: &str) -> AccessSpec {
        let file = format!(
            "title = 'x'\nhosts = {{ a = {{}}, b = {{}} }}\nlinks = [{{ between = ['a', 'b'] }}]\n[targets.disk]\nkind = 'iscsi'\n\
             on = 'b'\nsize = '64mib'\n[workloads.w]\nkind = 'access-spec'\nfrom = 'a'\nto = 'b'\ntarget = 'disk'\n{keys}\n[[runs]]\n\
             name = 'r'\nworkloads = 'w'\n"
        );
        let experiment = parse("x", "x.toml", &file, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"));
        serde_json::from_value(experiment.runs[0].workloads[0].task.each(1, false)).unwrap()
    }

    fn take(requests: &mut Requests, count: usize) -> Vec<Next> {
        (0..count).map(|_| requests.next()).collect()
    }

    #[test]
    fn the_share_of_reads_is_exact() {
        let mut requests = Requests::new(&spec("spec = 'real-life-60-random-65-read'"), 0);
        for _ in 0..5 {
            let reads = take(&mut requests, 1000).iter().filter(|next| next.kind == Kind::Read).count();
            assert_eq!(reads, 650);
        }
        let mut requests = Requests::new(&spec("spec = 'max-throughput-100-read'"), 0);
        assert!(take(&mut requests, 3000).iter().all(|next| next.kind == Kind::Read));
    }

    #[test]
    fn what_is_not_random_follows_the_one_before() {
        let mut requests = Requests::new(&spec("block = '32kib'"), 0);
        let all = take(&mut requests, 2048 + 1);
        let expected = (0..2048).chain([0]).map(|place| place * 32_768);
        assert!(all.iter().map(|next| next.offset).eq(expected), "from the beginning to the end, and again");

        let mut requests = Requests::new(&spec("spec = 'real-life-60-random-65-read'"), 0);
        let all = take(&mut requests, 10_001);
        let follow = all.windows(2).filter(|two| two[1].offset == two[0].offset + 8192).count();
        // 40 %, and the rare random place that is the next one; the end of the disk takes some away.
        assert!((3950..=4050).contains(&follow), "{follow}");
    }

    #[test]
    fn places_are_aligned_and_within_the_file() {
        let spec = spec("block = '8kib'\nrandom = '100%'\nalign = '4kib'\nfile_size = '1mib'");
        let all = take(&mut Requests::new(&spec, 0), 5000);
        assert!(all.iter().all(|next| next.offset.is_multiple_of(4096) && next.offset + 8192 <= 1 << 20));
        let places: std::collections::BTreeSet<u64> = all.iter().map(|next| next.offset).collect();
        assert_eq!(places.len(), 255, "every place is taken");
    }

    #[test]
    fn the_seed_decides_and_tasks_differ() {
        let spec = spec("spec = 'random-8k-70-read'");
        let of = |number| take(&mut Requests::new(&spec, number), 100);
        assert_eq!(of(0), of(0));
        assert_ne!(of(0), of(1));
    }
}

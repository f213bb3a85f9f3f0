//! Which buckets change members under which loads: a bond of `ovs-vswitchd` against [`openvswitch::moves`].
//!
//! Both get the same trace: a few runs of rebalancing, each after other loads. Its clock stands still but for `time/warp`,
//! its ports are dummies. `NICTEAM_SOAK=1` takes ten times as many traces; `NICTEAM_SEED` others.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_oracle::frames::Random;
use nicteam_oracle::{is_soak, seed};
use nicteam_team::MemberId;
use nicteam_team::hash::slb;
use nicteam_team::openvswitch::{self, Bucket};
use nicteam_testnet::{OpenVSwitch, eventually};
use nicteam_wire::Mac;

use super::theirs::{Theirs, place};

const SAMPLE: u64 = 5;
const SOAK: u64 = 50;
/// The shortest frame, bytes.
const SHORTEST: u64 = 64;
/// Its threads account for what was sent as often, in its time, milliseconds.
const ACCOUNT: u64 = 500;

#[test]
fn the_same_loads_move_the_same_buckets() {
    let Some(switch) = OpenVSwitch::start_dummy_or_skip() else { return };
    let mut theirs = Theirs::new(&switch);
    let (mut runs, mut moved) = (0, 0);
    let traces = if is_soak() { SOAK } else { SAMPLE };
    for number in 0..traces {
        let mut trace = Trace::new(seed().wrapping_mul(1000) + number);
        theirs.add_bond(trace.members, "bond_mode=balance-slb");
        let order = theirs.order(trace.members);
        trace.prepare(&mut theirs);
        for run in 0..trace.runs {
            trace.load(&mut theirs);
            let before = trace.buckets;
            assert_eq!(theirs.accounted(&before), shown(&before), "trace {number}, run {run}, before it");
            let moves = openvswitch::moves(&before, &order);
            openvswitch::settle(&mut trace.buckets, &moves);
            assert_eq!(theirs.rebalanced(), shown(&trace.buckets), "trace {number}, run {run}, {order:?}, {before:?}");
            (runs, moved) = (runs + 1, moved + moves.len());
        }
        theirs.delete_bond();
    }
    eprintln!("{traces} traces, {runs} runs, {moved} moves: the same");
    assert!(moved as u64 >= traces, "{moved} moves in {traces} traces");
}

/// Loads, and what our buckets come to under them.
struct Trace {
    random: Random,
    members: usize,
    runs: usize,
    /// Some buckets, and a source that has each.
    sources: Vec<(u8, Mac)>,
    buckets: [Bucket; slb::BUCKETS],
}

impl Trace {
    fn new(seed: u64) -> Trace {
        let mut random = Random(seed);
        let (members, runs, count) = (random.between(2, 5), random.between(1, 5), random.between(2, 33));
        let mut sources = BTreeMap::new();
        while sources.len() < count {
            let source = Mac([2, random.byte(), random.byte(), random.byte(), random.byte(), random.byte()]);
            sources.insert(slb::bucket(source, 0, 0), source);
        }
        let sources = sources.into_iter().collect();
        Trace { random, members, runs, sources, buckets: [Bucket::default(); slb::BUCKETS] }
    }

    /// Gives every bucket a member, most of them the same one.
    fn prepare(&mut self, theirs: &mut Theirs<'_>) {
        let most = self.random.below(self.members);
        for &(bucket, _) in &self.sources {
            let member = if self.random.one_in(3) { self.random.below(self.members) } else { most };
            theirs.migrate(bucket, member);
            self.buckets[usize::from(bucket)].member = MemberId::new(member);
        }
    }

    /// Sends from most of the sources.
    fn load(&mut self, theirs: &mut Theirs<'_>) {
        // Of one size, of all sizes, and round figures, whose sums often meet a bound.
        let (size, shape) = (self.random.between(10_000, 200_000) as u64, self.random.below(3));
        for (bucket, source) in self.sources.clone() {
            let bytes = match shape {
                _ if self.random.one_in(4) => continue,
                0 => size,
                1 => (size * 4) >> self.random.below(8),
                _ => self.random.between(1, 13) as u64 * 10_000,
            };
            self.send(theirs, bucket, source, bytes);
        }
        if self.random.one_in(2) {
            self.level(theirs);
        }
    }

    /// Lifts every member's load to where the difference to the highest one begins to count, or a byte beside it.
    fn level(&mut self, theirs: &mut Theirs<'_>) {
        let highest = (0..self.members).map(|member| self.carried(member)).max().unwrap_or(0);
        // 100,000 bytes or, where that is more, a thirty-second of the lower load.
        let bound = (highest.saturating_sub(100_000)).min(highest / 33 * 32) + self.random.below(3) as u64;
        for member in 0..self.members {
            let missing = bound.saturating_sub(self.carried(member) + 1);
            let mut own = self.sources.iter().filter(|(bucket, _)| self.member(*bucket) == member);
            if let Some(&(bucket, source)) = own.next().filter(|_| missing >= SHORTEST) {
                self.send(theirs, bucket, source, missing);
            }
        }
    }

    fn send(&mut self, theirs: &mut Theirs<'_>, bucket: u8, source: Mac, bytes: u64) {
        theirs.send(source, bytes);
        self.buckets[usize::from(bucket)].bytes += bytes;
    }

    fn member(&self, bucket: u8) -> usize {
        self.buckets[usize::from(bucket)].member.unwrap().index()
    }

    /// A member's load, bytes.
    fn carried(&self, member: usize) -> u64 {
        let own = self.buckets.iter().filter(|bucket| bucket.member == MemberId::new(member));
        own.map(|bucket| bucket.bytes).sum()
    }
}

/// Member and kilobytes of each bucket that carries one at least, as `bond/show` prints them.
type Shown = BTreeMap<u8, (usize, u64)>;

impl Theirs<'_> {
    /// The members in the order in which `bond/list` has them: that of a hash table.
    fn order(&mut self, members: usize) -> Vec<MemberId> {
        let list = self.commands.run("bond/list", &[]);
        let names = list.lines().find_map(|line| line.strip_prefix("bond0\t")?.rsplit('\t').next()).unwrap();
        let order: Vec<MemberId> = names.split(", ").map(|name| MemberId::new(place(name)).unwrap()).collect();
        assert_eq!(order.len(), members, "{list}");
        order
    }

    fn migrate(&mut self, bucket: u8, member: usize) {
        self.commands.run("bond/migrate", &["bond0", &bucket.to_string(), &format!("p{member}")]);
    }

    /// A frame of this many bytes: of several, one that came while a thread deleted the flow would be missing.
    fn send(&mut self, source: Mac, bytes: u64) {
        let flow = format!("in_port(9),eth(src={source},dst=02:ff:00:00:00:01),eth_type(0x1234)");
        self.commands.run("netdev-dummy/receive", &["in", &flow, "--len", &bytes.to_string()]);
    }

    /// Lets it account for what was sent; what its buckets are then, at best these.
    fn accounted(&mut self, buckets: &[Bucket; slb::BUCKETS]) -> Shown {
        let expected = shown(buckets);
        // A run comes after 20 times.
        for _ in 0..15 {
            self.warp(ACCOUNT);
            for _ in 0..20 {
                if loads(&self.show()) == expected {
                    return expected;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        loads(&self.show())
    }

    /// Lets it rebalance once; what its buckets are then.
    fn rebalanced(&mut self) -> Shown {
        let missing = self.next_run_in();
        self.warp(missing.unsigned_abs());
        eventually("a run of rebalancing", || {
            let is_done = self.next_run_in() > 0;
            if !is_done {
                self.warp(ACCOUNT);
            }
            is_done
        });
        loads(&self.show())
    }

    /// Milliseconds to the next run; 0 or less if it is due.
    fn next_run_in(&mut self) -> i64 {
        let shown = self.show();
        let line = shown.lines().find_map(|line| line.strip_prefix("next rebalance: ")?.strip_suffix(" ms"));
        line.unwrap().parse().unwrap()
    }
}

/// What `bond/show` says of buckets.
fn loads(text: &str) -> Shown {
    let mut member = None;
    let mut loads = Shown::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("member ") {
            member = rest.split_once(':').map(|(name, _)| place(name));
        } else if let Some(rest) = line.strip_prefix("  hash ") {
            let (bucket, load) = rest.split_once(": ").unwrap();
            let kilobytes = load.strip_suffix(" kB load").unwrap().parse().unwrap();
            loads.insert(bucket.parse().unwrap(), (member.unwrap(), kilobytes));
        }
    }
    loads
}

/// The same of ours.
fn shown(buckets: &[Bucket; slb::BUCKETS]) -> Shown {
    let numbered = (0..=u8::MAX).zip(buckets);
    let loaded = numbered.filter(|(_, bucket)| bucket.bytes >= 1024);
    loaded.map(|(number, bucket)| (number, (bucket.member.unwrap().index(), bucket.bytes / 1024))).collect()
}

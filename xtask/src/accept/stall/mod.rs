//! 802.3ad on eBPF while its process is stopped, killed or replaced: what that
//! costs the partner, and how long a dead one goes on.

mod bench;
mod partner;
mod setup;

use std::thread;
use std::time::{Duration, Instant};

use nicteam_team::lacp::{LacpRate, lease};

use super::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::product::Product;
use crate::scratch::Scratch;

use bench::Bench;
use partner::Kind;
use setup::MEMBERS;

/// What becomes of the process.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// It is stopped for so long and goes on.
    Stopped(Duration),
    /// It is killed, and another one takes over after so long.
    Replaced(Duration),
    /// It is killed.
    Killed,
}

/// One thing to see; each has hosts of its own, so all run at once.
#[derive(Clone, Copy, Debug)]
struct Case {
    partner: Kind,
    rate: LacpRate,
    fate: Fate,
}

const fn case(partner: Kind, rate: LacpRate, fate: Fate) -> Case {
    Case { partner, rate, fate }
}

const CASES: [Case; 10] = [
    case(Kind::Own, LacpRate::Fast, Fate::Stopped(Duration::from_secs(10))),
    case(Kind::OpenVSwitch, LacpRate::Fast, Fate::Stopped(Duration::from_secs(10))),
    case(Kind::Own, LacpRate::Slow, Fate::Stopped(Duration::from_secs(120))),
    case(Kind::OpenVSwitch, LacpRate::Slow, Fate::Stopped(Duration::from_secs(120))),
    case(Kind::Own, LacpRate::Fast, Fate::Replaced(Duration::from_secs(5))),
    case(Kind::OpenVSwitch, LacpRate::Fast, Fate::Replaced(Duration::from_secs(5))),
    case(Kind::Own, LacpRate::Fast, Fate::Killed),
    case(Kind::OpenVSwitch, LacpRate::Fast, Fate::Killed),
    case(Kind::Own, LacpRate::Slow, Fate::Killed),
    case(Kind::OpenVSwitch, LacpRate::Slow, Fate::Killed),
];

/// For a busy machine.
const SLACK: Duration = Duration::from_secs(3);
/// The lease counts from its last renewal, so long before the end at most.
const RENEWAL: Duration = Duration::from_millis(200);
/// How long nothing may be sent once the partner has left.
const AFTERWARDS: Duration = Duration::from_secs(5);

/// 802.3ad while its process is stopped, killed, replaced.
pub(super) const PART: Part<Arguments> = Part::new(
    "stall",
    "802.3ad while its process is stopped, killed, replaced (bpf dataplane)",
    |&Context { product, scratch, .. }| measure(product, scratch),
);

fn measure(product: &Product, scratch: &Scratch) -> Result<Vec<Figure>, Failure> {
    let ([figures], noise) = Noise::around(|| at_once([product], scratch))?;
    Ok(figures.into_iter().map(|figure| figure.noise(noise)).collect())
}

/// Runs all cases of these programs at once; as long as the longest stall. The figures of each.
pub(super) fn at_once<const N: usize>(products: [&Product; N], scratch: &Scratch) -> Result<[Vec<Figure>; N], Failure> {
    eprintln!("stall: {} cases at once, about 220 s", N * CASES.len());
    let joined = thread::scope(|scope| {
        let runs = products.map(|product| CASES.map(|case| scope.spawn(move || case.run(product, scratch))));
        let panicked = |_| Err(Failure::failed("a case panicked; see above"));
        // All are joined before the first failure is returned: the scope would panic for one that panicked and was not.
        runs.map(|runs| runs.map(|run| run.join().unwrap_or_else(panicked)))
    });
    let mut all = products.map(|_| Vec::new());
    for (figures, cases) in all.iter_mut().zip(joined) {
        for case in cases {
            figures.extend(case?);
        }
    }
    Ok(all)
}

/// How often a partner speaks, and so when it hears of the end of a lease at the latest.
fn period(rate: LacpRate) -> Duration {
    Duration::from_secs(match rate {
        LacpRate::Fast => 1,
        LacpRate::Slow => 30,
    })
}

impl Case {
    fn run(self, product: &Product, scratch: &Scratch) -> Result<Vec<Figure>, Failure> {
        let mut bench = Bench::new(product, scratch, self.partner, self.rate)?;
        let Case { partner, rate, fate } = self;
        match fate {
            Fate::Stopped(time) => {
                let lost = bench.during(|bench| bench.stop(time))?;
                Ok(lost.figures(&format!("{partner}, {rate}, stopped for {} s", time.as_secs())))
            }
            Fate::Replaced(time) => {
                let lost = bench.during(|bench| bench.replace(time))?;
                Ok(lost.figures(&format!("{partner}, {rate}, killed, replaced after {} s", time.as_secs())))
            }
            Fate::Killed => self.kill(&mut bench),
        }
    }

    fn kill(self, bench: &mut Bench<'_>) -> Result<Vec<Figure>, Failure> {
        let lease = lease(self.rate);
        let start = Instant::now();
        bench.kill()?;
        while bench.partner.aggregating() > 0 {
            if start.elapsed() > lease + period(self.rate) + 2 * SLACK {
                return Err(Failure::failed(format!("{} keeps its ports", self.partner)));
            }
            thread::sleep(Duration::from_millis(20));
        }
        let took = start.elapsed();
        if bench.partner.lost() < MEMBERS.len() {
            return Err(Failure::failed(format!("{} lost its ports and does not tell", self.partner)));
        }
        let after = bench.sent_by_the_dead(AFTERWARDS)?;
        let what = format!("{}, {}, killed", self.partner, self.rate);
        let (least, most) = (lease.saturating_sub(RENEWAL), lease + period(self.rate) + SLACK);
        let bound = format!("{:.1} to {:.1}", least.as_secs_f64(), most.as_secs_f64());
        let in_time = took >= least && took <= most;
        let seconds = format!("{:.1}", took.as_secs_f64());
        let asked = match after {
            (sent, 0) => sent.to_string(),
            (sent, asked) => format!("{sent} of {asked} that its stack sent"),
        };
        Ok(vec![
            Figure::text(format!("{what}: seconds until the partner's ports are gone"), seconds, &bound, Some(in_time)),
            Figure::count(format!("{what}: frames sent after that"), after.0, asked),
        ])
    }
}

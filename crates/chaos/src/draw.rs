//! A seed -> the faults of a run.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use nicteam_impair::Random;

/// What a random fault of a kind happens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chance {
    /// Nothing: this kind is never drawn.
    Never,
    /// A cable.
    Cable,
    /// A cable, in both directions or in one.
    Direction,
    /// The same, with one of the impairments of the file.
    Impairment,
    /// The same, with a part of the cable's rate.
    Rate,
    /// A cable, with an MTU below that of Ethernet.
    Mtu,
    /// The member of a team at the end of a cable. It does not last.
    Member,
    /// A switch.
    Switch,
    /// A switch with a group that speaks LACP.
    LacpSwitch,
    /// A host with a team.
    Host,
    /// A target.
    Target,
}

/// What is there for faults to happen to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// The cables.
    pub cables: Vec<Cable>,
    /// The switches.
    pub switches: Vec<Switch>,
    /// The hosts with a team of our own engine.
    pub hosts: Vec<String>,
    /// The impairments of the file.
    pub impairments: Vec<String>,
    /// The targets.
    pub targets: Vec<String>,
}

/// A cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cable {
    /// The nodes at its ends.
    pub ends: [String; 2],
    /// Its number among parallel ones.
    pub number: usize,
    /// Its rate, bit/s.
    pub rate_bps: u64,
    /// The end at which it is a member of a team of our own engine.
    pub member_at: Option<String>,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// One of its groups speaks LACP.
    pub speaks_lacp: bool,
}

/// Which faults are drawn, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Decides all that is left to chance.
    pub seed: u64,
    /// From when on faults begin.
    pub begins: Duration,
    /// By when all are over.
    pub ends: Duration,
    /// From the beginning of a fault to that of the next one, on average.
    pub every: Duration,
    /// How long a fault lasts.
    pub lasts: RangeInclusive<Duration>,
    /// How many faults there are at a time, at most.
    pub at_once: usize,
    /// The kinds, and what each happens to.
    pub kinds: Vec<(&'static str, Chance)>,
}

/// A fault. [`fmt::Display`] writes it as an experiment file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// When it begins, since the measurement began.
    pub at: Duration,
    /// How long it lasts; none: it happens at one moment.
    pub lasts: Option<Duration>,
    /// Its kind.
    pub kind: &'static str,
    /// What it happens to, by the keys of the kind.
    pub keys: String,
    /// What it happens to: two faults at a time never have the same.
    thing: String,
}

/// Draws the faults of a run, in order of time. Kinds to which nothing can happen here are left out.
pub fn draw(plan: &Plan, field: &Field) -> Vec<Fault> {
    let kinds: Vec<_> = plan.kinds.iter().filter(|(_, chance)| field.has(*chance)).collect();
    let mut faults: Vec<Fault> = Vec::new();
    if kinds.is_empty() || plan.every.is_zero() {
        return faults;
    }
    // A stream each, so that a kind that is added moves no times.
    let [mut times, mut which] = [0, 1].map(|stream| Random::new(plan.seed, stream));
    let mut at = plan.begins;
    loop {
        let (kind, chance) = kinds[which.below(kinds.len() as u32) as usize];
        let (shortest, longest) = (millis(*plan.lasts.start()), millis(*plan.lasts.end()));
        let lasts = Duration::from_millis(u64::from(shortest + times.below(longest.saturating_sub(shortest) + 1)));
        let (thing, keys) = field.pick(*chance, &mut which);
        let lasts = (*chance != Chance::Member).then_some(lasts);
        let over = at + lasts.unwrap_or_default();
        if over > plan.ends {
            return faults;
        }
        let still: Vec<&Fault> =
            faults.iter().filter(|fault| fault.at + fault.lasts.unwrap_or_default() >= at).collect();
        if still.len() < plan.at_once && still.iter().all(|fault| !touches(&fault.thing, &thing)) {
            faults.push(Fault { at, lasts, kind, keys, thing });
        }
        // Half of the average to one and a half of it.
        let every = millis(plan.every);
        at += Duration::from_millis(u64::from((every / 2 + times.below(every + 1)).max(1)));
    }
}

fn millis(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX / 4)
}

/// True if faults of both would concern the same node, or the same cable.
fn touches(one: &str, other: &str) -> bool {
    one == other || one.split(' ').any(|word| word == other) || other.split(' ').any(|word| word == one)
}

impl Field {
    /// True if there is something that faults of this chance happen to.
    fn has(&self, chance: Chance) -> bool {
        match chance {
            Chance::Never => false,
            Chance::Impairment => !self.cables.is_empty() && !self.impairments.is_empty(),
            Chance::Cable | Chance::Direction | Chance::Rate | Chance::Mtu => !self.cables.is_empty(),
            Chance::Member => self.members().next().is_some(),
            Chance::Switch => !self.switches.is_empty(),
            Chance::LacpSwitch => self.lacp_switches().next().is_some(),
            Chance::Host => !self.hosts.is_empty(),
            Chance::Target => !self.targets.is_empty(),
        }
    }

    fn members(&self) -> impl Iterator<Item = &Cable> {
        self.cables.iter().filter(|cable| cable.member_at.is_some())
    }

    fn lacp_switches(&self) -> impl Iterator<Item = &Switch> {
        self.switches.iter().filter(|switch| switch.speaks_lacp)
    }

    /// What a fault happens to, and the keys that say so.
    fn pick(&self, chance: Chance, random: &mut Random) -> (String, String) {
        let [a, b, c] = [(); 3].map(|()| random.below(1 << 30) as usize);
        let named = |key: &str, name: &String| (name.clone(), format!("{key} = \"{name}\""));
        let cable = &self.cables[a % self.cables.len().max(1)..];
        let Some(cable) = cable.first() else {
            return match chance {
                Chance::Target => named("target", &self.targets[a % self.targets.len()]),
                _ => named("host", &self.hosts[a % self.hosts.len()]),
            };
        };
        let from = match b % 3 {
            0 => String::new(),
            end => format!(", from = \"{}\"", cable.ends[end - 1]),
        };
        let of = |cable: &Cable, more: String| {
            let ([one, other], number) = (&cable.ends, cable.number);
            (
                format!("{one} {other} {one}-{other}-{number}"),
                format!("link = [\"{one}\", \"{other}\"], number = {number}{more}"),
            )
        };
        match chance {
            Chance::Never | Chance::Cable => of(cable, String::new()),
            Chance::Direction => of(cable, from),
            Chance::Impairment => {
                let name = &self.impairments[c % self.impairments.len()];
                of(cable, format!("{from}, impair = \"{name}\""))
            }
            Chance::Rate => {
                let rate_bps = (cable.rate_bps / [2, 4, 10][c % 3]).max(1_000_000);
                of(cable, format!("{from}, rate = \"{rate_bps}bit\""))
            }
            Chance::Mtu => of(cable, format!(", mtu = {}", 600 + c % 800)),
            Chance::Member => {
                let cable = self.members().nth(a % self.members().count()).unwrap_or(cable);
                let end = cable.member_at.as_deref().unwrap_or_default();
                of(cable, format!(", end = \"{end}\""))
            }
            Chance::Switch => named("switch", &self.switches[a % self.switches.len()].name),
            Chance::LacpSwitch => {
                let switch = self.lacp_switches().nth(a % self.lacp_switches().count());
                named("switch", &switch.unwrap_or(&self.switches[0]).name)
            }
            Chance::Host => named("host", &self.hosts[a % self.hosts.len()]),
            Chance::Target => named("target", &self.targets[a % self.targets.len()]),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { at, lasts, kind, keys, .. } = self;
        write!(f, "{{ at = \"{}ms\", ", at.as_millis())?;
        if let Some(lasts) = lasts {
            write!(f, "for = \"{}ms\", ", lasts.as_millis())?;
        }
        write!(f, "kind = \"{kind}\", {keys} }}")
    }
}

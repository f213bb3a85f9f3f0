//! What an option takes: the kernel's `/sys/class/net/BOND/bonding` against [`Config`].
//!
//! In each mode every option gets ordinary values, limits and nonsense, one after
//! another on the same bond and the same configuration, in a random order. After
//! each the two must have taken or refused it alike, and must show the same value.
//! What differs on purpose stands in `docs/kernel-differences.md`, each under a
//! name that [`KNOWN`] has, too.

use std::collections::{BTreeMap, BTreeSet};

use nicteam_oracle::frames::Random;
use nicteam_oracle::protocol::Request;
use nicteam_oracle::{Guest, is_soak, seed};
use nicteam_team::{Config, ConfigError, ConfigOption, HashPolicy, Mode, Values};

const AGENT: &str = env!("CARGO_BIN_EXE_nicteam-oracle-agent");
const DOCUMENT: &str = include_str!("../../../../docs/kernel-differences.md");
const BOND: &str = "bond0";
const MEMBERS: [&str; 2] = ["a0", "a1"];
/// How often every value is tried in a soak, each time after others. Else a mode gets every seventh value once, and the
/// next mode the next ones, so that every value is tried in one of the seven.
const SOAK_ROUNDS: usize = 10;
const SAMPLED: usize = 7;

const EPERM: i32 = 1;
const EACCES: i32 = 13;
const EINVAL: i32 = 22;

#[test]
fn options_are_taken_and_refused_as_in_the_kernel() {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    for (place, name) in MEMBERS.into_iter().enumerate() {
        guest.must(Request::AddVeth { name: name.to_owned(), peer: format!("b{place}") });
    }
    let mut found = Findings::default();
    let (rounds, step) = if is_soak() { (SOAK_ROUNDS, 1) } else { (1, SAMPLED) };
    for (place, mode) in Mode::ALL.into_iter().filter(|mode| mode.number().is_some()).enumerate() {
        let mut random = Random(seed());
        let mut bout = Bout::new(&mut guest, mode);
        for _ in 0..rounds {
            let trials = trials().into_iter().skip(place % step).step_by(step).collect();
            for (option, value) in shuffled(&mut random, trials) {
                let difference = bout.compare(&mut guest, option, &value);
                if difference.as_ref().is_some_and(Difference::parts) {
                    bout = Bout::new(&mut guest, mode);
                }
                found.add(difference);
            }
        }
    }
    found.verdict(&guest);
}

/// Every mode on a bond of its own, by name, number and nonsense.
#[test]
fn modes_are_taken_as_in_the_kernel() {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    let mut found = Findings::default();
    let option = ConfigOption::named("mode").unwrap();
    for value in values(option) {
        guest.write("/sys/class/net/bonding_masters", "+bond0").unwrap();
        let mut bout = Bout { mode: Mode::default(), config: Config::default() };
        found.add(bout.compare(&mut guest, option, &value));
        guest.write("/sys/class/net/bonding_masters", "-bond0").unwrap();
    }
    found.verdict(&guest);
}

#[test]
fn what_is_known_is_documented() {
    let headings: BTreeSet<&str> = DOCUMENT.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    for known in KNOWN {
        assert!(headings.contains(known.name), "docs/kernel-differences.md has no section `{}`", known.name);
    }
}

/// A difference on purpose.
struct Known {
    /// Its section in the document.
    name: &'static str,
    is: fn(&Difference) -> bool,
}

const KNOWN: &[Known] = &[
    Known {
        name: "switch-policies",
        is: |difference| {
            let named = |policy: &HashPolicy| policy.name() == difference.value && policy.number().is_none();
            let policy = difference.kernel == Said::BadValue && HashPolicy::ALL.iter().any(named);
            policy || difference.option == "hash_buckets"
        },
    },
    Known {
        name: "text-behind-a-value",
        is: |difference| difference.value.split_whitespace().count() > 1 && difference.is_refused_here(),
    },
    Known {
        name: "numbers-of-more-than-64-bits",
        // It is 0 there, and so perhaps a conflict.
        is: |difference| difference.value == TOO_LONG && difference.ours == Said::BadValue,
    },
    Known { name: "delays-that-are-no-multiple-of-miimon", is: is_rounded },
    Known {
        name: "delays-without-miimon",
        is: |difference| {
            let Difference { option, config, .. } = difference;
            let off = DELAYS.contains(option) && config.miimon_ms == 0;
            let none = [Said::Shows("0".to_owned()), Said::BadValue].contains(&difference.ours);
            off && difference.kernel == Said::Conflict && none
        },
    },
    Known {
        name: "miimon-off-under-delays",
        is: |difference| {
            let Difference { option, kernel, ours, .. } = difference;
            let switches = match *option {
                "miimon" => *kernel == Said::Shows("0".to_owned()),
                "arp_interval" => matches!(kernel, Said::Shows(_)),
                _ => false,
            };
            switches && *ours == Said::Conflict && DELAYS.iter().any(|delay| difference.shows(delay) != "0")
        },
    },
    Known {
        name: "carrier-is-always-used",
        is: |difference| difference.option == "use_carrier" && difference.value == "0" && difference.is_refused_here(),
    },
    Known {
        name: "targets-that-are-none",
        is: |difference| {
            let none = difference.value.trim().is_empty() || difference.ours == Said::BadValue;
            difference.option == "arp_ip_target" && difference.kernel == Said::Conflict && none
        },
    },
    Known {
        name: "defaults-of-another-mode",
        is: |difference| {
            let harmless = match (difference.option, difference.mode) {
                ("packets_per_slave", mode) if mode != Mode::BalanceRr => "1",
                ("primary", mode) if !mode.uses_primary() => "",
                ("tlb_dynamic_lb", mode) if !mode.balances_load() => "1",
                // These have no ARP monitor.
                ("arp_interval", mode) if mode.balances_load() => "0",
                ("arp_validate", mode) if mode.balances_load() => "none",
                ("arp_missed_max", mode) if mode.balances_load() => "2",
                ("ad_actor_system", mode) if mode != Mode::Ad => "",
                ("ad_actor_sys_prio", mode) if mode != Mode::Ad => "65535",
                ("ad_user_port_key", mode) if mode != Mode::Ad => "0",
                ("lacp_active", mode) if mode != Mode::Ad => "on",
                ("lacp_rate", mode) if mode != Mode::Ad => "slow",
                _ => return false,
            };
            let ours = &difference.ours;
            difference.kernel == Said::Conflict
                && (*ours == Said::BadValue || *ours == Said::Shows(harmless.to_owned()))
        },
    },
    Known {
        name: "monitors-of-802.3ad",
        is: |difference| {
            let Difference { mode, option, kernel, ours, .. } = difference;
            let arp = option.starts_with("arp_") && *kernel == Said::Conflict && *ours != Said::Conflict;
            let off = (*option, kernel, ours) == ("miimon", &Said::Shows("0".to_owned()), &Said::Conflict);
            *mode == Mode::Ad && (arp || off)
        },
    },
    Known {
        name: "newer-than-the-guest",
        is: |difference| match difference.option {
            // The mode is ours alone.
            "mode" => difference.value.trim().parse().is_ok_and(|mode: Mode| mode.number().is_none()),
            "ad_select" => matches!(difference.value.trim(), "3" | "actor_port_prio"),
            "actor_port_prio"
            | "coupled_control"
            | "lacp_strict"
            | "broadcast_neighbor"
            | "aggregate_wait"
            | "wait_to_restore"
            | "hash_buckets"
            | "lacp"
            | "lacp_fallback_ab"
            | "bond_hash_basis"
            | "bond_rebalance_interval"
            | "bond_detect_mode"
            | "lacp_lease"
            | "carrier_failover"
            | "rlb_ipv6"
            | "stripe_rate"
            | "stripe_interval"
            | "redundant"
            | "stripe_key"
            | "stripe_key_old"
            | "tcp_min_rtt_wlen"
            | "stripe_plain"
            | "sack_delay" => true,
            _ => false,
        },
    },
    Known {
        name: "true-and-false",
        is: |difference| {
            let Difference { option, value, kernel, ours, .. } = difference;
            let word = matches!((value.trim(), ours), ("true", Said::Shows(one)) if one == "1")
                || matches!((value.trim(), ours), ("false", Said::Shows(zero)) if zero == "0");
            *option == "all_slaves_active" && word && *kernel == Said::BadValue
        },
    },
    Known {
        name: "lacp-defaults-by-name",
        is: |difference| {
            let word = difference.value.trim();
            let taken = matches!((difference.option, word), ("lacp_rate", "default") | ("ad_actor_system", ""));
            taken && difference.kernel == Said::BadValue
        },
    },
    Known {
        name: "primary-before-it-is-a-member",
        is: |difference| {
            let Difference { option, value, kernel, ours, .. } = difference;
            let other = |shown: &String| !MEMBERS.contains(&shown.as_str()) || value.starts_with(' ');
            let absent = matches!(ours, Said::Shows(shown) if other(shown)) || *ours == Said::BadValue;
            *option == "primary" && *kernel == Said::Shows(String::new()) && absent
        },
    },
];

/// Options that the kernel keeps in multiples of `miimon`.
const DELAYS: [&str; 3] = ["updelay", "downdelay", "peer_notif_delay"];
/// 2 to the power of 64.
const TOO_LONG: &str = "18446744073709551616";

/// The kernel shows the largest multiple of `miimon` that is no longer than what ours shows.
fn is_rounded(difference: &Difference) -> bool {
    let Difference { option, config, kernel: Said::Shows(kernel), ours: Said::Shows(ours), .. } = difference else {
        return false;
    };
    let (kernel, ours) = (kernel.parse::<u32>(), ours.parse::<u32>());
    let (Ok(kernel), Ok(ours)) = (kernel, ours) else { return false };
    DELAYS.contains(option) && ours.checked_rem(config.miimon_ms).is_some_and(|rest| kernel == ours - rest)
}

/// What was tried, and what each said.
#[derive(Debug)]
struct Difference {
    mode: Mode,
    option: &'static str,
    value: String,
    kernel: Said,
    ours: Said,
    /// Ours as it is afterwards.
    config: Config,
}

impl Difference {
    /// The kernel has taken it alone.
    fn is_refused_here(&self) -> bool {
        matches!(self.kernel, Said::Shows(_)) && self.ours == Said::BadValue
    }

    /// The value of another option then.
    fn shows(&self, option: &str) -> String {
        self.config.option(option).unwrap_or_default()
    }

    /// One has taken it, the other has not: the two cannot go on together.
    fn parts(&self) -> bool {
        matches!(self.kernel, Said::Shows(_)) != matches!(self.ours, Said::Shows(_))
    }
}

/// What became of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    /// Taken; this is what is shown now.
    Shows(String),
    /// No such value.
    BadValue,
    /// Not with these other options.
    Conflict,
    /// Refused in another way.
    Refused(Option<i32>),
}

/// A bond with members, and the configuration that is to be the same.
struct Bout {
    mode: Mode,
    config: Config,
}

impl Bout {
    fn new(guest: &mut Guest, mode: Mode) -> Bout {
        // There is none before the first.
        let _ = guest.write("/sys/class/net/bonding_masters", "-bond0");
        guest.write("/sys/class/net/bonding_masters", "+bond0").unwrap();
        guest.set_option(BOND, "mode", mode.name()).unwrap();
        for name in MEMBERS {
            guest.must(Request::SetUp { name: name.to_owned(), up: false });
            guest.set_option(BOND, "slaves", &format!("+{name}")).unwrap();
        }
        let mut bout = Bout { mode, config: Config { mode, ..Config::default() } };
        // The kernel's default is 0, ours 100.
        guest.set_option(BOND, "miimon", "100").unwrap();
        bout.config.set("miimon", "100").unwrap();
        bout
    }

    /// Tries a value on both; the difference, if there is one.
    fn compare(&mut self, guest: &mut Guest, option: &ConfigOption, value: &str) -> Option<Difference> {
        let kernel = match guest.set_option(BOND, option.name, value) {
            Ok(()) => Said::Shows(shown(option, &guest.option(BOND, option.name).unwrap())),
            Err(refusal) => match refusal.errno {
                Some(EINVAL) => Said::BadValue,
                Some(EPERM | EACCES) => Said::Conflict,
                errno => Said::Refused(errno),
            },
        };
        let mut changed = self.config.clone();
        let ours = match changed.set(option.name, value).and_then(|()| changed.check()) {
            Ok(()) => {
                self.config = changed;
                let options = self.config.options();
                let (_, value) = options.into_iter().find(|(name, _)| *name == option.name).unwrap();
                Said::Shows(value)
            }
            Err(ConfigError::Conflict(_)) => Said::Conflict,
            Err(_) => Said::BadValue,
        };
        (kernel != ours).then(|| Difference {
            mode: self.mode,
            option: option.name,
            value: value.to_owned(),
            kernel,
            ours,
            config: self.config.clone(),
        })
    }
}

/// What sysfs shows, without the number behind a name.
fn shown(option: &ConfigOption, text: &str) -> String {
    match option.values {
        Values::Names(_) => text.split(' ').next().unwrap_or_default().to_owned(),
        Values::Text { .. } => text.split_whitespace().collect::<Vec<_>>().join(","),
        _ => text.to_owned(),
    }
}

#[derive(Default)]
struct Findings {
    tried: usize,
    known: BTreeMap<&'static str, Vec<Difference>>,
    unknown: Vec<Difference>,
}

impl Findings {
    fn add(&mut self, difference: Option<Difference>) {
        self.tried += 1;
        let Some(difference) = difference else { return };
        match KNOWN.iter().find(|known| (known.is)(&difference)) {
            Some(known) => self.known.entry(known.name).or_default().push(difference),
            None => self.unknown.push(difference),
        }
    }

    #[track_caller]
    fn verdict(self, guest: &Guest) {
        let known: usize = self.known.values().map(Vec::len).sum();
        let (kernel, tried) = (guest.kernel(), self.tried);
        eprintln!(
            "options against Linux {kernel}: {tried} tried, {known} differ on purpose, {} else",
            self.unknown.len()
        );
        for (name, differences) in &self.known {
            eprintln!("  {name}: {}, such as {}", differences.len(), differences[0]);
        }
        let list: BTreeSet<String> = self.unknown.iter().map(Difference::to_string).collect();
        assert!(list.is_empty(), "seed {}:\n{}", seed(), list.into_iter().collect::<Vec<_>>().join("\n"));
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Difference { mode, option, value, kernel, ours, .. } = self;
        write!(f, "{mode}: {option}={value:?}: kernel {kernel:?}, ours {ours:?}")
    }
}

/// Every option that a bond with members can change in sysfs, with every value.
fn trials() -> Vec<(&'static ConfigOption, String)> {
    let options = Config::OPTIONS.iter().filter(|option| !ELSEWHERE.contains(&option.name));
    options.flat_map(|option| values(option).into_iter().map(move |value| (option, value))).collect()
}

/// Of these, `mode` and `fail_over_mac` need a bond without members, `active_slave`
/// and `queue_id` members (`members.rs`), and the others are no files there.
const ELSEWHERE: [&str; 6] = ["mode", "fail_over_mac", "active_slave", "queue_id", "ns_ip6_target", "prio"];

/// Ordinary values, limits and nonsense.
fn values(option: &ConfigOption) -> Vec<String> {
    let mut values: Vec<String> =
        ["\n", " ", "junk", "-1", "0", "1", "2", "default", "0x1", "1x", "None"].map(str::to_owned).into();
    match option.values {
        Values::Names(names) => {
            values.extend((3..=names.len() + 1).map(|number| number.to_string()));
            values.extend(names.iter().map(|name| (*name).to_owned()));
            values.extend(names.iter().take(1).flat_map(|name| {
                [format!(" {name}\n"), format!("{name} x"), name.to_uppercase(), name[..name.len() - 1].to_owned()]
            }));
        }
        Values::Number { max, words } => {
            let limits = [7, 100, 150, 255, 256, 1000, u64::from(max), u64::from(max) + 1, 1 << 32, u64::MAX];
            values.extend(limits.map(|number| number.to_string()));
            values.extend(words.iter().map(|(word, _)| (*word).to_owned()));
            values.extend([" 7\n", "7 8", "+7", "007", "off", "maxval", TOO_LONG].map(str::to_owned));
        }
        Values::Text { .. } => {
            let targets = ["+10.0.0.1", "+10.0.0.2", "-10.0.0.1", "+10.0.0.1", "-10.0.0.9", "+0.1.2.3"];
            values.extend(targets.map(str::to_owned));
            values.extend(["+255.255.255.255", "+0.0.0.0", "+10.0.0", "+fe80::1", "+"].map(str::to_owned));
        }
        _ => values.extend(["a0", "a1", " a1\n", "zz9", "a/b", "name-of-16-bytes", "a0 a1"].map(str::to_owned)),
    }
    values
}

fn shuffled<T>(random: &mut Random, mut list: Vec<T>) -> Vec<T> {
    for last in (1..list.len()).rev() {
        list.swap(last, random.below(last + 1));
    }
    list
}

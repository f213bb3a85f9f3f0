//! Faults from a seed.

use std::time::Duration;

use nicteam_chaos::{Cable, Chance, Fault, Field, Plan, Switch, draw};
use proptest::prelude::*;

const ALL: [(&str, Chance); 11] = [
    ("cable", Chance::Cable),
    ("silence", Chance::Direction),
    ("impair", Chance::Impairment),
    ("rate", Chance::Rate),
    ("mtu", Chance::Mtu),
    ("filters", Chance::Member),
    ("restart", Chance::Switch),
    ("lacp", Chance::LacpSwitch),
    ("kill", Chance::Host),
    ("target", Chance::Target),
    ("migrate", Chance::Never),
];

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn field() -> Field {
    let cable = |host: &str, number, member: bool| Cable {
        ends: [host.to_owned(), "sw".to_owned()],
        number,
        rate_bps: 100_000_000,
        member_at: member.then(|| host.to_owned()),
    };
    Field {
        cables: vec![cable("a", 0, true), cable("a", 1, true), cable("b", 0, false)],
        switches: vec![
            Switch { name: "sw".to_owned(), speaks_lacp: true },
            Switch { name: "plain".to_owned(), speaks_lacp: false },
        ],
        hosts: vec!["a".to_owned()],
        impairments: vec!["lossy".to_owned()],
        targets: vec!["disk".to_owned()],
    }
}

fn plan(seed: u64) -> Plan {
    let (begins, ends) = (ms(1000), ms(60_000));
    Plan { seed, begins, ends, every: ms(500), lasts: ms(100)..=ms(900), at_once: 1, kinds: ALL.to_vec() }
}

#[test]
fn a_seed_gives_the_same_faults_for_ever() {
    // Who changes these lines changes what old seeds in bug reports mean.
    let first: Vec<String> = draw(&plan(7), &field()).iter().take(3).map(ToString::to_string).collect();
    assert_eq!(first, draw(&plan(7), &field()).iter().take(3).map(ToString::to_string).collect::<Vec<_>>());
    assert_ne!(draw(&plan(7), &field()), draw(&plan(8), &field()));
    assert_eq!(first, FIRST_OF_SEVEN);
}

const FIRST_OF_SEVEN: &[&str] = &[
    "{ at = \"1000ms\", for = \"588ms\", kind = \"impair\", link = [\"b\", \"sw\"], number = 0, from = \"sw\", impair = \"lossy\" }",
    "{ at = \"1754ms\", for = \"514ms\", kind = \"mtu\", link = [\"a\", \"sw\"], number = 0, mtu = 860 }",
    "{ at = \"2381ms\", for = \"505ms\", kind = \"target\", target = \"disk\" }",
];

#[test]
fn every_kind_that_can_happen_does() {
    let faults: Vec<Fault> = (0..20).flat_map(|seed| draw(&plan(seed), &field())).collect();
    for (kind, chance) in ALL {
        let count = faults.iter().filter(|fault| fault.kind == kind).count();
        assert_eq!(count > 0, chance != Chance::Never, "{kind}: {count} of {}", faults.len());
    }
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let has = |words: &str| texts.iter().any(|text| text.contains(words));
    assert!(has("from = \"a\"") && has("from = \"sw\"") && has("number = 1"));
    assert!(!has("switch = \"plain\", kind = \"lacp\"") && has("kind = \"lacp\", switch = \"sw\""));
    let plain: Vec<&String> = texts.iter().filter(|text| text.contains("lacp") && text.contains("plain")).collect();
    assert!(plain.is_empty(), "{plain:?}");
    let of_members = faults.iter().filter(|fault| fault.kind == "filters");
    assert!(of_members.clone().all(|fault| fault.lasts.is_none() && fault.keys.contains("end = \"a\"")));
}

#[test]
fn where_nothing_can_happen_nothing_does() {
    assert_eq!(draw(&plan(1), &Field::default()), []);
    let only = |kinds: Vec<_>| draw(&Plan { kinds, ..plan(1) }, &Field { targets: Vec::new(), ..field() });
    assert_eq!(only(vec![("target", Chance::Target), ("migrate", Chance::Never)]), []);
    assert!(!only(vec![("target", Chance::Target), ("cable", Chance::Cable)]).is_empty());
    // A host without a cable of its own.
    let alone = Field { hosts: vec!["a".to_owned()], targets: vec!["disk".to_owned()], ..Field::default() };
    let faults = draw(&plan(1), &alone);
    assert!(faults.iter().any(|it| it.kind == "kill") && faults.iter().any(|it| it.kind == "target"), "{faults:?}");
}

proptest! {
    #[test]
    fn faults_keep_to_their_times(seed: u64, at_once in 1..4_usize, every in 10..3000_u64, longest in 100..3000_u64) {
        let plan = Plan { at_once, every: ms(every), lasts: ms(100)..=ms(longest), ..plan(seed) };
        let faults = draw(&plan, &field());
        prop_assert!(faults.is_sorted_by_key(|fault| fault.at));
        for (place, fault) in faults.iter().enumerate() {
            let over = fault.at + fault.lasts.unwrap_or_default();
            prop_assert!(fault.at >= plan.begins && over <= plan.ends);
            prop_assert!(fault.lasts.is_none_or(|lasts| plan.lasts.contains(&lasts)));
            let still = faults[..place].iter().filter(|it| it.at + it.lasts.unwrap_or_default() >= fault.at);
            prop_assert!(still.count() < at_once);
        }
    }
}

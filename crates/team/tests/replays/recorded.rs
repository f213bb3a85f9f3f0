//! The recordings beside this file: each replays to the plans that it has.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nicteam_simnet::Random;
use nicteam_team::lacp::LacpRate;
use nicteam_team::{BondOptions, Config, LacpMode, Mode};

use crate::control::pair::Pair;
use crate::control::world::{World, id, link, ms};
use crate::replays::{self, faults, file, replayed};

/// How a file of a recording ends.
const EXTENSION: &str = "nicteam-record";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replays")
}

#[test]
fn recorded_cases_come_to_the_same_plans() {
    let mut files = 0;
    for path in fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != EXTENSION) {
            continue;
        }
        let outcome = replayed(&fs::read(&path).unwrap());
        assert_eq!(outcome.difference, None, "{}", path.display());
        assert!(outcome.entries > 10 && outcome.plans > 1, "{}: {outcome:?}", path.display());
        files += 1;
    }
    assert!(files >= 5, "{files} recordings in {}", folder().display());
}

/// Those of them that are made here, made anew. `UPDATE_GOLDEN=1` writes them: what a team does has changed, and should have.
#[test]
fn cases_made_anew_come_to_their_plans() {
    let write = |name: &str, bytes: Vec<u8>| {
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(folder().join(format!("{name}.{EXTENSION}")), &bytes).unwrap();
        }
        let outcome = replayed(&bytes);
        assert_eq!(outcome.difference, None, "{name}");
        assert!(outcome.plans > 1, "{name}: {outcome:?}");
    };
    let lan = faults::stripe(21, "one-key-of-the-test", Duration::from_millis(250));
    write("stripe-keyed-faults", file(&lan.host(1).team));
    for (name, mode) in [("active-backup-failover", Mode::ActiveBackup), ("balance-alb-clients", Mode::BalanceAlb)] {
        let config = Config { mode, updelay_ms: 200, downdelay_ms: 100, ..Config::default() };
        let mut world = World::recorded(config, replays::LIMIT);
        for place in 0..3 {
            world.join(&format!("eth{place}"), link(true));
        }
        let mut random = Random::new(4);
        for _ in 0..12 {
            world.hint(id(random.below(3) as usize), random.percent(50));
            world.run(ms(random.below(500)));
        }
        write(name, file(&world.team));
    }
    for (name, mode, lacp) in [
        ("802.3ad-partner-lost", Mode::Ad, LacpMode::Off),
        ("ovs-balance-tcp-lacp", Mode::OvsBalanceTcp, LacpMode::Active),
    ] {
        let mut config = Config { mode, bond: BondOptions { lacp, ..BondOptions::default() }, ..Config::default() };
        config.lacp.rate = LacpRate::Fast;
        let mut pair = Pair::new([config.clone(), config], 2);
        pair.run(ms(3000));
        pair.tell(1, 0, link(false));
        pair.run(ms(5000));
        pair.tell(0, 0, link(false));
        [0, 1].into_iter().for_each(|host| pair.tell(host, 0, link(true)));
        pair.run(ms(3000));
        write(name, file(&pair.world.node(0).team));
    }
}

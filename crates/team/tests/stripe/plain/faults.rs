//! Whatever happens, somebody sends; and when it is over, everybody does.

use nicteam_simnet::Random;

use super::bench::{Bench, Station, ms, striped};
use crate::replays;

#[test]
fn after_random_faults_all_members_send_again() {
    let runs = if std::env::var_os("NICTEAM_SOAK").is_some() { 400 } else { 12 };
    for seed in 0..runs {
        let mut random = Random::new(seed);
        let members = 2 + random.below(4) as usize;
        let mut bench = Bench::new(members, 1 + random.below(3) as usize);
        for _ in 0..60 {
            fault(&mut bench, members, &mut random);
            bench.run(ms(random.below(900)));
        }
        bench.world.change(0, Station::resume);
        for place in 0..members {
            bench.block(place, [false; 2]);
            bench.set_carrier(place, true);
        }
        let hosts: Vec<_> = (0..bench.hosts()).map(striped).collect();
        (0..hosts.len()).for_each(|number| bench.plain_mut(number).answers = 99);
        bench.use_hosts(&hosts);
        // The longest that one is lossy, and the most answers that one needs.
        bench.run(ms(172_000));
        let all: Vec<usize> = (0..members).collect();
        assert_eq!((bench.used(), bench.balanced(), bench.left()), (all.clone(), all, vec![]), "seed {seed}");
        replays::holds(&bench.host().team);
    }
}

fn fault(bench: &mut Bench, members: usize, random: &mut Random) {
    let place = random.below(members as u64) as usize;
    match random.below(12) {
        0..4 => {
            let ways = [random.percent(40), random.percent(40)];
            bench.block(place, ways);
        }
        4 => bench.set_carrier(place, random.percent(70)),
        5 => bench.host_mut().stall(),
        6 => bench.world.change(0, Station::resume),
        7 => {
            let number = random.below(bench.hosts() as u64) as usize;
            bench.plain_mut(number).answers = random.below(5) as usize;
        }
        8 => {
            let hosts: Vec<_> = (0..bench.hosts()).filter(|_| random.percent(70)).map(striped).collect();
            bench.use_hosts(&hosts);
        }
        9 => bench.count_anew(),
        _ => {
            let counts: Vec<(u64, u64)> = (0..members).map(|_| (random.below(50_000), random.below(60))).collect();
            bench.count(&counts);
        }
    }
}

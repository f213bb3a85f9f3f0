//! balance-tlb and balance-alb with `tlb_dynamic_lb`, where loads decide: the
//! shares of the members, the kernel's driver beside ours, in one experiment.
//!
//! The kernel's driver runs in the guest that does not wait for an idle processor,
//! ours is the control side with its plan, under virtual time. `NICTEAM_SEED` takes
//! other rates, `NICTEAM_SOAK=1` more of them.

mod ours;

use nicteam_oracle::frames::Random;
use nicteam_oracle::protocol::Request;
use nicteam_oracle::shares::{ADDRESS, Experiment, Fault, PREFIX, Summary, busiest, roomiest_busiest};
use nicteam_oracle::{Clock, Guest, is_soak, seed};

use ours::Ours;

const AGENT: &str = env!("CARGO_BIN_EXE_nicteam-oracle-agent");
const BOND: &str = "bond0";
const HOSTS: u8 = 48;
/// Share of datagrams that may be lost more than the kernel's: those on their way
/// when a cable is pulled, and those to a host that takes no other address yet.
const LOST: f64 = 0.01;
/// Flows come in pieces, and windows in datagrams.
const NOISE: f64 = 0.10;

type Options<'a> = &'a [(&'a str, &'a str)];

/// Beside the kernel's: no share less even, no flow moved more often, no datagram lost more.
#[test]
fn shares_are_as_even_as_the_kernels_or_more() {
    let Some(mut guest) = nicteam_oracle::emulated_guest(AGENT, &[], Clock::Instructions) else { return };
    for round in 0..if is_soak() { 10 } else { 1 } {
        for (mode, experiment) in experiments(seed() + round) {
            let options = [("mode", mode), ("miimon", "100")];
            let kernels = kernels(&mut guest, &experiment, &options);
            let ours = ours_of(&experiment, &options);
            let (speeds_mbps, kernel) = (&experiment.speeds_mbps, guest.kernel());
            eprintln!(
                "{mode} of {speeds_mbps:?} Mbit/s against Linux {kernel}: busiest, flows moved by an assignment, received, hosts"
            );
            for (side, shown) in [("ours", &ours), ("kernel", &kernels)] {
                let Summary { moved_by_assignment, received, held, .. } = shown;
                eprintln!("  {side}: {:.3}, {moved_by_assignment:.1}, {received:.2?}, {held:?}", mean(&shown.busiest));
            }
            assert_no_worse(&experiment, &ours, &kernels);
        }
    }
}

/// Whatever the rates, the speeds and the cable: shares come close to the best, flows
/// that need not move stay, every host learns where to send, and each member has its
/// part of them.
#[test]
fn shares_come_close_to_the_best() {
    const SEEDS: u64 = 10;
    for seed in 0..if is_soak() { 100 * SEEDS } else { SEEDS } {
        let mut random = Random(seed ^ nicteam_oracle::seed() << 32);
        for mode in ["balance-tlb", "balance-alb"] {
            let speeds_mbps = random.pick(&[[2; 4], [4, 2, 1, 1], [2, 2, 2, 1], [3, 1, 3, 1]]).to_vec();
            let (member, down, up) = (random.below(4), random.between(2, 20) as u32, random.between(22, 28) as u32);
            let experiment = Experiment {
                seed,
                speeds_mbps,
                hosts: HOSTS,
                load_percent: random.between(40, 90) as u32,
                seconds: 80,
                shifts_s: vec![random.between(22, 40) as u32],
                faults: vec![Fault { at_s: down, member, up: false }, Fault { at_s: up, member, up: true }],
            };
            let ours = ours_of(&experiment, &[("mode", mode), ("miimon", "100")]);
            let best = best(&experiment);
            assert!(mean(&ours.busiest) <= best * (1.0 + NOISE), "{mode} {experiment:?}: best {best}, {ours:?}");
            assert!(ours.moved_by_assignment < 2.0, "{mode} {experiment:?}: {ours:?}");
            // A host that was told an address less than a second ago takes no other yet.
            assert!(ours.lost_sent < 0.001 && ours.lost_received < 0.01, "{mode} {experiment:?}: {ours:?}");
            if mode == "balance-alb" {
                let held: Vec<f64> = ours.held.iter().map(|&hosts| f64::from(hosts)).collect();
                assert_eq!(ours.held.iter().sum::<u32>(), u32::from(HOSTS), "{experiment:?}: {ours:?}");
                assert!(busiest(&held, &experiment.speeds_mbps) <= 1.0 + NOISE, "{experiment:?}: {ours:?}");
            }
        }
    }
}

fn experiments(seed: u64) -> Vec<(&'static str, Experiment)> {
    let like = Experiment {
        seed,
        speeds_mbps: vec![2; 4],
        hosts: HOSTS,
        load_percent: 60,
        seconds: 32,
        shifts_s: vec![],
        faults: vec![],
    };
    let unlike = Experiment {
        speeds_mbps: vec![4, 2, 1, 1],
        load_percent: 80,
        seconds: 42,
        faults: vec![Fault { at_s: 12, member: 1, up: false }, Fault { at_s: 16, member: 1, up: true }],
        ..like.clone()
    };
    vec![("balance-tlb", like), ("balance-alb", unlike)]
}

fn ours_of(experiment: &Experiment, options: Options<'_>) -> Summary {
    let Ok(seconds) = experiment.run(&mut Ours::new(experiment, options));
    Summary::of(experiment, &seconds)
}

fn kernels(guest: &mut Guest, experiment: &Experiment, options: Options<'_>) -> Summary {
    let members: Vec<String> = (0..experiment.speeds_mbps.len()).map(|member| format!("t{member}")).collect();
    guest.write("/sys/class/net/bonding_masters", &format!("+{BOND}")).unwrap();
    options.iter().for_each(|(name, value)| guest.set_option(BOND, name, value).unwrap());
    for (name, &speed_mbps) in members.iter().zip(&experiment.speeds_mbps) {
        guest.must(Request::AddTap { name: name.clone(), speed_mbps });
        guest.must(Request::SetMaster { name: name.clone(), master: Some(BOND.to_owned()) });
    }
    guest.must(Request::SetUp { name: BOND.to_owned(), up: true });
    guest.must(Request::AddAddress { name: BOND.to_owned(), address: ADDRESS, prefix: PREFIX });
    let seconds = guest.share(experiment, &members).unwrap();
    members.into_iter().chain([BOND.to_owned()]).for_each(|name| drop(guest.must(Request::Delete { name })));
    Summary::of(experiment, &seconds)
}

#[track_caller]
fn assert_no_worse(experiment: &Experiment, ours: &Summary, kernels: &Summary) {
    let best = best(experiment);
    let [ours_busiest, kernels_busiest] = [ours, kernels].map(|summary| mean(&summary.busiest));
    assert!(ours_busiest <= best * (1.0 + NOISE), "{ours_busiest} of {best}: {experiment:?}");
    assert!(ours_busiest <= kernels_busiest * (1.0 + NOISE / 2.0), "{ours_busiest}, the kernel's {kernels_busiest}");
    let shown = || format!("{experiment:?}: ours {ours:?}, the kernel's {kernels:?}");
    assert!(ours.busiest_at_first <= kernels.busiest_at_first, "{}", shown());
    assert!(ours.moved_by_assignment <= kernels.moved_by_assignment, "{}", shown());
    let lost = ours.lost_sent <= kernels.lost_sent + LOST && ours.lost_received <= kernels.lost_received + LOST;
    assert!(lost, "{}", shown());
}

fn best(experiment: &Experiment) -> f64 {
    roomiest_busiest(&experiment.speeds_mbps, f64::from(experiment.load_percent) / 100.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

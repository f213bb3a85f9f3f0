//! Members that lost their carrier, in plans that do not stripe and do not know: the programs do
//! what the plan says of them.

use std::time::Duration;

use crate::common::bench::Bench;
use crate::common::frames::{OWN, frames};
use crate::common::{choices, hosts, id, ids, may_run_bpf, plan, shows_programs_carrier, stay_on_one_cpu};
use nicteam_dataplane::{BpfDataplane, Counters, Dataplane};
use nicteam_team::{Action, Choose, Failover, MemberSet, Plan, PlanState, Receive, Rewrite, Verdict};
use nicteam_wire::{Frame, Mac};

const MEMBERS: usize = 5;
const FRAMES: usize = 200;
/// What a classifier answers (`linux/pkt_cls.h`).
const TC_ACT_SHOT: u32 = 2;
const TC_ACT_UNSPEC: u32 = u32::MAX;

fn own(place: usize) -> Mac {
    Mac([2, 0, 0, 0, 8, place as u8])
}

/// Where there is an active member it alone receives; the others have addresses of their own.
fn planned(generation: u64, choose: Choose) -> Plan {
    let failover = Some(Failover { order: ids(MEMBERS).into_iter().rev().collect(), ..Failover::default() });
    let mut plan = Plan { failover, ..plan(generation, choose, MEMBERS) };
    let active = match &plan.choose {
        Choose::One(active) => *active,
        Choose::Balance(balance) => balance.active,
        Choose::Buckets(_) => {
            for line in &mut plan.members {
                line.receive = Receive::DropIfMoved { active: line.id == id(MEMBERS - 1) };
            }
            return plan;
        }
        _ => return plan,
    };
    let balances = matches!(plan.choose, Choose::Balance(_));
    for line in plan.members.iter_mut().filter(|line| line.id != active) {
        let own = own(line.id.index());
        line.receive = if balances { Receive::Own { own, team: Mac(OWN) } } else { Receive::Drop };
        line.rewrite = if balances { Rewrite { src: Some(own), dst: None } } else { Rewrite::default() };
    }
    plan
}

fn counted(dataplane: &BpfDataplane) -> Vec<Counters> {
    dataplane.counters().unwrap().into_iter().map(|(_, counters)| counters).collect()
}

/// The bytes as one plan's member sends them.
fn rewritten(bytes: &[u8], rewrite: Rewrite) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    rewrite.dst.into_iter().for_each(|mac| bytes[..6].copy_from_slice(&mac.0));
    rewrite.src.into_iter().for_each(|mac| bytes[6..12].copy_from_slice(&mac.0));
    bytes
}

/// The member that a frame left by, and the frame.
fn sent(bench: &Bench, dataplane: &BpfDataplane, bytes: &[u8]) -> (MemberSet, Vec<u8>) {
    let before = counted(dataplane);
    let run = bench.team.run(|| dataplane.dry_run_behind(bytes, 1).unwrap());
    let counted = counted(dataplane);
    let members =
        counted.iter().zip(&before).enumerate().filter(|(_, (now, before))| now.tx_frames != before.tx_frames);
    (members.map(|(place, _)| id(place)).collect(), run.frame)
}

#[test]
fn the_programs_leave_members_as_the_plan_does() {
    let test = "the_programs_leave_members_as_the_plan_does";
    if !may_run_bpf(test) || !shows_programs_carrier(test) {
        return;
    }
    stay_on_one_cpu();
    let mut bench = Bench::new(MEMBERS);
    let mut dataplane = bench.team.start(hosts::bpf, &plan(1, Choose::Nobody, MEMBERS));
    assert!(dataplane.sees_carriers());
    let mut state = PlanState::new(0);
    let whole = |bytes: &Vec<u8>| bytes.len() >= 60 && bytes.len() < 1500 && Frame::parse(bytes).is_ok();
    let frames: Vec<Vec<u8>> = frames(9, 20 * FRAMES).into_iter().filter(whole).take(FRAMES).collect();
    assert_eq!(frames.len(), FRAMES);
    let mut generation = 1;
    for down in [&[][..], &[4], &[2], &[4, 3], &[0, 1, 2, 3, 4]] {
        for place in 0..MEMBERS {
            bench.far.set_up(&format!("f{place}"), !down.contains(&place));
        }
        state.failover.without_carrier = down.iter().map(|&place| id(place)).collect();
        for choose in choices(MEMBERS) {
            generation += 1;
            let plan = planned(generation, choose);
            bench.team.run(|| dataplane.apply(&plan).unwrap());
            let (healthy, mut other) = (Plan { failover: None, ..plan.clone() }, PlanState::new(0));
            for (number, bytes) in frames.iter().enumerate() {
                let what = || format!("{down:?} without carrier, {:?}, {bytes:02x?}", plan.choose);
                let expected = plan.choose(&Frame::parse(bytes).unwrap(), &mut state);
                let (members, frame) = sent(&bench, &dataplane, bytes);
                match expected {
                    // A copy that its device refuses is not counted.
                    Action::Send(to) if to.iter().count() > 1 => {
                        assert!(members.iter().all(|member| to.contains(member)), "{}", what());
                    }
                    Action::Send(to) => assert_eq!(members, to, "{}", what()),
                    _ => assert!(members.is_empty(), "{}", what()),
                }
                if let (Action::Send(to), 1) = (expected, members.iter().count()) {
                    let to = to.iter().next().unwrap();
                    let Action::Send(chosen) = healthy.choose(&Frame::parse(bytes).unwrap(), &mut other) else {
                        panic!("{}", what())
                    };
                    let rewrite = plan.rewrite_of(chosen.iter().next().unwrap(), to, &mut state);
                    assert_eq!(frame, rewritten(bytes, rewrite), "{}", what());
                }
                // The same frame, to one address or another, comes in by each member in turn.
                let mut bytes = bytes.clone();
                let to = [OWN, own(number % 3).0, own(4).0];
                to.get(number % 4).into_iter().for_each(|to| bytes[..6].copy_from_slice(to));
                let (place, port) = (number % MEMBERS, &bench.team.ports[number % MEMBERS]);
                let run = bench.team.run(|| dataplane.dry_run_ingress(port, &bytes, 1).unwrap());
                match plan.receive_once(id(place), &Frame::parse(&bytes).unwrap(), &mut state) {
                    Verdict::ToTeam => assert_eq!((run.action, run.frame), (7, bytes), "{}", what()),
                    Verdict::ToTeamAs { dst, .. } => {
                        assert_eq!((run.action, &run.frame[..6]), (7, &dst.0[..]), "{}", what());
                    }
                    Verdict::Drop => assert_eq!(run.action, TC_ACT_SHOT, "{}", what()),
                    other => {
                        assert!(other == Verdict::ToMember && run.action == TC_ACT_UNSPEC, "{other:?}, {}", what())
                    }
                }
            }
        }
    }
    bench.team.stop(dataplane);
}

#[test]
fn delays_are_kept_by_the_programs() {
    let test = "delays_are_kept_by_the_programs";
    if !may_run_bpf(test) || !shows_programs_carrier(test) {
        return;
    }
    let mut bench = Bench::new(2);
    let bytes = frames(9, 100).into_iter().find(|bytes| bytes.len() >= 60).unwrap();
    const HOUR: Duration = Duration::from_secs(3600);
    const SHORT: Duration = Duration::from_millis(100);
    let delayed = |generation, downdelay, updelay| {
        let failover = Some(Failover { order: ids(2), downdelay, updelay });
        Plan { failover, ..plan(generation, Choose::One(id(0)), 2) }
    };
    let mut dataplane = bench.team.start(hosts::bpf, &delayed(1, HOUR, Duration::ZERO));
    let by = |bench: &Bench, dataplane: &BpfDataplane| sent(bench, dataplane, &bytes).0.iter().next().unwrap().index();
    bench.far.set_up("f0", false);
    assert_eq!([by(&bench, &dataplane), by(&bench, &dataplane)], [0, 0], "`downdelay` runs");
    bench.team.run(|| dataplane.apply(&delayed(2, SHORT, HOUR)).unwrap());
    assert_eq!(by(&bench, &dataplane), 0, "a new plan begins anew");
    std::thread::sleep(SHORT);
    assert_eq!(by(&bench, &dataplane), 1, "`downdelay` is over");
    bench.far.set_up("f0", true);
    assert_eq!(by(&bench, &dataplane), 1, "`updelay` runs");
    bench.far.set_up("f1", false);
    assert_eq!(by(&bench, &dataplane), 1, "`downdelay` of the other one runs");
    std::thread::sleep(SHORT);
    assert_eq!(by(&bench, &dataplane), 0, "it is the only one");
    bench.team.run(|| dataplane.apply(&delayed(3, Duration::ZERO, SHORT)).unwrap());
    bench.far.set_up("f1", true);
    bench.far.set_up("f0", false);
    assert_eq!(by(&bench, &dataplane), 1);
    bench.far.set_up("f0", true);
    assert_eq!(by(&bench, &dataplane), 1, "`updelay` runs");
    std::thread::sleep(SHORT);
    assert_eq!(by(&bench, &dataplane), 0, "`updelay` is over");
    // The near side counts, too.
    bench.team.host.set_up("m0", false);
    assert_eq!(by(&bench, &dataplane), 1);
    bench.team.run(|| dataplane.apply(&Plan { failover: None, ..delayed(4, Duration::ZERO, Duration::ZERO) }).unwrap());
    assert_eq!(by(&bench, &dataplane), 0, "it is switched off");
    bench.team.stop(dataplane);
}

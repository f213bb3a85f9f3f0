//! By which member a frame leaves: the kernel's driver against [`Plan::choose`].
//!
//! The same frames, sent and forwarded, go through a bond of the guest and
//! through the plan that a team of the same options makes; not one may differ.
//! `NICTEAM_SOAK=1` takes ten times as many frames; `NICTEAM_SEED` others.

use std::collections::BTreeMap;

use nicteam_oracle::frames::{self, TestFrame};
use nicteam_oracle::protocol::{Departures, Stray};
use nicteam_oracle::{Bench, Guest, Way, is_soak, seed};
use nicteam_team::{
    Action, Choose, Config, Duplex, HashPolicy, MemberId, MemberLink, MemberSet, Plan, PlanState, Team, Time, hash,
};
use nicteam_wire::{Frame, Mac, ethertype, learning_packet};

const AGENT: &str = env!("CARGO_BIN_EXE_nicteam-oracle-agent");
const MEMBERS: [usize; 4] = [2, 3, 4, 7];
/// Frames a combination of options, members and way.
const FRAMES: usize = 1000;
/// The same in a soak; sent in portions of [`FRAMES`].
const SOAK_FRAMES: usize = 10_000;
/// Differences that are printed.
const SHOWN: usize = 40;

/// An IPv6 packet's next header, and the type of an ICMPv6 message without extension headers.
const ICMPV6: (usize, u8) = (6, 58);
const ICMPV6_TYPE: usize = 40;
const NEIGHBOUR_ADVERTISEMENT: u8 = 136;
const ECHO_REPLY: u8 = 129;
/// The byte of a tagged frame that the kernel takes for the type: the fifth of the source address.
const MISREAD_TYPE: usize = 10;

/// What the guest's devices say.
const LINK: MemberLink = MemberLink { carrier: true, speed_mbps: Some(10_000), duplex: Some(Duplex::Full) };

type Options<'a> = &'a [(&'a str, &'a str)];

#[test]
fn balance_rr_takes_the_kernels_turns() {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    let mut judge = Judge::new("balance-rr");
    for members in MEMBERS {
        for packets in ["1", "3", "64"] {
            judge.options(&mut guest, &[("mode", "balance-rr"), ("packets_per_slave", packets)], members);
        }
    }
    judge.verdict(&guest);
}

#[test]
fn active_backup_and_broadcast_send_as_the_kernel_does() {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    let mut judge = Judge::new("active-backup and broadcast");
    for members in MEMBERS {
        judge.options(&mut guest, &[("mode", "active-backup")], members);
        judge.options(&mut guest, &[("mode", "active-backup"), ("primary", "a1")], members);
        judge.options(&mut guest, &[("mode", "broadcast")], members);
    }
    judge.verdict(&guest);
}

#[test]
fn balance_xor_hashes_as_the_kernel_does() {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    let mut judge = Judge::new("balance-xor");
    for members in MEMBERS {
        let bench = Bench::new(&mut guest, &[("mode", "balance-xor"), ("miimon", "100")], members);
        for policy in kernel_policies() {
            guest.set_option(Bench::BOND, "xmit_hash_policy", policy.name()).unwrap();
            let plan = plan(&[("mode", "balance-xor"), ("xmit_hash_policy", policy.name())], members);
            judge.compare(&mut guest, bench, &plan, &format!("{policy} of {members}"));
        }
        bench.remove(&mut guest);
    }
    judge.verdict(&guest);
}

/// A bond whose ports all distribute hashes over them in the order of their joining.
#[test]
fn lacp_hashes_as_the_kernel_does() {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    let mut judge = Judge::new("802.3ad");
    for members in MEMBERS {
        let options = [("mode", "802.3ad"), ("miimon", "100"), ("lacp_rate", "fast")];
        let bench = Bench::new(&mut guest, &options, members);
        for policy in kernel_policies() {
            guest.set_option(Bench::BOND, "xmit_hash_policy", policy.name()).unwrap();
            let table = (0..members).filter_map(MemberId::new).collect();
            let plan = Plan { choose: Choose::Hash { policy, table }, ..Plan::nobody() };
            judge.compare(&mut guest, bench, &plan, &format!("{policy} of {members}"));
        }
        bench.remove(&mut guest);
    }
    judge.verdict(&guest);
}

/// balance-tlb and balance-alb without `tlb_dynamic_lb`: member and source.
#[test]
fn static_load_balancing_sends_and_readdresses_as_the_kernel_does() {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    let mut judge = Judge::new("balance-tlb and balance-alb");
    for mode in ["balance-tlb", "balance-alb"] {
        for members in MEMBERS {
            let options = [("mode", mode), ("tlb_dynamic_lb", "0")];
            let bench = Bench::new(&mut guest, &[&options[..], &[("miimon", "100")]].concat(), members);
            for policy in kernel_policies() {
                guest.set_option(Bench::BOND, "xmit_hash_policy", policy.name()).unwrap();
                let plan = addressed_plan(&mut guest, &options, policy, members);
                judge.compare(&mut guest, bench, &plan, &format!("{mode} {policy} of {members}"));
            }
            // Another member is active: addresses are swapped.
            guest.set_option(Bench::BOND, "primary", "a1").unwrap();
            let options = [&options[..], &[("primary", "a1")]].concat();
            let policy = kernel_policies().last().unwrap();
            let plan = addressed_plan(&mut guest, &options, policy, members);
            judge.compare(&mut guest, bench, &plan, &format!("{mode} {policy} of {members}, the second is active"));
            bench.remove(&mut guest);
        }
    }
    judge.verdict(&guest);
}

/// `packets_per_slave=0`: each frame by one member, IGMP by the first, the
/// others by every member as often, within five standard deviations.
#[test]
fn at_random_every_member_has_its_share() {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    let frames = sample(0);
    for members in MEMBERS {
        let options = [("mode", "balance-rr"), ("packets_per_slave", "0"), ("miimon", "100")];
        let bench = Bench::new(&mut guest, &options, members);
        guest.keep(frames.iter().map(|frame| frame.bytes.clone()).collect());
        let (mut kernel, mut ours) = (vec![0; members], vec![0; members]);
        let (plan, mut state) = (plan(&options[..2], members), PlanState::new(seed()));
        for way in Way::ALL {
            let departures = bench.send(&mut guest, way);
            for (frame, &left) in frames.iter().zip(&departures.members) {
                let view = view(&frame.bytes, way);
                let planned = planned(&plan, &view, &mut state);
                assert_eq!((left.count_ones(), planned.count_ones()), (1, 1), "{frame:?}");
                if hash::is_igmp(&view) {
                    assert_eq!((left, planned), (1, 1), "{frame:?}");
                } else {
                    kernel[left.trailing_zeros() as usize] += 1;
                    ours[planned.trailing_zeros() as usize] += 1;
                }
            }
        }
        bench.remove(&mut guest);
        eprintln!("Linux {}, at random over {members}: kernel {kernel:?}, ours {ours:?}", guest.kernel());
        assert_even(&kernel);
        assert_even(&ours);
    }
}

/// docs/kernel-differences.md, "By which member a frame leaves": the only difference there.
#[test]
fn the_kernel_alone_misreads_forwarded_icmpv6_behind_a_tag() {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    // Some release between 6.1 and 6.12 has repaired it.
    let misreads = guest.kernel().starts_with("6.1.");
    let (members, options) = (2, [("mode", "balance-alb"), ("tlb_dynamic_lb", "0")]);
    // Advertisements from most addresses it hashes; the replies from two it does not.
    for (what, icmp_type, fifths, hosts, least) in
        [("advertisements", NEIGHBOUR_ADVERTISEMENT, 0..=255, 4, 256), ("replies", ECHO_REPLY, 135..=136, 64, 32)]
    {
        let mut judge = Judge::new(what);
        let frames = |fifth| (0..hosts).map(move |number| tagged_message(icmp_type, number, fifth));
        judge.portions = vec![fifths.flat_map(frames).collect()];
        let bench = Bench::new(&mut guest, &[&options[..], &[("miimon", "100")]].concat(), members);
        let policy = HashPolicy::default();
        guest.set_option(Bench::BOND, "xmit_hash_policy", policy.name()).unwrap();
        let plan = addressed_plan(&mut guest, &options, policy, members);
        judge.compare(&mut guest, bench, &plan, "balance-alb");
        bench.remove(&mut guest);
        assert_eq!(judge.differences, 0, "{what}: {}", judge.shown.join("\n"));
        let sent = judge.portions[0].len();
        let least = if misreads { least } else { 0 };
        assert!((least..sent).contains(&judge.misread), "{what}: {} of {sent}", judge.misread);
    }
}

#[test]
fn a_wrong_plan_is_seen() {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    let mut judge = Judge::new("a wrong plan");
    let bench = Bench::new(&mut guest, &[("mode", "balance-xor"), ("miimon", "100")], 2);
    judge.compare(&mut guest, bench, &plan(&[("mode", "balance-xor"), ("xmit_hash_policy", "layer3+4")], 2), "wrong");
    assert!(judge.differences > FRAMES / 4, "{} differences", judge.differences);
}

/// Compares and keeps the differences.
struct Judge {
    what: &'static str,
    portions: Vec<Vec<TestFrame>>,
    /// Frames compared, by combination.
    compared: BTreeMap<String, usize>,
    differences: usize,
    /// Differences that are documented ([`is_misread`]).
    misread: usize,
    shown: Vec<String>,
}

impl Judge {
    fn new(what: &'static str) -> Judge {
        let portions = if is_soak() { SOAK_FRAMES / FRAMES } else { 1 };
        Judge {
            what,
            portions: (0..portions as u64).map(sample).collect(),
            compared: BTreeMap::new(),
            differences: 0,
            misread: 0,
            shown: Vec::new(),
        }
    }

    /// A fresh bond of these options.
    fn options(&mut self, guest: &mut Guest, options: Options<'_>, members: usize) {
        // The kernel takes the primary before it is a member, as a team does.
        let all = [options, &[("miimon", "100")]].concat();
        let bench = Bench::new(guest, &all, members);
        let what: Vec<_> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.compare(guest, bench, &plan(options, members), &format!("{} of {members}", what.join(" ")));
        bench.remove(guest);
    }

    /// The frames through the bond and through the plan.
    fn compare(&mut self, guest: &mut Guest, bench: Bench, plan: &Plan, what: &str) {
        let mut state = PlanState::new(0);
        for frames in self.portions.clone() {
            guest.keep(frames.iter().map(|frame| frame.bytes.clone()).collect());
            for way in Way::ALL {
                let what = format!("{way:?} {what}");
                let departures = bench.send(guest, way);
                assert!(departures.refused.is_empty(), "{what}: {:?}", departures.refused);
                for (place, frame) in frames.iter().enumerate() {
                    let ours = planned_departures(plan, &view(&frame.bytes, way), &mut state);
                    let kernels = seen_departures(&departures, place, &frame.bytes);
                    if ours == kernels {
                        continue;
                    }
                    if is_misread(plan, &frame.bytes, way, &kernels) {
                        self.misread += 1;
                    } else {
                        self.differs(format!(
                            "{what}: {} kernel {kernels:?}, ours {ours:?}: {}",
                            frame.kind,
                            hex(frame)
                        ));
                    }
                }
                departures.strays.iter().filter(|stray| !is_the_drivers(stray)).for_each(|stray| {
                    self.differs(format!("{what}: nobody sent {} to {}", stray.frame, stray.out));
                });
                *self.compared.entry(what).or_default() += frames.len();
            }
        }
    }

    fn differs(&mut self, what: String) {
        self.differences += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(what);
        }
    }

    #[track_caller]
    fn verdict(self, guest: &Guest) {
        let (compared, combinations) = (self.compared.values().sum::<usize>(), self.compared.len());
        let fewest = self.compared.values().min().copied().unwrap_or(0);
        eprintln!(
            "{} against Linux {}: {compared} frames in {combinations} combinations, at least {fewest} each: {} differences, and {} of \
             forwarded ICMPv6 behind a tag",
            self.what,
            guest.kernel(),
            self.differences,
            self.misread
        );
        assert!(fewest >= if is_soak() { SOAK_FRAMES } else { FRAMES });
        assert!(self.differences == 0, "seed {}:\n{}", seed(), self.shown.join("\n"));
    }
}

/// Every policy that the kernel has, too.
fn kernel_policies() -> impl Iterator<Item = HashPolicy> {
    HashPolicy::ALL.into_iter().filter(|policy| policy.number().is_some())
}

/// The plan of a team with these options, whose members all have carrier.
fn plan(options: Options<'_>, members: usize) -> Plan {
    let mut config = Config::default();
    options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
    let mut team = Team::new(config, Mac([2, 0, 0, 0, 0, 1]), Time::ZERO).unwrap();
    for member in 0..members {
        team.add_member(&format!("a{member}"), LINK, Time::ZERO).unwrap();
        while team.poll_effect().is_some() {}
    }
    team.plan().clone()
}

/// The plan of a team in place of the guest's bond, of members with the same addresses.
fn addressed_plan(guest: &mut Guest, options: Options<'_>, policy: HashPolicy, members: usize) -> Plan {
    let shown = guest.read(&format!("/proc/net/bonding/{}", Bench::BOND)).unwrap();
    let permanent: Vec<Mac> = shown
        .lines()
        .filter_map(|line| line.strip_prefix("Permanent HW addr: "))
        .map(|mac| mac.trim().parse().unwrap())
        .collect();
    assert_eq!(permanent.len(), members);
    let mac = guest.read(&format!("/sys/class/net/{}/address", Bench::BOND)).unwrap().trim().parse().unwrap();
    let mut config = Config { xmit_hash_policy: policy, ..Config::default() };
    options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
    let mut team = Team::new(config, mac, Time::ZERO).unwrap();
    for (member, mac) in permanent.into_iter().enumerate() {
        let id = team.add_member(&format!("a{member}"), LINK, Time::ZERO).unwrap();
        while team.poll_effect().is_some() {}
        team.handle_member_mac(id, mac);
        while team.poll_effect().is_some() {}
    }
    team.plan().clone()
}

/// The members by which a frame leaves, by place, each with the source it writes.
type Sent = Vec<(usize, Mac)>;

fn planned_departures(plan: &Plan, frame: &Frame<'_>, state: &mut PlanState) -> Sent {
    let members = MemberSet::from_bits(planned(plan, frame, state));
    let source = |member| plan.member(member).and_then(|line| line.rewrite.src).unwrap_or(frame.src());
    members.iter().map(|member| (member.index(), source(member))).collect()
}

fn seen_departures(departures: &Departures, place: usize, bytes: &[u8]) -> Sent {
    let source = Frame::parse(bytes).unwrap().src();
    let as_sent = MemberSet::from_bits(departures.members[place]);
    let readdressed = departures.readdressed.iter().filter(|one| one.frame == place);
    let mac = |bytes: &[u8]| Mac(bytes.try_into().unwrap());
    let mut sent: Sent = as_sent.iter().map(|member| (member.index(), source)).collect();
    sent.extend(readdressed.map(|one| (one.out, mac(&one.source.0))));
    sent.sort_unstable();
    sent
}

/// True if a difference is the documented one: of a forwarded ICMPv6 message behind a tag
/// the kernel takes a byte of the source address for the type.
fn is_misread(plan: &Plan, bytes: &[u8], way: Way, kernels: &Sent) -> bool {
    let is_balanced = matches!(plan.choose, Choose::Balance(_));
    let untagged = view(bytes, way);
    let packet = untagged.payload();
    if way != Way::Forwarded || !is_balanced || packet.len() == Frame::parse(bytes).unwrap().payload().len() {
        return false;
    }
    let start = bytes.len() - packet.len();
    let is_message = untagged.ethertype() == ethertype::IPV6
        && packet.get(ICMPV6.0) == Some(&ICMPV6.1)
        && packet.len() > ICMPV6_TYPE;
    is_message && {
        let mut read = bytes.to_vec();
        read[start + ICMPV6_TYPE] = bytes[MISREAD_TYPE];
        planned_departures(plan, &view(&read, way), &mut PlanState::new(0)) == *kernels
    }
}

/// An ICMPv6 message of this type to host `number` behind a VLAN tag, from an address with this fifth byte.
fn tagged_message(icmp_type: u8, number: u8, fifth: u8) -> TestFrame {
    let ethernet = [[2, 0, 0, 0, 1, number], [2, 0, 0, 0, fifth, 0]].concat();
    let tag = [0x81, 0, 0, 5, 0x86, 0xdd];
    let header = [0x60, 0, 0, 0, 0, 24, ICMPV6.1, 255];
    let address = |last| [[0xfe, 0x80].as_slice(), &[0; 13], &[last]].concat();
    // The source does not tell frames apart, for it is rewritten.
    let message = [[icmp_type, 0, fifth, number, 0x60, 0, 0, 0].as_slice(), &address(1)].concat();
    let bytes = [ethernet, tag.to_vec(), header.to_vec(), address(1), address(number), message].concat();
    TestFrame { kind: "tagged-message", bytes }
}

/// A bit for each member by which the plan sends.
fn planned(plan: &Plan, frame: &Frame<'_>, state: &mut PlanState) -> u32 {
    match plan.choose(frame, state) {
        Action::Send(members) => members.bits(),
        Action::Stripe { .. } | Action::Redundant { .. } | Action::Withhold | Action::Punt | Action::Drop => 0,
    }
}

/// The frame as it is where the bond gets it.
fn view(bytes: &[u8], way: Way) -> Frame<'_> {
    match way {
        Way::Sent => Frame::parse(bytes).unwrap(),
        Way::Forwarded => Frame::parse_untagged(bytes).unwrap(),
    }
}

/// LACP, and learning packets.
fn is_the_drivers(stray: &Stray) -> bool {
    Frame::parse(&stray.frame.0)
        .is_ok_and(|frame| frame.ethertype() == ethertype::SLOW || stray.frame.0 == learning_packet(frame.src(), None))
}

fn hex(frame: &TestFrame) -> String {
    frame.bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sample(portion: u64) -> Vec<TestFrame> {
    frames::frames(seed().wrapping_add(portion << 32), FRAMES)
}

#[track_caller]
fn assert_even(counts: &[usize]) {
    let (all, share) = (counts.iter().sum::<usize>() as f64, 1.0 / counts.len() as f64);
    let deviation = (all * share * (1.0 - share)).sqrt();
    for &count in counts {
        assert!((count as f64 - all * share).abs() < 5.0 * deviation, "{counts:?}");
    }
}

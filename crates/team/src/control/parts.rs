//! What a team keeps for its mode alone.
//!
//! Parts that the mode's traits switch on, not one state a mode: buckets serve modes with LACP and without, addresses of
//! their own those that share load and those that do not, and stripe is three of them. A part is made when the
//! mode begins and goes with it.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_discovery::Discovery;
use nicteam_lacp::{Answer, Lacp};
use nicteam_machine::{MemberId, MemberSet, state};

use super::balance::{Balancer, Buckets};
use super::openvswitch::Bond;
use super::plain::OneSided;
use crate::{Config, Traits};

/// What ended processes said last, and how long ago their partners were heard.
pub(super) type Remembered = BTreeMap<MemberId, (Answer, Duration)>;

/// What a team keeps that agrees with its partners.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregate {
    /// From the first member on.
    pub(super) lacp: Option<Lacp>,
    /// What is known of ended processes' ports while members are taken in.
    pub(super) beginning: Option<Remembered>,
    /// The members that distributed when LACP last said so.
    pub(super) distributing: MemberSet,
}

state!(struct Aggregate { lacp, beginning, distributing });

/// The parts of a team.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// Who agrees with the partners ([`Traits::aggregates`]).
    pub(super) aggregate: Option<Aggregate>,
    /// Load sharing ([`Traits::buckets`]).
    pub(super) buckets: Option<Buckets>,
    /// Addresses of the members' own ([`Traits::has_own_addresses`]), and the clients that are told them.
    pub(super) balancer: Option<Balancer>,
    /// What Open vSwitch's bonds have ([`Traits::openvswitch`]).
    pub(super) bond: Option<Bond>,
    /// Who else stripes ([`Traits::stripes`]); made once it is known what is random of the process.
    pub(super) discovery: Option<Discovery>,
    /// Which members send to those that do not stripe ([`Traits::stripes`]).
    pub(super) one_sided: Option<OneSided>,
}

state!(struct Parts { aggregate, buckets, balancer, bond, discovery, one_sided });

impl Parts {
    /// Those of a mode, but for discovery. The seed is for what is chosen at random.
    pub(super) fn of(traits: &Traits, config: &Config, seed: u64) -> Parts {
        Parts {
            aggregate: traits.aggregates(config).then(Aggregate::default),
            buckets: traits.buckets().map(|_| Buckets::default()),
            balancer: traits.has_own_addresses().then(Balancer::default),
            bond: traits.openvswitch.then(|| Bond::new(seed)),
            discovery: None,
            one_sided: traits.stripes().then(OneSided::default),
        }
    }

    /// Link aggregation control, from the first member on.
    pub(super) fn lacp(&self) -> Option<&Lacp> {
        self.aggregate.as_ref()?.lacp.as_ref()
    }

    /// The same, to change it.
    pub(super) fn lacp_mut(&mut self) -> Option<&mut Lacp> {
        self.aggregate.as_mut()?.lacp.as_mut()
    }

    /// Those of them by which answers come back, or all if there are none.
    pub(super) fn heard(&self, all: Vec<MemberId>) -> Vec<MemberId> {
        let silent = self.silent();
        let heard: Vec<MemberId> = all.iter().copied().filter(|id| !silent.contains(*id)).collect();
        if heard.is_empty() { all } else { heard }
    }

    /// Members that no answer comes back by: they send nothing to hosts that do not stripe.
    pub(super) fn silent(&self) -> MemberSet {
        self.one_sided.as_ref().map(OneSided::silent).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use nicteam_wire::{Arp, Mac};

    use crate::balance::Number;
    use crate::{Balance, Choose, Config, Effect, Loads, Mode, Receive, Team, Traits};
    use nicteam_machine::{Duplex, MemberId, MemberLink, Time};
    use nicteam_options::mode::{Addresses, Eligible, Receives, Sends};

    /// Load sharing by buckets over what LACP agrees on.
    static SHARED: Traits = Traits { sends: Sends::ByBuckets(Eligible::Tlb), ..*Mode::Ad.traits() };
    /// The hash alone, and each neighbour is told one member's address.
    static TOLD: Traits = Traits {
        receives: Receives::ByAddress,
        addresses: Addresses::Own,
        has_active: true,
        uses_arp: false,
        is_static: false,
        ..*Mode::BalanceXor.traits()
    };

    const SECOND: u64 = 1000;

    fn mac(last: u8) -> Mac {
        Mac([2, 0, 0, 0, 0, last])
    }

    fn id(place: usize) -> MemberId {
        MemberId::new(place).unwrap()
    }

    fn link(carrier: bool) -> MemberLink {
        MemberLink { carrier, speed_mbps: Some(1000), duplex: Some(Duplex::Full) }
    }

    fn balance(team: &Team) -> &Balance {
        let Choose::Balance(balance) = &team.plan().choose else { panic!("{:?}", team.plan()) };
        balance
    }

    /// Two teams whose members are connected place by place.
    struct Pair {
        teams: [Team; 2],
        now_ms: u64,
        /// How often loads were asked for.
        reads: usize,
    }

    impl Pair {
        fn new(config: &Config, traits: &'static Traits) -> Pair {
            let teams = [1, 2].map(|last| Team::with_traits(config.clone(), traits, mac(last), Time::ZERO));
            let mut pair = Pair { teams, now_ms: 0, reads: 0 };
            for place in 0..2 {
                for side in 0..2 {
                    pair.act(side, |team, now| drop(team.add_member(&format!("eth{place}"), link(true), now)));
                }
            }
            pair
        }

        /// Something happens at one end; what follows is done.
        fn act(&mut self, side: usize, event: impl FnOnce(&mut Team, Time)) {
            let now = Time::from_millis(self.now_ms);
            event(&mut self.teams[side], now);
            let mut said = VecDeque::new();
            self.drain(side, &mut said);
            while let Some((to, member, frame)) = said.pop_front() {
                self.teams[to].handle_frame(member, &frame, now);
                self.drain(to, &mut said);
            }
        }

        fn drain(&mut self, side: usize, said: &mut VecDeque<(usize, MemberId, Vec<u8>)>) {
            while let Some(effect) = self.teams[side].poll_effect() {
                match effect {
                    Effect::Transmit { member, frame } => said.push_back((1 - side, member, frame)),
                    Effect::ReadLoads => self.reads += 1,
                    _ => {}
                }
            }
        }

        fn run(&mut self, ms: u64) {
            for _ in 0..ms / 10 {
                self.now_ms += 10;
                for side in 0..2 {
                    self.act(side, Team::handle_timeout);
                }
            }
        }
    }

    #[test]
    fn buckets_serve_a_mode_with_lacp() {
        let mut pair = Pair::new(&Config { mode: Mode::Ad, ..Config::default() }, &SHARED);
        pair.run(10 * SECOND);
        let of = |team: &Team, place| balance(team).table.iter().filter(|member| **member == id(place)).count();
        let team = &pair.teams[0];
        assert_eq!((of(team, 0), of(team, 1)), (128, 128));
        assert!(balance(team).counted && balance(team).punt.is_none());
        assert!(team.members().iter().all(|member| member.active) && team.active().is_none());
        assert!(pair.reads >= 2, "both ask for loads");
        let mut loads = Loads::default();
        pair.act(0, |team, now| team.handle_loads(&loads, now));
        // Two buckets of the first member carry much.
        (loads.buckets[0], loads.buckets[2]) = (500_000_000, 500_000_000);
        pair.run(10 * SECOND);
        pair.act(0, |team, now| team.handle_loads(&loads, now));
        assert_ne!(balance(&pair.teams[0]).table[0], balance(&pair.teams[0]).table[2]);
        for side in 0..2 {
            pair.act(side, |team, now| team.handle_link(id(0), link(false), now).unwrap());
        }
        pair.run(SECOND);
        assert_eq!(of(&pair.teams[0], 1), 256, "LACP says who may send");
    }

    #[test]
    fn clients_are_told_their_members_where_no_load_is_shared() {
        let mut pair = Pair::new(&Config { mode: Mode::BalanceXor, ..Config::default() }, &TOLD);
        for place in 0..2 {
            pair.act(0, |team, _| team.handle_member_mac(id(place), mac(1 + 2 * place as u8)));
        }
        pair.run(30 * SECOND);
        let (team, plan) = (&pair.teams[0], pair.teams[0].plan());
        assert_eq!(balance(team).table, [id(0), id(1)]);
        assert!(matches!(balance(team).number, Number::Hash(_)) && !balance(team).counted);
        assert_eq!(balance(team).punt.map(|punt| punt.from), Some(mac(1)));
        let received: Vec<Receive> = plan.members.iter().map(|line| line.receive).collect();
        assert_eq!(received, [Receive::Deliver, Receive::Own { own: mac(3), team: mac(1) }]);
        assert_eq!(pair.reads, 0, "nobody asks for loads");
        let mut told = Vec::new();
        for client in [5, 6] {
            let (sender_mac, target_mac) = (mac(1), mac(client));
            let (sender_ip, target_ip) = ([10, 0, 0, 1].into(), [10, 0, 0, client].into());
            let arp = Arp { operation: Arp::REPLY, sender_mac, sender_ip, target_mac, target_ip };
            let team = &mut pair.teams[0];
            team.handle_punted(&arp.frame(target_mac, sender_mac, None), Time::from_millis(pair.now_ms));
            told.extend(std::iter::from_fn(|| team.poll_effect()).filter_map(|effect| match effect {
                Effect::Transmit { member, .. } => Some(member),
                _ => None,
            }));
        }
        assert_eq!(told, [id(0), id(1)], "each client has its member");
    }
}

//! What a bond in balance-slb without LACP takes from its members: Open vSwitch's daemon against [`Plan::receive_once`].
//!
//! Every round has a source of its own: what the port beside the bond sends from it, and what members receive, plain or gratuitous ARP,
//! in turns that are drawn.

use std::time::Instant;

use nicteam_oracle::frames::Random;
use nicteam_oracle::{Unixctl, is_soak, seed};
use nicteam_sys::packet::{Batch, PacketSocket};
use nicteam_team::buckets::{BUCKETS, Key};
use nicteam_team::{Buckets, Choose, MemberId, Plan, PlanMember, PlanState, Receive, Rewrite, Time, Verdict};
use nicteam_testnet::{Host, OpenVSwitch, cable, eventually, looped_cable};
use nicteam_wire::Frame;

const ROUNDS: u16 = 40;
const STEPS: usize = 8;
const MEMBERS: usize = 2;
/// Local experimental EtherType 2 (IEEE 802, 9.2.4).
const PLAIN: [u8; 2] = [0x88, 0xb6];

#[test]
fn reflections_are_those_of_open_vswitch() {
    let Some(switch) = OpenVSwitch::start_or_skip() else { return };
    let mut bond = Bond::new(switch);
    let (plan, mut state) = (plan(), PlanState::new(0));
    let (mut random, start) = (Random(seed()), Instant::now());
    let (mut drops, mut moves) = (0, 0);
    for round in 0..if is_soak() { 10 * ROUNDS } else { ROUNDS } {
        let mut history = Vec::new();
        for _ in 0..STEPS {
            let bytes = frame(round, &mut random);
            let from = random.below(MEMBERS + 1);
            history.push(format!("{from}: {bytes:02x?}"));
            let frame = Frame::parse(&bytes).unwrap();
            state.now = Time::ZERO + start.elapsed();
            if from == MEMBERS {
                plan.choose(&frame, &mut state);
                bond.send(&bytes);
                continue;
            }
            let known = state.sources.known(state.now).len();
            let ours = plan.receive_once(MemberId::new(from).unwrap(), &frame, &mut state) == Verdict::ToTeam;
            assert_eq!(bond.receives(from, &bytes), ours, "{}", history.join("\n"));
            drops += usize::from(!ours);
            moves += usize::from(state.sources.known(state.now).len() < known);
        }
    }
    assert!(drops > 10 && moves > 3, "{drops} frames were dropped, {moves} hosts moved");
}

/// Of the member in place 0 as the active one.
fn plan() -> Plan {
    let line = |id: MemberId| {
        let receive = Receive::DropIfMoved { active: id.index() == 0 };
        PlanMember { id, receive, rewrite: Rewrite::default(), queue_id: 0 }
    };
    let ids: Vec<MemberId> = (0..MEMBERS).filter_map(MemberId::new).collect();
    let members = ids.iter().copied().map(line).collect();
    let buckets = Buckets { key: Key::Source { basis: 0 }, table: Box::new([None; BUCKETS]), enabled: ids };
    Plan { generation: 1, choose: Choose::Buckets(buckets), members, lease: None, failover: None, notes_sources: true }
}

/// From this round's source, in one of two VLANs.
fn frame(round: u16, random: &mut Random) -> Vec<u8> {
    let [a, b] = round.to_be_bytes();
    let src = [2, 0, 0, 1, a, b];
    let dst = random.pick(&[[0xff; 6], [0xff; 6], [1, 0, 0x5e, 1, 1, 1], [2, 0, 0, 9, 0, 1]]);
    let tag: &[u8] = if random.one_in(4) { &[0x81, 0, 0, 5] } else { &[] };
    let operation = random.pick(&[1, 1, 2, 3]);
    let target = [10, 0, 0, random.pick(&[1, 1, 2])];
    let arp = [&[8, 6, 0, 1, 8, 0, 6, 4, 0, operation][..], &src, &[10, 0, 0, 1], &[0; 6], &target].concat();
    let plain = [&PLAIN[..], &[0; 30]].concat();
    // A number, so that each is known again.
    [&dst[..], &src, tag, if random.one_in(2) { &arp } else { &plain }, &random.bytes(20)].concat()
}

/// A bond of two members, and a port beside it.
struct Bond {
    _switch: OpenVSwitch,
    control: Unixctl,
    _outside: Host,
    port: PacketSocket,
    far: Vec<PacketSocket>,
    batch: Batch,
    marks: u32,
}

impl Bond {
    fn new(mut switch: OpenVSwitch) -> Bond {
        let mut outside = Host::quiet();
        cable(&mut switch.host, "in0", &mut outside, "eth0");
        let far: Vec<PacketSocket> = (0..MEMBERS)
            .map(|place| {
                looped_cable(&mut switch.host, &format!("p{place}"), &format!("q{place}"));
                switch.host.packet_socket(&format!("q{place}"))
            })
            .collect();
        switch.vsctl("add-br br -- set bridge br datapath_type=netdev");
        switch.vsctl("add-bond br bond p0 p1 bond_mode=balance-slb other_config:bond-rebalance-interval=0");
        switch.vsctl("add-port br in0");
        eventually("both members", || switch.enabled() == MEMBERS);
        switch.appctl_with("bond/set-active-member", &["bond", "p0"]);
        let control = Unixctl::connect(&switch.control_socket());
        let port = outside.packet_socket("eth0");
        Bond { _switch: switch, control, _outside: outside, port, far, batch: Batch::new(), marks: 0 }
    }

    /// The port beside the bond sends a frame; it has left when this returns.
    fn send(&mut self, bytes: &[u8]) {
        self.forget_flows();
        assert!(self.port.send_frame(bytes));
        let mark = self.mark();
        assert!(self.port.send_frame(&mark));
        let mut left = false;
        eventually("a frame leaves by a member", || {
            for socket in &self.far {
                left |= received(socket, &mut self.batch).contains(&mark);
            }
            left
        });
    }

    /// True if the port beside the bond gets a frame that a member received.
    fn receives(&mut self, place: usize, bytes: &[u8]) -> bool {
        self.forget_flows();
        let mark = self.mark();
        assert!(self.far[place].send_frame(bytes) && self.far[place].send_frame(&mark));
        let mut came = Vec::new();
        eventually("the frame behind it", || {
            came.extend(received(&self.port, &mut self.batch));
            came.contains(&mark)
        });
        // The socket has a tag beside the frame.
        let untagged = if bytes[12..14] == [0x81, 0] { [&bytes[..12], &bytes[16..]].concat() } else { bytes.to_vec() };
        came.contains(&untagged)
    }

    /// A frame that every port takes: of a source that no other frame had, to one that none had.
    fn mark(&mut self) -> Vec<u8> {
        self.marks += 1;
        let number = self.marks.to_be_bytes();
        [&[6, 1][..], &number, &[6, 2], &number, &PLAIN, &[0; 46]].concat()
    }

    /// What it learned counts for its datapath only when it has looked through the flows there.
    fn forget_flows(&mut self) {
        self.control.run("revalidator/purge", &[]);
    }
}

fn received(socket: &PacketSocket, batch: &mut Batch) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        socket.receive(batch).unwrap();
        let before = all.len();
        all.extend(batch.frames().map(|frame| frame.bytes.to_vec()));
        if all.len() == before {
            return all;
        }
    }
}

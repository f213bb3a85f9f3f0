//! A guest's ports: frames pass both ways, speed and carrier are what they are set to.

use nicteam_oracle::Cable;
use nicteam_oracle::protocol::{Answer, Request};
use nicteam_sys::packet::Batch;
use nicteam_testnet::{Host, cable, eventually, may_make_networks};

const AGENT: &str = env!("CARGO_BIN_EXE_nicteam-oracle-agent");
/// A frame of a protocol that nobody speaks (local experimental, IEEE 802).
const FRAME: [u8; 60] = {
    let mut frame = [0x5a; 60];
    (frame[0], frame[6], frame[12], frame[13]) = (2, 2, 0x88, 0xb5);
    frame
};

#[test]
fn frames_pass_a_guests_port_both_ways() {
    if !may_make_networks() {
        return;
    }
    let (mut host, mut wall) = (Host::quiet(), Host::quiet());
    cable(&mut host, "eth0", &mut wall, "p0");
    let index = wall.index("p0");
    let end = wall.netns.run(|| Cable::open(index)).unwrap().unwrap();
    let Some(mut guest) = nicteam_oracle::guest_at(AGENT, vec![end]) else { return };
    assert_eq!(guest.read("/sys/class/net/a0/operstate").unwrap(), "down");
    guest.must(Request::SetSpeed { name: "a0".to_owned(), speed_mbps: 1000 });
    guest.must(Request::SetUp { name: "a0".to_owned(), up: true });
    assert_eq!(guest.read("/sys/class/net/a0/speed").unwrap(), "1000");

    let (socket, mut batch) = (host.packet_socket("eth0"), Batch::new());
    guest.keep(vec![FRAME.to_vec()]);
    eventually("a frame from the guest", || {
        guest.must(Request::Inject { into: "a0".to_owned(), out: Vec::new() });
        socket.receive(&mut batch).unwrap();
        batch.frames().any(|frame| frame.bytes == FRAME)
    });
    let received = "/sys/class/net/a0/statistics/rx_packets";
    assert_eq!(guest.read(received).unwrap(), "0", "what it sends does not come back");
    eventually("a frame to the guest", || socket.send_frame(&FRAME) && guest.read(received).unwrap() != "0");

    for carrier in [false, true] {
        guest.plug("a0", carrier);
        assert_eq!(guest.read("/sys/class/net/a0/carrier").unwrap(), if carrier { "1" } else { "0" });
    }
    assert_eq!(guest.ask(&Request::Delete { name: "a0".to_owned() }), Ok(Answer::Done));
}

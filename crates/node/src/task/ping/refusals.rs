//! Refusals, in the words of `ping` (iputils 20221126).

use std::io;
use std::net::IpAddr;

use nicteam_sys::echo::{Cause, Refusal};
use nix::errno::Errno;

/// Of a request to there: `From 10.0.0.9 icmp_seq=3 Frag needed and DF set (mtu = 1400)`.
pub(super) fn words(refusal: &Refusal, to: IpAddr, sequence: Option<u16>) -> String {
    let what = match (refusal.cause, to) {
        (Cause::TooBig { mtu }, IpAddr::V4(_)) if refusal.from.is_none() => {
            return format!("ping: local error: message too long, mtu={mtu}");
        }
        (Cause::TooBig { mtu }, IpAddr::V6(_)) if refusal.from.is_none() => {
            return format!("ping: local error: message too long, mtu: {mtu}");
        }
        (Cause::TooBig { mtu }, IpAddr::V4(_)) => format!("Frag needed and DF set (mtu = {mtu})"),
        (Cause::TooBig { mtu }, IpAddr::V6(_)) => format!("Packet too big: mtu={mtu}"),
        (Cause::Icmp { kind, code }, IpAddr::V4(_)) => v4(kind, code),
        (Cause::Icmp { kind, code }, IpAddr::V6(_)) => v6(kind, code),
        (Cause::Local(number), _) => return format!("ping: local error: {}", Errno::from_raw(number).desc()),
    };
    let from = refusal.from.map_or_else(String::new, |from| format!("From {from} "));
    let sequence = sequence.map_or_else(String::new, |sequence| format!("icmp_seq={sequence} "));
    format!("{from}{sequence}{what}")
}

/// Of a request that was not sent, and of which nothing else is known.
pub(super) fn local(error: &io::Error) -> String {
    let words =
        error.raw_os_error().map_or_else(|| error.to_string(), |number| Errno::from_raw(number).desc().to_owned());
    format!("ping: sendmsg: {words}")
}

fn v4(kind: u8, code: u8) -> String {
    const UNREACHABLE: u8 = 3;
    const TIME_EXCEEDED: u8 = 11;
    let words = match (kind, code) {
        (UNREACHABLE, 0) => "Destination Net Unreachable",
        (UNREACHABLE, 1) => "Destination Host Unreachable",
        (UNREACHABLE, 2) => "Destination Protocol Unreachable",
        (UNREACHABLE, 3) => "Destination Port Unreachable",
        (UNREACHABLE, 9) => "Destination Net Prohibited",
        (UNREACHABLE, 10) => "Destination Host Prohibited",
        (UNREACHABLE, 13) => "Packet filtered",
        (UNREACHABLE, _) => return format!("Dest Unreachable, Unknown Code: {code}"),
        (TIME_EXCEEDED, 0) => "Time to live exceeded",
        (TIME_EXCEEDED, 1) => "Frag reassembly time exceeded",
        _ => return format!("Bad ICMP type: {kind}"),
    };
    words.to_owned()
}

fn v6(kind: u8, code: u8) -> String {
    let words = match (kind, code) {
        (1, 0) => "Destination unreachable: No route",
        (1, 1) => "Destination unreachable: Administratively prohibited",
        (1, 2) => "Destination unreachable: Beyond scope of source address",
        (1, 3) => "Destination unreachable: Address unreachable",
        (1, 4) => "Destination unreachable: Port unreachable",
        (1, _) => return format!("Destination unreachable: Unknown code {code}"),
        (3, 0) => "Time exceeded: Hop limit",
        (3, 1) => "Time exceeded: Defragmentation failure",
        _ => return format!("unknown icmp type: {kind}"),
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_as_ping_tells_them() {
        let v4 = IpAddr::from([10, 0, 0, 2]);
        let v6: IpAddr = "fd00::2".parse().unwrap();
        let of = |from: Option<IpAddr>, cause| Refusal { from, sequence: None, cause };
        let router = Some(IpAddr::from([10, 0, 0, 9]));
        let all = [
            (of(None, Cause::TooBig { mtu: 1500 }), v4, "ping: local error: message too long, mtu=1500"),
            (of(None, Cause::TooBig { mtu: 1500 }), v6, "ping: local error: message too long, mtu: 1500"),
            (
                of(router, Cause::TooBig { mtu: 1400 }),
                v4,
                "From 10.0.0.9 icmp_seq=3 Frag needed and DF set (mtu = 1400)",
            ),
            (of(Some(v6), Cause::TooBig { mtu: 1400 }), v6, "From fd00::2 icmp_seq=3 Packet too big: mtu=1400"),
            (of(router, Cause::Icmp { kind: 3, code: 1 }), v4, "From 10.0.0.9 icmp_seq=3 Destination Host Unreachable"),
            (
                of(Some(v6), Cause::Icmp { kind: 1, code: 3 }),
                v6,
                "From fd00::2 icmp_seq=3 Destination unreachable: Address unreachable",
            ),
        ];
        for (refusal, to, expected) in all {
            assert_eq!(words(&refusal, to, Some(3)), expected);
        }
        let unreachable = io::Error::from_raw_os_error(Errno::ENETUNREACH as i32);
        assert_eq!(local(&unreachable), "ping: sendmsg: Network is unreachable");
    }
}

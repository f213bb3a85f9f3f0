//! What was found, in words, and the cure.

use std::net::IpAddr;

use crate::examine::Report;
use crate::verdict::{Limiter, OneWay, Verdict};

/// What a device takes in beyond its MTU where it leaves room for a VLAN tag, bytes.
const TAG: u32 = 4;
/// MTUs that devices are set to, bytes.
const SET: [u32; 8] = [1280, 1400, 1450, 1492, 1500, 4000, 8000, 9000];

impl Report {
    /// Whether the path carries what it is to carry, both ways, for all that is known.
    pub fn is_good(&self) -> bool {
        let carries = |way: OneWay| matches!(way, OneWay::Passes { .. });
        self.verdict.is_some_and(|Verdict { there, back, .. }| carries(there) && carries(back))
    }

    /// What is wrong, a sentence each; empty if nothing is.
    pub fn findings(&self) -> Vec<String> {
        let Some(verdict) = self.verdict else { return vec![self.no_answer()] };
        let both = match (verdict.there, verdict.back) {
            (
                OneWay::Limited { bytes: there, by: Limiter::BlackHole },
                OneWay::Limited { bytes: back, by: Limiter::BlackHole },
            ) if there == back => Some(there),
            _ => None,
        };
        if let Some(bytes) = both {
            return vec![format!(
                "Packets of more than {bytes} bytes{} are lost in both directions without an error message: a black hole \
                 on the way.",
                as_mtu(bytes)
            )];
        }
        let ways = [self.wrong_there(&verdict), self.wrong_back(&verdict), self.smaller_other(&verdict)];
        ways.into_iter().flatten().collect()
    }

    /// What to do about it, a line each.
    pub fn cures(&self) -> Vec<String> {
        let Some(Verdict { there, back, other_mtu }) = self.verdict else { return Vec::new() };
        let mut cures = Vec::new();
        let here = |mtu: u32| format!("here: `ip link set {} mtu {mtu}`", self.device());
        let wanted = self.wanted.max(self.own_mtu);
        let limiters = [there, back].map(|way| match way {
            OneWay::Limited { by, bytes } => Some((by, bytes)),
            _ => None,
        });
        for (limiter, bytes) in limiters.into_iter().flatten() {
            match limiter {
                Limiter::ThisHost if self.wanted > self.own_mtu => cures.push(here(self.wanted)),
                Limiter::ThisHost => cures.push(format!(
                    "{} or more, as the other host has it, or there: {}",
                    here(9000),
                    far_end(self.own_mtu)
                )),
                Limiter::OtherHost => {
                    let other = other_mtu.map_or(bytes, usable);
                    cures.push(format!("on the other host: {}; or {}", far_end(wanted), here(other)));
                }
                Limiter::Router { address, mtu } => cures.push(format!(
                    "raise the MTU of the link behind {address} to {wanted}, or {}; TCP adapts by itself if it gets the ICMP \
                     message",
                    here(if mtu > 0 { mtu } else { bytes })
                )),
                Limiter::BlackHole => {
                    cures.push(format!(
                        "between the hosts give both ends of each cable, and each switch, an MTU of {wanted}: Catalyst \
                         2960S, 3560G: `system mtu jumbo {wanted}`, then `reload`; ProCurve: `vlan N jumbo`; ESXi: `esxcli \
                         network vswitch standard set --vswitch-name vSwitchN --mtu {wanted}`; Linux: `ip link set PORT mtu \
                         {wanted}`"
                    ));
                    cures.push(format!("until then {}", here(usable(bytes))));
                }
            }
        }
        cures.dedup();
        let mut seen = Vec::new();
        cures.retain(|cure| {
            let is_new = !seen.contains(cure);
            seen.push(cure.clone());
            is_new
        });
        cures
    }

    /// The device by its name, or by what it is.
    fn device(&self) -> &str {
        self.device.as_deref().unwrap_or("DEVICE")
    }

    fn no_answer(&self) -> String {
        let who = self.unreachable.and_then(|refusal| refusal.from);
        let said = who.map_or_else(String::new, |who| format!(" {who} reports that the host is unreachable."));
        format!("No answer to echo requests of {} bytes, so nothing is known of the path.{said}", crate::examine::SHORT)
    }

    fn wrong_there(&self, verdict: &Verdict) -> Option<String> {
        let (own, wanted) = (self.own_mtu, self.wanted);
        Some(match verdict.there {
            OneWay::Passes { .. } => return None,
            OneWay::Unknown { bytes } if matches!(verdict.back, OneWay::Unknown { .. }) => format!(
                "Packets of more than {bytes} bytes{} are lost on the way there or on the way back; which of them is not to \
                 be told, for the other host answers nothing else, and pieces do not pass.",
                as_mtu(bytes)
            ),
            OneWay::Unknown { bytes } => {
                format!("It is not known whether more than {bytes} bytes pass on the way there.")
            }
            OneWay::Limited { by: Limiter::ThisHost, .. } => {
                format!("This host sends no packet of {wanted} bytes there: the MTU of {} is {own}.", self.device())
            }
            OneWay::Limited { bytes, by: Limiter::OtherHost } => format!(
                "Packets of more than {bytes} bytes do not arrive there: the other host's MTU is {}, as the pieces that it \
                 sends show, and that of {} here is {own}.",
                verdict.other_mtu.map_or(bytes, usable),
                self.device()
            ),
            OneWay::Limited { by: Limiter::Router { address, mtu }, bytes } => {
                let most = if mtu > 0 { mtu } else { bytes };
                format!("On the way there {address} forwards packets of at most {most} bytes, and reports this.")
            }
            OneWay::Limited { bytes, by: Limiter::BlackHole } => format!(
                "Packets of more than {bytes} bytes{} are lost on the way there without an error message: a black hole.",
                as_mtu(bytes)
            ),
        })
    }

    fn wrong_back(&self, verdict: &Verdict) -> Option<String> {
        let OneWay::Limited { bytes, by } = verdict.back else { return None };
        Some(match by {
            Limiter::ThisHost => format!(
                "The other host sends packets of more than {bytes} bytes, and none comes back here: the MTU of {} is {}.",
                self.device(),
                self.own_mtu
            ),
            _ => format!(
                "Packets of more than {bytes} bytes{} are lost on the way back without an error message: a black hole.",
                as_mtu(bytes)
            ),
        })
    }

    /// No fault, but larger packets go one way only.
    fn smaller_other(&self, verdict: &Verdict) -> Option<String> {
        let OneWay::Passes { bytes } = verdict.there else { return None };
        let other = usable(verdict.other_mtu?);
        let less = other < bytes && matches!(verdict.back, OneWay::Passes { .. });
        less.then(|| format!("The other host sends packets of {other} bytes at most, though it takes in {bytes}."))
    }
}

/// The MTU that a device has which takes in so much.
fn usable(bytes: u32) -> u32 {
    // A tag more, or up to seven bytes less: pieces are multiples of eight.
    let near = |set: &&u32| **set + TAG == bytes || (**set >= bytes && **set - bytes < 8);
    SET.iter().find(near).copied().unwrap_or(bytes)
}

/// In brackets: what MTU that is, if it is not just that.
fn as_mtu(bytes: u32) -> String {
    match usable(bytes) {
        mtu if mtu == bytes => String::new(),
        mtu => format!(" (an MTU of {mtu} and a VLAN tag)"),
    }
}

/// How the other host's MTU is set.
fn far_end(mtu: u32) -> String {
    format!(
        "`ip link set DEVICE mtu {mtu}`, or in ESXi `esxcli network ip interface set --interface-name vmkN --mtu {mtu}`"
    )
}

/// What passes one way, in a word or two.
impl std::fmt::Display for OneWay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OneWay::Passes { bytes } => write!(f, "{bytes}"),
            OneWay::Unknown { bytes } => write!(f, "{bytes}?"),
            OneWay::Limited { bytes, by } => write!(f, "{bytes}, {by}"),
        }
    }
}

impl std::fmt::Display for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Limiter::ThisHost => f.write_str("this end"),
            Limiter::OtherHost => f.write_str("far end"),
            Limiter::Router { address: IpAddr::V4(address), .. } => write!(f, "{address}"),
            Limiter::Router { address: IpAddr::V6(address), .. } => write!(f, "{address}"),
            Limiter::BlackHole => f.write_str("black hole"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(there: OneWay, back: OneWay, other_mtu: Option<u32>) -> Report {
        Report {
            from: [10, 0, 0, 1].into(),
            device: Some("eth0".to_owned()),
            own_mtu: 9000,
            wanted: 9000,
            round_trip: None,
            verdict: Some(Verdict { there, back, other_mtu }),
            unreachable: None,
        }
    }

    fn limited(bytes: u32, by: Limiter) -> OneWay {
        OneWay::Limited { bytes, by }
    }

    #[test]
    fn a_good_path_has_nothing_to_say() {
        let passes = OneWay::Passes { bytes: 9000 };
        let good = report(passes, passes, None);
        assert!(good.is_good() && good.findings().is_empty() && good.cures().is_empty());
        let smaller = report(passes, OneWay::Passes { bytes: 1500 }, Some(1500));
        assert!(smaller.is_good() && smaller.findings().len() == 1 && smaller.cures().is_empty());
    }

    #[test]
    fn a_black_hole_is_called_one_and_both_ways_are_one_sentence() {
        let hole = limited(1504, Limiter::BlackHole);
        let both = report(hole, hole, None);
        assert_eq!(
            both.findings(),
            ["Packets of more than 1504 bytes (an MTU of 1500 and a VLAN tag) are lost in both directions without an \
              error message: a black hole on the way."]
        );
        assert_eq!(both.cures().len(), 2, "the same cure is said once");
        assert!(both.cures()[0].contains("system mtu jumbo 9000"));
        assert!(both.cures()[1].contains("ip link set eth0 mtu 1500"));
        let one = report(OneWay::Passes { bytes: 9000 }, hole, None).findings();
        assert!(one.len() == 1 && one[0].contains("on the way back") && one[0].contains("black hole"), "{one:?}");
    }

    #[test]
    fn the_end_that_is_wrong_is_named_with_its_cure() {
        let far = report(limited(1504, Limiter::OtherHost), OneWay::Passes { bytes: 1500 }, Some(1500));
        assert!(far.findings()[0].contains("the other host's MTU is 1500"), "{:?}", far.findings());
        assert!(far.cures()[0].contains("on the other host: `ip link set DEVICE mtu 9000`"), "{:?}", far.cures());
        let near = Report {
            own_mtu: 1500,
            ..report(limited(1500, Limiter::ThisHost), limited(1504, Limiter::ThisHost), None)
        };
        assert!(near.findings().iter().all(|finding| finding.contains("the MTU of eth0 is 1500")), "{near:?}");
        assert_eq!(near.cures(), ["here: `ip link set eth0 mtu 9000`"]);
    }

    #[test]
    fn a_router_and_a_silent_host_are_told() {
        let router = Limiter::Router { address: [10, 0, 0, 9].into(), mtu: 1400 };
        let routed = report(limited(1400, router), OneWay::Passes { bytes: 1400 }, None);
        assert!(routed.findings()[0].contains("10.0.0.9 forwards packets of at most 1400 bytes"));
        let silent = Report { verdict: None, ..routed };
        assert!(!silent.is_good() && silent.findings()[0].starts_with("No answer"));
        let unknown = OneWay::Unknown { bytes: 1400 };
        assert_eq!(report(unknown, unknown, None).findings().len(), 1);
    }
}

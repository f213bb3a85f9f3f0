//! Lists of devices (NetworkManager.conf(5), "Device List Format"): `interface-name:eth*;except:mac:02:00:00:00:00:01`.

use nicteam_wire::Mac;

use super::super::Device;

/// Whether a list has a device: one that is excepted is out; a list of exceptions alone has all others.
pub(super) fn fits(list: &str, device: &Device) -> bool {
    let specs = split(list);
    let (excepted, others): (Vec<&str>, Vec<&str>) =
        specs.iter().map(|of| of.as_str()).partition(|of| of.starts_with("except:"));
    let is_excepted = excepted.iter().any(|of| one(of.trim_start_matches("except:").trim(), device, true));
    let fits = others.iter().any(|of| one(of, device, false)) || (others.is_empty() && !excepted.is_empty());
    fits && !is_excepted
}

fn one(spec: &str, device: &Device, is_exception: bool) -> bool {
    let Some((kind, rest)) = spec.split_once(':').filter(|(kind, _)| KINDS.contains(kind)) else {
        // Without a word ahead: all, a name, or an address; not behind `except:`.
        let is_mac = || spec.parse::<Mac>().is_ok_and(|mac| Some(mac) == hardware(device));
        return !is_exception && (spec == "*" || spec == device.name || is_mac());
    };
    match kind {
        "interface-name" => match rest.strip_prefix('=') {
            Some(literal) => literal == device.name,
            None => glob(rest.strip_prefix('~').unwrap_or(rest), &device.name),
        },
        "mac" => rest.parse::<Mac>().is_ok_and(|mac| Some(mac) == hardware(device)),
        "type" => rest == kind_of(device),
        "driver" => {
            let (name, version) = rest.split_once('/').map_or((rest, None), |(name, version)| (name, Some(version)));
            name == device.driver && version.is_none_or(|version| version == "*")
        }
        _ => false,
    }
}

const KINDS: [&str; 6] = ["interface-name", "mac", "type", "driver", "s390-subchannels", "dhcp-plugin"];

/// It compares with the address of the hardware, and where there is none with what is set.
fn hardware(device: &Device) -> Option<Mac> {
    device.permanent_mac().or_else(|| device.mac())
}

/// What `nmcli -f GENERAL.TYPE device show` calls it.
fn kind_of(device: &Device) -> &str {
    match (device.kind_of_type.as_str(), device.kind()) {
        ("ether", "") => "ethernet",
        ("ether", "veth") => "veth",
        ("ether", "tun") => "tun",
        ("wlan", _) => "wifi",
        (other, _) => other,
    }
}

/// `*` and `?` alone, which cannot be escaped.
fn glob(pattern: &str, text: &str) -> bool {
    let escaped: String =
        pattern.chars().flat_map(|of| ['[', ']', '\\'].contains(&of).then_some('\\').into_iter().chain([of])).collect();
    nicteam_sys::pattern::fits(&escaped, text)
}

/// Parts between commas and semicolons, blanks around them cut; a backslash lets one stand for itself.
fn split(list: &str) -> Vec<String> {
    let (mut parts, mut part, mut chars) = (Vec::new(), String::new(), list.chars());
    while let Some(next) = chars.next() {
        match next {
            ',' | ';' => parts.push(std::mem::take(&mut part)),
            '\\' => match chars.next() {
                Some('s') => part.push(' '),
                Some('n') => part.push('\n'),
                Some('t') => part.push('\t'),
                other => part.extend(other),
            },
            other => part.push(other),
        }
    }
    parts.push(part);
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use nicteam_netlink::Link;
    use proptest::prelude::*;

    use super::*;

    fn device() -> Device {
        Device {
            name: "eth1".to_owned(),
            driver: "e1000e".to_owned(),
            kind_of_type: "ether".to_owned(),
            link: Some(Link { mac: [2, 0, 0, 0, 0, 1], permanent_mac: Some([2, 0, 0, 0, 0, 9]), ..Link::default() }),
            ..Device::default()
        }
    }

    #[test]
    fn the_manual_pages_forms() {
        let yes = [
            "*",
            "eth1",
            "02:00:00:00:00:09",
            "interface-name:eth*",
            "interface-name:~eth?",
            "interface-name:=eth1",
            "mac:02:00:00:00:00:09",
            "type:ethernet",
            "driver:e1000e",
            "driver:e1000e/*",
            "interface-name:wl*; interface-name:eth1",
            "except:interface-name:eth0",
            "*,except:interface-name:eth0",
        ];
        for list in yes {
            assert!(fits(list, &device()), "{list}");
        }
        let no = [
            "",
            "eth*",
            "interface-name:=eth*",
            "interface-name:eth[1]",
            "mac:02:00:00:00:00:01",
            "type:wifi",
            "driver:e1000",
            "except:interface-name:eth1",
            "*,except:interface-name:eth1",
            "interface-name:eth0\\;interface-name:eth1",
        ];
        for list in no {
            assert!(!fits(list, &device()), "{list}");
        }
    }

    proptest! {
        #[test]
        fn an_exception_outweighs_all_else(list in "[a-z0-9:*;,=~ ]{0,40}") {
            let excepted = format!("{list};except:interface-name:eth1");
            prop_assert!(!fits(&excepted, &device()));
        }

        #[test]
        fn order_decides_nothing(specs in proptest::collection::vec("(except:)?(interface-name:)?(eth[0-9*]|\\*)", 1..5)) {
            let forward = specs.join(";");
            let back = specs.iter().rev().cloned().collect::<Vec<_>>().join(",");
            prop_assert_eq!(fits(&forward, &device()), fits(&back, &device()));
        }
    }
}

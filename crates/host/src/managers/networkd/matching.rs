//! Whether a `[Match]` section fits a device (systemd 252, src/shared/net-condition... `net_match_config`).

use nicteam_formats::settings::Setting;
use nicteam_sys::pattern;
use nicteam_wire::Mac;

use super::super::Device;

/// Whether a file fits a device.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fit {
    No,
    /// By this line.
    Yes(Setting),
    /// All that can be known here fits, by the first line; the second asks for what cannot.
    Unsure(Option<Setting>, Setting),
}

/// What a key of `[Match]` is compared with.
enum Compared {
    /// Any of these; one is enough.
    Names(Vec<String>),
    /// The one text, if there is one.
    Text(Option<String>),
    Macs(Option<Mac>),
    Properties,
}

/// Whether a file of these settings fits.
pub(super) fn fits(settings: &[Setting], device: &Device) -> Fit {
    let of_match: Vec<&Setting> = settings.iter().filter(|of| of.section == "Match").collect();
    let (mut by, mut unsure) = (None, None);
    for key in KEYS {
        let lines: Vec<&Setting> = of_match.iter().filter(|of| of.key == *key).copied().collect();
        // An empty value takes back what was said before.
        let lines = &lines[lines.iter().rposition(|of| of.value.is_empty()).map_or(0, |at| at + 1)..];
        let Some(&first) = lines.first() else { continue };
        if !holds(&compared(key, device), lines, device) {
            return Fit::No;
        }
        by.get_or_insert(first.clone());
    }
    for condition in of_match.iter().filter(|of| !KEYS.contains(&of.key.as_str()) && !of.value.is_empty()) {
        if CONDITIONS.contains(&condition.key.as_str()) {
            unsure.get_or_insert((*condition).clone());
        }
    }
    match (by, unsure) {
        (by, Some(condition)) => Fit::Unsure(by, condition),
        (Some(by), None) => Fit::Yes(by),
        // A file that names no device is left alone; `Name=*` is for all.
        (None, None) => Fit::No,
    }
}

/// What is compared here.
const KEYS: &[&str] = &["Name", "MACAddress", "PermanentMACAddress", "Path", "Driver", "Type", "Kind", "Property"];
/// What asks for something that is not known here; other keys are ignored, as the program does.
const CONDITIONS: &[&str] = &[
    "WLANInterfaceType",
    "SSID",
    "BSSID",
    "Host",
    "Virtualization",
    "KernelCommandLine",
    "KernelVersion",
    "Version",
    "Credential",
    "Architecture",
    "Firmware",
];

fn compared(key: &str, device: &Device) -> Compared {
    let text = |text: &str| Compared::Text(Some(text.to_owned()).filter(|text| !text.is_empty()));
    match key {
        "Name" => Compared::Names([vec![device.name.clone()], device.alternative_names.clone()].concat()),
        "MACAddress" => Compared::Macs(device.mac()),
        "PermanentMACAddress" => Compared::Macs(device.permanent_mac()),
        "Path" => Compared::Text(device.property("ID_PATH").map(str::to_owned)),
        "Driver" => text(&device.driver),
        "Type" => text(&device.kind_of_type),
        "Kind" => text(device.kind()),
        _ => Compared::Properties,
    }
}

fn holds(with: &Compared, lines: &[&Setting], device: &Device) -> bool {
    match with {
        Compared::Names(names) => names.iter().any(|name| any_fits(&patterns(lines), Some(name))),
        Compared::Text(text) => any_fits(&patterns(lines), text.as_deref()),
        Compared::Macs(mac) => {
            let mut said = lines.iter().flat_map(|line| words(&line.value)).filter_map(|word| mac_of(&word));
            mac.is_some_and(|mac| said.any(|of| of == mac))
        }
        // Each of them, none reversed in its place: `!` stands ahead of the whole line.
        Compared::Properties => lines.iter().all(|line| {
            let (reversed, rest) =
                line.value.strip_prefix('!').map_or((false, line.value.as_str()), |rest| (true, rest));
            words(rest).iter().all(|word| {
                let found = word.split_once('=').is_some_and(|(name, pattern)| {
                    device.property(name).is_some_and(|value| pattern::fits(pattern, value))
                });
                found != reversed
            })
        }),
    }
}

/// The patterns of lines that add to each other, each with whether it is reversed, which a line is as a whole.
fn patterns(lines: &[&Setting]) -> Vec<(bool, String)> {
    let of_line = |line: &&Setting| {
        let (reversed, rest) = line.value.strip_prefix('!').map_or((false, line.value.as_str()), |rest| (true, rest));
        words(rest).into_iter().map(move |word| (reversed, word)).collect::<Vec<_>>()
    };
    lines.iter().flat_map(of_line).collect()
}

/// One that is reversed and fits decides against; else one that fits, or nobody asked for any.
fn any_fits(patterns: &[(bool, String)], text: Option<&str>) -> bool {
    let fits = |pattern: &str| text.is_some_and(|text| pattern::fits(pattern, text));
    if patterns.iter().any(|(reversed, pattern)| *reversed && fits(pattern)) {
        return false;
    }
    let mut asked = patterns.iter().filter(|(reversed, _)| !reversed).peekable();
    asked.peek().is_none() || asked.any(|(_, pattern)| fits(pattern))
}

/// Words between blanks, without the quotes around them.
fn words(value: &str) -> Vec<String> {
    value.split_ascii_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned()).collect()
}

/// `02:00:00:00:00:01`, `02-00-00-00-00-01` or `0200.0000.0001`.
fn mac_of(word: &str) -> Option<Mac> {
    let digits: String = word.chars().filter(|of| ![':', '-', '.'].contains(of)).collect();
    if digits.len() != 12 || !digits.is_ascii() {
        return None;
    }
    let mut mac = [0; 6];
    for (place, byte) in mac.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * place..][..2], 16).ok()?;
    }
    Some(Mac(mac))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use nicteam_formats::{Source, settings};

    fn device() -> Device {
        Device {
            name: "eth1".to_owned(),
            alternative_names: vec!["enp3s0".to_owned()],
            driver: "e1000e".to_owned(),
            kind_of_type: "ether".to_owned(),
            properties: vec![("ID_PATH".to_owned(), "pci-0000:03:00.0".to_owned())],
            link: Some(nicteam_netlink::Link {
                name: "eth1".to_owned(),
                mac: [2, 0, 0, 0, 0, 1],
                permanent_mac: Some([2, 0, 0, 0, 0, 9]),
                ..Default::default()
            }),
        }
    }

    fn fit(of_match: &str) -> Fit {
        let source = Source::new("a.network", format!("[Match]\n{of_match}\n[Network]\nName=x\n"));
        fits(&settings::systemd(&source), &device())
    }

    #[test]
    fn each_key_is_compared_with_what_it_names() {
        let yes = [
            "Name=eth1",
            "Name=en* wl*",
            "Name=!eth2 eth3",
            "Name=eth9\nName=eth?",
            "Name=eth9\nName=\nName=eth1",
            "MACAddress=02-00-00-00-00-01",
            "MACAddress=02:00:00:00:00:07 0200.0000.0001",
            "PermanentMACAddress=02:00:00:00:00:09",
            "Path=pci-0000:03:*",
            "Driver=e1000*",
            "Type=ether\nDriver=!virtio*",
            "Kind=!*",
            "Property=ID_PATH=pci-*",
        ];
        for text in yes {
            assert!(matches!(fit(text), Fit::Yes(_)), "{text}: {:?}", fit(text));
        }
        let no = [
            "",
            "Name=eth2",
            // By its other name it fits, but one of its names is enough only if the whole list fits that name.
            "Name=!e*",
            "MACAddress=02:00:00:00:00:09",
            "Type=wlan",
            "Kind=bond",
            "Name=eth1\nDriver=virtio_net",
            "OriginalName=eth1",
            "Property=ID_PATH=usb-*",
        ];
        for text in no {
            assert_eq!(fit(text), Fit::No, "{text}");
        }
        assert!(matches!(fit("Name=eth1\nHost=web*"), Fit::Unsure(Some(_), _)));
        assert_eq!(fit("Name=eth2\nHost=web*"), Fit::No);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", lines in "(Name|MACAddress|Path|Property)=[!*?a-z0-9:. =\\[\\]]*") {
            let _ = (fit(&text), fit(&lines));
        }

        #[test]
        fn a_line_reversed_fits_where_it_did_not(names in proptest::collection::vec("[a-e]{1,3}[0-9*?]{0,2}", 1..4)) {
            let mut of_one_name = device();
            of_one_name.alternative_names.clear();
            of_one_name.name = "abc1".to_owned();
            let fit = |line: String| {
                let source = Source::new("a", format!("[Match]\nName={line}\n"));
                matches!(fits(&settings::systemd(&source), &of_one_name), Fit::Yes(_))
            };
            let line = names.join(" ");
            prop_assert_ne!(fit(line.clone()), fit(format!("!{line}")));
        }
    }
}

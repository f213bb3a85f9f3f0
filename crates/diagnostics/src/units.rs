//! Values as a user writes them: rates, durations, numbers of bytes, parts of a hundred, addresses.

use std::net::IpAddr;
use std::time::Duration;

use nicteam_impair::Probability;

/// Rates a link may have, bit/s: 1 Mbit/s to 100 Gbit/s.
pub const RATE_BPS: std::ops::RangeInclusive<u64> = 1_000_000..=100_000_000_000;

/// Reads a rate: `100mbit`, `2.5gbit`, `1g`, `500k`; letter case does not matter.
///
/// # Errors
/// What is wrong with the text, and a hint.
pub fn parse_rate(text: &str) -> Result<u64, (String, &'static str)> {
    const HINT: &str = "write a number and a unit: `100mbit`, `2.5gbit`, `1g`";
    let Some((number, unit)) = split(text) else {
        return Err((format!("`{text}` is no rate"), HINT));
    };
    let scale = match unit.to_ascii_lowercase().as_str() {
        "bit" => 1e0,
        "k" | "kbit" => 1e3,
        "m" | "mbit" => 1e6,
        "g" | "gbit" => 1e9,
        "" => return Err((format!("the rate `{text}` has no unit"), HINT)),
        "bps" | "kbps" | "mbps" | "gbps" => {
            return Err((
                format!("`{unit}` can be read in two ways"),
                "tc takes it for bytes a second; write `kbit`, `mbit` or `gbit` for bits a second",
            ));
        }
        _ => return Err((format!("`{unit}` is no unit of a rate"), "units are `bit`, `kbit`, `mbit` and `gbit`")),
    };
    let rate_bps = (number * scale).round();
    // Both bounds are far below 2^53, so the conversion is exact.
    let range = *RATE_BPS.start() as f64..=*RATE_BPS.end() as f64;
    if !range.contains(&rate_bps) {
        return Err((format!("a link cannot have the rate `{text}`"), "rates go from `1mbit` to `100gbit`"));
    }
    Ok(rate_bps as u64)
}

/// A rate as [`parse_rate`] reads it, in the largest unit that leaves no more than three decimals.
pub fn show_rate(rate_bps: u64) -> String {
    let (scale, unit) = match rate_bps {
        1_000_000_000.. if rate_bps.is_multiple_of(1_000_000) => (1e9, "gbit"),
        1_000_000.. if rate_bps.is_multiple_of(1_000) => (1e6, "mbit"),
        1_000.. => (1e3, "kbit"),
        _ => (1e0, "bit"),
    };
    format!("{}{unit}", rate_bps as f64 / scale)
}

/// Reads a number of bytes: `8kib`, `1.5gib`, `100mb`, `512b`; letter case does not matter.
///
/// # Errors
/// What is wrong with the text, and a hint.
pub fn parse_bytes(text: &str) -> Result<u64, (String, &'static str)> {
    const HINT: &str = "write a number and a unit: `8kib` is 8,192 bytes, `1gb` 1,000,000,000";
    let Some((number, unit)) = split(text) else {
        return Err((format!("`{text}` is no number of bytes"), HINT));
    };
    let scale = match unit.to_ascii_lowercase().as_str() {
        "b" => 1e0,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "" => return Err((format!("`{text}` has no unit"), HINT)),
        "k" | "m" | "g" | "t" => return Err((format!("`{unit}` can be read in two ways"), HINT)),
        _ => return Err((format!("`{unit}` is no unit of bytes"), HINT)),
    };
    let bytes = number * scale;
    // Beyond, floating point has no whole numbers.
    if bytes > (1_u64 << 53) as f64 {
        return Err((format!("`{text}` is more than any machine has"), HINT));
    }
    if bytes.fract() != 0.0 {
        return Err((format!("`{text}` is no whole number of bytes"), HINT));
    }
    Ok(bytes as u64)
}

/// A number of bytes as [`parse_bytes`] reads it, in the largest unit that leaves a whole number.
pub fn show_bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 8] = [
        (1 << 40, "tib"),
        (1_000_000_000_000, "tb"),
        (1 << 30, "gib"),
        (1_000_000_000, "gb"),
        (1 << 20, "mib"),
        (1_000_000, "mb"),
        (1 << 10, "kib"),
        (1_000, "kb"),
    ];
    let unit = UNITS.iter().find(|(scale, _)| bytes >= *scale && bytes.is_multiple_of(*scale));
    unit.map_or_else(|| format!("{bytes}b"), |(scale, unit)| format!("{}{unit}", bytes / scale))
}

/// Reads a part of a hundred: `1%`, `0.05 %`.
///
/// # Errors
/// What is wrong with the text, and a hint.
pub fn parse_percent(text: &str) -> Result<Probability, (String, &'static str)> {
    const HINT: &str = "write per cent: `1%`, `0.05%`";
    let Some((number, unit)) = split(text) else {
        return Err((format!("`{text}` is no part of a hundred"), HINT));
    };
    match unit {
        "%" => {}
        "" => return Err((format!("`{text}` has no `%`"), HINT)),
        _ => return Err((format!("`{text}` is no part of a hundred"), HINT)),
    }
    // At most 1e15 times 1e7: beyond any range, and so refused.
    let parts = (number * 1e7).round();
    let probability = if parts <= 1e9 { Probability::from_parts(parts as u32) } else { None };
    match probability {
        Some(Probability::NEVER) if number > 0.0 => {
            Err((format!("`{text}` is next to nothing"), "the smallest part that counts is `0.0000001%`"))
        }
        Some(probability) => Ok(probability),
        None => Err((format!("`{text}` is more than all"), "it takes `0%` to `100%`")),
    }
}

/// A probability as [`parse_percent`] reads it.
pub fn show_percent(probability: Probability) -> String {
    format!("{}%", f64::from(probability.parts()) / 1e7)
}

/// How long a run may be measured.
pub const RUN_DURATION: std::ops::RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(86_400);

/// Reads a duration: `250ms`, `8s`, `1.5s`, `2m`, `1h`.
///
/// # Errors
/// What is wrong with the text, and a hint.
pub fn parse_duration(text: &str) -> Result<Duration, (String, &'static str)> {
    const HINT: &str = "write a number and a unit: `250ms`, `8s`, `2m`";
    let Some((number, unit)) = split(text) else {
        return Err((format!("`{text}` is no duration"), HINT));
    };
    let scale = match unit.to_ascii_lowercase().as_str() {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" => return Err((format!("the duration `{text}` has no unit"), HINT)),
        _ => return Err((format!("`{unit}` is no unit of time"), "units are `ms`, `s`, `m` and `h`")),
    };
    let micros = (number * scale * 1e6).round();
    if micros > 1e15 {
        return Err((format!("`{text}` is longer than any experiment"), HINT));
    }
    Ok(Duration::from_micros(micros as u64))
}

/// A duration as [`parse_duration`] reads it.
pub fn show_duration(time: Duration) -> String {
    let micros = time.as_micros();
    if micros.is_multiple_of(3_600_000_000) && micros > 0 {
        format!("{}h", micros / 3_600_000_000)
    } else if micros.is_multiple_of(60_000_000) && micros > 60_000_000 {
        format!("{}m", micros / 60_000_000)
    } else if micros >= 1_000_000 || micros == 0 {
        format!("{}s", micros as f64 / 1e6)
    } else {
        format!("{}ms", micros as f64 / 1e3)
    }
}

/// Reads a host's address with its prefix length: `10.3.0.1/24`, `fd00::1/64`.
pub fn parse_address(text: &str) -> Result<(IpAddr, u8), (String, &'static str)> {
    const HINT: &str = "write it as `10.3.0.1/24` or `fd00::1/64`";
    let refused = || (format!("`{text}` is no IP address with prefix length"), HINT);
    let Some((address, prefix)) = text.split_once('/') else {
        return match text.parse::<IpAddr>() {
            Ok(IpAddr::V4(_)) => Err((format!("`{text}` has no prefix length"), "add it: `/24` for 255.255.255.0")),
            Ok(IpAddr::V6(_)) => Err((format!("`{text}` has no prefix length"), "add it: `/64` is usual")),
            Err(_) => Err(refused()),
        };
    };
    let address: IpAddr = address.parse().map_err(|_| refused())?;
    let prefix: u8 = prefix.parse().map_err(|_| refused())?;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    if !(8..bits).contains(&prefix) {
        return Err((
            format!("prefix length {prefix} leaves no room for a subnet of hosts"),
            "IPv4 takes 8 to 31, IPv6 8 to 127",
        ));
    }
    let usable = !address.is_multicast() && !address.is_unspecified() && !address.is_loopback();
    let host_part = to_bits(address) & host_mask(bits, prefix);
    let edge = address.is_ipv4() && prefix < 31 && (host_part == 0 || host_part == host_mask(bits, prefix));
    if !usable || edge {
        let hint = if edge {
            "the first address of an IPv4 subnet names the subnet, the last is its broadcast address"
        } else {
            HINT
        };
        return Err((format!("`{text}` cannot be a host's address"), hint));
    }
    Ok((address, prefix))
}

/// The subnet of an address: its bits with the host part zero.
pub fn subnet(address: IpAddr, prefix: u8) -> (bool, u128, u8) {
    let bits = if address.is_ipv4() { 32 } else { 128 };
    (address.is_ipv4(), to_bits(address) & !host_mask(bits, prefix), prefix)
}

/// Host `number` of the subnet that `address` is in, if the subnet has so many.
pub fn nth_host(address: IpAddr, prefix: u8, number: u128) -> Option<IpAddr> {
    let (v4, base, _) = subnet(address, prefix);
    let mask = host_mask(if v4 { 32 } else { 128 }, prefix);
    let last = if v4 && prefix < 31 { mask.saturating_sub(1) } else { mask };
    if number > last {
        return None;
    }
    Some(match address {
        IpAddr::V4(_) => IpAddr::from(((base | number) as u32).to_be_bytes()),
        IpAddr::V6(_) => IpAddr::from((base | number).to_be_bytes()),
    })
}

/// The address at the same place in the n-th subnet of this size after its own, if there are so many.
pub fn in_nth_subnet(address: IpAddr, prefix: u8, n: u32) -> Option<IpAddr> {
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let step = host_mask(bits, prefix).checked_add(1)?;
    let moved = to_bits(address).checked_add(step.checked_mul(u128::from(n))?)?;
    match address {
        IpAddr::V4(_) => Some(IpAddr::from(u32::try_from(moved).ok()?.to_be_bytes())),
        IpAddr::V6(_) => Some(IpAddr::from(moved.to_be_bytes())),
    }
}

fn to_bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Ones where the host part of an address of `bits` bits is.
fn host_mask(bits: u8, prefix: u8) -> u128 {
    let host_bits = u32::from(bits.saturating_sub(prefix));
    1_u128.checked_shl(host_bits).map_or(u128::MAX, |bit| bit - 1)
}

/// A plain decimal number and what follows it.
fn split(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if number.len() > 15 {
        return None;
    }
    Some((number.parse().ok()?, unit.trim_start_matches(' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        for (text, rate_bps) in [
            ("100mbit", 100_000_000),
            ("1g", 1_000_000_000),
            ("2.5Gbit", 2_500_000_000),
            ("98.4m", 98_400_000),
            ("5000 kbit", 5_000_000),
            ("1000000bit", 1_000_000),
        ] {
            assert_eq!(parse_rate(text).as_ref(), Ok(&rate_bps), "{text}");
            assert_eq!(parse_rate(&show_rate(rate_bps)), Ok(rate_bps), "{text}");
        }
        for text in ["", "mbit", "100", "1gbps", "0gbit", "101gbit", "-1gbit", "1e3mbit", "1..5g", "1mbit/s", "∞gbit"]
        {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations() {
        for (text, millis) in [("250ms", 250), ("8s", 8000), ("1.5s", 1500), ("2m", 120_000), ("1h", 3_600_000)] {
            let time = Duration::from_millis(millis);
            assert_eq!(parse_duration(text), Ok(time), "{text}");
            assert_eq!(parse_duration(&show_duration(time)), Ok(time), "{text}");
        }
        for text in ["", "s", "8", "8 parsecs", "-1s", "99999999999999h", "1.2.3s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_of_bytes() {
        for (text, bytes) in [
            ("8kib", 8192),
            ("1 GiB", 1 << 30),
            ("1.5mib", 3 << 19),
            ("100mb", 100_000_000),
            ("512b", 512),
            ("16777215b", 16_777_215),
        ] {
            assert_eq!(parse_bytes(text).as_ref(), Ok(&bytes), "{text}");
            assert_eq!(parse_bytes(&show_bytes(bytes)), Ok(bytes), "{text}");
        }
        for text in ["", "kib", "8", "8k", "8kbit", "-8kib", "1.5b", "99999999999tib", "1e3kib"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn parts_of_a_hundred() {
        for (text, parts) in [("1%", 10_000_000), ("0.05 %", 500_000), ("100%", 1_000_000_000), ("0%", 0)] {
            let probability = parse_percent(text).unwrap();
            assert_eq!(probability.parts(), parts, "{text}");
            assert_eq!(parse_percent(&show_percent(probability)), Ok(probability), "{text}");
        }
        for text in ["", "%", "1", "101%", "-1%", "1 percent", "0.00000001%", "99999999999999%", "1.2.3%"] {
            assert!(parse_percent(text).is_err(), "{text}");
        }
    }

    #[test]
    fn addresses() {
        assert_eq!(parse_address("10.3.0.1/24"), Ok(([10, 3, 0, 1].into(), 24)));
        assert!(parse_address("fd00::1/64").is_ok());
        assert!(parse_address("10.0.0.0/31").is_ok());
        for text in
            ["10.3.0.1", "10.3.0.0/24", "10.3.0.255/24", "224.0.0.1/24", "10.3.0.1/33", "10.3.0.1/0", "::/64", "x"]
        {
            assert!(parse_address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn hosts_of_a_subnet() {
        let home: IpAddr = [10, 3, 0, 77].into();
        assert_eq!(nth_host(home, 24, 2), Some([10, 3, 0, 2].into()));
        assert_eq!(nth_host(home, 24, 254), Some([10, 3, 0, 254].into()));
        assert_eq!(nth_host(home, 24, 255), None);
        assert_eq!(in_nth_subnet(home, 24, 3), Some([10, 3, 3, 77].into()));
        assert_eq!(in_nth_subnet([255, 255, 255, 1].into(), 24, 1), None);
        assert_eq!(in_nth_subnet("fd00::9".parse().unwrap(), 64, 1), "fd00:0:0:1::9".parse().ok());
        assert_eq!(nth_host("fd00::9".parse().unwrap(), 64, 2), Some("fd00::2".parse().unwrap()));
    }
}

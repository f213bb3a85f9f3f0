//! Names and numbers of the choices that are not numbers.

use std::fmt;
use std::str::FromStr;

use crate::choices::{AggrLayers, HashPolicy, PrimaryReselect};
use crate::error::ConfigError;
use crate::mode::{Mode, Traits};
use crate::values::{digits, one_of};

/// The names of all values of a choice, in the order of its `ALL`.
macro_rules! names {
    ($choice:ty) => {{
        const NAMES: [&str; <$choice>::ALL.len()] = {
            let mut names = [""; <$choice>::ALL.len()];
            let mut place = 0;
            while place < names.len() {
                names[place] = <$choice>::ALL[place].name();
                place += 1;
            }
            names
        };
        $crate::Values::Names(&NAMES)
    }};
}
pub(crate) use names;

/// A choice is printed by its name, and read from its name, its number or `default`.
macro_rules! choice {
    ($choice:ty, $option:literal) => {
        impl ::std::fmt::Display for $choice {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl ::std::str::FromStr for $choice {
            type Err = $crate::ConfigError;

            fn from_str(text: &str) -> Result<Self, $crate::ConfigError> {
                let known = Self::ALL.map(|choice| (choice, choice.name(), Some(choice.number())));
                $crate::names::named($option, text, &known)
            }
        }
    };
}
pub(crate) use choice;

choice!(PrimaryReselect, "primary_reselect");

impl HashPolicy {
    /// Every policy: the kernel's, the switches', illumos's.
    pub const ALL: [HashPolicy; 21] = {
        let [a, b, c, d, e, f, g] = AggrLayers::ALL;
        [
            HashPolicy::Layer2,
            HashPolicy::Layer23,
            HashPolicy::Layer34,
            HashPolicy::Encap23,
            HashPolicy::Encap34,
            HashPolicy::VlanSrcMac,
            HashPolicy::SrcMac,
            HashPolicy::DstMac,
            HashPolicy::SrcDstMac,
            HashPolicy::SrcDstIp,
            HashPolicy::SrcDstPort,
            HashPolicy::SrcIp,
            HashPolicy::DstIp,
            HashPolicy::SrcXorDstIp,
            HashPolicy::Aggr(a),
            HashPolicy::Aggr(b),
            HashPolicy::Aggr(c),
            HashPolicy::Aggr(d),
            HashPolicy::Aggr(e),
            HashPolicy::Aggr(f),
            HashPolicy::Aggr(g),
        ]
    };

    /// The kernel's name, dladm's, or ours where neither has such a policy.
    pub const fn name(self) -> &'static str {
        match self {
            HashPolicy::Layer2 => "layer2",
            HashPolicy::Layer23 => "layer2+3",
            HashPolicy::Layer34 => "layer3+4",
            HashPolicy::Encap23 => "encap2+3",
            HashPolicy::Encap34 => "encap3+4",
            HashPolicy::VlanSrcMac => "vlan+srcmac",
            HashPolicy::SrcMac => "src-mac",
            HashPolicy::DstMac => "dst-mac",
            HashPolicy::SrcDstMac => "src-dst-mac",
            HashPolicy::SrcDstIp => "src-dst-ip",
            HashPolicy::SrcDstPort => "src-dst-port",
            HashPolicy::SrcIp => "src-ip",
            HashPolicy::DstIp => "dst-ip",
            HashPolicy::SrcXorDstIp => "src-xor-dst-ip",
            HashPolicy::Aggr(layers) => layers.name(),
        }
    }

    /// The kernel's number; the others have none.
    pub const fn number(self) -> Option<u32> {
        match self {
            HashPolicy::Layer2 => Some(0),
            HashPolicy::Layer34 => Some(1),
            HashPolicy::Layer23 => Some(2),
            HashPolicy::Encap23 => Some(3),
            HashPolicy::Encap34 => Some(4),
            HashPolicy::VlanSrcMac => Some(5),
            HashPolicy::SrcMac
            | HashPolicy::DstMac
            | HashPolicy::SrcDstMac
            | HashPolicy::SrcDstIp
            | HashPolicy::SrcDstPort
            | HashPolicy::SrcIp
            | HashPolicy::DstIp
            | HashPolicy::SrcXorDstIp
            | HashPolicy::Aggr(_) => None,
        }
    }
}

impl AggrLayers {
    /// As `dladm show-aggr` prints it.
    pub const fn name(self) -> &'static str {
        match self.bits() {
            1 => "L2",
            2 => "L3",
            3 => "L2,L3",
            4 => "L4",
            5 => "L2,L4",
            6 => "L3,L4",
            _ => "L2,L3,L4",
        }
    }
}

impl PrimaryReselect {
    /// Every choice, by the kernel's number.
    pub const ALL: [PrimaryReselect; 3] = [PrimaryReselect::Always, PrimaryReselect::Better, PrimaryReselect::Failure];

    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            PrimaryReselect::Always => "always",
            PrimaryReselect::Better => "better",
            PrimaryReselect::Failure => "failure",
        }
    }

    /// The kernel's number.
    pub const fn number(self) -> u32 {
        match self {
            PrimaryReselect::Always => 0,
            PrimaryReselect::Better => 1,
            PrimaryReselect::Failure => 2,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for HashPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for AggrLayers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Mode {
    type Err = ConfigError;

    /// Besides the kernel's names and numbers takes those of Intel's teaming
    /// software (Advanced Network Services), in any case: `AFT` and `SFT` are
    /// active-backup (the latter with members at two switches), `ALB` and `RLB`
    /// balance-alb (ALB whose receive balancing is off is balance-tlb), `SLA` is
    /// balance-xor; `802.3ad` is the same in both.
    fn from_str(text: &str) -> Result<Mode, ConfigError> {
        let is_alias = |mode: &Mode| mode.traits().aliases.iter().any(|alias| alias.eq_ignore_ascii_case(text.trim()));
        if let Some(mode) = Mode::ALL.into_iter().find(is_alias) {
            return Ok(mode);
        }
        let known = Mode::ALL.map(|mode| (mode, mode.name(), mode.number()));
        named("mode", text, &known)
    }
}

impl FromStr for HashPolicy {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<HashPolicy, ConfigError> {
        if let Ok(layers) = text.parse() {
            return Ok(HashPolicy::Aggr(layers));
        }
        let known = HashPolicy::ALL.map(|policy| (policy, policy.name(), policy.number()));
        named("xmit_hash_policy", text, &known)
    }
}

impl FromStr for AggrLayers {
    type Err = ConfigError;

    /// As dladm takes it: in any order, in capitals or not, repeated or not.
    fn from_str(text: &str) -> Result<AggrLayers, ConfigError> {
        let one = |word: &str| match word {
            "l2" | "L2" => Some(AggrLayers::L2),
            "l3" | "L3" => Some(AggrLayers::L3),
            "l4" | "L4" => Some(AggrLayers::L4),
            _ => None,
        };
        let layers = text.trim().split(',').map(one).reduce(|all, next| Some(all?.and(next?)));
        layers.flatten().ok_or_else(|| ConfigError::BadValue {
            option: "xmit_hash_policy",
            value: text.to_owned(),
            expected: "L2, L3, L4 or several of them, with commas between".to_owned(),
        })
    }
}

/// The modes of which this is true, in words: where an option has an effect.
pub(crate) fn modes(is_true: impl Fn(&Traits) -> bool) -> String {
    let names: Vec<&str> =
        Mode::ALL.iter().map(|mode| mode.traits()).filter(|of| is_true(of)).map(|of| of.name).collect();
    match names.split_last() {
        Some((last, [])) => format!("mode {last}"),
        Some((last, others)) => format!("modes {} and {last}", others.join(", ")),
        None => "no mode".to_owned(),
    }
}

/// The value that this text names, by its name, its number or `default`.
pub(crate) fn named<T: Copy + Default>(
    option: &'static str,
    text: &str,
    known: &[(T, &'static str, Option<u32>)],
) -> Result<T, ConfigError> {
    let word = text.trim();
    if word == "default" {
        return Ok(T::default());
    }
    let wanted = digits(word);
    let found = known.iter().find(|&&(_, name, number)| name == word || number.is_some() && number == wanted);
    found.map(|&(value, ..)| value).ok_or_else(|| {
        let names = one_of(known.iter().map(|&(_, name, _)| name));
        ConfigError::BadValue { option, value: text.to_owned(), expected: names }
    })
}

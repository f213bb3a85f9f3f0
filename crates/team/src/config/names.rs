//! Names and numbers of the choices that are not numbers.

use std::fmt;
use std::str::FromStr;

use super::options::{digits, one_of};
use super::{AggrLayers, ConfigError, HashPolicy, Mode, PrimaryReselect};

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
pub(super) use names;

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
                $crate::config::names::named($option, text, &known)
            }
        }
    };
}
pub(super) use choice;

choice!(PrimaryReselect, "primary_reselect");

impl Mode {
    /// Every mode, by the kernel's number; stripe last.
    pub const ALL: [Mode; 8] = [
        Mode::BalanceRr,
        Mode::ActiveBackup,
        Mode::BalanceXor,
        Mode::Broadcast,
        Mode::Ad,
        Mode::BalanceTlb,
        Mode::BalanceAlb,
        Mode::Stripe,
    ];

    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::BalanceRr => "balance-rr",
            Mode::ActiveBackup => "active-backup",
            Mode::BalanceXor => "balance-xor",
            Mode::Broadcast => "broadcast",
            Mode::Ad => "802.3ad",
            Mode::BalanceTlb => "balance-tlb",
            Mode::BalanceAlb => "balance-alb",
            Mode::Stripe => "stripe",
        }
    }

    /// The kernel's number; stripe has none.
    pub const fn number(self) -> Option<u32> {
        match self {
            Mode::BalanceRr => Some(0),
            Mode::ActiveBackup => Some(1),
            Mode::BalanceXor => Some(2),
            Mode::Broadcast => Some(3),
            Mode::Ad => Some(4),
            Mode::BalanceTlb => Some(5),
            Mode::BalanceAlb => Some(6),
            Mode::Stripe => None,
        }
    }

    /// Whether `xmit_hash_policy` has an effect in it. (In balance-alb it has
    /// one without `tlb_dynamic_lb` alone.)
    pub const fn hashes(self) -> bool {
        matches!(self, Mode::BalanceXor | Mode::Ad | Mode::BalanceTlb)
    }

    /// Whether one member is the active one, which `primary` may name (the
    /// kernel's `bond_mode_uses_primary`).
    pub const fn uses_primary(self) -> bool {
        matches!(self, Mode::ActiveBackup | Mode::BalanceTlb | Mode::BalanceAlb | Mode::Stripe)
    }

    /// Whether members send with addresses of their own: balance-tlb and
    /// balance-alb (the kernel's `bond_is_lb`), and stripe.
    pub const fn balances_load(self) -> bool {
        matches!(self, Mode::BalanceTlb | Mode::BalanceAlb | Mode::Stripe)
    }

    /// Whether members also receive by addresses of their own, one of which
    /// each neighbour is told: balance-alb and stripe.
    pub const fn balances_receiving(self) -> bool {
        matches!(self, Mode::BalanceAlb | Mode::Stripe)
    }
}

impl HashPolicy {
    /// Every policy: the kernel's, the switches', illumos's.
    pub const ALL: [HashPolicy; 18] = {
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
        const INTEL: [(&str, Mode); 5] = [
            ("AFT", Mode::ActiveBackup),
            ("SFT", Mode::ActiveBackup),
            ("ALB", Mode::BalanceAlb),
            ("RLB", Mode::BalanceAlb),
            ("SLA", Mode::BalanceXor),
        ];
        if let Some((_, mode)) = INTEL.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim())) {
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

/// The value that this text names, by its name, its number or `default`.
pub(super) fn named<T: Copy + Default>(
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

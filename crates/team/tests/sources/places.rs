//! A mode's places: the files that name one. All others ask for its traits, so that a mode is added without them.

use nicteam_team::Mode;

use super::tree::{below, project};

/// The files that name a mode, by its variant or its name, and why.
const PLACES: &[(&str, &str)] = &[
    ("crates/chaos/src/judge.rs", "copies belong to a mode"),
    ("crates/chaos/src/promise.rs", "what each mode promises"),
    ("crates/cli/src/advise.rs", "a mode that no switch's settings match"),
    ("crates/cures/src/candidates.rs", "causes that have a mode's name, and the modes that cure them"),
    ("crates/cures/src/find.rs", "the mode that is named beside a cure"),
    ("crates/cures/src/missing.rs", "causes that have a mode's name"),
    ("crates/cures/src/scene.rs", "a switch's group is a team of these modes"),
    ("crates/drafts/src/draft.rs", "what NetworkManager's `balance-slb` is"),
    ("crates/drafts/src/route.rs", "a type of routes that is a mode's name, too"),
    ("crates/expect/src/causes.rs", "causes that have a mode's name"),
    ("crates/experiment/src/catalog.rs", "the shipped experiment of that name"),
    ("crates/experiment/src/changed.rs", "a switch's group is a team of these modes"),
    ("crates/elements/src/engine/able.rs", "a switch's group is a team of these modes"),
    ("crates/elements/src/engine/ovs.rs", "what Open vSwitch calls the modes that it has"),
    ("crates/explain/src/rules/active_backup.rs", "the name of its cause"),
    ("crates/findings/src/hop.rs", "prose about a mode"),
    ("crates/findings/src/rules/active_backup.rs", "the name of its cause"),
    ("crates/findings/src/rules/broadcast.rs", "a rule about a mode"),
    ("crates/findings/src/rules/load_balancing.rs", "a rule about two modes"),
    ("crates/findings/src/rules/not_aggregating.rs", "a rule about a mode"),
    ("crates/findings/src/rules/one_sided.rs", "a rule about a mode"),
    ("crates/findings/src/rules/peer_does_not_stripe.rs", "a rule about a mode"),
    ("crates/formats/src/freebsd.rs", "what lagg's protocols are"),
    ("crates/formats/src/ifupdown/addresses.rs", "a word of ifupdown that is a mode's name, too"),
    ("crates/options/src/mode.rs", "the table"),
    ("crates/oracle/src/bench.rs", "measures the kernel's 802.3ad"),
    ("crates/predict/src/advise.rs", "every mode ranked, with what is said of it"),
    ("crates/scripts/src/dladm.rs", "what an aggregation is, with LACP and without"),
    ("crates/scripts/src/ifconfig.rs", "a word of ifconfig that is a mode's name, too"),
    ("crates/scripts/src/iproute2/address.rs", "a word of `ip address` that is a mode's name, too"),
    ("crates/scripts/src/iproute2/link.rs", "the same of `ip link`"),
    ("crates/course/src/outside.rs", "the mode of the team that a guest has"),
    ("crates/scripts/src/vyos.rs", "what VyOS calls the modes, and its own one"),
    ("crates/serve/src/prediction.rs", "the mode of its template"),
    ("crates/status/src/show/openvswitch/bond_show.rs", "a word of `bond/show`"),
    ("crates/status/src/show/openvswitch/tests.rs", "tests of what Open vSwitch's commands print"),
    ("crates/status/src/show/words.rs", "a test of what 802.3ad prints"),
    ("crates/vsctl/src/apply.rs", "the mode of a new bond in Open vSwitch"),
    ("crates/vsctl/src/bond.rs", "the same, of a bond whose mode is unset"),
    ("crates/vsctl/src/schema.rs", "what Open vSwitch calls its modes"),
];

#[test]
fn a_mode_is_named_where_it_is_said_here_and_nowhere_else() {
    let sources = below(&project().join("crates"));
    let named: Vec<&str> = sources
        .iter()
        .filter(|source| source.path.split('/').nth(1) == Some("src") && names_a_mode(&source.code))
        .map(|source| source.path.as_str())
        .collect();
    let listed = |path: &str| PLACES.iter().any(|(place, _)| place.strip_prefix("crates/") == Some(path));
    let more: Vec<&&str> = named.iter().filter(|path| !listed(path)).collect();
    assert!(more.is_empty(), "these name a mode; ask for a trait of its instead, or say why not: {more:#?}");
    let fewer: Vec<&str> = PLACES.iter().map(|(place, _)| *place).collect();
    let fewer: Vec<&&str> = fewer.iter().filter(|place| !named.contains(&&place["crates/".len()..])).collect();
    assert!(fewer.is_empty(), "these name no mode any more: {fewer:#?}");
}

#[test]
fn a_line_of_the_table_agrees_with_itself() {
    for (place, mode) in Mode::ALL.into_iter().enumerate() {
        use nicteam_team::mode::{Addresses, Agrees, Receives, Sends};

        let of = mode.traits();
        assert_eq!(of.mode, mode);
        assert_eq!(of.name.parse(), Ok(mode));
        assert!(of.number.is_none_or(|number| number as usize == place), "{mode}");
        assert!(of.aliases.iter().all(|alias| alias.to_lowercase().parse() == Ok(mode)), "{mode}");
        let needs_active =
            of.sends == Sends::ByActive || of.receives != Receives::ByAll || of.addresses != Addresses::Team;
        assert!(of.has_active || !needs_active, "{mode}");
        assert!(!of.balances_receiving() || of.addresses == Addresses::Own, "{mode}");
        assert!(!of.stripes() || of.balances_receiving(), "{mode}");
        assert!(!of.is_static || !of.has_own_addresses() && of.agrees != Agrees::Always, "{mode}");
        assert!(!of.needs_miimon || !of.uses_arp, "{mode}");
        assert!(!of.bonds_by_buckets() || of.openvswitch, "{mode}");
        assert_eq!(of.agrees == Agrees::ByOption, of.openvswitch, "{mode}");
    }
}

/// A variant (`Mode::Stripe`) or a name as a text (`"stripe"`).
fn names_a_mode(code: &str) -> bool {
    Mode::ALL.into_iter().any(|mode| {
        let variant = format!("Mode::{mode:?}");
        let is_variant = |at: usize| {
            let before = code[..at].chars().next_back();
            let after = code[at + variant.len()..].chars().next();
            ![before, after].into_iter().flatten().any(|other| other.is_alphanumeric() || other == '_')
        };
        code.contains(&format!("\"{}\"", mode.name())) || code.match_indices(&variant).any(|(at, _)| is_variant(at))
    })
}

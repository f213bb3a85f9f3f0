//! `ip link` (iproute2 6.1, ip/iplink.c, ip/iplink_bond.c, ip/iplink_bond_slave.c).

use nicteam_diagnostics::{Problem, list, nearest};
use nicteam_drafts::names::{host_mac, mtu};
use nicteam_syntax::At;
use nicteam_syntax::shell::{Command, Word, argument};

use super::script::Script;
use super::words::abbreviated;

/// In the order in which `ip link` compares.
const COMMANDS: &[&str] =
    &["add", "set", "change", "replace", "delete", "show", "lst", "list", "xstats", "afstats", "property", "help"];

/// Options of `type bond`, in the order in which they are compared, with the kernel's names.
pub(super) const BOND: &[(&str, &str)] = &[
    ("mode", "mode"),
    ("active_slave", "active_slave"),
    ("clear_active_slave", ""),
    ("miimon", "miimon"),
    ("updelay", "updelay"),
    ("downdelay", "downdelay"),
    ("peer_notify_delay", "peer_notif_delay"),
    ("use_carrier", "use_carrier"),
    ("arp_interval", "arp_interval"),
    ("arp_ip_target", "arp_ip_target"),
    ("ns_ip6_target", "ns_ip6_target"),
    ("arp_validate", "arp_validate"),
    ("arp_all_targets", "arp_all_targets"),
    ("primary", "primary"),
    ("primary_reselect", "primary_reselect"),
    ("fail_over_mac", "fail_over_mac"),
    ("xmit_hash_policy", "xmit_hash_policy"),
    ("resend_igmp", "resend_igmp"),
    ("num_grat_arp", "num_grat_arp"),
    ("num_unsol_na", "num_unsol_na"),
    ("all_slaves_active", "all_slaves_active"),
    ("min_links", "min_links"),
    ("lp_interval", "lp_interval"),
    ("packets_per_slave", "packets_per_slave"),
    ("lacp_rate", "lacp_rate"),
    ("lacp_active", "lacp_active"),
    ("coupled_control", "coupled_control"),
    ("broadcast_neighbor", "broadcast_neighbor"),
    ("ad_select", "ad_select"),
    ("ad_user_port_key", "ad_user_port_key"),
    ("ad_actor_sys_prio", "ad_actor_sys_prio"),
    ("ad_actor_system", "ad_actor_system"),
    ("tlb_dynamic_lb", "tlb_dynamic_lb"),
    ("missed_max", "arp_missed_max"),
    ("arp_missed_max", "arp_missed_max"),
];

/// Words of `ip link add` and `set` with one argument that a team has no use for, or that the team does by itself.
const WITH_ARGUMENT: &[&str] = &[
    "index",
    "txqueuelen",
    "txqlen",
    "qlen",
    "numtxqueues",
    "numrxqueues",
    "arp",
    "multicast",
    "allmulticast",
    "promisc",
    "trailers",
    "dynamic",
    "group",
    "alias",
    "netns",
    "broadcast",
    "brd",
    "gso_max_size",
    "gso_max_segs",
    "addrgenmode",
    "protodown",
    "carrier",
    "state",
    "mode",
    "link-netns",
    "vrf",
    "xdp",
];

/// What a line of `ip link` does with a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Add,
    Set,
    Delete,
}

/// An `ip link` line that is about a device.
struct Line<'a> {
    /// Place of its text among the sources.
    source: usize,
    command: &'a Command,
    /// The whole of it.
    spot: &'a At,
    device: &'a Word,
    said: Said<'a>,
}

/// What it says of the device.
#[derive(Default)]
pub struct Said<'a> {
    pub device: Option<&'a Word>,
    /// What it is on: a VLAN's lower device.
    pub link: Option<&'a Word>,
    pub renamed: Option<&'a Word>,
    pub master: Option<&'a Word>,
    pub is_freed: bool,
    pub mtu: Option<&'a Word>,
    pub address: Option<&'a Word>,
    pub kind: Option<&'a Word>,
    /// What stands behind the kind.
    pub of_kind: &'a [Word],
    /// Words that are not taken over, with their arguments.
    pub others: Vec<String>,
}

/// What the words behind `ip link` say; `None` where they change nothing.
///
/// # Errors
/// The first word that makes no sense.
pub fn parse(words: &[Word]) -> Result<Option<(Verb, Said<'_>)>, Problem> {
    let Some((verb, rest)) = words.split_first() else { return Ok(None) };
    match abbreviated(&verb.text, COMMANDS) {
        Some("add") => Ok(Some((Verb::Add, said(rest)?))),
        Some("set" | "change" | "replace") => Ok(Some((Verb::Set, said(rest)?))),
        // Whatever else it says, the device is gone.
        Some("delete") => Ok(Some((Verb::Delete, said(rest).unwrap_or_default()))),
        Some(_) => Ok(None),
        None => {
            let problem = Problem::at(&verb.span, format!("`ip link` has no command `{}`", verb.text));
            Err(problem.hint("`ip link add` and `ip link set` are read"))
        }
    }
}

pub(super) fn read(
    script: &mut Script<'_>,
    source: usize,
    words: &[Word],
    command: &Command,
    spot: &At,
) -> Result<(), Problem> {
    let Some((verb, said)) = parse(words)? else { return Ok(()) };
    if verb == Verb::Delete {
        script.maybe(command, spot, "it takes a device away: `nicteam down` does that");
        return Ok(());
    }
    let Some(device) = said.device else {
        return Err(Problem::at(&spot.span(), "no device is named")
            .hint("`ip link add NAME type bond`, `ip link set dev NAME ...`"));
    };
    let line = Line { source, command, spot, device, said };
    if verb == Verb::Add { line.add(script) } else { line.set(script) }
}

fn said(words: &[Word]) -> Result<Said<'_>, Problem> {
    let mut said = Said::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "dev" => said.device = Some(argument(word, &mut rest)?),
            "name" if said.device.is_some() => said.renamed = Some(argument(word, &mut rest)?),
            "name" => said.device = Some(argument(word, &mut rest)?),
            "master" | "vrf" if word.text == "master" => said.master = Some(argument(word, &mut rest)?),
            "nomaster" => said.is_freed = true,
            "mtu" => said.mtu = Some(argument(word, &mut rest)?),
            "up" | "down" => {}
            "link" => said.link = Some(argument(word, &mut rest)?),
            "type" => {
                said.kind = Some(argument(word, &mut rest)?);
                said.of_kind = rest.as_slice();
                break;
            }
            text if text.len() > 1 && "address".starts_with(text) => said.address = Some(argument(word, &mut rest)?),
            text if WITH_ARGUMENT.contains(&text) => {
                said.others.push(format!("{text} {}", argument(word, &mut rest)?.text));
            }
            _ if said.device.is_none() => said.device = Some(word),
            text => {
                let problem = Problem::at(&word.span, format!("`{text}` is no word of `ip link`"));
                return Err(problem.hint("the device's name stands once; options of a bond follow `type bond`"));
            }
        }
    }
    Ok(said)
}

impl Line<'_> {
    fn at(&self, word: &Word) -> At {
        At::new(self.source, word.span.clone())
    }

    fn add(&self, script: &mut Script<'_>) -> Result<(), Problem> {
        // As iproute2 5 and later: a kind may be cut short in no way.
        if self.said.kind.is_none_or(|kind| kind.text != "bond") {
            let team = self.said.link.and_then(|link| script.teams.find(&link.text));
            let lower = team.map(|team| script.teams.drafts[team].name.clone());
            let on = lower.as_ref().filter(|lower| self.said.link.is_some_and(|link| link.text != **lower));
            let on = on.map(|lower| format!(" (`link {lower}`)")).unwrap_or_default();
            let why =
                format!("it makes a device that is no bond: carry the command out yourself once the team is up{on}");
            script.maybe(self.command, self.spot, why);
            if let Some(team) = team {
                let name = &self.device.text;
                let why = format!("{name} sits on the team as it sat on the bond: keep this line");
                script.teams.alias(name, team, Some(why));
            }
            return Ok(());
        }
        let team = script.team(&self.device.text, &self.at(self.device));
        self.of_team(script, team)
    }

    fn set(&self, script: &mut Script<'_>) -> Result<(), Problem> {
        let (said, device) = (&self.said, self.device);
        if let Some(master) = said.master {
            let Some(team) = script.teams.find(&master.text) else {
                if script.teams.find(&device.text).is_some() {
                    let why = format!("it puts the bond into {}: do the same with the team once it is up", master.text);
                    script.maybe(self.command, self.spot, why);
                    return Ok(());
                }
                let why = "it puts a device under a master that no line ahead of it makes a bond";
                script.maybe(self.command, self.spot, why);
                script.without_master.push((master.text.clone(), self.spot.clone()));
                return Ok(());
            };
            script.teams.add_member(team, &device.text, &self.at(device));
            return self.of_member(script, team);
        }
        if let Some(team) = script.teams.find(&device.text) {
            return self.of_team(script, team);
        }
        match script.teams.team_of(&device.text) {
            Some(team) => self.of_member(script, team),
            // It is up before it joins, or nobody's business.
            None if said.mtu.is_none() && said.address.is_none() && said.kind.is_none() && said.renamed.is_none() => {
                Ok(())
            }
            None => {
                let why = "it sets something of a device before that is a member; a team does not";
                script.maybe(self.command, self.spot, why);
                Ok(())
            }
        }
    }

    /// What is said of a bond.
    fn of_team(&self, script: &mut Script<'_>, team: usize) -> Result<(), Problem> {
        let said = &self.said;
        let name = script.teams.drafts[team].name.clone();
        if let Some(word) = said.mtu {
            match mtu(&word.text) {
                Ok(mtu) => script.teams.drafts[team].mtu = Some(mtu),
                Err(wrong) => script.teams.wrong(&self.at(word), wrong),
            }
        }
        if let Some(word) = said.address {
            match host_mac(&word.text) {
                Ok(mac) => script.teams.drafts[team].mac = Some(mac),
                Err(wrong) => script.teams.wrong(&self.at(word), wrong),
            }
        }
        if let Some(to) = said.renamed {
            script.teams.rename(team, &to.text, &self.at(to));
        }
        if said.is_freed || !said.others.is_empty() {
            let others = said.others.join("`, `");
            let why = format!("`{others}` is nothing that a team has: carry it out yourself once the team is up");
            script.teams.left(self.spot, why, Some(&name));
        }
        for option in bond_options(said.of_kind) {
            let (option, value) = option?;
            script.teams.set(team, option, &value.text, &self.at(value));
        }
        Ok(())
    }

    /// What is said of a member.
    fn of_member(&self, script: &mut Script<'_>, team: usize) -> Result<(), Problem> {
        let (said, device) = (&self.said, self.device);
        let name = script.teams.drafts[team].name.clone();
        if said.is_freed {
            script.teams.remove_member(team, &device.text);
        }
        if said.mtu.is_some() || said.address.is_some() || said.renamed.is_some() || !said.others.is_empty() {
            let why = "a team sets its members' address and MTU itself, and nothing else of them";
            script.teams.left(self.spot, why, Some(&name));
        }
        let mut rest = said.of_kind.iter();
        while let Some(word) = rest.next() {
            let option = abbreviated(&word.text, &["queue_id", "prio", "actor_port_prio"]);
            let Some(option) = option else {
                let problem = Problem::at(&word.span, format!("`{}` is no option of `type bond_slave`", word.text));
                return Err(problem.hint("they are `queue_id` and `prio`"));
            };
            let value = argument(word, &mut rest)?;
            let of = format!("{}:{}", device.text, value.text);
            script.teams.append(team, option, &of, &self.at(value));
        }
        Ok(())
    }
}

/// The options behind `type bond` by the kernel's names, each with its value, up to the first that makes no sense.
pub fn bond_options(words: &[Word]) -> impl Iterator<Item = Result<(&'static str, &Word), Problem>> {
    let mut rest = words.iter();
    let next = move || {
        loop {
            let word = rest.next()?;
            match known_option(word) {
                Ok(("clear_active_slave", _)) => {}
                Ok((_, option)) => return Some(argument(word, &mut rest).map(|value| (option, value))),
                Err(problem) => return Some(Err(problem)),
            }
        }
    };
    std::iter::from_fn(next)
}

/// The option of `type bond` that a word means, and the kernel's name of it; or an error with the one that may be meant.
fn known_option(word: &Word) -> Result<(&'static str, &'static str), Problem> {
    let names = BOND.iter().map(|(name, _)| *name);
    let known = abbreviated(&word.text, &names.clone().collect::<Vec<_>>());
    if let Some(option) = BOND.iter().copied().find(|(name, _)| Some(*name) == known) {
        return Ok(option);
    }
    let problem = Problem::at(&word.span, format!("`{}` is no option of `type bond`", word.text));
    Err(match nearest(&word.text, names.clone()) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint(format!("they are {}", list(names))),
    })
}

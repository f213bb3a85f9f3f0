//! stripe towards a host that does not, one-sided: why not by all members.

use nicteam_record::{Finding, PlainMember, Side};
use nicteam_team::Mode;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::hop::{Choice, Hop};
use crate::limits::Limit;
use crate::units::hosts;
use crate::{one_sided, words};

/// Full and not full members of a team that sends to hosts which do not stripe.
pub(super) struct OneSided;

#[derive(Serialize, Deserialize)]
struct Details {
    /// The hosts that do not stripe.
    peers: Vec<String>,
    /// The most members that were used towards one of them.
    width: u32,
    /// Members of the team.
    members: u32,
    /// Why not more.
    why: Why,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Why {
    /// One-sided striping is off.
    Off,
    /// Datagrams stay on one member.
    Datagrams,
    /// Members are left: their names, each with the reason.
    Left(Vec<(String, String)>),
    /// The hosts' own links carry no more than the members that are used.
    Port,
    /// More members were tried and nothing gained.
    Held,
    /// It is not known.
    Unknown,
}

impl Rule for OneSided {
    fn cause(&self) -> &'static str {
        "one-sided"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let run = limit.picture.run;
        let some = |hop: &&&Hop<'_>| {
            let by = limit.chooser(hop).by;
            hop.side == Side::Sending && by == Choice::Mode(Mode::Stripe) && hop.some_full() && !hop.all_full()
        };
        let hop = limit.hops.iter().find(some)?;
        let device = hop.team?.device;
        let team = run.topology.teams.iter().find(|team| team.node == hop.node && team.device == device)?;
        // Older records have no such option.
        let kind = team.options.get("stripe_plain")?;
        let known = one_sided::of(run, hop.node);
        let hosts: Vec<_> =
            limit.connections().filter_map(|connection| one_sided::towards(run, known?, connection)).collect();
        let left = || known.into_iter().flat_map(one_sided::left);
        let why = match kind.as_str() {
            "off" => Why::Off,
            "tcp" if limit.connections().all(|connection| connection.datagrams.is_some()) => Why::Datagrams,
            _ if left().next().is_some() => {
                let why = |it: &PlainMember| it.why.clone().unwrap_or_else(|| format!("it is {}", it.state));
                Why::Left(left().map(|it| (it.member.clone(), why(it))).collect())
            }
            _ if hosts
                .iter()
                .any(|host| known.is_some_and(|known| !one_sided::is_bounded_by_port(run, known, host))) =>
            {
                if hosts.iter().any(|host| host.held_ms > 0) { Why::Held } else { Why::Unknown }
            }
            _ if hosts.is_empty() => return None,
            _ => Why::Port,
        };
        let mut peers: Vec<String> = Vec::new();
        for connection in limit.connections() {
            if !peers.contains(&connection.to) {
                peers.push(connection.to.clone());
            }
        }
        let width = hosts.iter().map(|host| host.width).max().unwrap_or(1);
        let finding = Finding {
            side: hop.side,
            node: Some(hop.node.to_owned()),
            policy: Some(limit.chooser(hop).by.words().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&Details { peers, width, members: hop.links.len() as u32, why }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { peers, width, members, why } = finding.details()?;
        let (side, node, hop) = (words::side(finding), words::node(finding), finding.hops.first()?);
        let (does, each) = if peers.len() == 1 { ("does", "it") } else { ("do", "each") };
        let (peer_count, peers) = (peers.len(), hosts(&peers));
        let by = format!("{node} sends to {peers} by {width} of {members} members (mode stripe, one-sided)");
        let how = match why {
            Why::Off => format!(
                "{peers} {does} not stripe and one-sided striping is off (`stripe_plain=off`), so {node} sends to {each} by one member"
            ),
            Why::Datagrams => {
                format!(
                    "{peers} {does} not stripe, and {node} sends datagrams to {each} by one member (`stripe_plain=tcp`)"
                )
            }
            Why::Left(left) => {
                let left: Vec<String> = left.iter().map(|(name, why)| format!("{name} is left, {why}")).collect();
                format!("{by}; {}", left.join("; "))
            }
            Why::Port if peer_count == 1 => format!("{by}, and its own link carries no more"),
            Why::Port => format!("{by}, and their own links carry no more"),
            Why::Held => format!("{by}; more were tried and gained nothing"),
            Why::Unknown => by,
        };
        Some(format!("{side}: {how}: the busiest was full, the least used at {}.", words::least(hop)))
    }
}

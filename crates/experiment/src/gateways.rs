//! Gateways: hosts that forward between their links, each of which leads into a subnet of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use nicteam_diagnostics::{Problem, list, nearest};

use crate::addresses::{self, Addressed};
use crate::guests::{self, Guest};
use crate::segments::Segments;
use crate::units::{in_nth_subnet, nth_host, subnet};
use nicteam_elements::multipath::Every;
use nicteam_elements::pattern::Pair;
use nicteam_elements::record::{At, Record};
use nicteam_elements::resolved::{Cable, Further, Route, Topology};

/// An address with its prefix length.
type Network = (IpAddr, u8);
/// A host and what the file says of it.
type Named<'a> = (&'a At<String>, Record);

/// Whether a host forwards, or was meant to.
pub(crate) fn is_one(record: &Record) -> bool {
    record.get::<bool>("forward").is_some_and(|forward| forward.value) || record.is_broken("forward")
}

/// What hosts have by the subnets that they are in.
pub(crate) struct Assigned {
    /// Of every host, and behind them of every guest.
    pub hosts: Vec<Addressed>,
    /// Of gateways, by name: their links beside the first.
    pub further: BTreeMap<String, Vec<Further>>,
    /// Of hosts, gateways and guests, by name: how they reach other subnets.
    pub routes: BTreeMap<String, Vec<Route>>,
}

/// Gives everybody an address in the subnet of its segment, and the routes to the others.
pub(crate) fn assign(
    hosts: &[Named<'_>],
    guests: &[Guest],
    cables: &[Cable],
    multipath: impl Fn(&str) -> Option<Every>,
    problems: &mut Vec<Problem>,
) -> Assigned {
    let names = hosts.iter().filter(|(_, record)| is_one(record)).map(|(name, _)| name.value.as_str());
    let segments = Segments::of(cables, names.collect());
    hosts.iter().for_each(|(name, record)| problems.extend(check(name, record, &segments, multipath(&name.value))));
    let homes = homes(hosts, &segments, problems);
    let home_at = |segment: Option<usize>| segment.and_then(|segment| homes.get(&segment)).copied();
    let mut slots = addresses::slots(hosts, guests);
    for (slot, name) in slots.iter_mut().zip(owners(hosts, guests)) {
        slot.home = home_at(segments.of_host(name)).unwrap_or(slot.home);
    }
    let mut links: Vec<(&str, String)> = Vec::new();
    for (place, (name, record)) in hosts.iter().enumerate().filter(|(_, (_, record))| is_one(record)) {
        let given = record.get::<&[At<Network>]>("addresses").map_or(&[][..], |at| at.value);
        for (number, (end, segment)) in segments.ends(&name.value).enumerate().skip(1) {
            let home = home_at(Some(segment)).unwrap_or(slots[place].home);
            slots.push(addresses::Slot {
                home,
                link: number as u8,
                ip: given.get(number).cloned(),
                mac: None,
                ..slots[place].clone()
            });
            links.push((&name.value, end.device.clone()));
        }
    }
    let mut assigned = addresses::assign(&slots, problems);
    let of_links = assigned.split_off(hosts.len() + guests.len());
    let mut further: BTreeMap<String, Vec<Further>> = BTreeMap::new();
    for ((name, device), (address, prefix, mac)) in links.into_iter().zip(of_links) {
        further.entry(name.to_owned()).or_default().push(Further { device, address, prefix, mac: Some(mac) });
    }
    let routes = routes(hosts, guests, &segments, (&assigned, &further), problems);
    Assigned { hosts: assigned, further, routes }
}

/// The host with the links by which each host and each guest is reached.
fn owners<'a>(hosts: &'a [Named<'_>], guests: &'a [Guest]) -> impl Iterator<Item = &'a str> {
    hosts.iter().map(|(name, _)| name.value.as_str()).chain(guests.iter().map(|guest| guest.parent.as_str()))
}

/// What is wrong with a host as a gateway, or with its words about gateways.
fn check(name: &At<String>, record: &Record, segments: &Segments<'_>, multipath: Option<Every>) -> Option<Problem> {
    let host = &name.value;
    let addresses = record.get::<&[At<Network>]>("addresses");
    let Some(forward) = record.get::<bool>("forward").filter(|forward| forward.value) else {
        let span = addresses.filter(|_| !record.is_broken("forward"))?.span;
        let problem = Problem::at(&span, format!("host `{host}` has `addresses` and does not forward"));
        return Some(problem.hint("a host has one `address`; a gateway (`forward = true`) has one a link"));
    };
    let links: Vec<usize> = segments.ends(host).map(|(_, segment)| segment).collect();
    let refuse = |message: String, hint: &str| Some(Problem::at(&forward.span, message).hint(hint));
    match () {
        () if record.has("team") => refuse(
            format!("host `{host}` forwards and has a team"),
            "a gateway has bare links, each into a subnet of its own: leave `team` or `forward` out",
        ),
        () if guests::has_some(record) => {
            refuse(format!("host `{host}` forwards and has guests"), "give the guests to a host that does not forward")
        }
        () if multipath.is_some() => {
            let every = multipath.map_or("", Every::key);
            refuse(
                format!("host `{host}` forwards, and a workload from or to it has {every}"),
                "take hosts of its own for that workload",
            )
        }
        () if links.len() == 1 => refuse(
            format!("host `{host}` forwards and has one link"),
            "a gateway is between subnets: give it a link into each",
        ),
        () if links.iter().collect::<BTreeSet<_>>().len() < links.len() => refuse(
            format!("two links of gateway `{host}` lead to the same hosts"),
            "each link of a gateway leads into a subnet of its own: leave one link out, or put another switch there",
        ),
        () if addresses.is_some() && record.has("address") => refuse(
            format!("gateway `{host}` has `address` and `addresses`"),
            "`addresses` has that of its first link, too: leave `address` out",
        ),
        () => {
            let addresses = addresses.filter(|at| !links.is_empty() && at.value.len() != links.len())?;
            let (number, links) = (addresses.value.len(), links.len());
            let message = format!("gateway `{host}` has {number} `addresses` and {links} links");
            Some(Problem::at(&addresses.span, message).hint("one a link, in the order of the links in the file"))
        }
    }
}

/// An address in the subnet of each segment that gateways have links into.
fn homes(hosts: &[Named<'_>], segments: &Segments<'_>, problems: &mut Vec<Problem>) -> BTreeMap<usize, Network> {
    let home = addresses::home(hosts, &[]);
    let mut homes: BTreeMap<usize, Network> = BTreeMap::new();
    for (name, record) in hosts {
        let given = addresses::given(record);
        for ((_, segment), at) in segments.ends(&name.value).zip(given) {
            if segments.has_gateway(segment) {
                homes.entry(segment).or_insert(at.value);
            }
        }
    }
    let mut taken: BTreeSet<_> = homes.values().map(|(address, prefix)| subnet(*address, *prefix)).collect();
    let mut number = 0;
    // Hosts first, so that the position of gateways in the file changes no host's subnet.
    for (name, _) in hosts.iter().filter(|(_, it)| !is_one(it)).chain(hosts.iter().filter(|(_, it)| is_one(it))) {
        for (_, segment) in segments.ends(&name.value) {
            if homes.contains_key(&segment) || !segments.has_gateway(segment) {
                continue;
            }
            let next = (number..number + 1024).find_map(|n| {
                let address = in_nth_subnet(home.0, home.1, n)?;
                (!taken.contains(&subnet(address, home.1))).then_some((n, address))
            });
            let Some((n, address)) = next else {
                let message = format!("no subnet left for the links of host `{}`", name.value);
                problems.push(Problem::at(&name.span, message).hint("give the hosts there an `address` each"));
                continue;
            };
            number = n + 1;
            taken.insert(subnet(address, home.1));
            homes.insert(segment, (address, home.1));
        }
    }
    homes
}

/// How everybody reaches the subnets behind gateways.
fn routes(
    hosts: &[Named<'_>],
    guests: &[Guest],
    segments: &Segments<'_>,
    (assigned, further): (&[Addressed], &BTreeMap<String, Vec<Further>>),
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, Vec<Route>> {
    // Where gateways have which address: segment, gateway, address.
    let mut at: Vec<(usize, &str, Network)> = Vec::new();
    for ((name, _), (address, prefix, _)) in hosts.iter().zip(assigned).filter(|((_, it), _)| is_one(it)) {
        let further = further.get(&name.value).into_iter().flatten().map(|link| (link.address, link.prefix));
        let addresses = std::iter::once((*address, *prefix)).chain(further);
        at.extend(segments.ends(&name.value).zip(addresses).map(|((_, segment), own)| (segment, &*name.value, own)));
    }
    problems.extend(hosts.iter().find_map(|(name, _)| in_one_subnet(name, &at)));
    let given: BTreeMap<&str, At<&str>> =
        hosts.iter().filter_map(|(name, it)| Some((&*name.value, chosen(it)?))).collect();
    let mut routes = BTreeMap::new();
    let all = hosts.iter().map(|(name, _)| &name.value).chain(guests.iter().map(|guest| &guest.name.value));
    for (name, owner) in all.zip(owners(hosts, guests)) {
        let own: Vec<usize> = segments.ends(owner).map(|(_, segment)| segment).collect();
        let refused = given.get(owner).and_then(|chosen| check_chosen(owner, chosen, &own, segments, hosts));
        let chosen = given.get(owner).filter(|_| refused.is_none());
        problems.extend(refused.filter(|_| name == owner));
        let mut of_host: Vec<Route> = Vec::new();
        for (there, (first, here)) in segments.beyond(&own) {
            let first = chosen.map_or(first, |at| at.value);
            let Some((_, _, (via, _))) = at.iter().find(|(segment, name, _)| (*segment, *name) == (here, first)) else {
                continue;
            };
            for (_, _, (address, prefix)) in at.iter().filter(|(segment, ..)| *segment == there) {
                let route =
                    Route { to: nth_host(*address, *prefix, 0).unwrap_or(*address), prefix: *prefix, via: *via };
                if !of_host.contains(&route) {
                    of_host.push(route);
                }
            }
        }
        of_host.sort_unstable_by_key(|route| (route.to, route.prefix));
        routes.insert(name.clone(), of_host);
    }
    routes
}

/// What is wrong with a gateway's address that is in the subnet of another segment.
fn in_one_subnet(name: &At<String>, at: &[(usize, &str, Network)]) -> Option<Problem> {
    let own = at.iter().filter(|(_, gateway, _)| *gateway == name.value);
    own.flat_map(|end| at.iter().map(move |other| (end, other))).find_map(
        |((segment, _, own), (other, gateway, theirs))| {
            let prefix = own.1.min(theirs.1);
            if segment == other || subnet(own.0, prefix) != subnet(theirs.0, prefix) {
                return None;
            }
            let ((own, prefix), (theirs, other)) = (own, theirs);
            let whose = if *gateway == name.value { "another link of it" } else { &format!("gateway `{gateway}`") };
            let message = format!("gateway `{}` has {own}/{prefix}, and {whose} {theirs}/{other}", name.value);
            Some(
                Problem::at(&name.span, message)
                    .hint("each segment has a subnet of its own: leave addresses out, or give others"),
            )
        },
    )
}

/// The gateway that a host names.
fn chosen(record: &Record) -> Option<At<&str>> {
    let names = record.get::<&[At<String>]>("gateway")?;
    names.value.first().map(|name| At { value: name.value.as_str(), span: name.span.clone() })
}

/// What is wrong with it.
fn check_chosen(
    host: &str,
    chosen: &At<&str>,
    own: &[usize],
    segments: &Segments<'_>,
    hosts: &[Named<'_>],
) -> Option<Problem> {
    let is_near = |name: &str| own.iter().any(|segment| segments.is_at(name, *segment));
    let gateways =
        || hosts.iter().filter(|(_, it)| is_one(it)).map(|(name, _)| &*name.value).filter(|name| *name != host);
    if gateways().any(|name| name == chosen.value && is_near(name)) {
        return None;
    }
    let message = format!("`{}` is no gateway that host `{host}` reaches", chosen.value);
    let near: Vec<&str> = gateways().filter(|name| is_near(name)).collect();
    let hint = match nearest(chosen.value, near.iter().copied()) {
        Some(near) if near != chosen.value => format!("did you mean `{near}`?"),
        _ if near.is_empty() => {
            "a gateway has `forward = true` and a link to the host's switch, or to the host".to_owned()
        }
        _ => format!("it reaches {}", list(near.iter().copied())),
    };
    Some(Problem::at(&chosen.span, message).hint(hint))
}

/// What keeps payload from going from each of these hosts to each of those: no way over cables, switches and
/// gateways, or no address by which it would be found.
pub(crate) fn check_reachable(pairs: &[Pair<'_>], topology: &Topology, stays: bool) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut segments: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (source, target) in pairs {
        let near = topology.links_of(&source.value);
        let segment = segments.entry(near).or_insert_with(|| topology.segment(near));
        let refused = reachable(topology, segment, (&source.value, &target.value), stays);
        problems.extend(
            refused
                .map(|(message, hint)| Problem::at(&target.span, message).also(&source.span, "from here").hint(hint)),
        );
    }
    problems
}

/// Message and hint; `segment` is what frames of `from` get to.
fn reachable(
    topology: &Topology,
    segment: &BTreeSet<&str>,
    (from, to): (&str, &str),
    stays: bool,
) -> Option<(String, String)> {
    let find = |name: &str| topology.hosts.iter().find(|host| host.name == name);
    let (a, b) = (find(from)?, find(to)?);
    if segment.contains(topology.links_of(to)) {
        let apart = subnet(a.address, a.prefix) != subnet(b.address, b.prefix);
        return apart.then(|| {
            let hint = format!(
                "`{}` has {}/{}, `{}` has {}/{}; give them one subnet, or link them to a gateway (`forward = true`)",
                a.name, a.address, a.prefix, b.name, b.address, b.prefix
            );
            (format!("hosts `{from}` and `{to}` are in different subnets"), hint)
        });
    }
    if topology.way(from, to).is_empty() {
        let hint =
            "link both to one switch, or to each other; a host between them passes nothing on without `forward = true`";
        return Some((format!("no link leads from host `{from}` to host `{to}`"), hint.to_owned()));
    }
    if stays {
        let message = format!("hosts `{from}` and `{to}` have a gateway between them");
        let hint = "frames with tags, and workloads that take every link, stay on one segment: take hosts without a gateway between them";
        return Some((message, hint.to_owned()));
    }
    let lost = [(a, b), (b, a)].into_iter().find(|(a, b)| a.route_to(b.address).is_none());
    lost.map(|(a, b)| {
        let message = format!("host `{}` has no route to `{}`, {}/{}", a.name, b.name, b.address, b.prefix);
        let hint = "an address behind a gateway is in the subnet of the gateway's own there: leave `address` out, or give \
            the gateway `addresses`";
        (message, hint.to_owned())
    })
}

//! Nodes and links -> cables, devices, teams and groups of one run.

mod groups;
mod host;

use std::collections::{BTreeMap, BTreeSet};

use nicteam_team::{ActiveSlave, Config};

use crate::gateways;
use crate::guests;
use crate::remote;
use crate::switches;
use crate::teams::{self};
use nicteam_diagnostics::Problem;
use nicteam_diagnostics::{list, nearest};
use nicteam_elements::event::{CableName, Relayed};
use nicteam_elements::keys::Thing;
use nicteam_elements::multipath::{self, Every, Taken};
use nicteam_elements::record::{At, Options, Record, Span};
use nicteam_elements::resolved::{Bounds, Cable, End, Host, Impaired, Switch, Team, Topology, Way};
use nicteam_elements::{engine, impairments, target};

use host::{BareLinks, bounds, check_host, check_ipv6};

/// More cables than any machine would carry: two devices each.
const MAX_CABLES: usize = 1024;

/// What a run is built from, its own changes laid over the file.
pub(crate) struct Plan<'a> {
    pub hosts: Vec<(&'a At<String>, Record)>,
    pub switches: Vec<(&'a At<String>, Record)>,
    pub teams: BTreeMap<&'a str, (&'a At<String>, Options)>,
    pub impairments: BTreeMap<&'a str, Way>,
    /// Storage that hosts serve.
    pub targets: Vec<(&'a At<String>, Record)>,
    /// Hosts with an address on each link.
    pub multipath: BTreeMap<&'a str, Taken>,
    /// Hosts that have a bridge though they may have no guests.
    pub bridged: Vec<At<String>>,
    /// Cables with a link emulator that may have no impairment.
    pub relayed: Vec<Relayed>,
    /// The cables whose ends send no frames that join packets, because of an event.
    pub without_offloads: Vec<CableName>,
    pub links: &'a [Record],
    /// Of links that name none.
    pub rate_bps: u64,
    /// Of links that name none.
    pub mtu: u32,
    /// What of the file is broken, so that its absence is no second fault.
    pub broken: Broken,
}

/// Parts of a file that were meant, but cannot be read.
pub(crate) struct Broken {
    pub nodes: bool,
    pub teams: bool,
    pub impairments: bool,
    pub mtu: bool,
}

/// What was built.
pub(crate) struct Built {
    pub topology: Topology,
    /// False if some of the links could not be laid: then what is missing is no second fault.
    pub all_links: bool,
    /// The impairments of the file, by name.
    pub impairments: BTreeMap<String, Way>,
}

/// Builds the topology; what is wrong goes to `problems`.
pub(crate) fn build(plan: &Plan<'_>, problems: &mut Vec<Problem>) -> Built {
    let (cables, spans) = (Vec::new(), Vec::new());
    let (next_device, bare_links) = (BTreeMap::new(), BareLinks::of(&plan.hosts));
    let specs = plan.switches.iter().map(|(name, record)| switches::read(name, record, problems)).collect();
    let mut builder =
        Builder { plan, problems, specs, cables, spans, next_device, bare_links, all_links: !plan.links.is_empty() };
    builder.lay_cables();
    if builder.all_links {
        builder.problems.extend(builder.bare_links.check());
    }
    builder.relay_cables();
    builder.check_loops();
    let configs = builder.host_configs();
    let (hosts, mut teams) = builder.hosts(&configs);
    teams.extend(builder.groups(&configs));
    builder.check_device_names(&teams);
    let switches = builder.switches(&configs);
    let cables = std::mem::take(&mut builder.cables);
    let all_links = builder.all_links;
    let targets = target::resolve(&plan.targets, &hosts, plan.broken.nodes, problems);
    let impairments = plan.impairments.iter().map(|(name, way)| ((*name).to_owned(), way.clone())).collect();
    Built { topology: Topology { hosts, switches, cables, teams, targets }, all_links, impairments }
}

struct Builder<'a, 'p> {
    plan: &'a Plan<'a>,
    problems: &'p mut Vec<Problem>,
    /// What the file says of each switch, in the plan's order.
    specs: Vec<switches::Spec>,
    cables: Vec<Cable>,
    /// Where each cable's link stands in the file.
    spans: Vec<Span>,
    all_links: bool,
    /// Next number of a host's `eth`, or of a switch's ports to a peer (node, peer).
    next_device: BTreeMap<(String, String), usize>,
    bare_links: BareLinks<'a>,
}

impl<'a> Builder<'a, '_> {
    fn lay_cables(&mut self) {
        for link in self.plan.links {
            let Some(ends) = link.get::<&[Vec<At<String>>; 2]>("between") else {
                self.all_links = false;
                continue;
            };
            self.all_links &= !link.is_broken("count");
            let count = link.get::<u64>("count").map_or(1, |at| at.value) as usize;
            let rate_bps = link.get::<u64>("rate").map_or(self.plan.rate_bps, |at| at.value);
            let mtus = link.get::<[u64; 2]>("mtu").map_or([self.plan.mtu; 2], |at| at.value.map(|mtu| mtu as u32));
            let impaired = self.impaired(link, rate_bps);
            let queue_bytes = link.get::<u64>("queue").map(|at| at.value as u32);
            let burst_bytes = link.get::<u64>("burst").map(|at| at.value as u32);
            let without_offloads = link.get::<bool>("offloads").is_some_and(|at| !at.value);
            let [ones, others] = ends.value;
            let known: Vec<bool> = ones.iter().chain(others).map(|node| self.check_known(node)).collect();
            if known.contains(&false) {
                self.all_links = false;
                continue;
            }
            if self.cables.len() + ones.len().saturating_mul(others.len()).saturating_mul(count) > MAX_CABLES {
                let message = format!("these links make more than {MAX_CABLES} cables");
                self.problems.push(Problem::at(&ends.span, message).hint("lower `count`, or name fewer nodes"));
                self.all_links = false;
                return;
            }
            for (one, other) in ones.iter().flat_map(|one| others.iter().map(move |other| (one, other))) {
                if one.value == other.value {
                    let message = format!("`{}` is linked to itself", one.value);
                    let problem = Problem::at(&other.span, message).also(&one.span, "the other end");
                    self.problems.push(problem.hint("a link goes between two different nodes"));
                    self.all_links = false;
                    continue;
                }
                for _ in 0..count {
                    if !self.bare_links.is_plugged(&one.value) | !self.bare_links.is_plugged(&other.value) {
                        continue;
                    }
                    let a = End { node: one.value.clone(), device: self.device(&one.value, &other.value) };
                    let b = End { node: other.value.clone(), device: self.device(&other.value, &one.value) };
                    let impaired = impaired.clone();
                    self.cables.push(Cable {
                        a,
                        b,
                        rate_bps,
                        mtus,
                        impaired,
                        queue_bytes,
                        burst_bytes,
                        without_offloads,
                    });
                    self.spans.push(ends.span.clone());
                }
            }
        }
    }

    /// Gives cables a link emulator that does nothing to their frames yet.
    fn relay_cables(&mut self) {
        for name in &self.plan.relayed {
            for place in name.places(&self.cables) {
                let nothing = Impaired { a_to_b: Way::default(), b_to_a: Way::default() };
                self.cables[place].impaired.get_or_insert(nothing);
            }
        }
        // One changed bit is to cost one packet.
        for cable in &mut self.cables {
            let corrupts = |it: &Impaired| [&it.a_to_b, &it.b_to_a].iter().any(|way| way.corrupts());
            cable.without_offloads |= cable.impaired.as_ref().is_some_and(corrupts);
        }
        for name in &self.plan.without_offloads {
            if let Some(place) = name.place(&self.cables) {
                self.cables[place].without_offloads = true;
            }
        }
    }

    /// What a link does to frames, if it is an impaired one.
    fn impaired(&mut self, link: &Record, rate_bps: u64) -> Option<Impaired> {
        let [a_to_b, back] = ["impair", "impair_back"].map(|key| self.way(link, key, rate_bps));
        let b_to_a = back.or_else(|| a_to_b.clone())?;
        Some(Impaired { a_to_b: a_to_b.unwrap_or_default(), b_to_a })
    }

    fn way(&mut self, link: &Record, key: &str, rate_bps: u64) -> Option<Way> {
        let names = link.get::<&[At<String>]>(key)?;
        let name = names.value.first()?;
        match self.plan.impairments.get(name.value.as_str()) {
            Some(way) => {
                self.problems.extend(impairments::check_room(name, way, rate_bps));
                Some(way.clone())
            }
            None if self.plan.broken.impairments => None,
            None => {
                self.problems.push(impairments::unknown(name, self.plan.impairments.keys().copied()));
                None
            }
        }
    }

    fn check_known(&mut self, node: &At<String>) -> bool {
        let nodes = || self.plan.hosts.iter().chain(&self.plan.switches).map(|(name, _)| name.value.as_str());
        if nodes().any(|name| name == node.value) {
            return true;
        }
        if self.plan.broken.nodes {
            return false;
        }
        let hint = match nearest(&node.value, nodes()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}; or add `[hosts.{}]`", list(nodes()), node.value),
        };
        self.problems.push(Problem::at(&node.span, format!("no host or switch `{}`", node.value)).hint(hint));
        false
    }

    /// The next device of a node towards a peer.
    fn device(&mut self, node: &str, peer: &str) -> String {
        let (group, prefix) = if self.is_switch(node) { (peer, format!("{peer}-")) } else { ("", "eth".to_owned()) };
        let next = self.next_device.entry((node.to_owned(), group.to_owned())).or_default();
        let number = *next;
        *next += 1;
        let own = self.plan.hosts.iter().find(|(name, _)| name.value == node);
        own.and_then(|(_, record)| remote::device(record, number)).unwrap_or_else(|| format!("{prefix}{number}"))
    }

    fn is_switch(&self, node: &str) -> bool {
        self.plan.switches.iter().any(|(name, _)| name.value == node)
    }

    fn spec(&self, node: &str) -> Option<&switches::Spec> {
        self.specs.iter().find(|spec| spec.switch.name == node)
    }

    /// True for a switch that bundles, or that has an invalid setting for it.
    fn is_to_spread(&self, node: &str) -> bool {
        self.spec(node).is_some_and(|spec| spec.is_to_spread)
    }

    /// The switches, with the ports that speak PAgP: those that would be a group's.
    fn switches(&self, configs: &BTreeMap<String, Config>) -> Vec<Switch> {
        let with_ports = |spec: &switches::Spec| {
            let mut switch = spec.switch.clone();
            let ends = self.ends(&switch.name);
            let parallel = |peer: &str| ends.iter().filter(|end| end.1 == peer).count();
            let asks = |peer: &str| switch.pagp.is_some() && (parallel(peer) > 1 || configs.contains_key(peer));
            switch.pagp_ports = ends.iter().filter(|end| asks(&end.1)).map(|end| end.0.clone()).collect();
            switch
        };
        self.specs.iter().map(with_ports).collect()
    }

    /// A node's ends of its cables: device, peer, MTU.
    fn ends(&self, node: &str) -> Vec<(String, String, u32)> {
        let mut ends = Vec::new();
        for cable in &self.cables {
            let [a, b] = cable.mtus;
            for (mine, theirs, mtu) in [(&cable.a, &cable.b, a), (&cable.b, &cable.a, b)] {
                if mine.node == node {
                    ends.push((mine.device.clone(), theirs.node.clone(), mtu));
                }
            }
        }
        ends
    }

    /// Switches must form a tree: bridges without spanning tree flood a loop for ever.
    fn check_loops(&mut self) {
        let mut joined: BTreeMap<&str, &str> = self.plan.switches.iter().map(|(n, _)| (&*n.value, &*n.value)).collect();
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for (cable, span) in self.cables.iter().zip(&self.spans) {
            let pair = if cable.a.node < cable.b.node { (&cable.a, &cable.b) } else { (&cable.b, &cable.a) };
            let (a, b) = (pair.0.node.as_str(), pair.1.node.as_str());
            // A real switch may have spanning tree, or groups.
            let is_unknown = |node| self.spec(node).is_some_and(|spec| spec.switch.unknown);
            if !joined.contains_key(a) || !joined.contains_key(b) || is_unknown(a) || is_unknown(b) {
                continue;
            }
            let first = seen.insert((a, b));
            let grouped = self.is_to_spread(a) && self.is_to_spread(b);
            let (root_a, root_b) = (joined[a], joined[b]);
            if !first && !grouped {
                found.push((
                    a,
                    b,
                    span,
                    "several links between two switches need `spread` on both, and no PAgP: then they form one group",
                ));
            } else if first && root_a == root_b {
                found.push((a, b, span, "these switches have no spanning tree; remove a link"));
            }
            for root in joined.values_mut().filter(|root| **root == root_b) {
                *root = root_a;
            }
        }
        self.problems.extend(found.into_iter().map(|(a, b, span, hint)| {
            let problem = Problem::at(span, format!("the links between switches `{a}` and `{b}` make a loop"));
            problem.label("frames would go round for ever").hint(hint)
        }));
    }

    /// The configurations of hosts with a team.
    fn host_configs(&mut self) -> BTreeMap<String, Config> {
        let mut configs = BTreeMap::new();
        for (host, record) in self.plan.hosts.iter().filter(|(_, record)| !record.has("bare_link")) {
            let Some(names) = record.get::<&[At<String>]>("team") else { continue };
            let Some(name) = names.value.first() else { continue };
            match self.plan.teams.get(name.value.as_str()) {
                Some((defined, options)) => {
                    let config = teams::configure(defined, options, self.problems);
                    self.check_devices(host, defined, options, &config);
                    configs.insert(host.value.clone(), config);
                }
                // `Config::default`: so that its several links are no second complaint.
                None if self.plan.broken.teams => {
                    configs.insert(host.value.clone(), Config::default());
                }
                None => {
                    let hint = match nearest(&name.value, self.plan.teams.keys().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => {
                            format!("add a section `[teams.{}]`, for example with `mode = \"balance-rr\"`", name.value)
                        }
                    };
                    self.problems.push(Problem::at(&name.span, format!("no team `{}`", name.value)).hint(hint));
                    configs.insert(host.value.clone(), Config::default());
                }
            }
        }
        configs
    }

    /// Options that name a device name one of the host's.
    fn check_devices(&mut self, host: &At<String>, team: &At<String>, options: &Options, config: &Config) {
        if let Some(primary) = &config.primary {
            self.check_device(host, team, options, ("primary", primary));
        }
        if let Some(ActiveSlave::Member(member)) = &config.active_slave {
            self.check_device(host, team, options, ("active_slave", member));
        }
    }

    fn check_device(&mut self, host: &At<String>, team: &At<String>, options: &Options, named: (&str, &String)) {
        let (option, device) = named;
        let devices: Vec<_> = self.ends(&host.value).into_iter().map(|end| end.0).collect();
        if !self.all_links || devices.contains(device) {
            return;
        }
        let given = options.iter().find(|(name, _)| name.value == option).map(|(_, value)| &value.span);
        let span = given.unwrap_or(&team.span);
        // Said of the team's first host: the others have it from the same line.
        if self.problems.iter().any(|problem| problem.span.as_ref() == Some(span)) {
            return;
        }
        let message = format!("`{option}`: host `{}` has no device `{device}`", host.value);
        let hint = format!("its devices are {}", list(devices.iter().map(String::as_str)));
        self.problems.push(Problem::at(span, message).hint(hint));
    }

    /// False if the MTU of some link is a default in place of a wrong value.
    fn has_sound_mtus(&self) -> bool {
        !self.plan.broken.mtu && self.plan.links.iter().all(|link| !link.is_broken("mtu"))
    }

    fn hosts(&mut self, configs: &BTreeMap<String, Config>) -> (Vec<Host>, Vec<Team>) {
        let guests = guests::of_hosts(&self.plan.hosts, self.problems);
        let every = |host: &str| self.plan.multipath.get(host).map(|taken| taken.every);
        let gateways::Assigned { hosts: addresses, further: of_gateways, routes } =
            gateways::assign(&self.plan.hosts, &guests, &self.cables, every, self.problems);
        let routes = |name: &str| routes.get(name).cloned().unwrap_or_default();
        let (mut hosts, mut teams) = (Vec::new(), Vec::new());
        for ((name, record), (address, prefix, mac)) in self.plan.hosts.iter().zip(addresses.iter().copied()) {
            let ends = self.ends(&name.value);
            let mtus: BTreeSet<_> = ends.iter().map(|end| end.2).collect();
            let config = configs.get(&name.value);
            let sound_mtus = if self.has_sound_mtus() { &mtus } else { &BTreeSet::new() };
            let taken = self.plan.multipath.get(name.value.as_str()).copied();
            let multipath = taken.map(|taken| taken.every);
            let forwards = gateways::is_one(record);
            let problem = check_host(name, record, (ends.len(), multipath), config.is_some(), sound_mtus);
            let problem = problem.filter(|_| !ends.is_empty() || self.all_links);
            self.problems.extend(problem.or_else(|| check_ipv6(name, address, sound_mtus)));
            self.problems.extend(guests::check(name, record, multipath));
            let own = ends.first().map_or("eth0", |end| end.0.as_str());
            let device = if config.is_some() { "team0" } else { own }.to_owned();
            if let (Some(config), Some((_, peer, _))) = (config, ends.first()) {
                teams.push(Team {
                    node: name.value.clone(),
                    device: device.clone(),
                    peer: peer.clone(),
                    engine: self.engine_of(record),
                    config: config.clone(),
                    members: ends.iter().map(|end| end.0.clone()).collect(),
                    mtu: mtus.first().copied().unwrap_or(self.plan.mtu),
                    own_process: false,
                });
            }
            let further = match multipath {
                Some(_) if config.is_none() => multipath::further(name, &ends, (address, prefix), self.problems),
                _ => of_gateways.get(&name.value).cloned().unwrap_or_default(),
            };
            let mptcp = multipath == Some(Every::Subflows);
            let announces = mptcp && taken.is_some_and(|taken| taken.is_connected_to);
            let is_bridged = guests::has_some(record) || self.plan.bridged.iter().any(|host| host.value == name.value);
            let device = if is_bridged { guests::BRIDGE.to_owned() } else { device };
            let bounds = bounds(record);
            self.problems.extend(remote::check_links(name, record, ends.len()).filter(|_| self.all_links));
            let (ssh, bundle) = (remote::destination(record), remote::bundle(record));
            let (name, parent, routes) = (name.value.clone(), None, routes(&name.value));
            hosts.push(Host {
                name,
                address,
                prefix,
                mac,
                device,
                further,
                mptcp,
                announces,
                parent,
                forwards,
                routes,
                bounds,
                ssh,
                bundle,
            });
        }
        for (guest, (address, prefix, mac)) in guests.iter().zip(addresses.into_iter().skip(hosts.len())) {
            if let Some(taken) = self.plan.multipath.get(guest.name.value.as_str()) {
                self.problems.push(guests::has_one_link(guest, taken.every));
            }
            hosts.push(Host {
                name: guest.name.value.clone(),
                address,
                prefix,
                mac,
                device: guests::DEVICE.to_owned(),
                further: Vec::new(),
                mptcp: false,
                announces: false,
                parent: Some(guest.parent.clone()),
                forwards: false,
                routes: routes(&guest.name.value),
                bounds: Bounds::default(),
                ssh: None,
                bundle: None,
            });
        }
        (hosts, teams)
    }

    /// The engine of the team of a host.
    fn engine_of(&self, host: &Record) -> String {
        let names = host.get::<&[At<String>]>("team");
        let name = names.and_then(|at| at.value.first());
        let options = name.and_then(|name| self.plan.teams.get(name.value.as_str()));
        // Its error has been reported with the team.
        let engine = options.map_or_else(engine::default, |(_, options)| teams::engine(options, &mut Vec::new()));
        engine.name().to_owned()
    }

    /// A group called `a-0` would collide with port 0 towards `a`.
    fn check_device_names(&mut self, teams: &[Team]) {
        for (switch, _) in &self.plan.switches {
            let ports: Vec<_> = self.ends(&switch.value).into_iter().map(|end| end.0).collect();
            let clash = teams.iter().find(|team| team.node == switch.value && ports.contains(&team.device));
            if let Some(Team { device, .. }) = clash {
                let named = self.plan.hosts.iter().chain(&self.plan.switches).find(|(name, _)| name.value == *device);
                let message = format!("`{device}` is also the name of a port of switch `{}`", switch.value);
                let problem = Problem::at(named.map_or(&switch.span, |(name, _)| &name.span), message);
                self.problems.push(problem.hint("ports are named `PEER-NUMBER`; choose another name"));
            }
        }
    }
}

/// Two things with one name.
pub(crate) fn duplicate(thing: Thing, name: &At<String>, first: &At<String>) -> Problem {
    Problem::at(&name.span, format!("the name `{}` is used twice", name.value))
        .also(&first.span, "first used here")
        .hint(format!("give the {} another name", thing.word()))
}

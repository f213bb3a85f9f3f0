//! Hosts that are real machines, reached by `ssh`: their keys, and what they cannot be yet.

use nicteam_diagnostics::Problem;

use crate::teams::ENGINE;
use nicteam_elements::engine::EXISTING;
use nicteam_elements::keys::{Key, Kind, Need, Section, Thing};
use nicteam_elements::record::{At, Options, Record};

pub(crate) const TESTBED: Section = Section {
    header: "[testbed]",
    doc: "Where the experiment is built.",
    keys: &[Key {
        name: "kind",
        kind: Kind::Choice(&["netns", "ssh"]),
        need: Need::Default("netns"),
        doc: "`netns`: hosts and switches are network namespaces of this machine. `ssh`: hosts are real machines, and \
            each has `ssh` and `links`. Switches are real, too; the file describes them. [ssh.md](ssh.md) describes it.",
    }],
    of_kinds: &[],
};

pub(crate) const SSH: Key = Key {
    name: "ssh",
    kind: Kind::Text,
    need: Need::Otherwise("none; testbed `ssh` needs it"),
    doc: "The machine that is this host, as the program `ssh` takes it: `USER@HOST`, or a name of its configuration.",
};

pub(crate) const LINKS: Key = Key {
    name: "links",
    kind: Kind::Many(Thing::Device),
    need: Need::Otherwise("none; testbed `ssh` needs it"),
    doc: "The machine's devices, one for each of its links, in the order of the links in the file.",
};

pub(crate) const BUNDLE: Key = Key {
    name: "bundle",
    kind: Kind::Text,
    need: Need::Otherwise("none: the machine lends its links"),
    doc: "The bond or team that the machine has, of engine `existing`, in place of `links`. It is measured as it is, and \
        `address` is one that the machine has. Members, modes and rates are read there.",
};

pub(crate) const UNKNOWN: Key = Key {
    name: "unknown",
    kind: Kind::Flag,
    need: Need::Default("false"),
    doc: "Testbed `ssh`: true for a real switch of which nothing is known. It takes no other key. Findings say what \
        can be known of its choice of links from what arrived by which.",
};

/// What a host's link with this number is called on a real machine.
pub(crate) fn device(host: &Record, number: usize) -> Option<String> {
    Some(host.get::<&[At<String>]>("links")?.value.get(number)?.value.clone())
}

/// Where `ssh` goes.
pub(crate) fn destination(host: &Record) -> Option<String> {
    host.get::<&str>("ssh").map(|at| at.value.to_owned())
}

/// The bond or team that is there already.
pub(crate) fn bundle(host: &Record) -> Option<String> {
    host.get::<&str>("bundle").map(|at| at.value.to_owned())
}

/// Each link is a device.
pub(crate) fn check_links(host: &At<String>, record: &Record, count: usize) -> Option<Problem> {
    let named = record.get::<&[At<String>]>("links")?;
    let message = format!("host `{}` has {count} links, and `links` names {}", host.value, named.value.len());
    let hint = "name one device for each link of the host, in the order of the file";
    (named.value.len() != count).then(|| Problem::at(&named.span, message).hint(hint))
}

/// What the file says of real machines that does not fit together.
pub(crate) fn check(file: &Record, rate_is_free: bool) -> Vec<Problem> {
    let named = |key| file.get::<&[(At<String>, Record)]>(key).map_or(&[][..], |at| at.value);
    let (hosts, switches) = (named("hosts"), named("switches"));
    let kind = file.get::<&Record>("testbed").and_then(|at| at.value.get::<&str>("kind"));
    let Some(kind) = kind.filter(|kind| kind.value == "ssh") else {
        if let Some((_, engine)) = existing(file).next() {
            let problem = Problem::at(&engine.1.span, "engine `existing` needs testbed `ssh`");
            return vec![problem.hint("name an engine that makes the team, or measure real machines")];
        }
        let text = |host: &Record, key| host.get::<&str>(key).map(|at| at.span);
        let misplaced = hosts.iter().find_map(|(_, host)| {
            let given = text(host, "ssh").or_else(|| text(host, "bundle"));
            given.or_else(|| Some(host.get::<&[At<String>]>("links")?.span))
        });
        let unknown = || switches.iter().find_map(|(_, switch)| Some(switch.get::<bool>("unknown")?.span));
        let misplaced = misplaced.or_else(unknown);
        let hint = "add `testbed = { kind = \"ssh\" }` at the top of the file";
        return misplaced
            .map(|at| Problem::at(&at, "real machines and switches need testbed `ssh`").hint(hint))
            .into_iter()
            .collect();
    };
    let mut problems: Vec<Problem> = hosts.iter().flat_map(|(name, host)| check_host(name, host)).collect();
    let records = |key| file.get::<&[Record]>(key).map_or(&[][..], |at| at.value);
    let unfit = |record: &Record, keys: &[&str]| keys.iter().find(|key| record.has(key)).map(|key| key.to_string());
    let teams = records("runs").iter().filter_map(|run| unfit(run, &["chaos", "targets", "hosts"]));
    let links = records("links").iter().filter_map(|link| unfit(link, &["impair", "impair_back", "queue", "burst"]));
    let of_file = unfit(file, &["targets", "impairments"]);
    for (option, _) in existing(file).flat_map(|(options, _)| options).filter(|(option, _)| option.value != ENGINE) {
        let problem = Problem::at(&option.span, format!("engine `existing` takes no `{}`", option.value));
        problems.push(problem.hint("remove it: the team has the options that it has on the machine"));
    }
    problems.extend(of_file.into_iter().chain(teams).chain(links).map(|key| not_yet(&kind.span, &key)));
    if rate_is_free {
        let problem = Problem::at(&kind.span, "links of real machines have no rate in this file");
        problems
            .push(problem.hint("write the rate of the links: `rate = \"10gbit\"` in `[defaults]`, or with each link"));
    }
    problems
}

/// The options of the teams that are there already, and among them the engine.
fn existing(file: &Record) -> impl Iterator<Item = (&Options, &(At<String>, At<String>))> {
    let teams = file.get::<&[(At<String>, Options)]>("teams").map_or(&[][..], |at| at.value);
    let engine = |(option, value): &&(At<String>, At<String>)| option.value == ENGINE && value.value == EXISTING;
    teams.iter().filter_map(move |(_, options)| Some((options, options.iter().find(engine)?)))
}

fn check_host(name: &At<String>, host: &Record) -> Vec<Problem> {
    let mut problems = Vec::new();
    let links = if host.has("bundle") { "address" } else { "links" };
    for key in ["ssh", links].into_iter().filter(|key| !host.has(key)) {
        let problem = Problem::at(&name.span, format!("host `{}` has no `{key}`", name.value));
        let hint = "testbed `ssh` needs `ssh = \"root@node1\"` and `links = [\"eno1\", \"eno2\"]`, or `bundle = \"bond0\"` with `address`";
        problems.push(problem.hint(hint));
    }
    let wrong = |text: &str| text.is_empty() || text.starts_with('-') || text.contains(char::is_whitespace);
    if let Some(at) = host.get::<&str>("ssh").filter(|at| wrong(at.value)) {
        let problem = Problem::at(&at.span, format!("`ssh`: `{}` is no place that ssh can go to", at.value));
        problems.push(problem.hint("write `USER@HOST`, or a name of your ssh configuration"));
    }
    let devices = host.get::<&[At<String>]>("links").map_or(&[][..], |at| at.value);
    if let Some(links) = host.get::<&[At<String>]>("links").filter(|_| host.has("bundle")) {
        let problem = Problem::at(&links.span, format!("host `{}` has `bundle` and `links`", name.value));
        problems.push(problem.hint("remove `links`: the members of the bundle are its links"));
    }
    let bundle = host.get::<&str>("bundle").map(|at| At { value: at.value.to_owned(), span: at.span });
    let odd = |c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c);
    let is_odd = |at: &&At<String>| at.value.is_empty() || at.value.len() > 15 || at.value.contains(odd);
    for at in devices.iter().chain(&bundle).filter(is_odd) {
        let problem = Problem::at(&at.span, format!("`{}` is no name of a network device", at.value));
        problems.push(problem.hint("`ip link` on the machine shows its devices"));
    }
    let keys = ["guests", "forward", "bare_link", "processor", "receive_window", "receive_queues"];
    problems.extend(keys.into_iter().find(|key| host.has(key)).map(|key| not_yet(&name.span, key)));
    problems
}

fn not_yet(span: &std::ops::Range<usize>, key: &str) -> Problem {
    Problem::at(span, format!("testbed `ssh` does not support `{key}` yet"))
        .hint(format!("remove `{key}`, or use testbed `netns`"))
}

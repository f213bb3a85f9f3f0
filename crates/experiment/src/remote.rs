//! Hosts that are real machines, reached by `ssh`: their keys, and what they cannot be yet.

use nicteam_diagnostics::Problem;

use crate::keys::{Key, Kind, Need, Section, Thing};
use crate::record::{At, Record};

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

/// What a host's link with this number is called on a real machine.
pub(crate) fn device(host: &Record, number: usize) -> Option<String> {
    Some(host.get::<&[At<String>]>("links")?.value.get(number)?.value.clone())
}

/// Where `ssh` goes.
pub(crate) fn destination(host: &Record) -> Option<String> {
    host.get::<&str>("ssh").map(|at| at.value.to_owned())
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
    let hosts = file.get::<&[(At<String>, Record)]>("hosts").map_or(&[][..], |at| at.value);
    let kind = file.get::<&Record>("testbed").and_then(|at| at.value.get::<&str>("kind"));
    let Some(kind) = kind.filter(|kind| kind.value == "ssh") else {
        let misplaced = hosts.iter().find_map(|(_, host)| {
            host.get::<&str>("ssh").map(|at| at.span).or_else(|| Some(host.get::<&[At<String>]>("links")?.span))
        });
        let hint = "add `testbed = { kind = \"ssh\" }` at the top of the file";
        return misplaced
            .map(|at| Problem::at(&at, "a real machine needs testbed `ssh`").hint(hint))
            .into_iter()
            .collect();
    };
    let mut problems: Vec<Problem> = hosts.iter().flat_map(|(name, host)| check_host(name, host)).collect();
    let records = |key| file.get::<&[Record]>(key).map_or(&[][..], |at| at.value);
    let unfit = |record: &Record, keys: &[&str]| keys.iter().find(|key| record.has(key)).map(|key| key.to_string());
    let teams = records("runs").iter().filter_map(|run| unfit(run, &["events", "chaos", "targets", "hosts"]));
    let links = records("links").iter().filter_map(|link| unfit(link, &["impair", "impair_back", "queue", "burst"]));
    let of_file = unfit(file, &["targets", "impairments"]);
    problems.extend(of_file.into_iter().chain(teams).chain(links).map(|key| not_yet(&kind.span, &key)));
    if rate_is_free {
        let problem = Problem::at(&kind.span, "links of real machines have no rate in this file");
        problems
            .push(problem.hint("write the rate of the links: `rate = \"10gbit\"` in `[defaults]`, or with each link"));
    }
    problems
}

fn check_host(name: &At<String>, host: &Record) -> Vec<Problem> {
    let mut problems = Vec::new();
    for key in ["ssh", "links"].into_iter().filter(|key| !host.has(key)) {
        let problem = Problem::at(&name.span, format!("host `{}` has no `{key}`", name.value));
        problems.push(problem.hint("testbed `ssh` needs both: `ssh = \"root@node1\"`, `links = [\"eno1\", \"eno2\"]`"));
    }
    let wrong = |text: &str| text.is_empty() || text.starts_with('-') || text.contains(char::is_whitespace);
    if let Some(at) = host.get::<&str>("ssh").filter(|at| wrong(at.value)) {
        let problem = Problem::at(&at.span, format!("`ssh`: `{}` is no place that ssh can go to", at.value));
        problems.push(problem.hint("write `USER@HOST`, or a name of your ssh configuration"));
    }
    let devices = host.get::<&[At<String>]>("links").map_or(&[][..], |at| at.value);
    let odd = |c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c);
    for at in devices.iter().filter(|at| at.value.is_empty() || at.value.len() > 15 || at.value.contains(odd)) {
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

//! `program`: what the user has, by its command line.

use std::sync::Arc;

use serde_json::{Value, json};

use super::kind::{Kind, Said};
use super::words::{PLACEHOLDERS, split};
use crate::keys::{self, Key, Need};
use crate::traffic::Task;
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[
        Key {
            name: "client",
            kind: keys::Kind::Text,
            need: Need::Otherwise("required by `program`"),
            doc: "`program`: command line that runs on `from`. Example: `\"iperf3 -c {address} -p {port} -P 4 -t \
                3600\"`. The lab splits it into words as a shell does, and runs no shell. `{address}` is the address \
                of the host in `to`. `{port}` and `{data_port}` are two ports of this program alone, `{client_port}` \
                is one for its client.",
        },
        Key {
            name: "server",
            kind: keys::Kind::Text,
            need: Need::Otherwise("no program runs there"),
            doc: "`program`: command line that runs on `to`. Example: `\"iperf3 -s -p {port}\"`. The same rules apply \
                as for `client`. The client starts when the server listens on `{port}`.",
        },
    ],
    also: &["congestion"],
    takes_every_path: |_| None,
    keeps_to_a_processor: false,
    stays_in_segment: false,
    resolve,
};

const NAME: &str = "program";

/// Programs that are not ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Words of the client's command line, placeholders and all.
    pub client: Vec<String>,
    /// The same of the server's, if there is one.
    pub server: Option<Vec<String>>,
    /// Congestion control of their connections, where they name none.
    pub congestion: String,
}

impl Task for Program {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> (&'static str, String) {
        ("program", format!("`{}`", self.client.join(" ")))
    }

    fn each(&self, _connections: u32, _ipv6: bool) -> Value {
        json!({ "client": self.client, "server": self.server, "congestion": self.congestion })
    }

    fn congestion(&self) -> Option<&str> {
        Some(&self.congestion)
    }

    fn programs(&self) -> Vec<&str> {
        let lines = [self.server.as_ref(), Some(&self.client)];
        lines.into_iter().flatten().filter_map(|line| line.first()).map(String::as_str).collect()
    }
}

fn resolve(said: &mut Said<'_, '_>) -> Option<Arc<dyn Task>> {
    if let Some(connections) = said.record.get::<u64>("connections") {
        let message = format!("workload `{}` has `connections`, and is a program", said.name.value);
        let hint = "remove it: the command line sets their number (`-P 4`)";
        said.problems.push(Problem::at(&connections.span, message).hint(hint));
    }
    if !said.record.has("client") {
        let message = format!("workload `{}` does not say what runs as `client`", said.name.value);
        let hint = "add, for example, `client = \"iperf3 -c {address} -p {port} -t 3600\"`";
        said.problems.push(Problem::at(&said.name.span, message).hint(hint));
    }
    let (client, server) = (line(said, "client"), line(said, "server"));
    if said.record.has("server") && server.is_none() {
        return None;
    }
    Some(Arc::new(Program { client: client?, server, congestion: said.congestion() }))
}

/// The words of a command line; what is wrong with it goes to the problems.
fn line(said: &mut Said<'_, '_>, key: &str) -> Option<Vec<String>> {
    let text = said.record.get::<&str>(key)?;
    let (problem, hint) = match split(text.value) {
        Ok(words) if words.is_empty() => ("it names no program".to_owned(), "the first word is the program".to_owned()),
        Ok(words) => match words.iter().find_map(|word| unknown_placeholder(word)) {
            None => return Some(words),
            Some(unknown) => {
                let known: Vec<String> = PLACEHOLDERS.iter().map(|known| format!("`{{{known}}}`")).collect();
                (format!("`{unknown}` is no placeholder"), format!("the placeholders are {}", known.join(", ")))
            }
        },
        Err(message) => (message.to_owned(), "close it, or write \\ in front of one that means itself".to_owned()),
    };
    said.problems.push(Problem::at(&text.span, format!("`{key}`: {problem}")).hint(hint));
    None
}

/// What a word has in braces that is none of the placeholders, though it looks like one.
fn unknown_placeholder(word: &str) -> Option<&str> {
    let mut rest = word;
    while let Some(begin) = rest.find('{') {
        let end = rest[begin..].find('}')? + begin;
        let name = &rest[begin + 1..end];
        let looks_like = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        if looks_like && !PLACEHOLDERS.contains(&name) {
            return Some(&rest[begin..=end]);
        }
        rest = &rest[end..];
    }
    None
}

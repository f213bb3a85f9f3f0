//! Other people's configuration: read, refused in their words, written back.

mod corpus;
mod golden;
mod imports;
mod mutation;
mod properties;
mod published;
mod t5;

/// Mostly waits: many at once.
mod live {
    mod ifquery;
    mod netplan;
    mod nmcli;
    mod ovs_vsctl;
}

use nicteam_vsctl::{self as ovs_vsctl, CommandLine, Error};

/// Words of a line as a shell splits it; single quotes keep what is between them together.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    for character in line.chars() {
        match character {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            character => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// Reads a line.
pub fn parse(line: &str) -> Result<CommandLine, Error> {
    ovs_vsctl::parse(&words(line))
}

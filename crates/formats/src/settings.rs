//! Single settings of other programs' files, as they stand. For code that asks what a network manager does with a
//! device, not for reading teams.

use nicteam_drafts::Reading;
use nicteam_syntax::ini::{self, Flavour};
use nicteam_syntax::{Place, Source};

use crate::ifcfg;

/// A line `key=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name of its section; empty in a format that has none.
    pub section: String,
    /// Which section of the file it is in, counted from 1, for two may have one name; 0 in a format that has none.
    pub block: usize,
    /// The word ahead of `=`.
    pub key: String,
    /// What stands behind it, without the white space around.
    pub value: String,
    /// Where the key stands.
    pub place: Place,
}

/// The settings of a file of systemd's (`systemd.syntax(7)`), in their order; lines that are none are left out, as systemd does.
pub fn systemd(source: &Source) -> Vec<Setting> {
    sections(source, Flavour::Systemd)
}

/// The same of a file that GLib reads (`GKeyFile`), NetworkManager's for example. Values keep their escapes: lists are parted
/// before these are read.
pub fn key_file(source: &Source) -> Vec<Setting> {
    sections(source, Flavour::RawKeyFile)
}

/// The assignments of an `ifcfg-*` file of RHEL's, without quotes; those that only a shell can find out are left out.
pub fn ifcfg(source: &Source) -> Vec<Setting> {
    let reading = Reading::new(std::slice::from_ref(source));
    let setting = |assignment: ifcfg::Assignment| Setting {
        section: String::new(),
        block: 0,
        key: assignment.key,
        value: assignment.value,
        place: reading.place(&assignment.at),
    };
    ifcfg::assignments(0, source).into_iter().map(setting).collect()
}

/// Yes or no, in the words that systemd and NetworkManager take; `None` for others.
pub fn flag(text: &str) -> Option<bool> {
    ini::flag(text)
}

fn sections(source: &Source, flavour: Flavour) -> Vec<Setting> {
    let reading = Reading::new(std::slice::from_ref(source));
    let mut settings = Vec::new();
    for (number, section) in ini::read(0, &source.text, flavour).sections.into_iter().enumerate() {
        settings.extend(section.entries.into_iter().map(|entry| Setting {
            section: section.name.clone(),
            block: number + 1,
            key: entry.key,
            value: entry.value,
            place: reading.place(&entry.at),
        }));
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(read: fn(&Source) -> Vec<Setting>, text: &str) -> Vec<String> {
        let source = Source::new("a", text);
        let setting = |of: Setting| format!("{} {} {}={} {}", of.section, of.block, of.key, of.value, of.place);
        read(&source).into_iter().map(setting).collect()
    }

    #[test]
    fn each_program_reads_its_own_way() {
        let text = "[A]\n  K = a \\\n; no\n b\n;k=2\n[A]\nL=\\s1\n";
        assert_eq!(shown(systemd, text), ["A 1 K=a  b a:2:3", "A 2 L=\\s1 a:7:1"]);
        assert_eq!(shown(key_file, text), ["A 1 K=a \\ a:2:3", "A 1 ;k=2 a:5:1", "A 2 L=\\s1 a:7:1"]);
        let text = "DEVICE=eth0 # the first\n# no\nexport MASTER='bond0'\nX=$(hostname)\n";
        assert_eq!(shown(ifcfg, text), [" 0 DEVICE=eth0 a:1:1", " 0 MASTER=bond0 a:3:1"]);
    }
}

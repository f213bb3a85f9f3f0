//! What a format is.

use std::fmt;

use nicteam_diagnostics::Diagnostics;
use nicteam_syntax::Source;

use crate::{Import, Network};

/// A format that configurations stand in. A file a format, and a line in `nicteam_formats::FORMATS`.
pub trait Format: Sync {
    /// Its name at the command line: `ifupdown`.
    fn name(&self) -> &'static str;

    /// Its name for people: "Debian's ifupdown (/etc/network/interfaces)".
    fn title(&self) -> &'static str;

    /// True if this text is one of its own, by its path or by what stands in it; a text of two formats is the first one's.
    fn recognises(&self, source: &Source) -> bool;

    /// True for command lines: other programs' scripts have some, too, so that a folder of another format may hold such texts.
    fn is_script(&self) -> bool {
        false
    }

    /// Reads texts that belong together (ifcfg files, their modprobe.conf and rc.local).
    ///
    /// # Errors
    /// Everything that is wrong with the texts, in their order.
    fn read(&self, sources: &[Source]) -> Result<Import, Diagnostics> {
        self.read_with(sources, &[])
    }

    /// The same, where these devices are the members of the one bond that names none.
    ///
    /// # Errors
    /// As [`Format::read`]; such a bond is not there, or there are several.
    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics>;
}

/// A format that teams are written in. A line in `nicteam_formats::WRITERS`.
pub trait Writer: Sync {
    /// Its name at the command line: `networkd`.
    fn name(&self) -> &'static str;

    /// Its name for people.
    fn title(&self) -> &'static str;

    /// Writes teams.
    fn write(&self, network: &Network) -> Written;
}

impl fmt::Debug for dyn Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for dyn Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Files, each with the path that it belongs to.
    pub files: Vec<Source>,
    /// What the format, or its program, has nothing for; each as a sentence.
    pub left: Vec<String>,
}

//! Files of `/etc/sysconfig/network-scripts` (RHEL, CentOS) and `/etc/sysconfig/network` (SUSE), and what stood beside them:
//! `ifcfg-*`, `route-*`, `rule-*`, modprobe's options, `rc.local`.
//!
//! After initscripts 9.03 (`sysconfig.txt`), the RHEL 6 Deployment Guide (11.2, interface files; 31.8.1, options of the
//! driver) and, for `BONDING_SLAVE_0` and `BONDING_MODULE_OPTS`, SUSE's `ifcfg-bonding(5)`. Texts may stand in one source,
//! each below a comment that names its file.

mod all;
mod assignment;
mod disable;
mod interface;
mod line;
mod parts;
mod read;
mod routes;

use nicteam_diagnostics::Diagnostics;
use nicteam_drafts::Format;
use nicteam_drafts::Import;
use nicteam_syntax::Source;

pub(crate) use assignment::Assignment;

/// RHEL's files of interfaces.
pub struct Ifcfg;

/// The assignments of one text, which has this place among the sources.
pub(crate) fn assignments(place: usize, source: &Source) -> Vec<Assignment> {
    let parts = parts::parts(std::slice::from_ref(source));
    let mut found: Vec<Assignment> = parts.iter().flat_map(|part| part.assignments().0).collect();
    for assignment in &mut found {
        (assignment.at.source, assignment.value_at.source) = (place, place);
    }
    found
}

impl Format for Ifcfg {
    fn name(&self) -> &'static str {
        "ifcfg"
    }

    fn title(&self) -> &'static str {
        "RHEL's interface files (/etc/sysconfig/network-scripts/ifcfg-*)"
    }

    fn recognises(&self, source: &Source) -> bool {
        let is_ours = |line: &str| {
            let line = line.trim_start();
            line.starts_with("DEVICE=")
                || line.starts_with("BONDING_")
                || line.starts_with("DEVICETYPE=")
                || line.starts_with("alias bond") && line.trim_end().ends_with("bonding")
        };
        // The scripts beside them assign the same names.
        let is_script = source.text.starts_with("#!");
        parts::kind(&source.path).is_some() || !is_script && source.text.lines().any(is_ours)
    }

    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
        read::read(sources, members)
    }
}

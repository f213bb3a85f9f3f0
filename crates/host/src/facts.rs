//! What a plan follows from.

use std::path::Path;

use nicteam_daemon::control::Listed;

use crate::journal::Journal;
use crate::survey::Survey;

/// What a plan follows from.
pub(crate) struct Facts<'a> {
    /// What there is on the host.
    pub(crate) survey: &'a Survey,
    /// The teams that run or were left.
    pub(crate) teams: &'a [Listed],
    /// What `up` noted of this team in this boot.
    pub(crate) journal: Option<&'a Journal>,
    /// Teams that come up ahead of this one.
    pub(crate) coming: &'a [String],
    /// Members that are not there yet are waited for.
    pub(crate) waits: bool,
    /// Where other managers' files are looked for.
    pub(crate) root: &'a Path,
}

//! `nicteam import` and `nicteam export`: other people's configuration, read and written.

mod export;
mod import;

use nicteam_formats::{FORMATS, Format};
use nicteam_host::configuration::formats;

use crate::value::OneOf;

pub(crate) use export::{Export, run as export};
pub(crate) use import::{Import, read, run as import};

/// A format on the command line.
pub(crate) const FORMAT: OneOf<&'static dyn Format> =
    OneOf { parse: named, names: || FORMATS.iter().map(|format| format.name()).collect() };

/// The format of this name.
fn named(name: &str) -> Result<&'static dyn Format, String> {
    let known = FORMATS.iter().find(|format| format.name() == name);
    known.copied().ok_or_else(|| {
        let names = || FORMATS.iter().map(|format| format.name());
        match nicteam_team::nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => formats(),
        }
    })
}

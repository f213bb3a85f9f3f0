//! Other people's configuration of bonds: read, understood and written in their own words.
//!
//! One file a format. Pure: text in, values out; the callers carry them out. Errors are values that name the word that
//! is wrong, in the words of the program that the format belongs to, and say what to do.
//!
//! [`FORMATS`] and [`WRITERS`] are the registries. Files are read here; scripts, which are command lines, in `nicteam-scripts`.
//! What a format yields ([`Network`]) and what it is ([`Format`]) is in `nicteam-drafts`, which is re-exported.
#![forbid(unsafe_code)]

mod cloud_init;
mod freebsd;
mod ifcfg;
pub mod ifupdown;
mod keyfile;
mod netplan;
mod networkd;
mod nmstate;
mod registry;
pub mod settings;
mod switch;
mod teamd;
pub mod toml;

pub use nicteam_drafts::{
    Address, AddressError, Disable, Format, Import, Left, Network, Route, RouteError, RouteWords, Team, Writer,
    Written, template,
};
pub use nicteam_syntax::shell::quoted;
pub use nicteam_syntax::{Place, Source, tree, yaml};
pub use registry::{FORMATS, WRITERS};
pub use switch::balancing;

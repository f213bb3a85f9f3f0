//! Storage that hosts serve. One file a kind, and one line in [`KINDS`].

mod backing;
mod ganesha;
mod login;
mod mount;
mod served;
mod terms;
mod tgt;

pub(crate) use ganesha::can_serve_folders;
pub use terms::{Kind, Said, Served};

pub(crate) use served::{act, serve};

/// All kinds.
pub(crate) static KINDS: [&dyn Kind; 2] = [&tgt::Tgt, &ganesha::Ganesha];

/// The kind of this name.
pub(crate) fn find(name: &str) -> Option<&'static dyn Kind> {
    KINDS.into_iter().find(|kind| kind.name() == name)
}

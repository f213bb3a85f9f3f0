//! Texts of other programs as values, each with its place: shell scripts, INI, YAML, JSON.
//!
//! It knows the syntax only, and no key of any program. Pure: text in, values out, with a limit on depth and number, so that
//! a text from a stranger cannot ask for more memory than it deserves.
#![forbid(unsafe_code)]

mod at;
pub mod ini;
pub mod json;
mod rest;
pub mod shell;
mod source;
pub mod tree;
pub mod unescaped;
pub mod yaml;

pub use at::At;
pub use source::{Place, Source};

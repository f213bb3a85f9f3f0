//! The pages over a socket, as a browser and as a stranger see them.

mod browser;
mod common;
mod devtools;
mod hostile;
mod pages;

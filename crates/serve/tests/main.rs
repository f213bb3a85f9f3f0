//! The pages over a socket, as a browser and as a stranger see them.

mod common;
mod hostile;
mod pages;

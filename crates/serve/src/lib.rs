//! The lab in a browser: the bundles of a folder, their pages, comparisons and predictions.
//!
//! Nothing is changed and nothing is loaded from elsewhere. [`Pages`] is the [`Site`](nicteam_web::Site) that a
//! [`Server`](nicteam_web::Server) hands out.
#![forbid(unsafe_code)]

mod access;
mod changes;
mod chart;
mod compared;
mod folder;
mod follow;
mod frame;
mod making;
mod overview;
mod policy;
mod prediction;
mod route;
mod site;
mod summary;

pub use access::{Access, BadToken, SHORTEST_TOKEN};
pub use site::Pages;

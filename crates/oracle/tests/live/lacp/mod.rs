//! 802.3ad with the kernel's bonding driver as the partner, on live links.

mod agree;
mod faults;
mod meeting;
mod select;

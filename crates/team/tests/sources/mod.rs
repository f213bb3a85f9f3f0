//! What the sources themselves have to look like.

mod door;
mod places;
mod tree;

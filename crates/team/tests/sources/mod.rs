//! What the sources themselves have to look like.

mod door;
mod halves;
mod places;
mod tree;

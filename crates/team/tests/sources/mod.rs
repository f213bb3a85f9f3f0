//! What the sources themselves have to look like.

mod halves;
mod places;
mod tree;

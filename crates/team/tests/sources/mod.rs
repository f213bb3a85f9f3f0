//! What the sources themselves have to look like.

mod places;
mod tree;

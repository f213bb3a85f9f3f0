//! What the build read from the compiled programs, so that both sides mean the same bytes.
//!
//! `laid_out_as!(plan, Plan)` ends the build unless the Rust type has the fields of `struct plan` (`bpf/plan.h`), by the
//! same names, at the same offsets, of the same sizes, and neither side has bytes beside them. That a field is a number here
//! and a structure of numbers there is no matter.

include!(concat!(env!("OUT_DIR"), "/abi.rs"));

pub(super) use laid_out_as;

/// The size of what a function points to within a structure.
pub(super) const fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

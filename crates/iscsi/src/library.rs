//! libiscsi, opened at run time.

use std::fmt;
use std::sync::Arc;

use crate::ffi::{self, Functions};

/// The names that libiscsi's releases have, from 1.18 on.
const NAMES: [&str; 5] = ["libiscsi.so.7", "libiscsi.so.8", "libiscsi.so.9", "libiscsi.so.10", "libiscsi.so.11"];

/// libiscsi is not on this host, or not one that this program knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot open libiscsi: {reason}\nhint: apt-get install libiscsi7")]
pub struct Absent {
    /// The error of the system.
    pub reason: String,
}

/// libiscsi. A clone is the same library.
#[derive(Clone)]
pub struct Library {
    functions: Arc<Functions>,
    name: &'static str,
}

impl Library {
    /// Opens the library by the names that its releases have.
    ///
    /// # Errors
    /// It is not installed, lacks a function that is needed, or its structures are laid out in an unknown way.
    pub fn open() -> Result<Library, Absent> {
        let mut first = None;
        for name in NAMES {
            // SAFETY: libiscsi has no initializer or finalizer that matters to anybody.
            match unsafe { libloading::Library::new(name) } {
                Ok(library) => return Library::of(library, name),
                Err(error) => first = first.or(Some(error.to_string())),
            }
        }
        Err(Absent { reason: first.unwrap_or_default() })
    }

    fn of(library: libloading::Library, name: &'static str) -> Result<Library, Absent> {
        let absent = |reason: String| Absent { reason: format!("{name}: {reason}") };
        // SAFETY: what has this name is libiscsi, and its functions have had these types in all releases of these
        // names.
        let functions = unsafe { Functions::of(library) }.map_err(|error| absent(error.to_string()))?;
        ffi::layout(&functions).map_err(absent)?;
        Ok(Library { functions: Arc::new(functions), name })
    }

    /// The file that was opened: `libiscsi.so.7`.
    pub fn name(&self) -> &str {
        self.name
    }

    pub(crate) fn functions(&self) -> &Functions {
        &self.functions
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Library").field(&self.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_another_is_refused_by_what_it_lacks() {
        // SAFETY: the test program has it already.
        let other = unsafe { libloading::Library::new("libc.so.6") }.unwrap();
        let absent = Library::of(other, "libc.so.6").unwrap_err().to_string();
        assert!(absent.starts_with("cannot open libiscsi: libc.so.6: "), "{absent}");
        assert!(absent.contains("iscsi_create_context") && absent.contains("apt-get install libiscsi7"), "{absent}");
    }
}

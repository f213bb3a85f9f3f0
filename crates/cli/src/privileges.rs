//! Gets what the lab needs: root of a network namespace.

use nicteam_sys::netns;

use crate::failure::Failure;

/// Makes sure that the process may build networks: as root, or as root of a
/// user namespace of its own. Call while the process has one thread.
/// Returns which of them it is.
pub(crate) fn obtain() -> Result<&'static str, Failure> {
    if netns::is_network_root() {
        return Ok("root");
    }
    netns::become_root_of_user_namespace().map(|()| "user namespace").map_err(|error| {
        Failure::missing(format!(
            "the lab needs root or user namespaces, and has neither: {error}\n\
             hint: run it with sudo, or allow user namespaces: `sysctl user.max_user_namespaces` must not be 0, \
             and where they exist `kernel.unprivileged_userns_clone` must be 1 and \
             `kernel.apparmor_restrict_unprivileged_userns` 0"
        ))
    })
}

//! Where programs of others are.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Folders of programs that an ordinary user's PATH lacks.
const SYSTEM_FOLDERS: [&str; 3] = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

/// Where a program of this name is.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(SYSTEM_FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(program)).find(|file| is_program(file))
}

/// Whether this is a file that can be run.
pub(crate) fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// The program among these that the machine does not have.
pub(crate) fn missing<'a>(programs: &[&'a str]) -> Option<&'a str> {
    programs.iter().copied().find(|program| find(program).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_named() {
        assert_eq!(missing(&["sh", "no-such-program", "nor-this"]), Some("no-such-program"));
        assert_eq!(missing(&["sh"]), None);
        assert!(!is_program(Path::new("/etc/passwd")) && !is_program(Path::new("/bin")));
    }
}

//! What the program `ssh` said when it failed, with a hint.

/// What a user can do about it; `said` is the standard error of `ssh` and of what it started.
pub fn hint(said: &str) -> Option<&'static str> {
    let hints = [
        (
            "Host key verification failed",
            "the machine has another host key than ~/.ssh/known_hosts says, or none is known: log in once by hand",
        ),
        (
            "Permission denied (",
            "none of your keys is accepted there: `ssh-copy-id` installs one; passwords are not asked for",
        ),
        ("Could not resolve hostname", "the name of the machine is not known: correct `ssh` of the host"),
        ("Connection refused", "no ssh server listens there: start it, or name its port in your ssh configuration"),
        ("timed out", "the machine cannot be reached: is it on, and does a firewall drop the connection?"),
        ("No route to host", "the machine cannot be reached: is it on, and connected?"),
        ("Network is unreachable", "the machine cannot be reached from here: check the routes of this machine"),
        ("No space left on device", "make room in the machine's folder for temporary files, or set TMPDIR there"),
        (
            "Permission denied",
            "the folder for temporary files of that machine executes nothing (noexec): set TMPDIR there",
        ),
        (
            "this program is built for",
            "use a machine of the same kind, or a program that is built for that machine there",
        ),
        ("closed by remote host", "the ssh server ended the connection: its log says why"),
    ];
    hints.into_iter().find(|(words, _)| said.contains(words)).map(|(_, hint)| hint)
}

/// What went wrong with a machine, in one line for each line that was said.
pub fn told(what: &str, said: &str) -> String {
    let lines = clean(said);
    let reason = if lines.is_empty() { String::new() } else { format!(": {}", lines.join("; ")) };
    hint(said).map_or_else(|| format!("{what}{reason}"), |hint| format!("{what}{reason}; hint: {hint}"))
}

/// What was said, line by line. Nothing of it is to steer a terminal.
pub fn clean(said: &str) -> Vec<String> {
    let clean = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned();
    said.lines().map(clean).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_ssh_have_a_hint() {
        let told = told("ssh failed", "root@a: Permission denied (publickey).\r\n");
        assert!(
            told.starts_with("ssh failed: root@a: Permission denied (publickey).; hint: none of your keys"),
            "{told}"
        );
        assert!(hint("sh: 1: exec: /tmp/x: Permission denied").is_some_and(|hint| hint.contains("noexec")));
        assert_eq!(super::told("it ended", "\n"), "it ended");
    }
}

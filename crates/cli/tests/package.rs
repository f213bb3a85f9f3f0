//! The Debian package, the unit, and what is made from the command line.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::teams::own_folder;

const NICTEAM: &str = env!("CARGO_BIN_EXE_nicteam");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap()
}

fn output(command: &mut Command) -> Option<Output> {
    command.output().ok()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The package as a whole: everything that it has to bring, with the right owner and mode, and scripts that a shell reads.
#[test]
fn a_package_brings_what_a_host_needs() {
    let folder = own_folder("package");
    let mut make = Command::new(root().join("scripts/deb.sh"));
    make.args(["--binary", NICTEAM, "--version", "9.9", "--compression", "none", "--output"]).arg(&folder);
    let made = make.output().unwrap();
    if made.status.code() == Some(3) {
        return eprintln!("SKIPPED: {}", text(&made).trim());
    }
    assert!(made.status.success(), "{}", text(&made));
    let package = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    let dpkg = |arguments: &[&str]| {
        let output = Command::new("dpkg-deb").args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let listing = dpkg(&["--contents", &package]);
    for (mode, path) in [
        ("-rwxr-xr-x root/root", "./usr/bin/nicteam"),
        ("-rw-r--r-- root/root", "./usr/lib/systemd/system/nicteam@.service"),
        ("-rw-r--r-- root/root", "./usr/lib/systemd/system/nicteam-metrics.service"),
        ("-rwxr-xr-x root/root", "./usr/lib/systemd/system-generators/nicteam-generator"),
        ("-rw-r--r-- root/root", "./etc/nicteam/README"),
        ("-rw-r--r-- root/root", "./usr/share/bash-completion/completions/nicteam"),
        ("-rw-r--r-- root/root", "./usr/share/zsh/vendor-completions/_nicteam"),
        ("-rw-r--r-- root/root", "./usr/share/fish/vendor_completions.d/nicteam.fish"),
        ("-rw-r--r-- root/root", "./usr/share/man/man1/nicteam-team-add.1.gz"),
        ("-rw-r--r-- root/root", "./usr/share/doc/nicteam/copyright"),
        ("-rw-r--r-- root/root", "./usr/share/doc/nicteam/changelog.gz"),
        ("-rw-r--r-- root/root", "./usr/share/doc/nicteam/THIRD-PARTY"),
        ("-rw-r--r-- root/root", "./usr/share/doc/nicteam/service.md"),
        ("-rw-r--r-- root/root", "./usr/share/doc/nicteam/guide/first-team.md"),
        ("-rw-r--r-- root/root", "./usr/share/doc/nicteam/design/README.md"),
        ("-rw-r--r-- root/root", "./usr/share/doc/nicteam/examples/prometheus/nicteam.rules.yml"),
        ("-rw-r--r-- root/root", "./usr/share/doc/nicteam/examples/grafana/nicteam.json"),
        ("-rw-r--r-- root/root", "./usr/share/doc/nicteam/examples/team0.toml"),
    ] {
        let is_there = |line: &str| line.starts_with(mode) && line.ends_with(&format!(" {path}"));
        assert!(listing.lines().any(is_there), "{path} with {mode}\n{listing}");
    }
    let strange = |line: &&str| {
        let path = line.split_whitespace().last().unwrap_or_default();
        !line.contains("root/root")
            || line.starts_with("-rws")
            || !["./", "./usr/", "./etc/"].iter().any(|top| path == *top || path.starts_with(top) && *top != "./")
    };
    assert_eq!(listing.lines().filter(strange).collect::<Vec<_>>(), [] as [&str; 0]);
    let field = |name: &str| dpkg(&["--field", &package, name]).trim().to_owned();
    assert_eq!((field("Package"), field("Version")), ("nicteam".to_owned(), "9.9".to_owned()));
    assert!(field("Depends").starts_with("libc6 (>= 2."), "{}", field("Depends"));
    let unpacked = folder.join("control");
    dpkg(&["--control", &package, &unpacked.display().to_string()]);
    for script in ["postinst", "prerm", "postrm"] {
        let checked = Command::new("sh").arg("-n").arg(unpacked.join(script)).output().unwrap();
        assert!(checked.status.success(), "{script}: {}", text(&checked));
    }
    assert_eq!(fs::read_to_string(unpacked.join("conffiles")).unwrap(), "/etc/nicteam/README\n");
    fs::remove_dir_all(folder).unwrap();
}

/// Runs the package's scripts in a mount namespace whose `/run`, `/var/lib` and `/usr/sbin` are empty, with a `systemctl` that
/// writes down what it is told, and perhaps a `policy-rc.d` that answers `$2`. Teams `one` and `two` have files; `one` runs.
const REINSTALLED: &str = r#"set -e
mount --make-rprivate / && mount -t tmpfs none /run && mount -t tmpfs none /var/lib && mount -t tmpfs none /usr/sbin
if [ -n "$2" ]; then
    printf '#!/bin/sh\nexit %s\n' "$2" >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
fi
mkdir -p /run/bin /run/systemd/system /run/systemd/generator/multi-user.target.wants
for team in one two; do
    ln -s /nowhere "/run/systemd/generator/multi-user.target.wants/nicteam@$team.service"
done
cat >/run/bin/systemctl <<'END'
#!/bin/sh
case "$*" in
*list-units*--state=active,activating*) echo 'nicteam@one.service loaded active running team one' ;;
*is-active*) exit 3 ;;
start*) echo "started: $*" ;;
esac
END
for program in nicteam getent groupadd; do printf '#!/bin/sh\n' >/run/bin/$program; done
chmod +x /run/bin/* && export PATH=/run/bin:$PATH
echo installed; sh "$1/postinst" configure ''
echo removed; sh "$1/prerm" remove
echo again; sh "$1/postinst" configure 1.0
echo upgraded; sh "$1/prerm" upgrade 2.0; sh "$1/postinst" configure 1.0
echo kept; sh "$1/prerm" deconfigure in-favour other 1.0; sh "$1/postinst" abort-deconfigure in-favour other 1.0
"#;

/// What the package's scripts say; `policy`: what `policy-rc.d` answers, empty where there is none. Nothing: it cannot be run here.
fn reinstalled(policy: &str) -> Option<String> {
    let scripts = root().join("packaging/debian");
    let run = ["--mount", "sh", "-c", REINSTALLED, "sh"];
    let Some(ran) = output(Command::new("unshare").args(run).arg(&scripts).arg(policy)) else {
        eprintln!("SKIPPED: no unshare");
        return None;
    };
    let said = text(&ran);
    if said.contains("unshare failed") {
        eprintln!("SKIPPED: {}", said.trim());
        return None;
    }
    assert!(ran.status.success(), "{said}");
    Some(said)
}

const HINT: &str = "nicteam: teams of /etc/nicteam start at the next boot; to start them now: systemctl start";

#[test]
fn a_new_installation_starts_what_the_removal_stopped() {
    // 104: the administrator lets it, whatever the runlevel says.
    for policy in ["", "104"] {
        let Some(said) = reinstalled(policy) else { return };
        let started = format!("started: start nicteam@one.service\n{HINT} nicteam@two\n");
        let expected =
            format!("installed\n{HINT} nicteam@one nicteam@two\nremoved\nagain\n{started}upgraded\nkept\n{started}");
        assert_eq!(said, expected, "policy-rc.d {policy:?}");
    }
}

#[test]
fn a_new_installation_starts_nothing_where_policy_rc_d_forbids_it() {
    let Some(said) = reinstalled("101") else { return };
    let hint = format!("{HINT} nicteam@one nicteam@two\n");
    assert_eq!(said, format!("installed\n{hint}removed\nagain\n{hint}upgraded\nkept\n{hint}"));
}

#[test]
fn systemd_understands_the_units() {
    for (file, name) in
        [("nicteam@.service", "nicteam@team0.service"), ("nicteam-metrics.service", "nicteam-metrics.service")]
    {
        let folder = own_folder("unit");
        fs::create_dir_all(&folder).unwrap();
        let unit = fs::read_to_string(root().join("packaging").join(file)).unwrap();
        let lines = unit.lines().filter(|line| !line.starts_with("Documentation="));
        let here: String = lines.map(|line| line.replace("/usr/bin/nicteam", NICTEAM) + "\n").collect();
        let path = folder.join(name);
        fs::write(&path, here).unwrap();
        let checked =
            output(Command::new("systemd-analyze").args(["verify", "--man=no", "--recursive-errors=no"]).arg(&path));
        fs::remove_dir_all(folder).unwrap();
        let Some(checked) = checked else {
            return eprintln!("SKIPPED: no systemd-analyze");
        };
        // What it says of other units, and of a machine without systemd, is not of this one.
        let said = text(&checked);
        let own: Vec<&str> =
            said.lines().filter(|line| line.contains("nicteam@") || line.contains("nicteam-metrics")).collect();
        assert_eq!(own, [] as [&str; 0]);
    }
}

/// The names of all commands that `--help` shows, each with its parents'.
fn commands(of: &[String]) -> BTreeSet<String> {
    let help = Command::new(NICTEAM).args(of).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| line.starts_with("  "));
    // What stands further in goes on with the description above.
    let names = listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    let mut found = BTreeSet::from([of.join(" ")]);
    for name in names.filter(|name| *name != "help") {
        found.extend(commands(&[of, &[name.to_owned()]].concat()));
    }
    found
}

#[test]
fn each_command_has_a_page_and_completions() {
    let folder = own_folder("man");
    let made = Command::new(NICTEAM).arg("man").arg(&folder).output().unwrap();
    assert!(made.status.success(), "{}", text(&made));
    let pages: BTreeSet<String> =
        fs::read_dir(&folder).unwrap().flatten().map(|page| page.file_name().into_string().unwrap()).collect();
    let all = commands(&[]);
    let expected: BTreeSet<String> = all
        .iter()
        .map(|command| {
            format!("nicteam{}{}.1", if command.is_empty() { "" } else { "-" }, command.replace([' ', '/'], "-"))
        })
        .collect();
    assert!(expected.len() > 30, "{expected:?}");
    assert_eq!(pages, expected);
    let page = fs::read_to_string(folder.join("nicteam.1")).unwrap();
    assert!(page.contains("\"nicteam 0") && !page.contains("nicteam\\-help"), "{page}");
    let page = fs::read_to_string(folder.join("nicteam-team-add.1")).unwrap();
    assert!(page.contains(".TH nicteam-team-add 1") && page.contains("\\-\\-members"), "{page}");
    fs::remove_dir_all(folder).unwrap();
    for (shell, start) in [("bash", "_nicteam()"), ("zsh", "#compdef nicteam"), ("fish", "# Print an optspec")] {
        let made = Command::new(NICTEAM).args(["completions", shell]).output().unwrap();
        let text = String::from_utf8(made.stdout).unwrap();
        assert!(
            text.starts_with(start) && text.contains("miimon") | text.contains("members"),
            "{shell}: {}",
            &text[..200]
        );
        // What only programs call is not offered; names of formats are.
        let offers = |word: &str| text.split(|of: char| !of.is_alphanumeric() && of != '-').any(|of| of == word);
        for hidden in ["await-confirmation", "agent", "service"] {
            assert!(!offers(hidden), "{shell} offers {hidden}");
        }
        assert!(offers("ovs-vsctl") && offers("cisco"), "{shell}");
    }
    if let Ok(checked) = Command::new("bash")
        .args(["-c", &format!("source <({NICTEAM} completions bash) && complete -p nicteam")])
        .output()
    {
        assert!(checked.status.success(), "{}", text(&checked));
    }
}

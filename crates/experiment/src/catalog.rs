//! Experiments by name: those that ship with the program, and files.

use std::io::Read;
use std::path::Path;

use nicteam_diagnostics::nearest;

/// Largest experiment file, bytes.
pub const MAX_FILE_BYTES: u64 = 1 << 20;

/// An experiment that ships with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Its name: the file's stem.
    pub name: &'static str,
    /// The file, whole.
    pub text: &'static str,
    /// What it belongs to.
    pub group: Group,
}

/// What built-in experiments belong to, in the order of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// A published test, built in the same way.
    Published,
    /// The lab itself and the modes that the kernel has, too.
    Basic,
    /// Mode stripe.
    Stripe,
}

impl Group {
    /// All of them, in order.
    pub const ALL: [Group; 3] = [Group::Published, Group::Basic, Group::Stripe];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::Published => "Published tests, rebuilt",
            Group::Basic => "First steps, and one question each",
            Group::Stripe => "Mode stripe",
        }
    }
}

impl Builtin {
    /// Its `title`, for lists.
    pub fn title(&self) -> &'static str {
        let line = self.text.lines().find_map(|line| line.strip_prefix("title = \""));
        line.and_then(|line| line.strip_suffix('"')).unwrap_or("")
    }
}

/// The text of an experiment, not yet parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name it is run by: the file's stem.
    pub name: String,
    /// What messages call it.
    pub path: String,
    /// The file, whole.
    pub text: String,
}

/// Nothing to run under this name.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// No file, and no built-in experiment.
    #[error("no experiment `{name}`")]
    Unknown {
        /// As it was given.
        name: String,
        /// The nearest of the built-in names.
        near: Option<&'static str>,
    },
    /// The beginning of several names.
    #[error("`{name}` is the beginning of several experiments: {}", candidates.join(", "))]
    Ambiguous {
        /// As it was given.
        name: String,
        /// The names that begin so.
        candidates: Vec<&'static str>,
    },
    /// The file cannot be read.
    #[error("cannot read {path}: {error}")]
    Read {
        /// The file.
        path: String,
        /// Why not.
        error: std::io::Error,
    },
    /// No experiment is so large.
    #[error("{path} is larger than an experiment file can be ({MAX_FILE_BYTES} bytes)")]
    TooLarge {
        /// The file.
        path: String,
    },
    /// The file is not text.
    #[error("{path}:{line}: not UTF-8 text")]
    NotText {
        /// The file.
        path: String,
        /// Line of the first byte that is no text, from 1.
        line: usize,
    },
}

impl FindError {
    /// What to do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        let names = || builtin().iter().map(|experiment| experiment.name).collect::<Vec<_>>().join(", ");
        match self {
            FindError::Unknown { near: Some(near), .. } => Some(format!("did you mean `{near}`?")),
            FindError::Unknown { .. } => {
                Some(format!("built in are {}; or give the path of a file: ./my-experiment.toml", names()))
            }
            FindError::Ambiguous { .. } => Some("write more of the name".to_owned()),
            FindError::Read { error, .. } if error.kind() == std::io::ErrorKind::NotFound => {
                Some(format!("built in are {}", names()))
            }
            FindError::NotText { .. } => Some("save the file as UTF-8".to_owned()),
            FindError::Read { .. } | FindError::TooLarge { .. } => None,
        }
    }
}

/// The experiments that ship with the program, in the order of their names.
pub fn builtin() -> &'static [Builtin] {
    macro_rules! ship {
        ($($name:literal $group:ident),*) => {
            &[$(Builtin {
                name: $name,
                text: include_str!(concat!("../../../experiments/", $name, ".toml")),
                group: Group::$group,
            }),*]
        };
    }
    ship!(
        "big-link" Stripe,
        "big-link-latency" Stripe,
        "chaos" Basic,
        "failover-table" Basic,
        "generators" Basic,
        "guest-migration" Basic,
        "idle-teams" Stripe,
        "impaired-link" Basic,
        "lacp-forms" Basic,
        "lacp-stall" Basic,
        "one-sided" Stripe,
        "one-sided-compared" Stripe,
        "one-sided-compared-gigabit" Stripe,
        "one-sided-gateway" Stripe,
        "one-sided-gateway-gigabit" Stripe,
        "one-sided-gigabit" Stripe,
        "one-sided-latency" Stripe,
        "ovs-cost" Basic,
        "storage-faults" Basic,
        "stripe" Stripe,
        "stripe-compared" Stripe,
        "stripe-compared-hosts" Stripe,
        "stripe-compared-links" Stripe,
        "stripe-cost" Stripe,
        "stripe-faults" Stripe,
        "stripe-gigabit" Stripe,
        "stripe-many" Stripe,
        "stripe-udp" Stripe,
        "stripe-unlike-cards" Stripe,
        "stripe-widths" Stripe,
        "switch-teams" Basic,
        "t1-two-hosts" Published,
        "t2-load-balancer" Published,
        "t3-four-links" Published,
        "t4-iscsi-multipath" Published,
        "t5-ovs-bonding" Published,
        "tail" Stripe,
        "two-hosts" Basic,
        "unequal-delays" Stripe,
        "unlimited" Basic
    )
}

/// The experiment of this name: a built-in one, the only built-in one that
/// begins so (`t3`), or a file.
///
/// What holds a `/` or ends in `.toml` is a file. A built-in name comes first:
/// write `./NAME` for a file called like one.
///
/// # Errors
/// No such experiment, or a file that cannot be read; see [`FindError::hint`].
pub fn find(name_or_path: &str) -> Result<Source, FindError> {
    if name_or_path.contains('/') || name_or_path.ends_with(".toml") {
        return read(name_or_path);
    }
    let starting: Vec<_> = builtin()
        .iter()
        .filter(|experiment| !name_or_path.is_empty() && experiment.name.starts_with(name_or_path))
        .collect();
    let exact = starting.iter().find(|experiment| experiment.name == name_or_path);
    match (exact, starting.as_slice()) {
        (Some(found), _) | (None, [found]) => Ok(Source {
            name: found.name.to_owned(),
            path: format!("experiments/{}.toml", found.name),
            text: found.text.to_owned(),
        }),
        (None, []) if Path::new(name_or_path).is_file() => read(name_or_path),
        (None, []) => {
            let near = nearest(name_or_path, builtin().iter().map(|experiment| experiment.name));
            Err(FindError::Unknown { name: name_or_path.to_owned(), near })
        }
        (None, several) => Err(FindError::Ambiguous {
            name: name_or_path.to_owned(),
            candidates: several.iter().map(|experiment| experiment.name).collect(),
        }),
    }
}

fn read(path: &str) -> Result<Source, FindError> {
    let shown = || path.to_owned();
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| FindError::Read { path: shown(), error })?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(FindError::TooLarge { path: shown() });
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        FindError::NotText { path: shown(), line: 1 + good.iter().filter(|byte| **byte == b'\n').count() }
    })?;
    let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Source { name, path: shown(), text })
}

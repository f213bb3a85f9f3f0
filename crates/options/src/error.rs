//! Why an option is not taken.

/// An option or a value the kernel would refuse, too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No option has this name.
    #[error("no option `{name}`")]
    UnknownOption {
        /// As it was given.
        name: String,
    },
    /// The option does not take this value.
    #[error("`{value}` is no value for `{option}`: {expected}")]
    BadValue {
        /// The option.
        option: &'static str,
        /// As it was given.
        value: String,
        /// What it takes.
        expected: String,
    },
    /// Two options that do not go together.
    #[error("{0}")]
    Conflict(String),
}

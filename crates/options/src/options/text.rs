//! A configuration by the names and texts of its options.

use super::option::ConfigOption;
use super::table::OPTIONS;
use crate::config::Config;
use crate::error::ConfigError;
use crate::values::{HIDDEN, Values, nearest};

impl Config {
    /// Every option, `mode` first, in the order in which the kernel would take them.
    pub const OPTIONS: &'static [ConfigOption] = &OPTIONS;

    /// Sets one option from text, as the kernel would from
    /// `/sys/class/net/TEAM/bonding/NAME`. Whether options go together is
    /// [`Config::check`]'s question, asked when all are set.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ConfigError> {
        let option =
            ConfigOption::named(name).ok_or_else(|| ConfigError::UnknownOption { name: name.trim().to_owned() })?;
        (option.set)(self, value)
    }

    /// Every option that lasts with its value, in the kernel's words, secrets
    /// included. [`Config::set`] takes all of them back.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        OPTIONS.iter().filter(|option| option.lasts()).map(|option| (option.name, (option.get)(self))).collect()
    }

    /// The same for people to see: a secret that is set is not shown.
    pub fn shown_options(&self) -> Vec<(&'static str, String)> {
        let shown = |option: &ConfigOption| match (option.get)(self) {
            value if option.is_secret() && !value.is_empty() => HIDDEN.to_owned(),
            value => value,
        };
        OPTIONS.iter().filter(|option| option.lasts()).map(|option| (option.name, shown(option))).collect()
    }

    /// The same as [`Config::options`], and the wish for an `active_slave`, if there is one: all that a
    /// team that is yet to run has to be told.
    pub fn options_and_wish(&self) -> Vec<(&'static str, String)> {
        let granted = OPTIONS.iter().filter(|option| !option.lasts() && self.active_slave.is_some());
        self.options().into_iter().chain(granted.map(|option| (option.name, (option.get)(self)))).collect()
    }

    /// One of [`Config::options_and_wish`], by its name.
    pub fn option(&self, name: &str) -> Option<String> {
        let option = ConfigOption::named(name)?;
        (option.lasts() || self.active_slave.is_some()).then(|| (option.get)(self))
    }
}

impl ConfigError {
    /// What to do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            ConfigError::UnknownOption { name } => match ConfigOption::nearest(name) {
                Some(option) => Some(format!("did you mean `{}`?", option.name)),
                None => {
                    let names: Vec<_> = OPTIONS.iter().map(|option| option.name).collect();
                    Some(format!("the options are {}", names.join(", ")))
                }
            },
            ConfigError::BadValue { option, value, .. } => match ConfigOption::named(option)?.values {
                Values::Names(names) => {
                    nearest(value, names.iter().copied()).map(|name| format!("did you mean `{name}`?"))
                }
                Values::Number { .. } | Values::Positive { .. } | Values::Device | Values::Text { .. } => None,
            },
            ConfigError::Conflict(_) => None,
        }
    }
}

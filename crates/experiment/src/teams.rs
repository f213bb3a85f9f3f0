//! Team options of the file -> [`Config`], by the team crate's own rules.

use nicteam_team::{Config, ConfigError};

use nicteam_diagnostics::{Problem, list, nearest, team_options};
use nicteam_elements::engine::{self, Engine, Group, Unsupported};
use nicteam_elements::record::{At, Options, Span};

/// The key of the engine. It stands among the options of a team and is not one of them.
pub(crate) const ENGINE: &str = "engine";

/// The configuration a set of options makes; what is wrong goes to `problems`.
pub(crate) fn configure(name: &At<String>, options: &Options, problems: &mut Vec<Problem>) -> Config {
    let mut config = Config::default();
    let mut sound = true;
    for (option, value) in options.iter().filter(|(option, _)| option.value != ENGINE) {
        if let Err(error) = config.set(&option.value, &value.value) {
            sound = false;
            problems.push(team_options::refused(&error, &option.span, &value.span));
        }
    }
    if sound && let Err(error) = config.check() {
        let names_and_places = options.iter().map(|(option, _)| (option.value.as_str(), &option.span));
        problems.push(team_options::conflict(&error, (&name.value, &name.span), names_and_places));
    } else if sound {
        let engine = engine(options, problems);
        problems.extend(unsupported(engine, &config, name, options));
    }
    config
}

/// The engine of a team with these options.
pub(crate) fn engine(options: &Options, problems: &mut Vec<Problem>) -> &'static dyn Engine {
    let Some((_, value)) = options.iter().find(|(option, _)| option.value == ENGINE) else { return engine::default() };
    engine::find(&value.value).unwrap_or_else(|| {
        let hint = engines_hint(&value.value);
        problems.push(Problem::at(&value.span, format!("no engine `{}`", value.value)).hint(hint));
        engine::default()
    })
}

/// What to say to whom names an engine that there is not.
pub(crate) fn engines_hint(name: &str) -> String {
    match nearest(name, engine::NAMES) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the engines are {}", list(engine::NAMES.into_iter())),
    }
}

/// The options of a team that this engine is to run, whatever they say.
pub(crate) fn run_by(engine: &str, team: &At<String>, options: &Options) -> Options {
    let at = |value: &str| At { value: value.to_owned(), span: team.span.clone() };
    overlaid(options, &vec![(at(ENGINE), at(engine))])
}

/// What an engine cannot do of a team, at the option that asks for it.
fn unsupported(engine: &dyn Engine, config: &Config, name: &At<String>, options: &Options) -> Option<Problem> {
    let error = engine.supports(config).err()?;
    let blamed = options.iter().find(|(option, _)| option.value == error.option);
    let span = blamed.map_or(&name.span, |(_, value)| &value.span);
    Some(refused_by(engine, &error, span))
}

/// An engine's refusal, at what it refuses.
pub(crate) fn refused_by(engine: &dyn Engine, error: &Unsupported, span: &Span) -> Problem {
    let message = format!("engine `{}` {}", engine.name(), error.reason);
    let hint = error.hint.clone();
    Problem::at(span, message)
        .hint(hint.unwrap_or_else(|| format!("change `{}`, or name another `{ENGINE}`", error.option)))
}

/// The options of a team with a run's in place of its own.
pub(crate) fn overlaid(base: &Options, other: &Options) -> Options {
    let mut both: Options =
        base.iter().filter(|(option, _)| other.iter().all(|(o, _)| o.value != option.value)).cloned().collect();
    both.extend(other.iter().cloned());
    both
}

/// Whether a switch must treat the links to such a team as one group.
pub(crate) fn wants_group(config: &Config) -> bool {
    config.mode.traits().needs_group(config)
}

/// How a switch bundles links.
#[derive(Clone, Debug)]
pub(crate) struct Grouping {
    /// Its hash policy.
    pub(crate) policy: String,
    /// Values of its hash; 0: as many as links.
    pub(crate) hash_buckets: u32,
    /// `active`, `passive` or `off`; none: as the other end has it.
    pub(crate) lacp: Option<String>,
    /// `slow` or `fast`.
    pub(crate) lacp_rate: String,
}

/// A switch's link aggregation group towards a team of this configuration, or another switch.
pub(crate) fn group(how: &Grouping, engine: &dyn Engine, towards: Option<&Config>) -> Result<Config, Unfit> {
    let aggregates = |config: &Config| config.mode.traits().aggregates(config);
    let lacp = how.lacp.as_deref().unwrap_or(if towards.is_some_and(aggregates) { "active" } else { "off" });
    let mut config = Config::default();
    let group = Group { spread: &how.policy, hash_buckets: how.hash_buckets, lacp, lacp_rate: &how.lacp_rate };
    for (option, value) in engine.group(&group)? {
        config.set(option, &value)?;
    }
    engine.supports(&config)?;
    Ok(config)
}

/// Why there is no such group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    /// The options do not go together.
    #[error(transparent)]
    Options(#[from] ConfigError),
    /// Its engine has no such.
    #[error("{}", .0.reason)]
    Engine(Unsupported),
}

impl From<Unsupported> for Unfit {
    fn from(error: Unsupported) -> Unfit {
        Unfit::Engine(error)
    }
}

#[cfg(test)]
mod tests {
    use nicteam_team::Mode;

    use super::*;

    /// An engine that can do little.
    struct Toy;

    impl Engine for Toy {
        fn name(&self) -> &'static str {
            "toy"
        }

        fn supports(&self, config: &Config) -> Result<(), Unsupported> {
            match config.mode {
                Mode::ActiveBackup => Ok(()),
                mode => Err(Unsupported { option: "mode", reason: format!("has no mode {mode}"), hint: None }),
            }
        }
    }

    #[test]
    fn what_an_engine_cannot_do_is_an_error_at_its_line() {
        let at = |value: &str, start| At { value: value.to_owned(), span: start..start + value.len() };
        let team = |mode| {
            let options: Options = vec![(at("mode", 10), at(mode, 20))];
            let mut config = Config::default();
            config.set("mode", mode).unwrap();
            unsupported(&Toy, &config, &at("t", 0), &options)
        };
        assert_eq!(team("active-backup"), None);
        let problem = team("broadcast").unwrap();
        assert_eq!(problem.span, Some(20..29));
        assert_eq!(problem.message, "engine `toy` has no mode broadcast");
    }
}

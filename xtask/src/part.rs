//! Parts: what is measured, one file each, and one line in a registry.

use clap::builder::{PossibleValue, PossibleValuesParser};
use nicteam_sys::process;

use crate::failure::Failure;
use crate::figure::{Figure, Section};
use crate::product::Product;
use crate::results::Save;
use crate::scratch::Scratch;
use crate::tools::{self, Tool};

/// Something that is measured by a command whose arguments are `A`.
pub(crate) struct Part<A: 'static> {
    /// What `--only` calls it.
    pub(crate) name: &'static str,
    /// What stands above its figures.
    pub(crate) title: &'static str,
    /// Programs that it needs.
    pub(crate) tools: &'static [Tool],
    /// Compiles what it needs: nothing may be compiled while something is measured.
    pub(crate) prepare: fn() -> Result<(), Failure>,
    /// The command that measures it by its name; none: `--only` of the script.
    pub(crate) command: Option<&'static str>,
    /// Measures it.
    pub(crate) measure: fn(&Context<'_, A>) -> Result<Vec<Figure>, Failure>,
}

/// What a part is measured with.
pub(crate) struct Context<'a, A> {
    /// The part, as `--only` calls it.
    pub(crate) part: &'static str,
    /// Arguments of the command.
    pub(crate) arguments: &'a A,
    /// The program that is measured.
    pub(crate) product: &'a Product,
    /// A folder for what it leaves.
    pub(crate) scratch: &'a Scratch,
}

impl<A> Part<A> {
    /// A part that needs no other program and compiles nothing.
    pub(crate) const fn new(
        name: &'static str,
        title: &'static str,
        measure: fn(&Context<'_, A>) -> Result<Vec<Figure>, Failure>,
    ) -> Part<A> {
        Part { name, title, tools: &[], prepare: || Ok(()), command: None, measure }
    }

    /// The value of `--only` that names it.
    pub(crate) fn value(&self) -> PossibleValue {
        PossibleValue::new(self.name).help(self.title)
    }
}

/// What `--only` takes.
pub(crate) fn names<A>(parts: &[&Part<A>]) -> PossibleValuesParser {
    PossibleValuesParser::new(parts.iter().map(|part| part.value()))
}

/// Measures the parts of these names, all of them if there are none; prints and saves each as soon as it is there.
///
/// # Errors
/// A name that no part has, a machine that lacks what one needs, and a signal. What one fails with stands in its
/// section; the others are measured.
pub(crate) fn run<A>(parts: &[&Part<A>], only: &[String], arguments: &A, save: &Save) -> Result<Vec<Section>, Failure> {
    if let Some(unknown) = only.iter().find(|name| parts.iter().all(|part| part.name != **name)) {
        let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
        return Err(Failure::Missing(format!("no part `{unknown}` here; hint: --only {}", names.join(", --only "))));
    }
    let wanted = || parts.iter().filter(|part| only.is_empty() || only.iter().any(|name| name == part.name));
    let tools: Vec<Tool> = wanted().flat_map(|part| part.tools).copied().collect();
    tools::require(&tools)?;
    let product = Product::find()?;
    wanted().try_for_each(|part| (part.prepare)())?;
    let scratch = Scratch::new("xtask")?;
    let mut sections = Vec::new();
    for part in wanted() {
        let context = Context { part: part.name, arguments, product: &product, scratch: &scratch };
        let section = Section::new(part.title, (part.measure)(&context));
        print!("{section}");
        save.part(part.name, part.command, std::slice::from_ref(&section))?;
        sections.push(section);
        if process::termination().is_some() {
            return Err(Failure::Interrupted);
        }
    }
    Ok(sections)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Part<()> = Part::new("a", "A", |_| Ok(Vec::new()));

    #[test]
    fn a_name_that_no_part_has_is_refused_with_those_there_are() {
        let refused = run(&[&PART, &Part { name: "b", ..PART }], &["c".to_owned()], &(), &Save::default()).unwrap_err();
        assert_eq!(refused, Failure::Missing("no part `c` here; hint: --only a, --only b".to_owned()));
    }
}

//! `[[expect]]`: what must come out of a run.

use nicteam_diagnostics::{Problem, line_and_column, list, nearest};
use nicteam_expect::{Beside, Bound, CAUSES, Expectation, Figure, NAMES, Part, Scale, Scope, Unit, What};

use nicteam_elements::keys::{Key, Kind, Need, Section, Thing};
use nicteam_elements::record::{At, Record};

pub(crate) const EXPECT: Section = Section {
    header: "[[expect]]",
    doc: "What must come out of a run: a figure within a bound, or a finding. `nicteam lab check` carries out the runs and \
        decides; `nicteam lab run` prints verdicts. [check.md](check.md) describes figures and verdicts.",
    keys: &[
        Key { name: "run", kind: Kind::Many(Thing::Run), need: Need::Required, doc: "The run, or each of several." },
        Key {
            name: "figure",
            kind: Kind::Choice(&NAMES),
            need: Need::Otherwise("a finding is expected"),
            doc: "The figure; it needs a bound.",
        },
        Key {
            name: "workload",
            kind: Kind::One(Thing::Workload),
            need: Need::Otherwise("the whole run"),
            doc: "The figure is of this workload alone.",
        },
        Key {
            name: "host",
            kind: Kind::One(Thing::Host),
            need: Need::Otherwise("the whole run"),
            doc: "The figure is of this host or switch alone.",
        },
        Key {
            name: "ratio_to",
            kind: Kind::One(Thing::Run),
            need: Need::Otherwise("the figure alone"),
            doc: "The bound is of the figure divided by the same figure of this run, in pairs by repetition.",
        },
        Key {
            name: "difference_to",
            kind: Kind::One(Thing::Run),
            need: Need::Otherwise("the figure alone"),
            doc: "The bound is of what the figure is more than that of this run.",
        },
        Key {
            name: "against",
            kind: Kind::Text,
            need: Need::Otherwise("the other run is one of this file"),
            doc: "The bundle of a former record, relative to this file: `ratio_to` or `difference_to` names a run of it.",
        },
        Key {
            name: "at_least",
            kind: Kind::Quantity,
            need: Need::Otherwise("no lowest value"),
            doc: "The lowest value, in the figure's unit, or as text with a unit: `0.9`, `\"90%\"`, `\"300mbit\"`.",
        },
        Key {
            name: "at_most",
            kind: Kind::Quantity,
            need: Need::Otherwise("no highest value"),
            doc: "The highest value.",
        },
        Key {
            name: "between",
            kind: Kind::Quantities,
            need: Need::Otherwise("as `at_least` and `at_most` say"),
            doc: "Both: `[0.9, 1.1]`.",
        },
        Key {
            name: "finding",
            kind: Kind::Choice(&CAUSES),
            need: Need::Otherwise("a figure is expected"),
            doc: "The cause of a finding that must be there.",
        },
        Key {
            name: "no_finding",
            kind: Kind::Choice(&CAUSES),
            need: Need::Otherwise("a figure is expected"),
            doc: "The cause of a finding that must not be there.",
        },
    ],
    of_kinds: &[],
};

/// Keys that belong to a figure.
const OF_FIGURES: [&str; 8] =
    ["workload", "host", "ratio_to", "difference_to", "against", "at_least", "at_most", "between"];

/// All expectations of a file.
pub(crate) fn resolve(file: &Record, text: &str, problems: &mut Vec<Problem>) -> Vec<Expectation> {
    let records: &[Record] = file.get("expect").map_or(&[], |at| at.value);
    let mut expectations = Vec::new();
    for record in records {
        let Some(runs) = record.get::<&[At<String>]>("run") else { continue };
        let mut said = Said { file, record, problems: &mut *problems };
        let what = said.what(&runs);
        for run in runs.value {
            said.check_name("runs", Thing::Run, run);
            if let Some(what) = &what {
                let (line, _) = line_and_column(text, &run.span);
                expectations.push(Expectation { run: run.value.clone(), what: what.clone(), line });
            }
        }
    }
    expectations.extend(of_chaos(file, text));
    expectations
}

/// Of a run with random faults it is expected that they break nothing.
fn of_chaos(file: &Record, text: &str) -> Vec<Expectation> {
    let runs: &[Record] = file.get("runs").map_or(&[], |at| at.value);
    let expected = |run: &Record| {
        let (chaos, name) = (run.get::<&Record>("chaos")?, run.get::<&str>("name")?);
        let bound = Bound { at_least: None, at_most: Some(0.0) };
        let what = What::Figure { figure: Figure::named("broken")?, part: Part::default(), beside: None, bound };
        let (line, _) = line_and_column(text, &chaos.span);
        Some(Expectation { run: name.value.to_owned(), what, line })
    };
    runs.iter().filter_map(expected).collect()
}

/// One section of the file.
struct Said<'a, 'p> {
    file: &'a Record,
    record: &'a Record,
    problems: &'p mut Vec<Problem>,
}

impl<'a> Said<'a, '_> {
    fn what(&mut self, runs: &At<&[At<String>]>) -> Option<What> {
        let given: Vec<(&str, At<&'a str>)> = ["figure", "finding", "no_finding"]
            .into_iter()
            .filter_map(|key| Some((key, self.record.get::<&'a str>(key)?)))
            .collect();
        match given.as_slice() {
            [("figure", name)] => self.figure(name),
            [(key, cause)] => {
                let extra = OF_FIGURES.iter().find_map(|extra| Some((extra, self.span(extra)?)));
                if let Some((extra, span)) = extra {
                    let problem = Problem::at(&span, format!("`{extra}` belongs to a `figure`, not to a finding"));
                    self.problems.push(problem.also(&cause.span, "this is a finding").hint("remove one of them"));
                }
                Some(What::Finding { cause: cause.value.to_owned(), wanted: *key == "finding" })
            }
            [] => {
                if !["figure", "finding", "no_finding"].iter().any(|key| self.record.is_broken(key)) {
                    let problem = Problem::at(&runs.span, "nothing is expected of this run");
                    self.problems.push(problem.hint("add `figure` with `at_least` or `at_most`, or `finding`"));
                }
                None
            }
            [(one, first), (other, second), ..] => {
                let problem = Problem::at(&second.span, format!("`{one}` and `{other}` are two expectations"));
                self.problems.push(problem.also(&first.span, "one is here").hint("give each a section [[expect]]"));
                None
            }
        }
    }

    fn figure(&mut self, name: &At<&str>) -> Option<What> {
        let figure = Figure::named(name.value)?;
        let part = self.part(figure, name);
        let beside = self.beside();
        // A multiple of another run has no unit.
        let is_ratio = beside.as_ref().is_some_and(|beside| beside.scale == Scale::Ratio);
        let bound = self.bound(name, if is_ratio { Unit::Part } else { figure.unit })?;
        Some(What::Figure { figure, part, beside, bound })
    }

    /// The part of the run that the figure is of.
    fn part(&mut self, figure: &Figure, name: &At<&str>) -> Part {
        let mut part = Part::default();
        for (key, scope, sections, thing) in [
            ("workload", Scope::Workload, &["workloads"][..], Thing::Workload),
            ("host", Scope::Host, &["hosts", "switches"], Thing::Host),
        ] {
            let Some(narrowed) = self.one(key) else { continue };
            if figure.scope != scope {
                let problem = Problem::at(&narrowed.span, format!("`{}` is not told by {key}", figure.name));
                let takes: Vec<&str> = match figure.scope {
                    Scope::Run => Vec::new(),
                    Scope::Workload => vec!["workload"],
                    Scope::Host => vec!["host"],
                };
                let hint = match takes.first() {
                    Some(other) => format!("it is told by {other}: use `{other}`"),
                    None => format!("it is of the whole run: remove `{key}`"),
                };
                self.problems.push(problem.also(&name.span, "the figure").hint(hint));
            } else if key == "workload" || !narrowed.value.contains('/') {
                self.check_in(sections, thing, &narrowed);
            }
            let name = Some(narrowed.value.clone());
            if key == "workload" { part.workload = name } else { part.host = name }
        }
        part
    }

    /// The run that it is expressed by.
    fn beside(&mut self) -> Option<Beside> {
        let against = self.record.get::<&str>("against");
        let (ratio, difference) = (self.one("ratio_to"), self.one("difference_to"));
        if let (Some(ratio), Some(difference)) = (&ratio, &difference) {
            let problem = Problem::at(&difference.span, "a figure is a ratio or a difference, not both");
            self.problems.push(problem.also(&ratio.span, "the ratio").hint("give each a section [[expect]]"));
        }
        let found = ratio.map(|run| (Scale::Ratio, run)).or(difference.map(|run| (Scale::Difference, run)));
        let Some((scale, run)) = found else {
            if let Some(against) = against.filter(|_| !self.has_any(&["ratio_to", "difference_to"])) {
                let problem = Problem::at(&against.span, "`against` does not say what is compared");
                self.problems
                    .push(problem.hint("add `ratio_to` or `difference_to` with the name of a run of that record"));
            }
            return None;
        };
        if against.is_none() {
            self.check_name("runs", Thing::Run, &run);
        }
        Some(Beside { scale, run: run.value, against: against.map(|at| at.value.to_owned()) })
    }

    fn bound(&mut self, figure: &At<&str>, unit: Unit) -> Option<Bound> {
        let ends = ["at_least", "at_most"].map(|key| self.record.get::<&str>(key));
        let ends = ends.map(|end| end.map(|end| At { value: end.value.to_owned(), span: end.span }));
        let between = self.record.get::<&[At<String>]>("between");
        let [least, most] = match (&between, ends) {
            (Some(between), [None, None]) => match between.value {
                [least, most] => [Some(least.clone()), Some(most.clone())],
                _ => [None, None],
            },
            (Some(between), [least, most]) => {
                let (key, at) = least.map_or(("at_most", most), |least| ("at_least", Some(least)));
                let problem = Problem::at(&between.span, format!("`between` and `{key}` are two bounds"));
                let problem = at.iter().fold(problem, |problem, at| problem.also(&at.span, "the other one"));
                self.problems.push(problem.hint("keep one of them"));
                return None;
            }
            (None, [None, None]) => {
                if !self.has_any(&["at_least", "at_most", "between"]) {
                    let problem = Problem::at(&figure.span, format!("`{}` has no bound", figure.value));
                    self.problems.push(problem.hint("add `at_least`, `at_most` or `between`"));
                }
                return None;
            }
            (None, ends) => ends,
        };
        let mut read = |end: &Option<At<String>>| {
            let end = end.as_ref()?;
            unit.read(&end.value)
                .map_err(|(message, hint)| self.problems.push(Problem::at(&end.span, message).hint(hint)))
                .ok()
        };
        let bound = Bound { at_least: read(&least), at_most: read(&most) };
        if let (Some(low), Some(high), Some(least), Some(most)) = (bound.at_least, bound.at_most, &least, &most)
            && low > high
        {
            let message = format!("no value is at least {} and at most {}", least.value, most.value);
            let problem = Problem::at(&most.span, message).also(&least.span, "the lowest value");
            self.problems.push(problem.hint("the lowest value comes first, the highest second"));
        }
        Some(bound)
    }

    /// The one name that a key takes.
    fn one(&self, key: &str) -> Option<At<String>> {
        self.record.get::<&[At<String>]>(key)?.value.first().cloned()
    }

    fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.record.has(key))
    }

    /// Where a key's value stands, whatever it is.
    fn span(&self, key: &str) -> Option<std::ops::Range<usize>> {
        let text = self.record.get::<&str>(key).map(|at| at.span);
        text.or_else(|| self.record.get::<&[At<String>]>(key).map(|at| at.span))
    }

    fn check_name(&mut self, section: &'static str, thing: Thing, name: &At<String>) {
        self.check_in(&[section], thing, name);
    }

    /// Whether a name is that of something in these sections.
    fn check_in(&mut self, sections: &[&'static str], thing: Thing, name: &At<String>) {
        if sections.iter().any(|section| self.file.is_broken(section)) {
            return;
        }
        let file = self.file;
        let names = sections.iter().flat_map(|section| names(file, section));
        let names: Vec<&str> = names.collect();
        if names.contains(&name.value.as_str()) {
            return;
        }
        let hint = match nearest(&name.value, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", list(names.iter().copied())),
        };
        self.problems.push(Problem::at(&name.span, format!("no {} `{}`", thing.word(), name.value)).hint(hint));
    }
}

/// The names that a section of the file gives.
fn names<'a>(file: &'a Record, section: &str) -> Vec<&'a str> {
    let named = file.get::<&'a [(At<String>, Record)]>(section).map_or(&[][..], |at| at.value);
    let listed = file.get::<&'a [Record]>(section).map_or(&[][..], |at| at.value);
    let listed = listed.iter().filter_map(|record| Some(record.get::<&'a str>("name")?.value));
    named.iter().map(|(name, _)| name.value.as_str()).chain(listed).collect()
}

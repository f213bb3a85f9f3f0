//! What runs that differ by their engine alone have in common is told once.

use nicteam_findings::explain;
use nicteam_findings::units::list;
use nicteam_record::Run;

/// A sentence, and the runs that it is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told<'a> {
    pub(crate) runs: Vec<&'a Run>,
    pub(crate) sentence: String,
}

impl Told<'_> {
    /// The run's name; of several `slb-1-send by nicteam and ovs`.
    pub(crate) fn name(&self) -> String {
        match (&self.runs[..], self.runs.first().and_then(|run| run.variant.as_ref())) {
            ([run], _) | ([run, ..], None) => run.name.clone(),
            (_, Some(variant)) => format!("{} by {}", variant.of, self.engines()),
            ([], None) => String::new(),
        }
    }

    /// `nicteam and ovs`.
    pub(crate) fn engines(&self) -> String {
        let variants = self.runs.iter().filter_map(|run| run.variant.as_ref());
        list(&variants.map(|variant| variant.engine.as_str()).collect::<Vec<_>>())
    }
}

/// The sentence of each run; those of one run of the file by several engines together if they differ in numbers at most.
pub(crate) fn told<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Vec<Told<'a>> {
    let mut all: Vec<(Told<'a>, Vec<String>)> = Vec::new();
    for run in runs {
        let sentence = explain(run).sentence;
        let of = run.variant.as_ref().map(|variant| &variant.of);
        let same = |told: &Told<'_>| of.is_some() && told.runs[0].variant.as_ref().map(|variant| &variant.of) == of;
        let both = all.iter_mut().filter(|(told, _)| same(told)).find_map(|(told, sentences)| {
            let all = [&sentences[..], std::slice::from_ref(&sentence)].concat();
            Some((joined(&all)?, told, sentences))
        });
        match both {
            Some((joined, told, sentences)) => {
                told.runs.push(run);
                told.sentence = joined;
                sentences.push(sentence);
            }
            None => all.push((Told { runs: vec![run], sentence: sentence.clone() }, vec![sentence])),
        }
    }
    all.into_iter().map(|(told, _)| told).collect()
}

/// Sentences that are the same but for decimal numbers as one, with each number in which they differ as a list; none if they are others.
fn joined(sentences: &[String]) -> Option<String> {
    let words: Vec<Vec<&str>> = sentences.iter().map(|sentence| sentence.split(' ').collect()).collect();
    let count = words.first()?.len();
    if words.iter().any(|words| words.len() != count) {
        return None;
    }
    let word = |place: usize| {
        let all: Vec<&str> = words.iter().map(|words| words[place]).collect();
        if all.iter().all(|word| *word == all[0]) {
            return Some(all[0].to_owned());
        }
        let parts: Vec<(&str, &str)> = all.iter().map(|word| decimal(word)).collect::<Option<_>>()?;
        let mut numbers: Vec<&str> = parts.iter().map(|(number, _)| *number).collect();
        numbers.dedup();
        parts.iter().all(|(_, rest)| *rest == parts[0].1).then(|| list(&numbers) + parts[0].1)
    };
    Some((0..count).map(word).collect::<Option<Vec<_>>>()?.join(" "))
}

/// `0.98` and the sign behind it.
fn decimal(word: &str) -> Option<(&str, &str)> {
    let number = word.trim_end_matches([',', '.', ';', ':', ')']);
    let (whole, part) = number.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(whole) && digits(part)).then(|| (number, &word[number.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentences: &[&str], expected: Option<&str>) {
        let sentences: Vec<String> = sentences.iter().map(|sentence| (*sentence).to_owned()).collect();
        assert_eq!(joined(&sentences).as_deref(), expected);
    }

    #[test]
    fn sentences_that_differ_in_decimals_are_one() {
        check(&["both carried 0.98 of it."; 2], Some("both carried 0.98 of it."));
        check(&["carried 0.98 of 0.5.", "carried 0.97 of 0.5."], Some("carried 0.98 and 0.97 of 0.5."));
        check(&["least at 0.02.", "least at 0.01."], Some("least at 0.02 and 0.01."));
    }

    #[test]
    fn others_stay_apart() {
        check(&["by link 1.", "by link 2."], None);
        check(&["carried 0.98 of it.", "carried 0.98 of it now."], None);
        check(&["bucket 38, which", "bucket 39, which"], None);
        check(&["at 0.9, then", "at 0.8 then"], None);
    }
}

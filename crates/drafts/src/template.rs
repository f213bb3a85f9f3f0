//! Templates: texts that another program makes configurations of.

use nicteam_diagnostics::{Diagnostics, Problem};
use nicteam_syntax::Source;

/// What begins a line of a template, and whose it is.
const BEGINS: [(&str, &str); 9] = [
    ("<%", "Mako or ERB"),
    ("% for ", "Mako"),
    ("% if ", "Mako"),
    ("% endfor", "Mako"),
    ("% endif", "Mako"),
    ("%for ", "Mako"),
    ("%if ", "Mako"),
    ("{%", "Jinja"),
    ("{{", "Jinja or Go"),
];

/// The error of a text that is a template: what it says depends on values that are not in it.
pub fn template(source: &Source) -> Option<Diagnostics> {
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        let words = line.trim_start();
        let at = start + (line.len() - words.len());
        start += line.len();
        if let Some((begin, of)) = BEGINS.iter().find(|(begin, _)| words.starts_with(begin)) {
            let problem =
                Problem::at(&(at..at + begin.len()), format!("this is a template ({of}), and no configuration yet"));
            let problem = problem.hint("import what it makes: the file on the machine that it is for");
            return Some(Diagnostics::new(&source.path, &source.text, vec![problem]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_told_from_configurations() {
        let told = |text: &str| template(&Source::new("a", text)).map(|error| error.to_string());
        let mako = "auto lo\n  % for bond in bonds:\niface ${bond} inet manual\n% endfor\n";
        assert!(told(mako).unwrap().contains("a:2:3") && told(mako).unwrap().contains("a template (Mako)"));
        for text in ["{% if x %}\n", "{{ network }}\n", "<%page/>\n"] {
            assert!(told(text).is_some(), "{text}");
        }
        for text in [
            "iface bond0 inet manual\n up ip link set $IFACE up\n",
            "{\"runner\": {}}",
            "ip -br a | awk '{print $1}'\n",
        ] {
            assert_eq!(told(text), None);
        }
    }
}

//! Text in lines that are not too long.

/// No line is longer, in characters, but for words of the file that have no spaces.
pub(super) const WIDTH: usize = 100;

/// Text broken at spaces, every line indented.
pub(super) fn paragraph(text: &str, indent: &str, out: &mut String) {
    wrapped(indent, indent, text, out);
}

/// Text broken at spaces beside a label, the following lines indented as far.
pub(super) fn paragraph_after(label: &str, text: &str, out: &mut String) {
    wrapped(label, &" ".repeat(label.chars().count()), text, out);
}

pub(super) fn wrapped(first: &str, indent: &str, text: &str, out: &mut String) {
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(line.trim_end());
            out.push('\n');
            line = indent.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_beside_its_label() {
        let mut out = String::new();
        paragraph_after("  label  ", &"word ".repeat(30), &mut out);
        assert!(out.lines().all(|line| line.chars().count() <= WIDTH), "{out}");
        assert!(out.lines().nth(1).is_some_and(|line| line.starts_with("         word")), "{out}");
    }
}

//! Recipes of the documents, run as they stand there.

/// The lines of the first block of commands below a heading of docs/up.md, comments left out.
pub fn of_up(heading: &str) -> Vec<String> {
    let text = include_str!("../../../../docs/up.md");
    let section = text.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no heading {heading}")).1;
    let block = section.split_once("```sh\n").and_then(|(_, rest)| rest.split_once("```")).unwrap().0;
    let without_comment = |line: &str| line.split("  #").next().unwrap().trim_end().to_owned();
    block.lines().map(without_comment).filter(|line| !line.is_empty()).collect()
}

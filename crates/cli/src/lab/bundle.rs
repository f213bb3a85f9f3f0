//! Bundles: how one is named on the command line, and how its report is printed.

use std::io::IsTerminal;
use std::path::Path;

use nicteam_record::{Bundle, PAGE, RECORD};
use nicteam_report::Style;

use crate::failure::Failure;
use crate::say;

/// The folder of a bundle that is named by it or by its record.
pub(super) fn folder(path: &Path) -> Result<&Path, Failure> {
    let parent = path.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    let folder = match parent {
        Some(parent) if path.is_file() && path.file_name().is_some_and(|name| name == RECORD) => parent,
        _ => path,
    };
    if folder.join(RECORD).exists() {
        return Ok(folder);
    }
    let wrong = format!("{} is no folder with a {RECORD}", path.display());
    Err(Failure::wrong_input(wrong).hint(Some("give the folder that `nicteam lab run` named at its end")))
}

/// Writes the page into the bundle.
pub(super) fn write_page(bundle: &Bundle) -> Result<(), nicteam_lab::Error> {
    let page = nicteam_report::html(bundle)?;
    Ok(bundle.write_page(&page)?)
}

/// Prints the table with the verdicts below it, or the record. Names the page's file.
pub(super) fn tell(bundle: &Bundle, json: bool, verdicts: &str) -> Result<(), Failure> {
    if json {
        let text = serde_json::to_string_pretty(&bundle.record).map_err(Failure::failed)?;
        say::data(text + "\n")?;
    } else {
        let gap = if verdicts.is_empty() { "" } else { "\n" };
        say::data(nicteam_report::table(&bundle.record, &style()) + gap + verdicts)?;
    }
    say::line(format_args!("\nreport: {}", bundle.dir.join(PAGE).display()));
    Ok(())
}

/// What standard output can show.
pub(super) fn style() -> Style {
    let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    let ascii = locale.is_some_and(|locale| matches!(locale.as_str(), "C" | "POSIX"));
    Style { color, ascii, ..Style::default() }
}

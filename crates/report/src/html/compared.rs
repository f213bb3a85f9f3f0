//! Comparisons as a page.

use nicteam_statistics::median;

use super::{before_after, document};
use crate::compare::{Compared, Row, beside, says, summary};
use crate::svg::esc;

/// A page with a picture and a table for each of these comparisons.
pub fn compared_page(all: &[Compared<'_>]) -> String {
    let title = all.first().map_or("", |one| one.first.record.experiment.title.as_str());
    let sections: String = all.iter().map(section).collect();
    let header =
        format!("<header>\n<p class=\"eyebrow\">nicteam lab compare</p>\n<h1>{}</h1>\n</header>\n", esc(title));
    document(&format!("{title}: compared"), &(header + &sections), "")
}

fn section(compared: &Compared<'_>) -> String {
    let (first, second) = (&compared.first, &compared.second);
    let rows: String = compared.figures.iter().map(row).collect();
    let notes: String = compared.notes.iter().map(|note| format!("<p>{}</p>\n", esc(note))).collect();
    let picture = before_after::picture([&first.label, &second.label], [&first.runs(), &second.runs()]);
    format!(
        "<section>\n<h2>{} and {}</h2>\n{picture}<div class=\"scroll\"><table class=\"plain\">\n<thead><tr>\
         <th scope=\"col\">figure</th><th scope=\"col\" class=\"num\">A</th><th scope=\"col\" class=\"num\">B</th>\
         <th scope=\"col\">B beside A (95 %)</th><th scope=\"col\">it says</th></tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table></div>\n<p>{}</p>\n{notes}</section>\n",
        esc(&first.label),
        esc(&second.label),
        esc(&summary(compared))
    )
}

fn row(row: &Row) -> String {
    let [a, b] = row.values.each_ref().map(|values| row.figure.words(median(values)));
    format!(
        "<tr><td>{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td>{}</td><td>{}</td></tr>\n",
        esc(&row.figure.name),
        esc(&a),
        esc(&b),
        esc(&beside(row)),
        says(row.verdict)
    )
}

//! The README's picture: what one TCP connection gets of four links, by the
//! ways there are to use them, beside one big link.

use maud::{Markup, html};

use super::result::{FigureResult, PartResult, find};

/// Where it is kept.
pub(super) const PICTURE: &str = "docs/one-connection.svg";

/// The part that measures all bars in the same minutes.
const PART: &str = "stripe-compared";
/// The command that measures it.
pub(super) const COMMAND: &str = "nicteam lab check stripe-compared";

/// A bar: its figure, what it is called, and whether it is ours alone.
struct Bar {
    figure: &'static str,
    label: &'static str,
    ours: bool,
}

const BARS: [Bar; 6] = [
    Bar { figure: "one-big: of_limit", label: "one link of 400 Mbit/s", ours: false },
    Bar { figure: "one-stripe: of_limit", label: "nicteam, mode stripe", ours: true },
    Bar { figure: "one-mptcp: of_limit", label: "multipath TCP", ours: false },
    Bar { figure: "one-rr: of_limit", label: "balance-rr", ours: false },
    Bar { figure: "one-ad: of_limit", label: "802.3ad, layer3+4", ours: false },
    Bar { figure: "one-alb: of_limit", label: "balance-alb", ours: false },
];

const WIDTH: f64 = 760.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 76.0;
const TOP: f64 = 84.0;
const STEP: f64 = 34.0;
const THICK: f64 = 20.0;
const PLOT: f64 = WIDTH - LEFT - RIGHT;

const STYLE: &str = "
text { font: 14px ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', Arial, sans-serif; fill: #1e2226; }
.ground { fill: #fbfaf7; }
.title { font-size: 18px; font-weight: 600; }
.quiet { font-size: 12px; fill: #646b72; }
.value { font-weight: 600; }
.grid { stroke: #d9dad5; }
.bar { fill: #9aa2a9; }
.ours { fill: #2d6cb0; }
.interval { stroke: #1e2226; stroke-width: 1.5; }
";

/// The picture, if every bar was measured; else the names of those that were not.
pub(super) fn picture(parts: &[PartResult]) -> Result<String, Vec<&'static str>> {
    let found: Vec<_> = BARS.iter().map(|bar| (bar, find(parts, PART, bar.figure))).collect();
    let missing: Vec<&str> = found.iter().filter(|(_, found)| found.is_none()).map(|(bar, _)| bar.figure).collect();
    let part = parts.iter().find(|part| part.part == PART);
    let Some(part) = part.filter(|_| missing.is_empty()) else { return Err(missing) };

    let bottom = TOP + STEP * BARS.len() as f64;
    let height = bottom + 74.0;
    let n = found.iter().filter_map(|(_, found)| found.and_then(|(_, figure)| figure.n)).min().unwrap_or(0);
    let how = format!("one switch, MTU-sized packets; medians of {n} interleaved runs, thin lines: intervals");
    let origin = format!("{}; commit {}, {}; {}", part.command, part.commit, part.date, part.machine);
    let link = |links: u32| if links == 1 { "1 link".to_owned() } else { format!("{links} links") };
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (height) } width=(WIDTH) height=(height)
            role="img" aria-labelledby="title" {
            title id="title" { "One TCP connection over four links of 100 Mbit/s, by the way they are used" }
            style { (STYLE) }
            rect.ground width=(WIDTH) height=(height) rx="8" {}
            (text("title", [20.0, 32.0], "One TCP connection over four links of 100 Mbit/s"))
            (text("quiet", [20.0, 52.0], "payload that arrives, as a share of what four links can carry; 1 = all four full"))
            @for links in 0..=4 {
                @let x = px(at(f64::from(links) / 4.0));
                path.grid d={ "M" (x) " " (px(TOP - 8.0)) "V" (px(bottom)) } {}
                text.quiet x=(x) y=(px(bottom + 16.0)) text-anchor="middle" { (link(links)) }
            }
            @for (row, (bar, found)) in found.iter().enumerate() {
                @if let Some((_, figure)) = found { (draw(TOP + STEP * row as f64, bar, figure)) }
            }
            (text("quiet", [20.0, bottom + 42.0], &how))
            (text("quiet", [20.0, bottom + 60.0], &origin))
        }
    };
    Ok(svg.into_string() + "\n")
}

/// A bar with its label, interval and value; `top` is the row's upper edge.
fn draw(top: f64, bar: &Bar, figure: &FigureResult) -> Markup {
    let Some(median) = figure.median.filter(|median| median.is_finite()) else { return Markup::default() };
    let middle = top + THICK / 2.0;
    let base = px(middle + 5.0);
    let class = if bar.ours { "bar ours" } else { "bar" };
    html! {
        text x=(px(LEFT - 12.0)) y=(base) text-anchor="end" { (bar.label) }
        rect class=(class) x=(px(LEFT)) y=(px(top)) width=(px(at(median) - LEFT)) height=(px(THICK)) rx="2" {}
        @if let (Some(low), Some(high)) = (figure.low, figure.high) {
            path.interval d={ "M" (px(at(low))) " " (px(middle)) "H" (px(at(high))) } {}
        }
        text.value x=(px(WIDTH - 20.0)) y=(base) text-anchor="end" { (format!("{median:.2}")) }
    }
}

/// Where a share of the limit lies from left to right.
fn at(share: f64) -> f64 {
    LEFT + PLOT * share.clamp(0.0, 1.03)
}

/// A coordinate.
fn px(value: f64) -> String {
    format!("{value:.1}")
}

fn text(class: &str, [x, y]: [f64; 2], words: &str) -> Markup {
    html! { text class=(class) x=(px(x)) y=(px(y)) { (words) } }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn each_way_is_a_bar_as_long_as_its_median() {
        let svg = picture(&sample()).unwrap();
        assert_eq!(svg.matches("<rect class=\"bar").count(), BARS.len());
        assert_eq!(svg.matches("class=\"bar ours\"").count(), 1);
        let quarter = format!("width=\"{:.1}\"", PLOT * 0.25);
        assert_eq!(svg.matches(&quarter).count(), 2, "802.3ad and balance-alb: {svg}");
        for text in ["nicteam lab check stripe-compared", "commit abc1234", "2 x a processor, Linux 6.18", ">0.99<"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
    }

    #[test]
    fn what_was_not_measured_is_not_drawn() {
        let mut parts = sample();
        parts[0].sections[0].figures.retain(|figure| figure.name != "one-big: of_limit");
        assert_eq!(picture(&parts), Err(vec!["one-big: of_limit"]));
        assert_eq!(picture(&[]).map_err(|missing| missing.len()), Err(BARS.len()));
    }

    #[test]
    fn markup_in_a_result_file_is_text() {
        let mut parts = sample();
        parts[0].machine = "<script>".to_owned();
        assert!(picture(&parts).unwrap().contains("&lt;script&gt;"));
    }
}

//! Numbers and colours of drawings.

/// A coordinate: one decimal at most, so that pages stay small.
pub fn px(value: f64) -> String {
    let text = format!("{:.1}", if value.is_finite() { value } else { 0.0 });
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// The colour class of a member's place; after eight they come again.
pub(crate) fn hue(place: usize) -> String {
    format!("m{}", place % HUES)
}

/// Colours there are.
pub(crate) const HUES: usize = 8;

/// The outline of steps that stand on a base line, from left to right:
/// `(from, to, height)` each, `base` the line's y.
pub(crate) fn steps(points: &[(f64, f64, f64)], base: f64) -> String {
    let Some(first) = points.first() else { return String::new() };
    let mut path = format!("M{} {}", px(first.0), px(base));
    for (_, to, height) in points {
        path.push_str(&format!("V{}H{}", px(base - height), px(*to)));
    }
    path.push_str(&format!("V{}Z", px(base)));
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_always_numbers() {
        assert_eq!([px(1.0), px(1.26), px(-0.01), px(f64::NAN), px(100.0)], ["1", "1.3", "0", "0", "100"]);
    }

    #[test]
    fn steps_close_on_their_base() {
        assert_eq!(steps(&[(0.0, 5.0, 2.0), (5.0, 9.0, 3.0)], 10.0), "M0 10V8H5V7H9V10Z");
        assert_eq!(steps(&[], 10.0), "");
    }
}

//! What each fault of a run did to the traffic, in words.

use nicteam_findings::units::{plural, rate};
use nicteam_record::{Fault, Run};

/// The most faults that have a line; the page and the record have more.
const MOST: usize = 12;

/// A line a fault.
pub(crate) fn lines(run: &Run) -> Vec<String> {
    let mut lines: Vec<String> = run.faults.iter().take(MOST).map(line).collect();
    if let Some(more) = run.faults.len().checked_sub(MOST).filter(|more| *more > 0) {
        lines.push(format!("{} more: see the page", plural(more, "fault")));
    }
    lines
}

/// `after 3.0 s: the cable ... is pulled at sw: 94.1 Mbit/s before, 47.0 Mbit/s during, 94.1 Mbit/s after; ...`.
fn line(fault: &Fault) -> String {
    let named = [("before", fault.before_bps), ("during", fault.during_bps), ("after", fault.after_bps)];
    let rates = named.into_iter().filter_map(|(when, bps)| Some(format!("{} {when}", rate(bps?))));
    let mut parts = vec![rates.collect::<Vec<_>>().join(", ")];
    parts.extend(fault.full_share_at_least_ms().map(|_| full_share(fault)));
    parts.extend(fault.silence_ms.map(|ms| format!("longest silence {ms:.0} ms")));
    parts.extend(fault.lost.map(|lost| format!("{lost} lost")));
    parts.retain(|part| !part.is_empty());
    let seconds = fault.t_ms / 1e3;
    format!("after {seconds:.1} s: {}{}{}", fault.text, if parts.is_empty() { "" } else { ": " }, parts.join("; "))
}

/// When the share was full again, in words.
pub(crate) fn full_share(fault: &Fault) -> String {
    match fault.full_share_ms {
        Some(0.0) => "full share throughout".to_owned(),
        Some(ms) => format!("full share after {:.2} s", ms / 1e3),
        None => format!("no full share within {:.2} s", (fault.until_ms - fault.t_ms) / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_what_is_known() {
        let fault =
            Fault { t_ms: 1020.0, until_ms: 4000.0, text: "the cable is pulled".to_owned(), ..Fault::default() };
        assert_eq!(line(&fault), "after 1.0 s: the cable is pulled");
        let fault =
            Fault { before_bps: Some(94.1e6), during_bps: Some(47e6), silence_ms: Some(31.4), lost: Some(12), ..fault };
        let begin = "after 1.0 s: the cable is pulled: 94.1 Mbit/s before, 47.0 Mbit/s during; ";
        let end = "; longest silence 31 ms; 12 lost";
        assert_eq!(line(&fault), format!("{begin}no full share within 2.98 s{end}"));
        let full = |full_share_ms| line(&Fault { full_share_ms: Some(full_share_ms), ..fault.clone() });
        assert_eq!(full(0.0), format!("{begin}full share throughout{end}"));
        assert_eq!(full(480.0), format!("{begin}full share after 0.48 s{end}"));
    }
}

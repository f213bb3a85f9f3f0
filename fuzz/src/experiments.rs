//! Experiment files, and what the lab and its agents say to each other (crate `lab`).

use nicteam_lab::experiment::{Overrides, parse, parse_duration, parse_rate};
use nicteam_lab::protocol::{Message, Request};

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[("experiment", experiment), ("agent", agent)];

/// A file is refused with reasons that can be shown, or is an experiment.
pub fn experiment(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let _ = (parse_rate(&text), parse_duration(&text));
    match parse("fuzzed", "fuzzed.toml", &text, &Overrides::default()) {
        Ok(experiment) => !experiment.runs.is_empty(),
        Err(diagnostics) => {
            assert!(!diagnostics.entries().is_empty());
            assert!(!diagnostics.render(false).is_empty() && !diagnostics.render(true).is_empty());
            false
        }
    }
}

/// A line is refused, or is the same after it was written and read again.
pub fn agent(bytes: &[u8]) -> bool {
    let (request, message) = (serde_json::from_slice::<Request>(bytes), serde_json::from_slice::<Message>(bytes));
    let taken = request.is_ok() || message.is_ok();
    if let Ok(request) = request {
        let line = serde_json::to_string(&request).expect("a request has string keys only");
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Request>(&line).ok(), Some(request));
    }
    if let Ok(message) = message {
        let line = serde_json::to_string(&message).expect("a message has string keys only");
        assert!(!line.contains('\n') && serde_json::from_str::<Message>(&line).is_ok());
    }
    taken
}

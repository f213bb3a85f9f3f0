//! What the lab and its agents say to each other (crate `lab`).

use nicteam_lab::protocol::{Message, Request};

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[("agent", agent)];

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

//! What the process of a team is asked, and what is kept of a team (crate `daemon`).

use nicteam_daemon::PersistedTeam;
use nicteam_daemon::control::{Answer, Request};

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[("control", control), ("kept", persisted)];

/// A line is refused, or can be written in one line and read again.
pub fn control(bytes: &[u8]) -> bool {
    let (request, answer) = (serde_json::from_slice::<Request>(bytes), serde_json::from_slice::<Answer>(bytes));
    let taken = request.is_ok() || answer.is_ok();
    if let Ok(request) = request {
        let line = serde_json::to_string(&request).expect("a request has string keys only");
        assert!(!line.contains('\n') && serde_json::from_str::<Request>(&line).is_ok());
    }
    if let Ok(answer) = answer {
        let line = serde_json::to_string(&answer).expect("an answer has string keys only");
        assert!(!line.contains('\n') && serde_json::from_str::<Answer>(&line).is_ok());
    }
    taken
}

/// A file is refused with a reason, or is a team that is kept as it was read.
pub fn persisted(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let spec = PersistedTeam::parse("team0", &text).and_then(|persisted| Ok((persisted.spec()?, persisted)));
    match spec {
        Ok((spec, persisted)) => {
            let again = PersistedTeam::of(&spec, persisted.log.clone());
            let text = serde_json::to_string(&again).expect("what is kept has string keys only");
            assert!(PersistedTeam::parse("team0", &text).is_ok_and(|read| read == again));
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

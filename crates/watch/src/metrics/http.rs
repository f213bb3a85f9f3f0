//! Hands out metrics over HTTP. The host is looked at by a thread of its own, at most once a second however many ask, so
//! that a team that does not answer holds up nobody but those who want new values.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use nicteam_web::{Reply, Request, Response, Site, Work};

use super::collect::{Exporter, collect};
use super::encode::{Format, encode};
use crate::snapshot::Snapshot;

pub use nicteam_web::CONNECTIONS;

/// How long a client waits for values: Prometheus gives up after 10 s.
const TO_LOOK: Duration = Duration::from_secs(8);
/// Values that are younger are handed out again.
const FRESH: Duration = Duration::from_secs(1);

/// Looks at the host.
pub type Look = Box<dyn FnMut() -> Result<Snapshot, String> + Send>;

/// A server of metrics.
pub type Server = nicteam_web::Server<Metrics>;

/// What it hands out.
#[derive(Debug)]
pub struct Metrics(Work<(), Result<Snapshot, String>>);

impl Metrics {
    /// The metrics of the host that `look` looks at.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn new(mut look: Look) -> std::io::Result<Metrics> {
        Work::start("look", vec![Box::new(move |()| look())], FRESH).map(Metrics)
    }
}

impl Site for Metrics {
    fn reply(&mut self, request: &Request, refused: u64) -> Reply {
        if request.path != "/metrics" {
            return Reply::Now(Response::text("404 Not Found", "metrics are at /metrics"));
        }
        let accepts_open = request.header("accept").is_some_and(|value| value.contains("application/openmetrics-text"));
        let format = if accepts_open { Format::OpenMetrics } else { Format::Text };
        let Ok(Some(look)) = self.0.get(&()) else { return Reply::Wait };
        Reply::Now(match &*look {
            Ok(snapshot) => {
                let exporter = Exporter { refused, beside_node_exporter: false };
                Response::new("200 OK", format.content_type(), encode(&collect(snapshot, &exporter), format))
            }
            Err(why) => Response::unavailable(why),
        })
    }

    fn hear(&mut self) {
        self.0.hear();
    }

    fn bells(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.0.bell()]
    }

    fn patience(&self) -> (Duration, &'static str) {
        (TO_LOOK, "a team does not answer; try again")
    }
}

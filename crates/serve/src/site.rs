//! The pages as a site: who may see them, which one an address means, and who makes it.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nicteam_web::{Job, Reply, Request, Response, Site, Work};

use crate::access::Access;
use crate::changes::Changes;
use crate::compared::compared;
use crate::folder::lasting;
use crate::follow::Followed;
use crate::frame::{plain, wrong};
use crate::making::bundle;
use crate::overview::overview;
use crate::policy::guarded;
use crate::prediction::prediction;
use crate::route::{Page, Route, route};
use crate::summary::Summaries;

/// How long a client waits for a page: the largest records and samples take some seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// A page that was made is handed out again for so long, if nothing has changed.
const FRESH: Duration = Duration::from_secs(2);
/// Threads that make pages: a large one does not hold up the list.
const THREADS: usize = 2;

const HTML: &str = "text/html; charset=utf-8";

/// The pages of a folder.
#[derive(Debug)]
pub struct Pages {
    access: Access,
    changes: Changes,
    /// By the page and what the folder held.
    work: Work<(Page, u64), Response>,
}

impl Pages {
    /// The bundles of a folder for those that `access` lets in.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn new(dir: PathBuf, access: Access) -> std::io::Result<Pages> {
        let summaries = Arc::new(Mutex::new(Summaries::default()));
        let followed = Arc::new(Mutex::new(Followed::default()));
        let job = || -> Job<(Page, u64), Response> {
            let (dir, summaries, followed) = (dir.clone(), summaries.clone(), followed.clone());
            Box::new(move |(page, _)| made(&dir, (&summaries, &followed), page))
        };
        let jobs = (0..THREADS).map(|_| job()).collect();
        Ok(Pages { access, changes: Changes::start(dir.clone())?, work: Work::start("pages", jobs, FRESH)? })
    }
}

impl Site for Pages {
    fn reply(&mut self, request: &Request, _: u64) -> Reply {
        if let Some(refusal) = self.access.refuses(request) {
            return Reply::Now(guarded(refusal));
        }
        let answer = match route(request) {
            Route::Script => Response::new("200 OK", "text/javascript; charset=utf-8", include_str!("serve.js")),
            Route::Style => Response::new("200 OK", "text/css; charset=utf-8", include_str!("serve.css")),
            Route::Events => return Reply::Stream,
            Route::Nothing => missing(),
            Route::Page(page) => match self.work.get(&(page, self.changes.version())) {
                Ok(Some(response)) => (*response).clone(),
                Ok(None) => return Reply::Wait,
                Err(_) => Response::unavailable("too many pages are being made; try again"),
            },
        };
        Reply::Now(guarded(answer))
    }

    fn hear(&mut self) {
        self.changes.hear();
        self.work.hear();
    }

    fn bells(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.changes.bell(), self.work.bell()]
    }

    fn patience(&self) -> (Duration, &'static str) {
        (PATIENCE, "the page is still being made; try again")
    }

    fn event(&mut self, _: &Request, seen: &mut u64) -> Option<String> {
        let names = self.changes.since(*seen);
        *seen = self.changes.version();
        Some(format!("event: changed\ndata: {}\n\n", serde_json::Value::from(names?)))
    }
}

/// A page, made.
fn made(dir: &Path, (summaries, followed): (&Mutex<Summaries>, &Mutex<Followed>), page: &Page) -> Response {
    // Rules over a record of a stranger: what one of them cannot do is the end of one page, not of the server.
    let page = || match page {
        Page::List { search } => {
            let mut summaries = summaries.lock().unwrap_or_else(PoisonError::into_inner);
            Some(overview(dir, &mut summaries, search))
        }
        Page::Bundle(name) => bundle(dir, lasting(dir, name), followed),
        Page::Compare(sides) => Some(compared(dir, sides)),
        Page::Predict(inputs) => Some(prediction(inputs)),
    };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(page)) {
        Ok(Some(Ok(page))) => Response::new("200 OK", HTML, page),
        Ok(Some(Err(why))) => {
            Response::new("422 Unprocessable Content", HTML, wrong("This cannot be shown", &why, Some("")))
        }
        Ok(None) => missing(),
        Err(_) => {
            let why = "nicteam has an error: it could not make this page. The other pages are not affected.";
            Response::new("500 Internal Server Error", HTML, wrong("This cannot be shown", why, None))
        }
    }
}

fn missing() -> Response {
    Response::new("404 Not Found", HTML, plain("Nothing is here", "The list of bundles is at /."))
}

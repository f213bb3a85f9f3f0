//! What is answered.

use std::sync::Arc;

/// What becomes of a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// This is the answer.
    Now(Response),
    /// The answer is being made: ask again when a bell has rung.
    Wait,
    /// Events, as long as the client listens.
    Stream,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status line's number and words.
    pub status: &'static str,
    /// The type of the body.
    pub content_type: &'static str,
    /// Further headers. Their values have no control characters: those are left out.
    pub headers: Vec<(&'static str, String)>,
    /// The body, shared by all who get it.
    pub body: Arc<Vec<u8>>,
}

impl Response {
    /// An answer without further headers.
    pub fn new(status: &'static str, content_type: &'static str, body: impl Into<Vec<u8>>) -> Response {
        Response { status, content_type, headers: Vec::new(), body: Arc::new(body.into()) }
    }

    /// A line of text.
    pub fn text(status: &'static str, line: &str) -> Response {
        Response::new(status, "text/plain; charset=utf-8", format!("{line}\n"))
    }

    /// Nothing can be said now.
    pub fn unavailable(why: &str) -> Response {
        Response::text("503 Service Unavailable", why)
    }

    /// The same with one header more.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Response {
        self.headers.push((name, value.into()));
        self
    }

    /// Whether the client asked for what it may not have.
    pub(crate) fn is_refusal(&self) -> bool {
        self.status.starts_with('4')
    }

    /// Everything ahead of the body.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
            self.status,
            self.content_type,
            self.body.len()
        );
        if self.status.starts_with("405") {
            head.push_str("Allow: GET\r\n");
        }
        for (name, value) in &self.headers {
            head.extend([*name, ": "]);
            head.extend(value.chars().filter(|letter| !letter.is_control()));
            head.push_str("\r\n");
        }
        head.push_str("Connection: close\r\n\r\n");
        head.into_bytes()
    }
}

//! What a client asks for over HTTP, read strictly: one request a connection, nothing but `GET /metrics`.

use super::encode::Format;

/// The longest request, bytes.
pub(super) const LONGEST: usize = 8192;

/// What there is to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// It is not whole yet.
    Unfinished,
    /// The metrics, in this format.
    Metrics(Format),
    /// A refusal: the status line's number and words, and what to say.
    Refused(&'static str, &'static str),
}

/// What the bytes that came so far ask for.
pub(super) fn read(bytes: &[u8]) -> Request {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return match bytes.len() >= LONGEST {
            true => Request::Refused("431 Request Header Fields Too Large", "the request is too long"),
            false => Request::Unfinished,
        };
    };
    let malformed = Request::Refused("400 Bad Request", "this is no HTTP request");
    let Ok(head) = std::str::from_utf8(&bytes[..end]) else { return malformed };
    let mut lines = head.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or("").split(' ').collect();
    let [method, target, version] = words[..] else { return malformed };
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Request::Refused("505 HTTP Version Not Supported", "HTTP/1.1 is spoken here");
    }
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    if path != "/metrics" {
        return Request::Refused("404 Not Found", "metrics are at /metrics");
    }
    if method != "GET" {
        return Request::Refused("405 Method Not Allowed", "metrics are only read");
    }
    let mut format = Format::Text;
    for line in lines {
        let Some((name, value)) = line.split_once(':') else { return malformed };
        if name.eq_ignore_ascii_case("accept") && value.contains("application/openmetrics-text") {
            format = Format::OpenMetrics;
        }
        // A body would be the beginning of another request.
        let has_body = name.eq_ignore_ascii_case("transfer-encoding")
            || name.eq_ignore_ascii_case("content-length") && value.trim() != "0";
        if has_body {
            return Request::Refused("413 Content Too Large", "a request has no body here");
        }
    }
    Request::Metrics(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> &'static str {
        match read(text.as_bytes()) {
            Request::Refused(status, _) => status.split_whitespace().next().unwrap(),
            Request::Metrics(_) => "200",
            Request::Unfinished => "unfinished",
        }
    }

    #[test]
    fn only_the_metrics_are_handed_out() {
        assert_eq!(read(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), Request::Metrics(Format::Text));
        let accept =
            b"GET /metrics?x=1 HTTP/1.1\r\nACCEPT: application/openmetrics-text;version=1.0.0,*/*;q=0.1\r\n\r\n";
        assert_eq!(read(accept), Request::Metrics(Format::OpenMetrics));
        for (text, expected) in [
            ("GET /metrics HTTP/1.1\r\n", "unfinished"),
            ("", "unfinished"),
            ("GET / HTTP/1.1\r\n\r\n", "404"),
            ("GET /metrics/ HTTP/1.1\r\n\r\n", "404"),
            ("GET http://a/metrics HTTP/1.1\r\n\r\n", "404"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
            ("get /metrics HTTP/1.1\r\n\r\n", "405"),
            ("GET /metrics HTTP/2\r\n\r\n", "505"),
            ("GET  /metrics HTTP/1.1\r\n\r\n", "400"),
            ("GET /metrics\r\n\r\n", "400"),
            ("\r\n\r\n", "400"),
            ("GET /metrics HTTP/1.1\r\nno colon\r\n\r\n", "400"),
            ("GET /metrics HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "413"),
            ("GET /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "413"),
        ] {
            assert_eq!(status(text), expected, "{text:?}");
        }
        assert_eq!(status(&"x".repeat(LONGEST)), "431");
        assert_eq!(read(b"\xff\xfe\r\n\r\n"), Request::Refused("400 Bad Request", "this is no HTTP request"));
    }
}

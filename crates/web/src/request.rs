//! What a client asks for over HTTP, read strictly.

use std::fmt::Write as _;

/// The longest request, bytes.
pub const LONGEST: usize = 8192;

/// A whole request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The path as it was sent, with its escapes.
    pub path: String,
    /// What stands behind the question mark, with its escapes.
    pub query: String,
    headers: Vec<(String, String)>,
}

/// What came so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// It is not whole yet.
    Unfinished,
    /// It is a request.
    Whole(Request),
    /// A refusal: the status line's number and words, and the reason.
    Refused(&'static str, &'static str),
}

impl Request {
    /// The value of a header; none if it is missing or was sent twice.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(of, _)| of.eq_ignore_ascii_case(name));
        let (first, second) = (found.next(), found.next());
        first.filter(|_| second.is_none()).map(|(_, value)| value.as_str())
    }

    /// The parts of the path, without their escapes: a slash within a part was escaped. None if an escape is wrong.
    pub fn parts(&self) -> Option<Vec<Vec<u8>>> {
        self.path.strip_prefix('/')?.split('/').map(decode).collect()
    }

    /// The first value of a field of the query, without its escapes; none if it is missing or not UTF-8.
    pub fn field(&self, name: &str) -> Option<String> {
        let mut fields = self.query.split('&').map(|field| field.split_once('=').unwrap_or((field, "")));
        let (_, value) = fields.find(|(of, _)| *of == name)?;
        String::from_utf8(decode(&value.replace('+', " "))?).ok()
    }
}

/// A text without its escapes (`%2F`); none if one is wrong.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut plain = Vec::new();
    while let Some(byte) = bytes.next() {
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        plain.push(if byte == b'%' { (digit()? * 16 + digit()?) as u8 } else { byte });
    }
    Some(plain)
}

/// Bytes as a part of a path, or as a value of a query.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => text.push(char::from(*byte)),
            _ => write!(text, "%{byte:02X}").unwrap_or_default(),
        }
        text
    })
}

/// What the bytes that came so far ask for.
pub fn read(bytes: &[u8]) -> Parsed {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return match bytes.len() >= LONGEST {
            true => Parsed::Refused("431 Request Header Fields Too Large", "the request is too long"),
            false => Parsed::Unfinished,
        };
    };
    let malformed = Parsed::Refused("400 Bad Request", "this is no HTTP request");
    let Ok(head) = std::str::from_utf8(&bytes[..end]) else { return malformed };
    let mut lines = head.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or("").split(' ').collect();
    let [method, target, version] = words[..] else { return malformed };
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Parsed::Refused("505 HTTP Version Not Supported", "HTTP/1.1 is spoken here");
    }
    if method.is_empty() || target.chars().any(char::is_control) {
        return malformed;
    }
    if method != "GET" {
        return Parsed::Refused("405 Method Not Allowed", "nothing can be changed here: only GET is answered");
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request { path: path.to_owned(), query: query.to_owned(), headers: Vec::new() };
    for line in lines {
        let Some((name, value)) = line.split_once(':') else { return malformed };
        // A body would be the beginning of another request.
        let has_body = name.eq_ignore_ascii_case("transfer-encoding")
            || name.eq_ignore_ascii_case("content-length") && value.trim() != "0";
        if has_body {
            return Parsed::Refused("413 Content Too Large", "a request has no body here");
        }
        request.headers.push((name.to_owned(), value.trim().to_owned()));
    }
    Parsed::Whole(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> &'static str {
        match read(text.as_bytes()) {
            Parsed::Refused(status, _) => status.split_whitespace().next().unwrap(),
            Parsed::Whole(_) => "200",
            Parsed::Unfinished => "unfinished",
        }
    }

    #[test]
    fn requests_are_read_strictly() {
        for (text, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "200"),
            ("GET /metrics HTTP/1.1\r\n", "unfinished"),
            ("", "unfinished"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
            ("get /metrics HTTP/1.1\r\n\r\n", "405"),
            ("GET /metrics HTTP/2\r\n\r\n", "505"),
            ("GET  /metrics HTTP/1.1\r\n\r\n", "400"),
            ("GET /me\x07trics HTTP/1.1\r\n\r\n", "400"),
            ("GET /metrics\r\n\r\n", "400"),
            ("\r\n\r\n", "400"),
            ("GET /metrics HTTP/1.1\r\nno colon\r\n\r\n", "400"),
            ("GET /metrics HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "413"),
            ("GET /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "413"),
        ] {
            assert_eq!(status(text), expected, "{text:?}");
        }
        assert_eq!(status(&"x".repeat(LONGEST)), "431");
        assert_eq!(read(b"\xff\xfe\r\n\r\n"), Parsed::Refused("400 Bad Request", "this is no HTTP request"));
    }

    #[test]
    fn parts_fields_and_headers_lose_their_escapes_once() {
        let text = b"GET /bundles/a%2Fb%252F?q=x+%26y&q=2&bad=%zz HTTP/1.1\r\nHost: h\r\nA: 1\r\na: 2\r\n\r\n";
        let Parsed::Whole(request) = read(text) else { panic!() };
        assert_eq!(request.parts().unwrap(), [b"bundles".to_vec(), b"a/b%2F".to_vec()]);
        assert_eq!(request.field("q").as_deref(), Some("x &y"));
        assert_eq!((request.field("bad"), request.field("none")), (None, None));
        assert_eq!((request.header("HOST"), request.header("a")), (Some("h"), None));
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
        assert_eq!((decode("%"), decode("%4"), decode("%g0")), (None, None, None));
    }
}

//! Who may see the pages: clients of this host by the right name, or clients with the token.

use std::net::{IpAddr, SocketAddr};

use nicteam_web::{Request, Response, encode};
use sha2::{Digest, Sha256};

/// The shortest token, bytes.
pub const SHORTEST_TOKEN: usize = 16;
const COOKIE: &str = "nicteam_token";

/// Who may see the pages.
#[derive(Clone, Debug)]
pub struct Access {
    listens: IpAddr,
    /// The SHA-256 of the token, so that the time of a comparison says nothing about the token.
    token: Option<String>,
}

/// A token that protects nothing, or none where one is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadToken {
    /// Other hosts could reach the pages without one.
    Missing,
    /// It is shorter than [`SHORTEST_TOKEN`], or has characters that a header cannot carry.
    Weak,
}

impl Access {
    /// For a server at this address.
    ///
    /// # Errors
    /// The token is not one, or is missing where other hosts reach the server.
    pub fn new(listens: SocketAddr, token: Option<&str>) -> Result<Access, BadToken> {
        let listens = listens.ip();
        match token {
            None if !listens.is_loopback() => Err(BadToken::Missing),
            None => Ok(Access { listens, token: None }),
            Some(token) if token.len() < SHORTEST_TOKEN || !token.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Err(BadToken::Weak)
            }
            Some(token) => Ok(Access { listens, token: Some(digest(token)) }),
        }
    }

    /// A refusal, or the way to the page without the token in its address; none if the client may see it.
    pub(crate) fn refuses(&self, request: &Request) -> Option<Response> {
        let Some(token) = &self.token else { return self.other_name(request) };
        if let Some(given) = request.field("token") {
            if digest(&given) != *token {
                return Some(asks_for_token("This token is wrong."));
            }
            let cookie = format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Lax");
            let answer = Response::text("303 See Other", "the token is known now");
            return Some(answer.with("Location", without_token(request)).with("Set-Cookie", cookie));
        }
        let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let mut cookies = request.header("cookie").unwrap_or_default().split(';').map(str::trim);
        let by_cookie = cookies.any(|cookie| cookie.split_once('=') == Some((COOKIE, token)));
        let may = by_cookie || bearer.is_some_and(|given| digest(given) == *token);
        (!may).then(|| asks_for_token("These pages need the token."))
    }

    /// A page of a stranger can have its own name lead to this host, and then read what is here: such a name is refused.
    fn other_name(&self, request: &Request) -> Option<Response> {
        let host = request.header("host").unwrap_or_default();
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split_once(']').map_or("", |(address, _)| address),
            None => host.split_once(':').map_or(host, |(name, _)| name),
        };
        let is_ours = |address: IpAddr| address.is_loopback() || address == self.listens;
        let known = name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_ours);
        let line = "this server answers to localhost and 127.0.0.1 alone";
        (!known).then(|| Response::text("421 Misdirected Request", line))
    }
}

fn digest(token: &str) -> String {
    encode_hex(&Sha256::digest(token.as_bytes()))
}

fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The same page, on this server: two slashes at the begin would be another one.
fn without_token(request: &Request) -> String {
    if request.path.starts_with("//") || !request.path.starts_with('/') {
        return "/".to_owned();
    }
    let fields: Vec<&str> = request.query.split('&').filter(|field| !field.starts_with("token=")).collect();
    let query = fields.join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    let plain = |letter: &char| letter.is_ascii_graphic();
    let text: String = format!("{}{mark}{query}", request.path).chars().filter(plain).collect();
    if text.contains('\\') { format!("/{}", encode(text.as_bytes())) } else { text }
}

fn asks_for_token(why: &str) -> Response {
    let page = nicteam_report::document(
        "Token",
        &maud::html! {
            header { p.eyebrow { "nicteam serve" } h1 { "Token" } p.lead { (why) } }
            form method="get" action="/" {
                label { "Token " input type="password" name="token" autocomplete="off" required autofocus; }
                " " button { "Show the pages" }
            }
        },
        &maud::html! {},
    );
    Response::new("401 Unauthorized", "text/html; charset=utf-8", page).with("WWW-Authenticate", "Bearer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use nicteam_web::{Parsed, read};

    const TOKEN: &str = "0123456789abcdef";

    fn request(target: &str, headers: &str) -> Request {
        match read(format!("GET {target} HTTP/1.1\r\n{headers}\r\n").as_bytes()) {
            Parsed::Whole(request) => request,
            other => panic!("{other:?}"),
        }
    }

    fn status(access: &Access, target: &str, headers: &str) -> &'static str {
        access.refuses(&request(target, headers)).map_or("200", |answer| &answer.status[..3])
    }

    #[test]
    fn other_hosts_need_a_token_that_is_none_too_short() {
        let (here, all) = ("127.0.0.1:1".parse().unwrap(), "0.0.0.0:1".parse().unwrap());
        assert_eq!(Access::new(all, None).unwrap_err(), BadToken::Missing);
        assert_eq!(Access::new(here, Some("short")).unwrap_err(), BadToken::Weak);
        assert_eq!(Access::new(here, Some("with a blank in it")).unwrap_err(), BadToken::Weak);
        assert!(Access::new(all, Some(TOKEN)).is_ok() && Access::new("[::1]:1".parse().unwrap(), None).is_ok());
    }

    #[test]
    fn only_names_of_this_host_are_answered_to() {
        let access = Access::new("127.0.0.1:8080".parse().unwrap(), None).unwrap();
        for (host, expected) in [
            ("Host: localhost:8080\r\n", "200"),
            ("Host: 127.0.0.1:8080\r\n", "200"),
            ("Host: [::1]:8080\r\n", "200"),
            ("Host: evil.example:8080\r\n", "421"),
            ("Host: 127.0.0.1.evil.example\r\n", "421"),
            ("Host: localhost\r\nHost: evil.example\r\n", "421"),
            ("", "421"),
        ] {
            assert_eq!(status(&access, "/", host), expected, "{host:?}");
        }
    }

    #[test]
    fn the_token_opens_and_leaves_the_address() {
        let access = Access::new("0.0.0.0:8080".parse().unwrap(), Some(TOKEN)).unwrap();
        assert_eq!(status(&access, "/", "Host: any.example\r\n"), "401");
        assert_eq!(status(&access, "/?token=0123456789abcdeX", ""), "401");
        assert_eq!(status(&access, "/", "Authorization: Bearer 0123456789abcdeX\r\n"), "401");
        assert_eq!(status(&access, "/", "Authorization: Bearer 0123456789abcdef\r\n"), "200");
        let answer = access.refuses(&request("/compare?a=1&token=0123456789abcdef&b=2", "")).unwrap();
        let header = |name: &str| &answer.headers.iter().find(|(of, _)| *of == name).unwrap().1;
        assert_eq!((answer.status, header("Location").as_str()), ("303 See Other", "/compare?a=1&b=2"));
        let cookie = header("Set-Cookie").split(';').next().unwrap();
        assert!(!cookie.contains(TOKEN), "the token itself stays out of the browser");
        assert_eq!(status(&access, "/", &format!("Cookie: x=y; {cookie}\r\n")), "200");
        for path in ["//evil.example/?token=0123456789abcdef", "http://evil.example?token=0123456789abcdef"] {
            let answer = access.refuses(&request(path, "")).unwrap();
            assert!(answer.headers.contains(&("Location", "/".to_owned())), "{path}");
        }
    }
}

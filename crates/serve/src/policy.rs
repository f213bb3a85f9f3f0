//! What a browser may do with a page: show it, run our script, ask this server.

use nicteam_report::{SCRIPT, STYLE};
use nicteam_web::Response;
use sha2::{Digest, Sha256};

/// The headers of every answer.
pub(crate) fn guarded(response: Response) -> Response {
    response
        .with("Content-Security-Policy", policy())
        .with("X-Content-Type-Options", "nosniff")
        .with("Referrer-Policy", "no-referrer")
        .with("Cross-Origin-Resource-Policy", "same-origin")
        .with("Cross-Origin-Opener-Policy", "same-origin")
        .with("Cache-Control", "no-store")
}

/// Styles and scripts within a page are those of the report, by their hashes. Attributes may have a style: bars have their
/// widths there.
fn policy() -> String {
    format!(
        "default-src 'none'; script-src 'self' {}; style-src-elem 'self' {}; style-src-attr 'unsafe-inline'; \
         connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// The source expression of a text: `'sha256-...'`.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = three.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = char::from(LETTERS[(number >> (18 - 6 * place)) as usize & 63]);
            text.push(if place <= three.len() { letter } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}

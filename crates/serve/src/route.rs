//! What an address asks for.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use nicteam_web::Request;

use crate::prediction::Inputs;

/// The longest text that is searched for, characters.
const LONGEST_SEARCH: usize = 100;

/// A page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Page {
    /// The bundles whose name, title or experiment contains this.
    List { search: String },
    /// The page of a bundle.
    Bundle(OsString),
    /// The runs of two bundles beside each other.
    Compare([Side; 2]),
    /// What two hosts would get.
    Predict(Inputs),
}

/// One side of a comparison: a bundle and perhaps one of its runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Side {
    pub(crate) bundle: OsString,
    pub(crate) run: String,
}

/// What an address asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Page(Page),
    Script,
    Style,
    Events,
    /// There is nothing.
    Nothing,
}

/// Reads the address.
pub(crate) fn route(request: &Request) -> Route {
    let Some(parts) = request.parts() else { return Route::Nothing };
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    match parts[..] {
        [b""] => {
            let search = request.field("q").unwrap_or_default();
            Route::Page(Page::List { search: search.chars().take(LONGEST_SEARCH).collect() })
        }
        [b"bundles", name] => Route::Page(Page::Bundle(OsString::from_vec(name.to_vec()))),
        [b"compare"] => Route::Page(Page::Compare(["a", "b"].map(|side| {
            let bundle = OsString::from(request.field(side).unwrap_or_default());
            Side { bundle, run: request.field(&format!("{side}-run")).unwrap_or_default() }
        }))),
        [b"predict"] => Route::Page(Page::Predict(Inputs::of(request))),
        [b"serve.js"] => Route::Script,
        [b"serve.css"] => Route::Style,
        [b"events"] => Route::Events,
        _ => Route::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nicteam_web::{Parsed, read};

    fn of(target: &str) -> Route {
        match read(format!("GET {target} HTTP/1.1\r\n\r\n").as_bytes()) {
            Parsed::Whole(request) => route(&request),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn addresses_are_pages_or_nothing() {
        assert_eq!(of("/?q=t3"), Route::Page(Page::List { search: "t3".into() }));
        assert_eq!(of("/bundles/a%0Ab"), Route::Page(Page::Bundle("a\nb".into())));
        // The name of a bundle may hold anything; what it leads to is looked at when it is opened.
        assert_eq!(of("/bundles/..%2F..%2Fetc"), Route::Page(Page::Bundle("../../etc".into())));
        assert_eq!((of("/serve.js"), of("/events")), (Route::Script, Route::Events));
        for target in ["/../etc/passwd", "/bundles/../x", "/bundles", "/bundles/a/record.json", "//", "x", "/%zz", "*"]
        {
            assert_eq!(of(target), Route::Nothing, "{target}");
        }
    }
}

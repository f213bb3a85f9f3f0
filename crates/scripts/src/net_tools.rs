//! `route` of net-tools (`route(8)`): `route add -net 10.9.0.0 netmask 255.255.0.0 gw 10.0.0.9`.

use nicteam_drafts::Address;

/// What it does.
pub enum Said {
    /// Adds a route, in the words that stand behind `ip route add`.
    Adds(Vec<String>),
    /// Removes one.
    Removes,
}

/// What the words behind `route` say; `None` if they do nothing that a team has.
///
/// # Errors
/// The destination makes no sense: what, and what to do.
pub fn route(arguments: &[&str]) -> Option<Result<Said, (String, String)>> {
    let mut words = arguments.iter().copied().peekable();
    while words.peek().is_some_and(|word| word.starts_with('-')) {
        let option = words.next()?;
        if option == "-A" {
            words.next();
        }
    }
    match words.next()? {
        "del" => return Some(Ok(Said::Removes)),
        "add" => {}
        _ => return None,
    }
    let (mut target, mut netmask, mut is_host, mut rest) = (None, None, false, Vec::new());
    while let Some(word) = words.next() {
        match word {
            "-net" => {}
            "-host" => is_host = true,
            "netmask" => netmask = Some(words.next()?),
            "gw" => rest.extend(["via", words.next()?]),
            "metric" => rest.extend(["metric", words.next()?]),
            "dev" => rest.extend(["dev", words.next()?]),
            // `reject`, `mod`, `mss`, `window`: another thing, or its details.
            "reject" => return None,
            "mod" | "dyn" | "reinstate" => {}
            "mss" | "window" | "irtt" => drop(words.next()),
            word if target.is_none() => target = Some(word),
            // The device may stand last without `dev`.
            word => rest.extend(["dev", word]),
        }
    }
    let target = target?;
    let to = match netmask {
        Some(netmask) if !is_host => match target.parse().map(|address| Address::with_netmask(address, netmask)) {
            Ok(Ok(to)) => to.to_string(),
            Ok(Err(error)) => return Some(Err((error.to_string(), error.hint()))),
            Err(_) if target == "default" => "default".to_owned(),
            Err(_) => {
                return Some(Err((
                    format!("`{target}` is no IP address"),
                    "name the network by its address".to_owned(),
                )));
            }
        },
        _ => target.to_owned(),
    };
    let words = std::iter::once(to).chain(rest.into_iter().map(str::to_owned));
    Some(Ok(Said::Adds(words.collect())))
}

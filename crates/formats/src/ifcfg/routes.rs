//! `route-bond0` of RHEL's, `routes` and `ifroute-bond0` of SUSE's.

use nicteam_drafts::Reading;
use nicteam_drafts::draft::Draft;
use nicteam_drafts::{Address, Route, RouteError, RouteWords};
use nicteam_syntax::At;

use super::disable::comment_out_line;
use super::parts::Part;

/// `10.9.0.0/16 via 10.0.0.9`, or `ADDRESS0=10.9.0.0`, `NETMASK0=`, `GATEWAY0=`, `METRIC0=`.
pub(super) fn read(reading: &mut Reading<'_>, part: &Part<'_>, device: &str, drafts: &mut [Draft]) {
    let Some(draft) = drafts.iter_mut().find(|draft| draft.name == device) else { return };
    let assignments = part.assignments().0;
    for line in part.lines().into_iter().filter(|line| !assignments.iter().any(|of| of.at == line.at)) {
        match Route::parse(line.text) {
            Ok(words) if words.device.as_ref().is_some_and(|other| other != device) => {
                reading.left(&line.at, None, "a route by another device");
            }
            Ok(words) => take(reading, &line.at, draft, &words),
            Err(error) => refuse(reading, &line.at, device, &error),
        }
    }
    let find = |key: String| assignments.iter().find(|assignment| assignment.key == key);
    for entry in &assignments {
        let Some(number) = entry.key.strip_prefix("ADDRESS") else {
            if !["NETMASK", "PREFIX", "GATEWAY", "METRIC", "OPTIONS"].iter().any(|key| entry.key.starts_with(key)) {
                reading.left(&entry.at, Some(device), "the route is taken over without it");
            }
            continue;
        };
        let text = |key: &str| find(format!("{key}{number}")).map(|assignment| assignment.value.clone());
        let netmask = text("NETMASK").or_else(|| text("PREFIX")).unwrap_or_else(|| "32".to_owned());
        let to = entry.value.parse().map(|address| Address::with_netmask(address, &netmask).map(Address::network));
        let words = match to {
            Ok(Ok(to)) => {
                let via = text("GATEWAY").map(|via| format!(" via {via}")).unwrap_or_default();
                let metric = text("METRIC").map(|metric| format!(" metric {metric}")).unwrap_or_default();
                let options = text("OPTIONS").map(|options| format!(" {options}")).unwrap_or_default();
                Route::parse(&format!("{to}{via}{metric}{options}")).map_err(|error| (error.to_string(), error.hint()))
            }
            Ok(Err(error)) => Err((error.to_string(), error.hint())),
            Err(_) => Err(("the destination is no IP address".to_owned(), "`ADDRESS0=10.9.0.0`".to_owned())),
        };
        match words {
            Ok(words) => {
                let options = find(format!("OPTIONS{number}")).map_or(&entry.at, |options| &options.at);
                take(reading, options, draft, &words);
            }
            Err((message, hint)) => reading.wrong(&entry.value_at, message, hint),
        }
    }
    let what = format!("take the file of routes of `{device}` away: the team has them now");
    reading.disable(&part.at(), what, None);
}

/// `10.9.0.0/16 10.0.0.9 - bond0`, `default 10.0.0.254 - -`: destination, next hop, netmask, device, type (`routes(5)`).
/// Without a device it is by the one that has the next hop's network.
pub(super) fn read_table(reading: &mut Reading<'_>, part: &Part<'_>, device: Option<&str>, drafts: &mut [Draft]) {
    for line in part.lines() {
        let mut words = line.text.split_whitespace();
        let mut column = || words.next().filter(|word| *word != "-");
        let (to, via, netmask, by) = (column(), column(), column(), column());
        let kind = column();
        let by = by.or(device);
        let next = via.and_then(|via| via.parse().ok());
        let is_by = |draft: &&mut Draft| match by {
            Some(by) => by == draft.name,
            None => next.is_some_and(|next| draft.addresses.iter().any(|address| address.contains(next))),
        };
        let Some(draft) = drafts.iter_mut().find(is_by) else { continue };
        let mut text = kind.filter(|kind| *kind != "unicast").map(|kind| format!("{kind} ")).unwrap_or_default();
        text.push_str(to.unwrap_or_default());
        text.extend(netmask.map(|netmask| format!("/{netmask}")));
        text.extend(via.map(|via| format!(" via {via}")));
        words.for_each(|word| text.push_str(&format!(" {word}")));
        match Route::parse(&text) {
            Ok(words) => {
                take(reading, &line.at, draft, &words);
                comment_out_line(reading, &line.at);
            }
            Err(error) => refuse(reading, &line.at, &draft.name, &error),
        }
    }
}

fn take(reading: &mut Reading<'_>, at: &At, draft: &mut Draft, words: &RouteWords) {
    if let Some(word) = words.ignored.first() {
        reading.left(at, Some(&draft.name), format!("the route is taken over without `{word}`"));
    }
    words.routes().into_iter().for_each(|route| draft.add_route(route));
}

/// What a team's routes have nothing for stays; what makes no sense is wrong.
fn refuse(reading: &mut Reading<'_>, at: &At, team: &str, error: &RouteError) {
    match error.is_unsupported() {
        true => reading.left(at, Some(team), format!("{error}: {}", error.hint())),
        false => reading.wrong(at, error.to_string(), error.hint()),
    }
}

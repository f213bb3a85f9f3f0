//! What mode stripe asks of the TCP of its network namespace.
//!
//! TCP takes a segment for lost that later ones overtook by more than a fourth of
//! the shortest round trip of the last five minutes (`net.ipv4.tcp_min_rtt_wlen`,
//! RACK). Striped frames are late by their wait in a queue, which that round trip
//! does not have. With 0 the last round trip counts, and its queues with it.

use nicteam_sys::netns;

/// The setting, below `/proc/sys/net`.
const NAME: &str = "ipv4/tcp_min_rtt_wlen";

/// The setting, as far as a team has changed it.
#[derive(Debug, Default)]
pub(crate) struct Tcp {
    /// What it was, and what this team made of it.
    changed: Option<(String, String)>,
}

/// It was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) from: String,
    pub(crate) to: String,
}

impl Tcp {
    /// As an earlier process of the team left it, which had found `before`.
    pub(crate) fn left(before: Option<String>) -> Tcp {
        let changed = before.and_then(|before| Some((before, netns::read_sysctl(NAME).ok()?)));
        Tcp { changed }
    }

    /// What it was before the team changed it.
    pub(crate) fn before(&self) -> Option<&str> {
        self.changed.as_ref().map(|(before, _)| before.as_str())
    }

    /// Makes it `wanted`, or what it was, unless somebody else has changed it since.
    pub(crate) fn want(&mut self, wanted: Option<u32>) -> nicteam_sys::Result<Option<Changed>> {
        let now = netns::read_sysctl(NAME)?;
        let to = match (wanted, self.changed.take()) {
            (Some(seconds), changed) => {
                let to = seconds.to_string();
                let before = changed.map_or_else(|| now.clone(), |(before, _)| before);
                self.changed = (before != to).then(|| (before, to.clone()));
                to
            }
            (None, Some((before, ours))) if now == ours => before,
            (None, _) => now.clone(),
        };
        if to == now {
            return Ok(None);
        }
        netns::sysctl(NAME, &to)?;
        Ok(Some(Changed { from: now, to }))
    }
}

/// In a namespace of its own.
#[cfg(test)]
mod live {
    use nicteam_testnet::{Host, may_make_networks};

    use super::*;

    #[test]
    fn it_is_changed_once_and_put_back_unless_somebody_else_has_changed_it() {
        if !may_make_networks() {
            return;
        }
        let host = Host::new();
        let changed = |from: &str, to: &str| Some(Changed { from: from.to_owned(), to: to.to_owned() });
        host.netns
            .run(|| {
                let mut tcp = Tcp::default();
                assert_eq!(tcp.want(None).unwrap(), None, "a team that never asked");
                assert_eq!(tcp.want(Some(0)).unwrap(), changed("300", "0"));
                assert_eq!(tcp.want(Some(0)).unwrap(), None);
                assert_eq!(tcp.want(Some(5)).unwrap(), changed("0", "5"));
                assert_eq!(tcp.before(), Some("300"));
                let mut next = Tcp::left(tcp.before().map(str::to_owned));
                assert_eq!(next.want(Some(5)).unwrap(), None, "a new process");
                assert_eq!(next.want(None).unwrap(), changed("5", "300"));
                assert_eq!((next.want(None).unwrap(), next.before()), (None, None));
                assert_eq!(next.want(Some(0)).unwrap(), changed("300", "0"));
                netns::sysctl(NAME, "60").unwrap();
                assert_eq!(next.want(None).unwrap(), None, "it is somebody else's");
                assert_eq!(netns::read_sysctl(NAME).unwrap(), "60");
            })
            .unwrap();
    }
}

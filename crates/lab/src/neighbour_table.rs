//! The kernel's tables of neighbours, each of which is one for all network namespaces: whether one was full.
//!
//! Entries that the lab reserves for its hosts do not count in them. But others' do, and an address that finds no room is not
//! asked for: nothing but a connection that times out shows it.

use std::fs;
use std::path::Path;

/// The kernel's names of a table: of its counters, and of its settings; and what it holds.
const TABLES: [(&str, &str, &str); 2] = [("arp_cache", "ipv4", "IPv4"), ("ndisc_cache", "ipv6", "IPv6")];
/// The column that counts how often there was no room.
const NO_ROOM: &str = "table_fulls";

/// How often each table had no room; none of what this process may not read, as in a network namespace of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom([Option<u64>; TABLES.len()]);

impl NoRoom {
    /// Until now.
    pub(crate) fn now() -> NoRoom {
        NoRoom(TABLES.map(|(table, ..)| {
            let path = Path::new("/proc/net/stat").join(table);
            no_room(&fs::read_to_string(path).ok()?)
        }))
    }

    /// In words, what is full now and was not then: the reason of a host that cannot be reached.
    pub(crate) fn since(self) -> Option<String> {
        self.told(NoRoom::now(), |family| {
            let path = format!("/proc/sys/net/{family}/neigh/default/gc_thresh3");
            fs::read_to_string(path).ok().map(|value| value.trim().to_owned())
        })
    }

    fn told(self, now: NoRoom, most: impl Fn(&str) -> Option<String>) -> Option<String> {
        let tables = TABLES.into_iter().zip(self.0.into_iter().zip(now.0));
        let full =
            tables.filter_map(|((_, family, name), (then, now))| Some((family, name, now?.saturating_sub(then?))));
        let reason = |(family, name, times): (&str, &str, u64)| {
            let most = most(family).map_or_else(String::new, |most| format!(" from {most}"));
            format!(
                "the kernel's table of {name} neighbours, which is one for all network namespaces, had no room {times} times \
                 meanwhile; hint: raise net.{family}.neigh.default.gc_thresh3{most}, as root (`sysctl -w`)"
            )
        };
        let reasons: Vec<String> = full.filter(|(.., times)| *times > 0).map(reason).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

/// The sum of the column over all processors; none if the text is no such table.
fn no_room(text: &str) -> Option<u64> {
    let mut lines = text.lines();
    let column = lines.next()?.split_whitespace().position(|name| name == NO_ROOM)?;
    lines.map(|line| u64::from_str_radix(line.split_whitespace().nth(column)?, 16).ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_is_found_by_its_name_and_is_summed() {
        let text = "entries  allocs   table_fulls\n00000201 00003276 0000000a\n00000201 00002f0f 00000007\n";
        assert_eq!(no_room(text), Some(17));
        assert_eq!(no_room("entries allocs\n00000201 00003276\n"), None);
        assert_eq!(no_room("entries table_fulls\n00000201\n"), None);
        assert_eq!(no_room(""), None);
    }

    #[test]
    fn a_table_that_became_full_is_named_with_its_setting() {
        let then = NoRoom([Some(3), Some(5)]);
        assert_eq!(then.told(then, |_| None), None);
        assert_eq!(NoRoom([None, None]).told(then, |_| None), None, "not known of then");
        let told = then.told(NoRoom([Some(10), Some(5)]), |family| (family == "ipv4").then(|| "1024".to_owned()));
        assert_eq!(
            told.unwrap(),
            "the kernel's table of IPv4 neighbours, which is one for all network namespaces, had no room 7 times meanwhile; \
             hint: raise net.ipv4.neigh.default.gc_thresh3 from 1024, as root (`sysctl -w`)"
        );
        assert!(then.told(NoRoom([Some(3), Some(6)]), |_| None).unwrap().contains("net.ipv6.neigh.default"));
    }
}

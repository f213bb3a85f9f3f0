//! Policy rules (`RTM_NEWRULE`; include/uapi/linux/fib_rules.h).

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};

use super::{Object, kind};
use crate::Netlink;
use nicteam_sys::Result;

/// A policy rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule(Object);

const FRA_IIFNAME: u16 = 3;
const FRA_PRIORITY: u16 = 6;
const FRA_TABLE: u16 = 15;
const FRA_OIFNAME: u16 = 17;

/// Place of the table's number in `fib_rule_hdr`, and of flags that the kernel sets while no device has the name.
const TABLE: usize = 4;
const FLAGS: usize = 8;
const DETACHED: u32 = 0x8 | 0x10;

impl Rule {
    /// As a text for files.
    pub fn to_hex(&self) -> String {
        self.0.to_hex()
    }

    /// Reads such a text.
    pub fn from_hex(text: &str) -> Option<Rule> {
        Object::from_hex(text).filter(|object| object.kind == kind::RULE).map(Rule)
    }

    /// The device by which packets come that it is for.
    pub fn input(&self) -> Option<&str> {
        self.0.text_of(FRA_IIFNAME)
    }

    /// The device that packets are bound to that it is for.
    pub fn output(&self) -> Option<&str> {
        self.0.text_of(FRA_OIFNAME)
    }

    /// True if it names this device.
    pub fn names(&self, device: &str) -> bool {
        self.input() == Some(device) || self.output() == Some(device)
    }

    /// The same one for another device.
    pub fn renamed(&self, from: &str, to: &str) -> Rule {
        let mut object = self.0.clone();
        for number in [FRA_IIFNAME, FRA_OIFNAME] {
            if self.0.text_of(number) == Some(from) {
                object.set_text(number, to);
            }
        }
        Rule(object)
    }

    /// What can be compared: without what the kernel finds out by itself.
    pub fn settings(&self) -> Rule {
        let mut object = self.0.clone();
        object.set_header_u32(FLAGS, object.header_u32(FLAGS) & !DETACHED);
        object.sort();
        Rule(object)
    }

    /// Like `ip rule`: `priority 100 iif eth0 lookup 5`.
    pub fn words(&self) -> String {
        let priority = self.0.u32_of(FRA_PRIORITY).unwrap_or_default();
        let table = self.0.u32_of(FRA_TABLE).unwrap_or_else(|| u32::from(self.0.byte(TABLE)));
        let device = |word: &str, name: Option<&str>| name.map_or_else(String::new, |name| format!(" {word} {name}"));
        let (input, output) = (device("iif", self.input()), device("oif", self.output()));
        format!("priority {priority}{input}{output} lookup {table}")
    }
}

impl Netlink {
    /// The policy rules of IPv4 and IPv6, as the kernel tells them.
    pub fn rules(&mut self) -> Result<Vec<Rule>> {
        let mut rules = Vec::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            let mut request = Object::new(kind::RULE);
            request.set_byte(0, family as u8);
            match self.dump(&request, "policy rules") {
                Ok(found) => rules.extend(found.into_iter().map(Rule)),
                // A kernel without IPv6, or without rules.
                Err(error) if matches!(error.errno(), Some(libc::EAFNOSUPPORT | libc::EOPNOTSUPP)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(rules)
    }

    /// Adds a policy rule.
    ///
    /// # Errors
    /// `EEXIST`: it is there.
    pub fn add_rule(&mut self, rule: &Rule) -> Result<()> {
        self.make(&rule.settings().0, NLM_F_CREATE | NLM_F_EXCL, || format!("add the rule `{}`", rule.words()))
    }

    /// Removes a policy rule.
    ///
    /// # Errors
    /// `ENOENT`: there is none.
    pub fn remove_rule(&mut self, rule: &Rule) -> Result<()> {
        self.unmake(&rule.settings().0, || format!("remove the rule `{}`", rule.words()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_follows_its_device() {
        let mut object = Object::new(kind::RULE);
        object.set_text(FRA_IIFNAME, "eth0");
        object.set_u32(FRA_PRIORITY, 100);
        object.set_u32(FRA_TABLE, 5);
        object.set_header_u32(FLAGS, 0x8);
        let rule = Rule(object);
        let moved = rule.renamed("eth0", "team0");
        assert!(moved.names("team0") && !moved.names("eth0"));
        assert_eq!(moved.words(), "priority 100 iif team0 lookup 5");
        assert_eq!(rule.settings(), moved.renamed("team0", "eth0").settings());
    }
}

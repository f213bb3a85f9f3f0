//! Settings of the kernel that spoil things.

use super::super::facts::HostFacts;
use super::super::finding::{Finding, Weight};
use super::super::rule::{Rule, THIS_HOST, finding, list};

pub(super) struct Sysctls;

const NAME: &str = "sysctls";

impl Rule for Sysctls {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        let mut findings = Vec::new();
        let is = |path: &str, value: &str| facts.sysctl(path) == Some(value);
        for (network, devices) in &facts.shared_networks {
            let names: Vec<&str> = devices.iter().map(String::as_str).collect();
            let ignores = ["1", "2"].iter().any(|value| is("ipv4/conf/all/arp_ignore", value));
            if !ignores {
                let text = format!(
                    "{} have addresses in one network ({network}): each answers ARP for all of them, so what comes in takes one link",
                    list(&names)
                );
                let cure = "sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2    # or a network a link, or one team of them";
                findings.push(finding(NAME, THIS_HOST, Weight::Disappoints, text, cure.to_owned()));
            }
            if is("ipv4/conf/all/rp_filter", "1") {
                let text = format!(
                    "net.ipv4.conf.all.rp_filter=1 with {} in one network ({network}): packets that come by the link that is not the route back are dropped",
                    list(&names)
                );
                let cure = "sysctl -w net.ipv4.conf.all.rp_filter=2".to_owned();
                findings.push(finding(NAME, THIS_HOST, Weight::Disappoints, text, cure));
            }
        }
        if is("core/bpf_jit_enable", "0") {
            let text = "net.core.bpf_jit_enable=0: eBPF programs are interpreted, at several times the cost a frame"
                .to_owned();
            let cure = "sysctl -w net.core.bpf_jit_enable=1".to_owned();
            findings.push(finding(NAME, THIS_HOST, Weight::Disappoints, text, cure));
        }
        let bridged: Vec<&str> =
            facts.bundles.iter().filter(|of| of.is_bridged).map(|bundle| bundle.name.as_str()).collect();
        if is("bridge/bridge-nf-call-iptables", "1") && !bridged.is_empty() {
            let text = format!(
                "net.bridge.bridge-nf-call-iptables=1: what passes the bridge of {} goes through this host's firewall",
                list(&bridged)
            );
            let cure =
                "sysctl -w net.bridge.bridge-nf-call-iptables=0    # where nobody (Docker, Kubernetes) relies on it";
            findings.push(finding(NAME, THIS_HOST, Weight::Note, text, cure.to_owned()));
        }
        findings
    }
}

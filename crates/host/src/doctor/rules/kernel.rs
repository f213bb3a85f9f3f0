//! What an older, smaller or closed kernel lacks, with the consequence.

use super::super::facts::HostFacts;
use super::super::finding::{Finding, Weight};
use super::super::rule::{Rule, THIS_HOST, finding};

pub(super) struct KernelRule;

const NAME: &str = "kernel";

impl Rule for KernelRule {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        let kernel = &facts.kernel;
        let found = |weight, text: String, cure: &str| finding(NAME, THIS_HOST, weight, text, cure.to_owned());
        let mut findings = Vec::new();
        if !kernel.is_at_least(6, 1) {
            let text = format!("Linux {} is older than 6.1, the oldest that teams are tested on", kernel.release);
            findings.push(found(Weight::Disappoints, text, "a newer kernel; on Debian 11: bullseye-backports"));
        }
        let may_not = !kernel.lacks.is_empty();
        if let (Some(reason), false) = (&kernel.no_bpf, may_not) {
            let text = format!(
                "eBPF programs cannot be loaded ({reason}): teams run on packet sockets, whose frames pass a process, at a fraction of the speed"
            );
            findings.push(found(Weight::Disappoints, text, "a kernel with CONFIG_BPF_SYSCALL and CONFIG_NET_CLS_BPF"));
        }
        let can_bpf = kernel.no_bpf.is_none();
        if can_bpf && !kernel.is_at_least(6, 2) {
            let text = format!(
                "Linux {} lacks bpf_rdonly_cast (6.2): when a cable is pulled, frames are lost until netlink tells, up to a second with hardware",
                kernel.release
            );
            findings.push(found(Weight::Note, text, "Linux 6.2 or newer; on Debian 12: bookworm-backports"));
        } else if can_bpf && !kernel.has_btf {
            let text = "the kernel does not tell its types (/sys/kernel/btf/vmlinux): when a cable is pulled, frames are lost until netlink tells, up to a second with hardware".to_owned();
            findings.push(found(Weight::Note, text, "a kernel with CONFIG_DEBUG_INFO_BTF"));
        }
        if may_not {
            let text = format!(
                "this process lacks {}: what takes them was not looked at, and it could run no team with eBPF",
                kernel.lacks.join(", ")
            );
            findings.push(found(Weight::Note, text, "run it with sudo"));
        }
        findings
    }
}

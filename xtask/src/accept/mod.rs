//! `xtask accept`: the figures of "what must be seen".

mod convergence;
mod iperf3;
mod live;
mod probe;
mod shares;
mod stall;
mod stripe;
mod t3;

use nicteam_sys::process;

use crate::failure::Failure;
use crate::figure::{Figure, Section};
use crate::product::Product;
use crate::results::Save;
use crate::scratch::Scratch;
use crate::side;
use crate::tools::{self, Tool};

/// What to measure, and how thoroughly.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    save: Save,
    /// Only this; may be repeated.
    #[arg(long, value_enum)]
    only: Vec<Part>,
    /// How often T3 is run in each setting.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// How many pairs of runs are compared with iperf3.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Rate of T3's links with the packet dataplane, which passes every packet
    /// through user space four times; the table states it.
    #[arg(long, default_value = "100mbit")]
    packet_rate: String,
    /// How long each run is measured, whole seconds.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

/// A part of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// T3 with the eBPF dataplane.
    T3Bpf,
    /// T3 with the packet dataplane.
    T3Packet,
    /// T3 as an ordinary user.
    T3User,
    /// The tcp workload beside iperf3.
    Iperf3,
    /// 802.3ad while its process is stopped, killed, replaced.
    Stall,
    /// Shares in balance-tlb and balance-alb beside the kernel's.
    Shares,
    /// How fast aggregates form.
    Convergence,
    /// Mode stripe over four links through a plain switch.
    Stripe,
    /// Mode stripe with other links and hosts, a server with unlike cards among them.
    StripeHosts,
    /// Mode stripe while links fail and its process dies.
    StripeFaults,
    /// Mode stripe beside other modes and multipath TCP.
    StripePeers,
    /// The same with links of other numbers and rates.
    StripePeersLinks,
    /// The same with a server and its clients.
    StripePeersHosts,
    /// The same while links fail.
    StripePeersFaults,
    /// The live tests that kill and clean up.
    Live,
}

const TOOLS: [Tool; 2] = [("iperf3", "iperf3"), ("setpriv", "util-linux")];

const PARTS: [Part; 15] = [
    Part::T3Bpf,
    Part::T3Packet,
    Part::T3User,
    Part::Iperf3,
    Part::Stall,
    Part::Shares,
    Part::Convergence,
    Part::Stripe,
    Part::StripeHosts,
    Part::StripeFaults,
    Part::StripePeers,
    Part::StripePeersLinks,
    Part::StripePeersHosts,
    Part::StripePeersFaults,
    Part::Live,
];

/// Measures, and prints each part as soon as it is there.
pub(crate) fn run(arguments: &Arguments) -> Result<Vec<Section>, Failure> {
    let wanted = |part: &Part| arguments.only.is_empty() || arguments.only.contains(part);
    tools::require(&TOOLS)?;
    if wanted(&Part::Shares) {
        tools::require(&side::TOOLS)?;
    }
    let product = Product::find()?;
    if wanted(&Part::Live) {
        // Nothing may be compiled while something is measured.
        live::build()?;
    }
    let scratch = Scratch::new("accept")?;
    let mut sections = Vec::new();
    for part in PARTS.into_iter().filter(wanted) {
        let section = Section::new(part.title(), measure(part, arguments, &product, &scratch));
        print!("{section}");
        arguments.save.part("accept", &part, std::slice::from_ref(&section))?;
        sections.push(section);
        if process::termination().is_some() {
            return Err(Failure::Interrupted);
        }
    }
    Ok(sections)
}

fn measure(part: Part, arguments: &Arguments, product: &Product, scratch: &Scratch) -> Result<Vec<Figure>, Failure> {
    let t3 = |setting| t3::measure(product, setting, arguments, scratch);
    match part {
        Part::T3Bpf => t3(t3::Setting::Bpf),
        Part::T3Packet => t3(t3::Setting::Packet),
        Part::T3User => t3(t3::Setting::User),
        Part::Iperf3 => iperf3::measure(product, arguments.rounds, arguments.seconds, scratch),
        Part::Stall => stall::measure(product, scratch),
        Part::Shares => shares::measure(product),
        Part::Convergence => convergence::measure(product),
        Part::Stripe => stripe::throughput::measure(product, scratch),
        Part::StripeHosts => stripe::hosts::measure(product, scratch),
        Part::StripeFaults => stripe::faults::measure(product, scratch),
        Part::StripePeers => stripe::peers::FOUR_LINKS.measure(product, scratch),
        Part::StripePeersLinks => stripe::peers::OTHER_LINKS.measure(product, scratch),
        Part::StripePeersHosts => stripe::peers::HOSTS.measure(product, scratch),
        Part::StripePeersFaults => stripe::faults::peers::measure(product, scratch),
        Part::Live => live::measure(),
    }
}

impl Part {
    fn title(self) -> &'static str {
        match self {
            Part::T3Bpf => "T3, bpf dataplane, root",
            Part::T3Packet => "T3, packet dataplane, root",
            Part::T3User => "T3, ordinary user",
            Part::Iperf3 => "tcp workload beside iperf3 on the same link",
            Part::Stall => "802.3ad while its process is stopped, killed, replaced (bpf dataplane)",
            Part::Shares => "shares where loads decide, in a guest: ours (bpf) beside the kernel's driver, 48 hosts",
            Part::Convergence => "LACP: from the last port's carrier to all ports distributing at both ends",
            Part::Stripe => "stripe: four links through a plain switch (bpf dataplane)",
            Part::StripeHosts => "stripe: other links and hosts (bpf dataplane)",
            Part::StripeFaults => {
                "stripe: links that fail, 4 x 100 Mbit/s of true packets (bpf dataplane); rounds apart"
            }
            Part::StripePeers => "stripe beside its peers, interleaved (bpf dataplane)",
            Part::StripePeersLinks => "stripe beside its peers, other links, interleaved (bpf dataplane)",
            Part::StripePeersHosts => "stripe beside its peers, a server and its clients, interleaved (bpf dataplane)",
            Part::StripePeersFaults => "stripe beside its peers while links fail, interleaved (bpf dataplane)",
            Part::Live => "killed teams and interrupted labs",
        }
    }
}

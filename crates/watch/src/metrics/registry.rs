//! Every metric by name. A name, its type and its labels are stable: what changes its meaning gets another name.

/// A metric.
#[derive(Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name; of a counter without `_total`.
    pub name: &'static str,
    /// Its type.
    pub kind: Type,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// What it says.
    pub help: &'static str,
}

/// Types of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// It only rises, or begins anew at 0.
    Counter,
    /// It is as it is now.
    Gauge,
}

impl Metric {
    /// The name that its values have.
    pub fn sample_name(&self) -> String {
        match self.kind {
            Type::Counter => format!("{}_total", self.name),
            Type::Gauge => self.name.to_owned(),
        }
    }

    /// Its unit, if it has one: the last word of its name.
    pub fn unit(&self) -> Option<&'static str> {
        ["bytes", "seconds"].into_iter().find(|unit| self.name.ends_with(&format!("_{unit}")))
    }
}

macro_rules! metrics {
    ($($constant:ident = $kind:ident $name:literal [$($label:literal)*] $help:literal;)*) => {
        $(#[doc = $help] pub const $constant: Metric =
            Metric { name: $name, kind: Type::$kind, labels: &[$($label),*], help: $help };)*
        /// All of them, in the order in which they are written.
        pub const METRICS: &[&Metric] = &[$(&$constant),*];
    };
}

metrics! {
    BONDING_SLAVES = Gauge "node_bonding_slaves" ["master"]
        "Number of configured slaves per bonding interface.";
    BONDING_ACTIVE = Gauge "node_bonding_active" ["master"]
        "Number of active slaves per bonding interface.";
    BUNDLE_INFO = Gauge "nicteam_bundle_info" ["bundle" "kind" "device" "mode" "hash_policy"]
        "1 for each bundle; its device, its mode and its hash policy are labels.";
    BUNDLE_UP = Gauge "nicteam_bundle_up" ["bundle" "kind"]
        "1 if the bundle can carry frames.";
    BUNDLE_MEMBERS = Gauge "nicteam_bundle_members" ["bundle" "kind"]
        "Members of the bundle.";
    BUNDLE_MEMBERS_UP = Gauge "nicteam_bundle_members_up" ["bundle" "kind"]
        "Members whose link is up.";
    BUNDLE_MEMBERS_ACTIVE = Gauge "nicteam_bundle_members_active" ["bundle" "kind"]
        "Members that the bundle sends by.";
    BUNDLE_PROBLEMS = Gauge "nicteam_bundle_problems" ["bundle" "kind"]
        "Problems that the program of the bundle names.";
    BUNDLE_UNSEEN = Gauge "nicteam_bundle_unseen" ["bundle" "kind"]
        "Facts of the bundle that could not be read.";
    LACP_NEGOTIATED = Gauge "nicteam_bundle_lacp_negotiated" ["bundle" "kind"]
        "1 if a partner answers by LACP. Only bundles that speak LACP have it.";
    LACP_PORTS = Gauge "nicteam_bundle_lacp_ports" ["bundle" "kind"]
        "Ports of the aggregator that carries the traffic.";
    LACP_PARTNER_INFO = Gauge "nicteam_bundle_lacp_partner_info" ["bundle" "kind" "partner" "actor_key" "partner_key"]
        "1 for each bundle with a partner; address of its system and the keys are labels.";
    MEMBER_INFO = Gauge "nicteam_member_info" ["bundle" "kind" "member" "mac"]
        "1 for each member of each bundle.";
    MEMBER_UP = Gauge "nicteam_member_up" ["bundle" "kind" "member"]
        "1 if the bundle counts on the link of the member.";
    MEMBER_CARRIER = Gauge "nicteam_member_carrier" ["bundle" "kind" "member"]
        "1 if the driver of the member sees a carrier.";
    MEMBER_ACTIVE = Gauge "nicteam_member_active" ["bundle" "kind" "member"]
        "1 if the bundle sends by the member.";
    MEMBER_SPEED = Gauge "nicteam_member_speed_bytes" ["bundle" "kind" "member"]
        "Speed of the link of the member, bytes per second, if the driver says it.";
    MEMBER_MTU = Gauge "nicteam_member_mtu_bytes" ["bundle" "kind" "member"]
        "MTU of the member.";
    MEMBER_FAILURES = Counter "nicteam_member_link_failures" ["bundle" "kind" "member"]
        "Failures of the link of the member since it joined, as the program of the bundle counts them.";
    MEMBER_RX_BYTES = Counter "nicteam_member_receive_bytes" ["bundle" "kind" "member"]
        "Bytes that the device of the member received.";
    MEMBER_TX_BYTES = Counter "nicteam_member_transmit_bytes" ["bundle" "kind" "member"]
        "Bytes that the device of the member sent.";
    MEMBER_RX_PACKETS = Counter "nicteam_member_receive_packets" ["bundle" "kind" "member"]
        "Packets that the device of the member received; joined packets count once.";
    MEMBER_TX_PACKETS = Counter "nicteam_member_transmit_packets" ["bundle" "kind" "member"]
        "Packets that the device of the member sent; a GSO frame counts once with most drivers.";
    MEMBER_RX_DROPS = Counter "nicteam_member_receive_drops" ["bundle" "kind" "member"]
        "Frames that the device of the member dropped on the way in.";
    MEMBER_TX_DROPS = Counter "nicteam_member_transmit_drops" ["bundle" "kind" "member"]
        "Frames that the device of the member dropped on the way out.";
    MEMBER_RX_ERRORS = Counter "nicteam_member_receive_errors" ["bundle" "kind" "member"]
        "Frames that the device of the member received damaged.";
    MEMBER_TX_ERRORS = Counter "nicteam_member_transmit_errors" ["bundle" "kind" "member"]
        "Frames that the device of the member could not send.";
    MEMBER_ATTACHED = Gauge "nicteam_member_lacp_attached" ["bundle" "kind" "member"]
        "1 if the port of the member is in the aggregator that carries the traffic.";
    MEMBER_AGGREGATOR = Gauge "nicteam_member_lacp_aggregator" ["bundle" "kind" "member"]
        "Number of the aggregator of the port.";
    MEMBER_PARTNER_INFO = Gauge "nicteam_member_lacp_partner_info"
        ["bundle" "kind" "member" "partner" "partner_key" "partner_port"]
        "1 for each port with a partner; system, key and port of the partner are labels.";
    MEMBER_LACP_STATE = Gauge "nicteam_member_lacp_state" ["bundle" "kind" "member" "end" "flag"]
        "1 if the flag is set in the state of the port, of the end `actor` or `partner` (IEEE 802.1AX-2014, 6.4.2.3).";
    MEMBER_CHURNED = Gauge "nicteam_member_lacp_churned" ["bundle" "kind" "member" "end"]
        "1 if the end of the port churned: it did not come into sync in time.";
    TEAM_UPTIME = Gauge "nicteam_team_uptime_seconds" ["bundle"]
        "How long the process of the team has run.";
    TEAM_PLANS = Counter "nicteam_team_plans" ["bundle"]
        "Plans that the dataplane of the team has executed.";
    TEAM_FAILOVERS = Counter "nicteam_team_failovers" ["bundle"]
        "Changes of the active member from one to another.";
    TEAM_MEMBER_DOWNS = Counter "nicteam_team_member_downs" ["bundle"]
        "Members of the team that went down.";
    TEAM_CARRIER_LOSSES = Counter "nicteam_team_carrier_losses" ["bundle"]
        "How often the team lost its carrier.";
    TEAM_UNSENT = Counter "nicteam_team_unsent_frames" ["bundle"]
        "Frames of the stack that no member could send.";
    TEAM_MEMBER_TX_FRAMES = Counter "nicteam_team_member_transmit_frames" ["bundle" "member"]
        "Frames that the team sent by the member; a GSO frame counts once.";
    TEAM_MEMBER_RX_FRAMES = Counter "nicteam_team_member_receive_frames" ["bundle" "member"]
        "Frames that the member received for the team.";
    TEAM_MEMBER_TX_DROPS = Counter "nicteam_team_member_transmit_drops" ["bundle" "member"]
        "Frames of the team that the member could not send.";
    TEAM_MEMBER_RX_DROPS = Counter "nicteam_team_member_receive_drops" ["bundle" "member"]
        "Frames that the member received and the team dropped: the member is a standby.";
    TEAM_LACPDUS_RX = Counter "nicteam_team_member_lacpdus_received" ["bundle" "member"]
        "LACPDUs that the port of the member received.";
    TEAM_LACPDUS_TX = Counter "nicteam_team_member_lacpdus_sent" ["bundle" "member"]
        "LACPDUs that the port of the member sent.";
    TEAM_CHURNS = Counter "nicteam_team_member_churns" ["bundle" "member" "end"]
        "How often the end of the port churned.";
    TEAM_PEERS = Gauge "nicteam_team_peers" ["bundle"]
        "Other teams that stripe and are known.";
    TEAM_PATHS = Gauge "nicteam_team_paths" ["bundle" "peer"]
        "Paths to the peer that are used or tried.";
    TEAM_PATHS_WORKING = Gauge "nicteam_team_paths_working" ["bundle" "peer"]
        "Paths to the peer whose probes come back.";
    TEAM_PATH_ROUND_TRIP = Gauge "nicteam_team_path_round_trip_seconds" ["bundle" "peer" "member" "to"]
        "How long the last probe of the path took.";
    TEAM_HELLOS_REFUSED = Counter "nicteam_team_hellos_refused" ["bundle" "reason"]
        "Hellos that were refused.";
    TEAM_HELLOS_OVERLOOKED = Counter "nicteam_team_hellos_overlooked" ["bundle"]
        "Hellos of teams for which there was no room.";
    TEAM_CONTROL_FRAMES = Counter "nicteam_team_control_frames" ["bundle" "frames"]
        "Frames for the control side that were handled, by kind; `echoes` are probes that came back.";
    TEAM_CONTROL_DROPS = Counter "nicteam_team_control_frame_drops" ["bundle" "frames"]
        "Frames for the control side that were not handled because there were too many (an estimate).";
    TEAM_REPAIRS = Counter "nicteam_team_repairs" ["bundle" "device" "what"]
        "How often something that another program took away from a device was put back.";
    EXPORTER_INFO = Gauge "nicteam_exporter_info" ["version"]
        "1; the version of the exporter is a label.";
    EXPORTER_LOOK = Gauge "nicteam_exporter_look_seconds" []
        "How long it took to read the bundles.";
    EXPORTER_UNSEEN = Gauge "nicteam_exporter_unseen" []
        "What of the host could not be read: a program's bundles, or the teams of another user.";
    EXPORTER_LEFT_OUT = Gauge "nicteam_exporter_left_out" []
        "Values that were left out because another value has the same name and labels.";
    EXPORTER_REFUSED = Counter "nicteam_exporter_requests_refused" []
        "Requests that were refused or given up: not a GET of /metrics, too long, too slow, or too many at once.";
}

/// The table of docs/metrics.md.
pub fn table() -> String {
    let mut table = "| name | type | unit | labels | meaning |\n|---|---|---|---|---|\n".to_owned();
    for metric in METRICS {
        let kind = match metric.kind {
            Type::Counter => "counter",
            Type::Gauge => "gauge",
        };
        let labels = metric.labels.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(", ");
        let (name, unit, help) = (metric.sample_name(), metric.unit().unwrap_or(""), metric.help);
        table += &format!("| `{name}` | {kind} | {unit} | {labels} | {help} |\n");
    }
    table
}

//! From raw samples to a run's figures.

use std::collections::BTreeMap;

use crate::{ConnectionSample, HostCpu, MacMoveSample, MacMoves, Member, MemberSample, Relayed, Sample};

/// A counter's or gauge's course: (milliseconds, value), in order of time.
pub type Course = Vec<(f64, f64)>;

/// What the samples of a run say about its measured window.
pub struct Window<'a> {
    samples: &'a [Sample],
    length_ms: f64,
}

impl<'a> Window<'a> {
    /// The window from zero to `length_ms` of these samples.
    pub fn new(samples: &'a [Sample], length_ms: f64) -> Window<'a> {
        Window { samples, length_ms }
    }

    /// Traffic of every member, in the order of host, team, member.
    pub fn members(&self) -> Vec<Member> {
        let mut keys: Vec<(&str, &str, &str)> = Vec::new();
        for sample in self.samples {
            for member in &sample.members {
                let key = (sample.host.as_str(), member.team.as_str(), member.member.as_str());
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        keys.sort_unstable();
        keys.into_iter().map(|key| self.member(key)).collect()
    }

    /// What became of frames on impaired links, in the order of host and device.
    pub fn relayed(&self) -> Vec<Relayed> {
        let mut ends: Vec<(&str, &str)> =
            self.samples.iter().flat_map(|s| &s.relayed).map(|r| (r.node.as_str(), r.device.as_str())).collect();
        ends.sort_unstable();
        ends.dedup();
        ends.into_iter().map(|end| self.relayed_from(end)).collect()
    }

    fn relayed_from(&self, (node, device): (&str, &str)) -> Relayed {
        let found: Vec<(f64, &Relayed)> = self
            .samples
            .iter()
            .flat_map(|sample| sample.relayed.iter().map(move |relayed| (sample.t_ms, relayed)))
            .filter(|(_, relayed)| (relayed.node.as_str(), relayed.device.as_str()) == (node, device))
            .collect();
        let growth = |field: fn(&Relayed) -> u64| {
            let course: Course = found.iter().map(|(t, relayed)| (*t, field(relayed) as f64)).collect();
            self.growth(&course).round() as u64
        };
        let inside = found.iter().filter(|(t, _)| (0.0..=self.length_ms).contains(t));
        Relayed {
            node: node.to_owned(),
            device: device.to_owned(),
            frames: growth(|r| r.frames),
            lost: growth(|r| r.lost),
            duplicated: growth(|r| r.duplicated),
            reordered: growth(|r| r.reordered),
            corrupted: growth(|r| r.corrupted),
            cut: growth(|r| r.cut),
            dropped: growth(|r| r.dropped),
            late: growth(|r| r.late),
            latest_us: inside.map(|(_, relayed)| relayed.latest_us).max().unwrap_or(0),
        }
    }

    /// How often each switch learned a known address at another port, in the order of their names.
    pub fn mac_moves(&self) -> Vec<MacMoves> {
        let mut courses: BTreeMap<&str, (Course, Course)> = BTreeMap::new();
        for sample in self.samples {
            if let Some(MacMoveSample { moves, overruns }) = sample.mac_moves {
                let (all, lost) = courses.entry(&sample.host).or_default();
                all.push((sample.t_ms, moves as f64));
                lost.push((sample.t_ms, overruns as f64));
            }
        }
        let of_switch = |(switch, (moves, lost)): (&&str, &(Course, Course))| MacMoves {
            switch: (*switch).to_owned(),
            moves: self.growth(moves).round() as u64,
            at_least: self.growth(lost) > 0.0,
        };
        courses.iter().map(of_switch).collect()
    }

    /// Processor time of every host.
    pub fn cpu(&self) -> Vec<HostCpu> {
        let mut courses: BTreeMap<&str, Course> = BTreeMap::new();
        for sample in self.samples {
            courses.entry(&sample.host).or_default().push((sample.t_ms, sample.cpu_ms));
        }
        let seconds = |course: &Course| self.growth(course) / 1e3;
        courses.iter().map(|(host, course)| HostCpu { host: (*host).to_owned(), seconds: seconds(course) }).collect()
    }

    fn member(&self, (host, team, member): (&str, &str, &str)) -> Member {
        let growth = |field: fn(&MemberSample) -> u64| {
            let of_host = self.samples.iter().filter(|sample| sample.host == host);
            let course: Course = of_host
                .filter_map(|sample| {
                    let found = sample.members.iter().find(|m| m.team == team && m.member == member)?;
                    Some((sample.t_ms, field(found) as f64))
                })
                .collect();
            self.growth(&course)
        };
        Member {
            host: host.to_owned(),
            team: team.to_owned(),
            member: member.to_owned(),
            tx_bps: self.bps(growth(|m| m.tx_bytes)),
            rx_bps: self.bps(growth(|m| m.rx_bytes)),
            tx_frames: growth(|m| m.tx_frames).round() as u64,
            rx_frames: growth(|m| m.rx_frames).round() as u64,
            tx_drops: growth(|m| m.tx_drops).round() as u64,
            rx_drops: growth(|m| m.rx_drops).round() as u64,
        }
    }

    /// Bytes in the window as bits a second.
    fn bps(&self, bytes: f64) -> f64 {
        if self.length_ms > 0.0 { bytes * 8e3 / self.length_ms } else { 0.0 }
    }

    /// How much a counter grew in the window.
    fn growth(&self, course: &Course) -> f64 {
        value_at(course, self.length_ms) - value_at(course, 0.0)
    }

    /// Mean of a gauge's readings in the window.
    fn mean(&self, course: &Course) -> f64 {
        let inside: Vec<f64> =
            course.iter().filter(|(t, _)| (0.0..=self.length_ms).contains(t)).map(|(_, value)| *value).collect();
        if inside.is_empty() { 0.0 } else { inside.iter().sum::<f64>() / inside.len() as f64 }
    }
}

/// What the two ends of a connection counted in a window.
pub struct Counted<'a> {
    window: &'a Window<'a>,
    index: u32,
    /// Hosts of the end that sends the payload, and of the other.
    from: &'a str,
    to: &'a str,
}

impl<'a> Counted<'a> {
    /// Of the connection with this number, whose payload goes so.
    pub fn new(window: &'a Window<'a>, index: u32, from: &'a str, to: &'a str) -> Counted<'a> {
        Counted { window, index, from, to }
    }

    /// How much a counter of the sending end grew.
    pub fn sent(&self, field: impl Fn(&ConnectionSample) -> u64) -> f64 {
        self.window.growth(&self.course(self.from, field))
    }

    /// How much a counter of the receiving end grew.
    pub fn received(&self, field: impl Fn(&ConnectionSample) -> u64) -> f64 {
        self.window.growth(&self.course(self.to, field))
    }

    /// The most that the receiving end reported of the time between two samples in the window.
    pub fn received_most(&self, field: impl Fn(&ConnectionSample) -> u64) -> u64 {
        let inside = |(t, _): &&(f64, f64)| (0.0..=self.window.length_ms).contains(t);
        self.course(self.to, field).iter().filter(inside).map(|(_, value)| *value as u64).max().unwrap_or(0)
    }

    /// The mean of what the sending end tells at each moment.
    pub fn sender_mean(&self, field: impl Fn(&ConnectionSample) -> u64) -> f64 {
        self.window.mean(&self.course(self.from, field))
    }

    /// The last reading of what the sending end tells now and then.
    pub fn sender_last<T>(&self, field: impl Fn(&ConnectionSample) -> Option<T>) -> Option<T> {
        let inside = |sample: &&Sample| sample.host == self.from && sample.t_ms <= self.window.length_ms;
        let samples = self.window.samples.iter().filter(inside).flat_map(|sample| &sample.connections);
        samples.filter(|connection| connection.index == self.index).filter_map(field).next_back()
    }

    /// Payload that arrived, bit/s.
    pub fn delivered_bps(&self) -> f64 {
        self.window.bps(self.received(|sample| sample.received_bytes))
    }

    fn course(&self, host: &str, field: impl Fn(&ConnectionSample) -> u64) -> Course {
        let of_host = self.window.samples.iter().filter(|sample| sample.host == host);
        of_host
            .filter_map(|sample| {
                let found = sample.connections.iter().find(|connection| connection.index == self.index)?;
                Some((sample.t_ms, field(found) as f64))
            })
            .collect()
    }
}

/// A counter at a moment, on the straight line between the readings around it.
pub fn value_at(course: &Course, t_ms: f64) -> f64 {
    let next = course.partition_point(|(t, _)| *t < t_ms);
    match (next.checked_sub(1).and_then(|last| course.get(last)), course.get(next)) {
        (Some(&(t0, v0)), Some(&(t1, v1))) if t1 > t0 => v0 + (v1 - v0) * (t_ms - t0) / (t1 - t0),
        (_, Some(&(_, value))) | (Some(&(_, value)), None) => value,
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(t_ms: f64, host: &str, bytes: u64) -> Sample {
        let member = MemberSample {
            team: "team0".to_owned(),
            member: "eth0".to_owned(),
            tx_bytes: bytes,
            ..MemberSample::default()
        };
        Sample {
            t_ms,
            host: host.to_owned(),
            cpu_ms: t_ms / 2.0,
            members: vec![member],
            connections: Vec::new(),
            relayed: Vec::new(),
            mac_moves: None,
        }
    }

    #[test]
    fn moves_of_addresses_are_counted_in_the_window() {
        let at = |t_ms, host: &str, moves, overruns| Sample {
            mac_moves: Some(MacMoveSample { moves, overruns }),
            ..sample(t_ms, host, 0)
        };
        let samples = [
            at(-100.0, "sw", 7, 1),
            at(0.0, "sw", 10, 1),
            at(100.0, "sw", 110, 1),
            at(200.0, "sw", 210, 2),
            at(0.0, "tx", 3, 0),
            at(100.0, "tx", 3, 0),
            sample(0.0, "host", 0),
        ];
        let counted = |moves, at_least| (moves, at_least);
        let of = |length_ms| {
            let moves = Window::new(&samples, length_ms).mac_moves();
            moves.iter().map(|of| (of.switch.clone(), counted(of.moves, of.at_least))).collect::<Vec<_>>()
        };
        assert_eq!(of(100.0), [("sw".to_owned(), (100, false)), ("tx".to_owned(), (0, false))]);
        assert_eq!(of(200.0)[0].1, (200, true));
    }

    #[test]
    fn edges_of_the_window_are_interpolated() {
        // 1000 bytes a millisecond, sampled off the edges; the warm-up is faster and must not count.
        let samples = [(-50.0, 0), (50.0, 950_000), (150.0, 1_050_000), (250.0, 1_150_000)]
            .map(|(t, bytes)| sample(t, "a", bytes));
        let window = Window::new(&samples[1..], 150.0);
        let bps = window.members()[0].tx_bps;
        // Before the first sample nothing is known to have flowed: 100 of 150 ms.
        assert!((bps - 100_000.0 * 8e3 / 150.0).abs() < 1.0, "{bps}");
        let window = Window::new(&samples, 150.0);
        assert!((window.members()[0].tx_bps - (475_000.0 + 100_000.0) * 8e3 / 150.0).abs() < 1.0);
    }

    #[test]
    fn hosts_are_kept_apart() {
        let samples = [sample(0.0, "a", 0), sample(0.0, "b", 0), sample(100.0, "a", 1000), sample(100.0, "b", 3000)];
        let window = Window::new(&samples, 100.0);
        let tx: Vec<(String, f64)> = window.members().into_iter().map(|m| (m.host, m.tx_bps)).collect();
        assert_eq!(tx, [("a".to_owned(), 80_000.0), ("b".to_owned(), 240_000.0)]);
        assert_eq!(window.cpu()[1], HostCpu { host: "b".to_owned(), seconds: 0.05 });
    }

    #[test]
    fn nothing_sampled_is_nothing_counted() {
        let window = Window::new(&[], 0.0);
        assert!(window.members().is_empty());
        assert_eq!(value_at(&Vec::new(), 5.0), 0.0);
        assert_eq!(window.bps(10.0), 0.0);
    }
}

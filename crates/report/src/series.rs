//! Rates over time from counters that only grow.

use nicteam_record::Sample;

/// The most intervals a plot shows; more samples are joined.
const MOST: usize = 160;

/// What a member carried between two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// Its begin, milliseconds since the measured window began.
    pub(crate) from_ms: f64,
    /// Its end.
    pub(crate) to_ms: f64,
    /// Sent, bit/s.
    pub(crate) tx_bps: f64,
    /// Received, bit/s.
    pub(crate) rx_bps: f64,
}

/// A member's traffic over time; empty with fewer than two samples.
pub(crate) fn member_series(samples: &[Sample], host: &str, team: &str, device: &str) -> Vec<Interval> {
    let points: Vec<(f64, u64, u64)> = samples
        .iter()
        .filter(|sample| sample.host == host && sample.t_ms.is_finite())
        .filter_map(|sample| {
            let member = sample.members.iter().find(|member| member.team == team && member.member == device)?;
            Some((sample.t_ms, member.tx_bytes, member.rx_bytes))
        })
        .collect();
    let step = points.len().saturating_sub(1).div_ceil(MOST).max(1);
    let last = points.len().saturating_sub(1);
    let kept = points.iter().enumerate().filter(|(index, _)| index % step == 0 || *index == last);
    let kept: Vec<&(f64, u64, u64)> = kept.map(|(_, point)| point).collect();
    kept.windows(2).filter_map(|pair| between(*pair[0], *pair[1])).collect()
}

/// The interval of two points; nothing if time stood still.
fn between(from: (f64, u64, u64), to: (f64, u64, u64)) -> Option<Interval> {
    let ms = to.0 - from.0;
    let bps = |from: u64, to: u64| to.saturating_sub(from) as f64 * 8.0 * 1000.0 / ms;
    (ms > 0.0).then(|| Interval { from_ms: from.0, to_ms: to.0, tx_bps: bps(from.1, to.1), rx_bps: bps(from.2, to.2) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nicteam_record::MemberSample;

    fn sample(t_ms: f64, tx_bytes: u64) -> Sample {
        let member = MemberSample { team: "team0".into(), member: "eth0".into(), tx_bytes, ..MemberSample::default() };
        Sample {
            t_ms,
            host: "a".into(),
            cpu_ms: 0.0,
            members: vec![member],
            connections: Vec::new(),
            relayed: Vec::new(),
            mac_moves: None,
        }
    }

    #[test]
    fn counters_become_rates() {
        let series = member_series(&[sample(-100.0, 0), sample(0.0, 1000), sample(100.0, 4000)], "a", "team0", "eth0");
        assert_eq!(series.len(), 2);
        assert_eq!((series[0].tx_bps, series[1].tx_bps), (80_000.0, 240_000.0));
        assert_eq!((series[1].from_ms, series[1].to_ms), (0.0, 100.0));
    }

    #[test]
    fn long_runs_are_joined_and_keep_their_bytes() {
        let samples: Vec<Sample> = (0..1001).map(|i| sample(f64::from(i) * 100.0, i as u64 * 100)).collect();
        let series = member_series(&samples, "a", "team0", "eth0");
        assert!(series.len() <= MOST && series.len() > MOST / 2, "{}", series.len());
        assert_eq!(series.last().unwrap().to_ms, 100_000.0);
        assert!(series.iter().all(|interval| interval.tx_bps == 8000.0));
    }

    #[test]
    fn too_few_samples_clocks_that_stand_and_counters_that_fall_are_harmless() {
        assert!(member_series(&[], "a", "team0", "eth0").is_empty());
        assert!(member_series(&[sample(0.0, 1)], "a", "team0", "eth0").is_empty());
        assert!(member_series(&[sample(0.0, 1), sample(0.0, 9)], "a", "team0", "eth0").is_empty());
        let fallen = member_series(&[sample(0.0, 9), sample(1.0, 1)], "a", "team0", "eth0");
        assert_eq!(fallen[0].tx_bps, 0.0);
    }
}

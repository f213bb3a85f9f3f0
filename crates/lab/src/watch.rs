//! What the agents report in one run, as it comes.

use std::sync::mpsc;
use std::time::Duration;

use nicteam_experiment::Run;
use nicteam_load::Load;
use nicteam_node::Error;
use nicteam_node::clock;
use nicteam_node::flows::Flows;
use nicteam_node::protocol::AgentSample;
use nicteam_node::task::Kind;
use nicteam_record::measure::Window;
use nicteam_record::{Member, Sample, SampleLog};
use nicteam_sys::process;

use crate::fault_effects::Faults;
use crate::finite::Finite;
use crate::progress::Progress;
use crate::testbed::Report;
use crate::timeline::Timeline;

/// How long members' traffic of late has lasted.
pub const LOOK_BACK: Duration = Duration::from_millis(500);

/// Gathers what the agents report in one run.
pub(crate) struct Watch<'a> {
    pub(crate) run: &'a Run,
    pub(crate) kinds: &'static [&'static dyn Kind],
    pub(crate) start_ns: u64,
    pub(crate) samples: Vec<Sample>,
    /// The same, for those who follow the run, and for those who find what a killed lab has left.
    pub(crate) log: SampleLog,
    pub(crate) flows: Flows,
    pub(crate) finite: Finite,
    pub(crate) timeline: Timeline,
    pub(crate) faults: Faults,
    /// Of the machine, in the measured window.
    pub(crate) load: Option<Load>,
    /// The node whose agent is gone, or that lost something without which it is not what it is to be; in words.
    pub(crate) ended: Option<(String, String)>,
}

impl Watch<'_> {
    /// Takes reports in until a moment of the measured window, the end of all tasks if all of them end, or a signal.
    pub(crate) fn until(
        &mut self,
        t: Duration,
        inbox: &mpsc::Receiver<Report>,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        self.wait(t, |watch| watch.finite.over_ms().is_some(), inbox, progress)
    }

    /// Takes reports in until so long behind the measured window, or a signal.
    pub(crate) fn until_behind(
        &mut self,
        time: Duration,
        inbox: &mpsc::Receiver<Report>,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        let over_ms = self.finite.over_ms().unwrap_or(f64::INFINITY).min(self.longest_ms());
        self.wait(Duration::from_secs_f64(over_ms / 1e3) + time, |_| false, inbox, progress)
    }

    /// How long was measured, milliseconds: where all tasks end by themselves, as long as all of them ran.
    pub(crate) fn measured_ms(&self) -> f64 {
        let longest_ms = self.longest_ms();
        self.finite.all_ran_until_ms().map_or(longest_ms, |ended_ms| ended_ms.min(longest_ms))
    }

    fn longest_ms(&self) -> f64 {
        self.run.duration.as_secs_f64() * 1e3
    }

    fn wait(
        &mut self,
        t: Duration,
        is_over: impl Fn(&Self) -> bool,
        inbox: &mpsc::Receiver<Report>,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        const SHOW_EACH: Duration = Duration::from_millis(200);
        let end_ns = self.start_ns + t.as_nanos() as u64;
        let mut shown_ns = clock::monotonic_ns();
        loop {
            if process::termination().is_some() {
                return Err(Error::Interrupted("a signal"));
            }
            if let Some((node, message)) = self.ended.clone() {
                return Err(Error::Agent { node, message });
            }
            let now_ns = clock::monotonic_ns();
            if now_ns >= end_ns || is_over(self) {
                return Ok(());
            }
            if now_ns - shown_ns >= SHOW_EACH.as_nanos() as u64 {
                shown_ns = now_ns;
                self.show(now_ns, progress);
                self.load.iter_mut().for_each(Load::look);
            }
            let wait = Duration::from_nanos(end_ns - now_ns).min(Duration::from_millis(50));
            if let Ok(report) = inbox.recv_timeout(wait) {
                self.take_in(report, progress);
            }
        }
    }

    /// Notes why the run cannot go on, if nothing is noted yet.
    pub(crate) fn end(&mut self, node: String, message: String) {
        self.ended.get_or_insert((node, message));
    }

    /// Takes one report in.
    pub(crate) fn take_in(&mut self, report: Report, progress: &mut dyn Progress) {
        match report {
            Report::Sample(host, sample) => {
                let AgentSample { at_ns, cpu_ms, members, connections, relayed, flows, tasks, mac_moves } = sample;
                let t_ms = (at_ns as i128 - self.start_ns as i128) as f64 / 1e6;
                if let Some(error) = self.finite.take_in(tasks) {
                    self.end(host.clone(), error);
                }
                self.flows.take_in(self.samples.len(), flows);
                let sample = Sample { t_ms, host, cpu_ms, members, connections, relayed, mac_moves };
                self.log.add(&sample);
                self.samples.push(sample);
            }
            Report::Ended(node) => self.end(node, "has ended in the middle of a run".to_owned()),
            Report::Lost(node, what) => self.end(node, what),
            Report::Notice(node, notice) => {
                progress.notice(&node, &notice.text);
                self.timeline.add(node, notice);
            }
        }
    }

    /// Shows members' traffic of late.
    fn show(&mut self, now_ns: u64, progress: &mut dyn Progress) {
        self.log.flush();
        let now_ms = (now_ns as i128 - self.start_ns as i128) as f64 / 1e6;
        let members = of_late(&self.samples, now_ms);
        let t = Duration::from_secs_f64(now_ms.abs() / 1e3);
        if let Some((done_bytes, all_bytes)) = self.finite.progress() {
            progress.carried(done_bytes, all_bytes);
        }
        progress.traffic(self.run, t, now_ms < 0.0, &members);
    }
}

/// What members carried in the time before a moment that [`LOOK_BACK`] names.
pub(crate) fn of_late(samples: &[Sample], now_ms: f64) -> Vec<Member> {
    let length_ms = LOOK_BACK.as_secs_f64() * 1e3;
    let from_ms = now_ms - length_ms;
    // They come in order, but for what takes its way over a network.
    let recent = samples.iter().rev().take_while(|sample| sample.t_ms >= from_ms - 2.0 * length_ms);
    let recent: Vec<Sample> = recent
        .map(|sample| Sample { t_ms: sample.t_ms - from_ms, connections: Vec::new(), ..sample.clone() })
        .collect();
    let in_order: Vec<Sample> = recent.into_iter().rev().collect();
    Window::new(&in_order, length_ms).members()
}

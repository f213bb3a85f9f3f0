//! `--watch`: what the lab's links carry, in the view of `nicteam top`.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nicteam_experiment::Run;
use nicteam_lab::{LOOK_BACK, Progress};
use nicteam_record::{self as record, Member};
use nicteam_watch::Happening;
use nicteam_watch::top::{BundleRow, Ended, MemberRow, Model, Rate, Seen, View, follow};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::progress::{Live, rate};
use crate::failure::Failure;
use crate::{say, top};

/// Events that are remembered.
const REMEMBERED: usize = 100;
/// How long the end of the view is waited for: a terminal that is gone never lets it end.
const PATIENCE: Duration = Duration::from_secs(2);

/// A view in a thread of its own, until its user ends it; the lab goes on behind it.
pub(super) struct Screen {
    views: Sender<Result<Seen, String>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    events: VecDeque<Happening>,
}

impl Screen {
    /// On the terminal that standard output is.
    pub(super) fn open() -> Result<Screen, Failure> {
        if !std::io::stdout().is_terminal() {
            let wrong = Failure::wrong_input("standard output is no terminal, so there is nothing for --watch to show");
            return Err(wrong.hint(Some("leave --watch out: the progress is written to standard error")));
        }
        let (views, looks) = channel();
        let over = Arc::new(AtomicBool::new(false));
        let (model, is_over) = (Model::new(None, top::has_colour()), over.clone());
        let shows = move || {
            let ended = follow(model, &looks, || Ok(is_over.load(Ordering::SeqCst)));
            if matches!(ended, Ok(Ended::ByInterrupt)) {
                // As Ctrl-C does it where the terminal is not ours: the lab hears of it, and takes everything down.
                let _ = kill(Pid::this(), Signal::SIGINT);
            }
        };
        let thread = std::thread::Builder::new().name("view".to_owned()).spawn(shows).map_err(Failure::failed)?;
        Ok(Screen { views, over, thread: Some(thread), events: VecDeque::new() })
    }

    /// Whether the user still looks at it.
    pub(super) fn is_open(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Shows what members carry.
    pub(super) fn show(&self, title: String, run: &Run, members: &[Member]) {
        let view = View {
            title,
            unix_ms: unix_ms(),
            seconds: LOOK_BACK.as_secs_f64(),
            bundles: rows(run, members),
            events: self.events.iter().cloned().collect(),
            unseen: Vec::new(),
        };
        // The view may be over.
        let _ = self.views.send(Ok(Seen::View(Box::new(view))));
    }

    /// Remembers something that happened.
    pub(super) fn tell(&mut self, node: &str, text: &str) {
        self.events.push_back(Happening { unix_ms: unix_ms(), team: node.to_owned(), text: text.to_owned() });
        while self.events.len() > REMEMBERED {
            self.events.pop_front();
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let Some(thread) = self.thread.take() else { return };
        let begun = Instant::now();
        while !thread.is_finished() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The teams of a run and the links that are in none, each with what it carries.
fn rows(run: &Run, members: &[Member]) -> Vec<BundleRow> {
    let same = |one: &Member, other: &Member| (&one.host, &one.team) == (&other.host, &other.team);
    members.chunk_by(same).map(|members| row(run, members)).collect()
}

/// Members of one team.
fn row(run: &Run, members: &[Member]) -> BundleRow {
    let (host, device) = members.first().map_or(("", ""), |member| (member.host.as_str(), member.team.as_str()));
    let team = run.topology.teams.iter().find(|team| (team.node.as_str(), team.device.as_str()) == (host, device));
    let hash_policy =
        team.filter(|team| team.config.mode.hashes()).map(|team| team.config.xmit_hash_policy.to_string());
    let sum = |of: fn(&Member) -> f64| members.iter().map(of).sum::<f64>();
    let sums = [sum(|member| member.tx_bps), sum(|member| member.rx_bps)];
    BundleRow {
        name: format!("{host} {device}").trim_end().to_owned(),
        kind: team.map_or("links", |team| &team.engine).to_owned(),
        mode: team.map_or("in no team".to_owned(), |team| team.config.mode.to_string()),
        hash_policy: hash_policy.unwrap_or_default(),
        carrier: true,
        up: members.len(),
        rate: members.iter().map(packets).fold(
            Rate { tx_bps: sums[0], rx_bps: sums[1], ..Rate::default() },
            |all, one| Rate { tx_pps: all.tx_pps + one.tx_pps, rx_pps: all.rx_pps + one.rx_pps, ..all },
        ),
        members: members.iter().map(|member| member_row(run, member, sums)).collect(),
        ..BundleRow::default()
    }
}

fn member_row(run: &Run, member: &Member, sums: [f64; 2]) -> MemberRow {
    let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
    let rate_mbps = rate(run, member) / 1e6;
    MemberRow {
        name: member.member.clone(),
        state: if member.tx_frames > 0 { "sends" } else { "idle" }.to_owned(),
        rate: packets(member),
        tx_share: share(member.tx_bps, sums[0]),
        rx_share: share(member.rx_bps, sums[1]),
        speed_mbps: (rate_mbps.is_finite() && rate_mbps >= 1.0).then_some(rate_mbps as u32),
        lost: member.tx_drops.saturating_add(member.rx_drops),
        ..MemberRow::default()
    }
}

fn packets(member: &Member) -> Rate {
    let per_second = |frames: u64| frames as f64 / LOOK_BACK.as_secs_f64();
    Rate {
        tx_bps: member.tx_bps,
        rx_bps: member.rx_bps,
        tx_pps: per_second(member.tx_frames),
        rx_pps: per_second(member.rx_frames),
        ..Rate::default()
    }
}

fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// Progress by the view, and once its user has ended it, by the screen of all runs.
pub(super) struct Watching {
    screen: Option<Screen>,
    live: Live,
    /// Of what runs: its number, how many there are, and what the lab said while the view was there.
    numbers: [usize; 2],
    said: Vec<String>,
}

impl Watching {
    /// With the view, if it is wanted.
    pub(super) fn new(screen: Option<Screen>) -> Watching {
        let live = Live::new(std::io::stderr().is_terminal());
        Watching { screen, live, numbers: [0; 2], said: Vec::new() }
    }

    /// The view, while its user looks at it.
    fn screen(&mut self) -> Option<&mut Screen> {
        if self.screen.as_ref().is_some_and(|screen| !screen.is_open()) {
            self.end_screen();
        }
        self.screen.as_mut()
    }

    /// Ends the view, and says what was said meanwhile.
    fn end_screen(&mut self) {
        if self.screen.take().is_some() {
            self.said.drain(..).for_each(say::line);
            self.live.redraw();
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.end_screen();
    }
}

impl Progress for Watching {
    fn begins(&mut self, experiment: &str, runs: &[Run]) {
        let is_hidden = self.screen().is_some();
        self.live.hide(is_hidden);
        self.live.begins(experiment, runs);
    }

    fn run_begins(&mut self, run: &Run, number: usize, count: usize) {
        let is_hidden = self.screen().is_some();
        self.live.hide(is_hidden);
        self.numbers = [number, count];
        self.live.run_begins(run, number, count);
        if let Some(screen) = self.screen() {
            screen.show(format!("run {number} of {count}: {}, is built", run.name), run, &[]);
        }
    }

    fn run_is_skipped(&mut self, run: &Run, number: usize, count: usize, reason: &str) {
        match self.screen() {
            Some(screen) => {
                screen.tell(&run.name, reason);
                self.said.push(format!("run {number} of {count}: {} is skipped: {reason}", run.name));
            }
            None => self.live.run_is_skipped(run, number, count, reason),
        }
    }

    fn traffic(&mut self, run: &Run, t: Duration, warming_up: bool, members: &[Member]) {
        let [number, count] = self.numbers;
        let phase = match warming_up {
            true => format!("warms up for {:.0} s more", t.as_secs_f64()),
            false => format!("{:.0} of {:.0} s", t.as_secs_f64(), run.duration.as_secs_f64()),
        };
        match self.screen() {
            Some(screen) => screen.show(format!("run {number} of {count}: {}, {phase}", run.name), run, members),
            None => self.live.traffic(run, t, warming_up, members),
        }
    }

    fn carried(&mut self, done_bytes: u64, all_bytes: u64) {
        self.live.carried(done_bytes, all_bytes);
    }

    fn run_ends(&mut self, run: &record::Run) {
        if let Some(screen) = self.screen() {
            screen.tell(&run.name, &format!("ended with {:.2} of its limit", run.of_limit));
        }
        self.live.run_ends(run);
    }

    fn notice(&mut self, node: &str, text: &str) {
        match self.screen() {
            Some(screen) => {
                screen.tell(node, text);
                self.said.push(format!("  {node}: {text}"));
            }
            None => self.live.notice(node, text),
        }
    }
}

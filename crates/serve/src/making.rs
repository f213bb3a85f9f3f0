//! A bundle's page, and that of an experiment that runs.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use maud::{Markup, html};
use nicteam_record::{Bundle, Member, RECORD, Record, Run, Running, Sample, is_abandoned, measure::Window, samples_of};
use nicteam_report::{NUMBER, WORDS, add_findings, loaded_topology, page_in, plain_table, traffic_over_time};

use crate::folder::{is_making, own, shown, visible};
use crate::follow::{Course, Followed};
use crate::frame::{frame, page};

/// The page of the report, in our frame. The outer error is that there is no such bundle.
pub(crate) fn bundle(dir: &Path, name: &OsStr, followed: &Mutex<Followed>) -> Option<Result<String, String>> {
    let path = own(dir, name)?;
    let has_record = path.join(RECORD).exists();
    // What a killed lab has left is a report of the runs that had ended.
    if is_making(name) && !(has_record && is_abandoned(&path)) {
        return Some(Ok(running(&path, name, followed)));
    }
    has_record.then(|| report(&path, name).map_err(|error| visible(&error.to_string())))
}

fn report(path: &Path, name: &OsStr) -> Result<String, nicteam_record::BundleError> {
    let mut bundle = Bundle::open(path)?;
    add_findings(&mut bundle.record);
    page_in(&frame(Some(&shown(name))), &bundle.record, |run| bundle.samples(run))
}

/// An experiment that runs: the run that goes on, and what came out of those that have ended.
fn running(path: &Path, name: &OsStr, followed: &Mutex<Followed>) -> String {
    let record = Bundle::open(path).map(|bundle| bundle.record).ok();
    let main = html! {
        header {
            p.eyebrow { "nicteam serve" }
            h1 { @match &record { Some(record) => (visible(&record.experiment.title)), None => (shown(name)) } }
            p.quiet { code { (shown(name)) } }
        }
        @match Running::read(path) {
            Ok(running) => {
                @let course = course(path, &running.run, followed);
                (present(&running, &course))
            }
            Err(_) => p.lead { "This experiment runs now. Its first run has not begun." }
        }
        @if let Some(record) = &record { (ended(record)) }
    };
    page(&shown(name), Some(&shown(name)), &main)
}

fn course(path: &Path, run: &Run, followed: &Mutex<Followed>) -> Course {
    followed.lock().unwrap_or_else(PoisonError::into_inner).course(path, &samples_of(&run.name))
}

/// So much of the end of a run is now, milliseconds.
const NOW_MS: f64 = 1000.0;

/// What each member has carried in the last second.
fn just_carried(samples: &[Sample], latest_ms: f64) -> Vec<Member> {
    let begin = latest_ms - NOW_MS;
    let late = samples.iter().filter(|sample| sample.t_ms >= begin - NOW_MS).cloned();
    let late: Vec<Sample> = late.map(|sample| Sample { t_ms: sample.t_ms - begin, ..sample }).collect();
    Window::new(&late, NOW_MS).members()
}

/// The run that goes on: its topology with what each cable carries now, and the load of each link over time.
fn present(running: &Running, course: &Course) -> Markup {
    let whole_ms = running.run.measured_ms;
    let run = Run {
        members: Window::new(&course.samples, course.latest_ms.max(1.0)).members(),
        measured_ms: course.latest_ms.clamp(1.0, f64::MAX),
        ..running.run.clone()
    };
    let seconds = |ms: f64| format!("{:.0}", ms / 1e3);
    html! {
        p.lead {
            "This experiment runs now: run " (running.number) " of " (running.count) ", " b { (visible(&run.name)) } ". "
            @if course.samples.is_empty() {
                "It is built."
            } @else if course.latest_ms > 0.0 {
                (seconds(course.latest_ms)) " of " (seconds(whole_ms)) " s are measured."
            } @else {
                "It warms up."
            }
        }
        @if let Some(description) = &run.description { p.quiet { (visible(description)) } }
        @if !course.samples.is_empty() {
            h3 { "What each cable carries now" }
            (loaded_topology(&Run { members: just_carried(&course.samples, course.latest_ms), ..run.clone() }))
            (traffic_over_time(&run, &course.samples))
        }
    }
}

/// The runs that have ended.
fn ended(record: &Record) -> Markup {
    let columns = [("run", WORDS), ("delivered", NUMBER), ("share of the limit", NUMBER), ("cause", WORDS)];
    let rows = html! {
        @for run in &record.runs {
            tr {
                td { (visible(&run.name)) }
                td.num { (format!("{:.1} Mbit/s", run.delivered_bps / 1e6)) }
                td.num { (format!("{:.2}", run.of_limit)) }
                td { @if let Some(finding) = run.findings.first() { (visible(&finding.cause)) } }
            }
        }
    };
    html! {
        h3 { "Runs that have ended" }
        @if record.runs.is_empty() { p.quiet { "None yet." } } @else { (plain_table(&columns, &rows)) }
    }
}

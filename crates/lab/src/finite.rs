//! Tasks that end by themselves, and the end of a run in which all do.

use std::collections::BTreeMap;

use nicteam_experiment::{Run, Workload};
use nicteam_node::protocol::TaskSample;
use nicteam_node::task::Planned;

/// The tasks of a run that end by themselves.
#[derive(Debug, Default)]
pub(crate) struct Finite {
    /// By their numbers; none: nothing was heard yet.
    tasks: BTreeMap<u32, Option<TaskSample>>,
    /// True if the run has no others.
    alone: bool,
    /// When the last of them ended, milliseconds of the measured window.
    over_ms: Option<f64>,
}

impl Finite {
    /// Those of a run.
    pub(crate) fn new(run: &Run, planned: &[Planned]) -> Finite {
        let is_finite = |workload: &Workload| workload.task.is_finite();
        let of_workload = |name: &str| run.workloads.iter().any(|it| it.name == name && is_finite(it));
        let own = planned.iter().filter(|planned| of_workload(&planned.workload));
        let tasks = own.map(|planned| (planned.spec.index, None)).collect();
        Finite { tasks, alone: run.workloads.iter().all(is_finite) && !run.workloads.is_empty(), over_ms: None }
    }

    /// Takes in how far some are; the first error, in words, if one cannot go on.
    pub(crate) fn take_in(&mut self, tasks: Vec<TaskSample>) -> Option<String> {
        let mut error = None;
        for task in tasks {
            error = error.or_else(|| task.error.clone());
            if let Some(known) = self.tasks.get_mut(&task.index) {
                *known = Some(task);
            }
        }
        let ended_ms = self.tasks.values().map(|task| task.as_ref().and_then(|task| task.ended_ms));
        let all: Option<Vec<f64>> = ended_ms.collect();
        let over_ms = all.filter(|_| self.alone).map(|all| all.into_iter().fold(0.0, f64::max));
        // What was told first is nearest to the end.
        self.over_ms = self.over_ms.or(over_ms);
        error
    }

    /// When the run was over before its time, milliseconds of the measured window.
    pub(crate) fn over_ms(&self) -> Option<f64> {
        self.over_ms
    }

    /// When the first of them ended in a run without others, milliseconds of the measured window: until then all ran at once.
    pub(crate) fn all_ran_until_ms(&self) -> Option<f64> {
        self.over_ms?;
        self.tasks.keys().filter_map(|index| self.ended_ms(*index)).min_by(f64::total_cmp)
    }

    /// When one ended, milliseconds of the measured window.
    pub(crate) fn ended_ms(&self, index: u32) -> Option<f64> {
        self.tasks.get(&index)?.as_ref()?.ended_ms
    }

    /// Bytes that are done, and bytes that are to be done; none if nothing was heard yet.
    pub(crate) fn progress(&self) -> Option<(u64, u64)> {
        let heard = || self.tasks.values().flatten();
        let sum = |field: fn(&TaskSample) -> u64| heard().map(field).sum();
        heard().next().is_some().then(|| (sum(|task| task.done_bytes), sum(|task| task.all_bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(index: u32, ended_ms: Option<f64>) -> TaskSample {
        TaskSample { index, done_bytes: 10, all_bytes: 40, ended_ms, error: None }
    }

    #[test]
    fn a_run_of_finite_tasks_is_over_with_the_last_of_them() {
        let tasks = || [(0, None), (1, None)].into_iter().collect();
        let mut finite = Finite { tasks: tasks(), alone: true, over_ms: None };
        assert_eq!(finite.progress(), None);
        finite.take_in(vec![sample(0, Some(120.0))]);
        assert_eq!((finite.over_ms(), finite.progress()), (None, Some((10, 40))));
        assert_eq!(finite.all_ran_until_ms(), None);
        finite.take_in(vec![sample(1, Some(170.0)), sample(7, None)]);
        assert_eq!((finite.over_ms(), finite.progress()), (Some(170.0), Some((20, 80))));
        assert_eq!((finite.all_ran_until_ms(), finite.ended_ms(1)), (Some(120.0), Some(170.0)));

        let mut beside_others = Finite { tasks: tasks(), alone: false, over_ms: None };
        beside_others.take_in(vec![sample(0, Some(1.0)), sample(1, Some(2.0))]);
        assert_eq!(beside_others.over_ms(), None);
    }

    #[test]
    fn what_cannot_go_on_is_told() {
        let mut finite = Finite::default();
        let wrong = TaskSample { error: Some("one byte is wrong".to_owned()), ..sample(0, Some(1.0)) };
        assert_eq!(finite.take_in(vec![sample(1, None), wrong]).as_deref(), Some("one byte is wrong"));
    }
}

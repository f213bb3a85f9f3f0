//! What a run would deliver, and what it delivered.

/// What a run would deliver.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// The run.
    pub run: String,
    /// Its limit, bit/s of payload.
    pub limit_bps: f64,
    /// What it would deliver, bit/s of payload, and what holds it; the error says why nothing is predicted.
    pub outcome: Result<Outcome, String>,
    /// What a run of this name delivered that has been carried out.
    pub measured: Option<Measured>,
}

/// What a run would deliver, and why not more.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Payload of all flows, over the measured time, bit/s.
    pub bps: f64,
    /// What holds most of them: links and policy, in a phrase.
    pub held_by: String,
    /// Why this is an upper bound; none: it is what is expected.
    pub at_most: Option<String>,
    /// The same with addresses and ports drawn at random.
    pub drawn: Option<Spread>,
}

/// A distribution, bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Five in a hundred cases deliver this or less.
    pub p5_bps: f64,
    /// Half of the cases do.
    pub median_bps: f64,
    /// Ninety-five in a hundred do.
    pub p95_bps: f64,
}

/// What a run delivered.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Payload, bit/s.
    pub bps: f64,
    /// Its part of the limit of that run.
    pub of_limit: f64,
    /// Whether the machine that carried the run out was what held it.
    pub by_machine: bool,
    /// The causes of its findings, the costliest first.
    pub causes: Vec<String>,
}

impl Predicted {
    /// So far from what was measured a prediction is a good one, percentage points.
    pub const NEAR: f64 = 5.0;

    /// What would be delivered, as a part of the limit; none if nothing is predicted.
    pub fn of_limit(&self) -> Option<f64> {
        let outcome = self.outcome.as_ref().ok()?;
        (self.limit_bps > 0.0).then(|| outcome.bps / self.limit_bps)
    }

    /// How far the prediction is above what was measured, in percentage points.
    pub fn off_by_points(&self) -> Option<f64> {
        Some((self.of_limit()? - self.measured.as_ref()?.of_limit) * 100.0)
    }

    /// Whether what was measured keeps the upper bound; none where the prediction is none, or one of them is not known.
    pub fn bound_holds(&self) -> Option<bool> {
        let outcome = self.outcome.as_ref().ok().filter(|outcome| outcome.at_most.is_some());
        Some(outcome.and(self.off_by_points())? >= -Predicted::NEAR)
    }

    /// Whether the prediction is within [`NEAR`](Predicted::NEAR) of what was measured; none where one of them is not known.
    pub fn is_near(&self) -> Option<bool> {
        Some(self.off_by_points()?.abs() <= Predicted::NEAR)
    }
}

//! Times in few words.

use std::time::Duration;

/// `42 s`, `4 min 10 s`, `2 h 5 min`.
pub(super) fn words(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// The same of a time that is not known that well.
pub(super) fn about(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    // A figure that changes with each picture says more than is known.
    let step = match seconds {
        ..20.0 => 1.0,
        ..120.0 => 5.0,
        ..600.0 => 10.0,
        _ => 60.0,
    };
    words(Duration::from_secs_f64((seconds / step).round() * step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        let of = |seconds: f64| words(Duration::from_secs_f64(seconds));
        assert_eq!(
            (of(0.4), of(59.6), of(250.0), of(7500.0)),
            ("0 s".into(), "1 min 0 s".into(), "4 min 10 s".into(), "2 h 5 min".into())
        );
        let of = |seconds: f64| about(Duration::from_secs_f64(seconds));
        assert_eq!(
            (of(13.2), of(58.0), of(251.0), of(3641.0)),
            ("13 s".into(), "1 min 0 s".into(), "4 min 10 s".into(), "1 h 1 min".into())
        );
    }
}

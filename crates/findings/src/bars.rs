//! Small bars for the terminal: a character a member, as high as its link was full.

/// Below this part of its link's rate a member counts as idle: acknowledgements alone need about 0.03.
pub const IDLE: f64 = 0.05;
/// From this part of what it can carry a link counts as full.
pub const FULL: f64 = 0.90;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A character a load (0 to 1): the lowest is idle, the highest full. In ASCII
/// `.` is idle, a digit tenths, `#` full.
pub fn bars(loads: impl Iterator<Item = f64>, ascii: bool) -> String {
    loads.map(|load| if ascii { digit(load) } else { block(load) }).collect()
}

fn block(load: f64) -> char {
    match load {
        _ if load >= FULL => '█',
        _ if load >= IDLE => BLOCKS[1 + ((load / FULL * 6.0) as usize).min(5)],
        _ => BLOCKS[0],
    }
}

fn digit(load: f64) -> char {
    match load {
        _ if load >= FULL => '#',
        _ if load >= IDLE => char::from(b'0' + ((load * 10.0).round() as u8).clamp(1, 9)),
        _ => '.',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_with_the_load() {
        let loads = || [0.0, 0.03, 0.06, 0.25, 0.5, 0.7, 0.89, 0.98, 1.2].into_iter();
        assert_eq!(bars(loads(), false), "▁▁▂▃▅▆▇██");
        assert_eq!(bars(loads(), true), "..13579##");
    }

    #[test]
    fn what_is_no_number_is_idle() {
        assert_eq!(bars([f64::NAN, -1.0].into_iter(), false), "▁▁");
        assert_eq!(bars([f64::NAN, -1.0].into_iter(), true), "..");
    }
}

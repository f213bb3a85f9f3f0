//! How even shares are.

/// The load of the busiest member in relation to its speed, 1 where every member
/// has what its speed entitles it to. Not a number without load.
pub fn busiest(loads: &[f64], speeds_mbps: &[u32]) -> f64 {
    let (load, speed) = (loads.iter().sum::<f64>(), speeds_mbps.iter().map(|&speed| f64::from(speed)).sum::<f64>());
    let relative = loads.iter().zip(speeds_mbps).map(|(member, &own)| member / f64::from(own));
    relative.fold(f64::NAN, f64::max) / (load / speed)
}

/// Jain's index of the members' loads in relation to their speeds: 1 where all
/// are alike, 1/n where one member has everything. Not a number without load.
pub fn jain(loads: &[f64], speeds_mbps: &[u32]) -> f64 {
    let relative = || loads.iter().zip(speeds_mbps).map(|(load, &speed)| load / f64::from(speed));
    relative().sum::<f64>().powi(2) / (loads.len() as f64 * relative().map(|load| load * load).sum::<f64>())
}

/// The lowest [`busiest`] that an assignment by room can reach, the kernel's rule and
/// ours: each next bucket to the member with the most room, so that in the end all
/// that carry anything have the same room. The load is a share of the speeds
/// together, 0 to 1.
pub fn roomiest_busiest(speeds_mbps: &[u32], load: f64) -> f64 {
    let total: f64 = speeds_mbps.iter().map(|&speed| f64::from(speed)).sum();
    let carried = |room: f64| speeds_mbps.iter().map(move |&speed| (f64::from(speed) - room).max(0.0));
    // The room that is left is found by halving: it falls as the load grows.
    let (mut low, mut high) = (0.0, speeds_mbps.iter().copied().max().map_or(0.0, f64::from));
    for _ in 0..60 {
        let room = (low + high) / 2.0;
        if carried(room).sum::<f64>() > load * total { low = room } else { high = room }
    }
    busiest(&carried(high).collect::<Vec<_>>(), speeds_mbps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_shares_are_one() {
        assert_eq!((busiest(&[3.0; 4], &[10; 4]), jain(&[3.0; 4], &[10; 4])), (1.0, 1.0));
        assert_eq!((busiest(&[4.0, 2.0], &[20, 10]), jain(&[4.0, 2.0], &[20, 10])), (1.0, 1.0));
    }

    #[test]
    fn all_on_one_member_is_the_worst() {
        let loads = [8.0, 0.0, 0.0, 0.0];
        assert_eq!((busiest(&loads, &[10; 4]), jain(&loads, &[10; 4])), (4.0, 0.25));
        assert!(busiest(&[0.0; 2], &[10; 2]).is_nan());
    }

    #[test]
    fn by_room_the_fast_carry_more_than_their_speeds_share() {
        assert!((roomiest_busiest(&[10; 4], 0.6) - 1.0).abs() < 1e-9);
        // Rooms of 2 each: 18, 8, 3 and 3 of 40.
        assert!((roomiest_busiest(&[20, 10, 5, 5], 0.8) - 18.0 / 20.0 / 0.8).abs() < 1e-9);
        // 8 of 40 fit the fast one, whose room stays the largest.
        assert!((roomiest_busiest(&[20, 10, 5, 5], 0.2) - 2.0).abs() < 1e-9);
    }
}

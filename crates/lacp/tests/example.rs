//! The example says what its text promises.

#[path = "../examples/two_systems.rs"]
#[allow(dead_code)]
mod two_systems;

#[test]
fn two_systems_agree_and_lose_a_cable() {
    let lines = two_systems::run();
    let sends: Vec<&str> = lines.iter().filter_map(|line| line.split_once("sends by ").map(|(_, by)| by)).collect();
    assert_eq!(sends, ["{m0, m1}", "{m0, m1}", "{m1}", "{m1}"], "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("system 0:")), "{lines:#?}");
}

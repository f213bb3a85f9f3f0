//! Processor time grows with work.

use std::time::Duration;

use nicteam_load::cpu;

#[test]
fn work_shows_in_the_process_and_in_the_machine() {
    let (machine, process) = (cpu::times().unwrap(), own_time());
    while own_time() < process + Duration::from_millis(50) {
        std::hint::black_box((0..100_000).sum::<u64>());
    }
    let later = cpu::times().unwrap();
    assert!(later.busy > machine.busy && later.total > machine.total);
    assert!(later.busy - machine.busy <= later.total - machine.total);
}

#[test]
fn a_process_that_is_gone_has_no_time() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    assert_eq!(cpu::process_time(pid).unwrap(), None);
}

#[test]
fn the_machine_is_described() {
    assert!(cpu::count() >= 1);
    assert!(!cpu::model().unwrap().is_empty());
    assert!(cpu::memory_bytes().unwrap() > 1 << 20);
    assert!(cpu::memory_use().unwrap().used_bytes < cpu::memory_bytes().unwrap());
    assert!(!cpu::cores().unwrap().is_empty());
}

fn own_time() -> Duration {
    cpu::process_time(std::process::id()).unwrap().unwrap()
}

//! Processor time.

use std::fs;
use std::io;
use std::time::Duration;

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::{Pid, SysconfVar, sysconf};

use nicteam_sys::{Context, Result};

/// The machine's processor time since it started, all processors together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Everything.
    pub total: Duration,
    /// Neither idle nor waiting for a disk.
    pub busy: Duration,
    /// Steal time: taken by a hypervisor.
    pub stolen: Duration,
}

/// Reads `/proc/stat`.
///
/// Steal time, which a hypervisor took, is in `total` and in its own field, not in `busy`.
pub fn times() -> Result<Times> {
    read("/proc/stat", |text| decode_times(text, ticks_per_s()))
}

/// The same of each processor that is in use, in the kernel's order.
pub fn cores() -> Result<Vec<Times>> {
    read("/proc/stat", |text| decode_cores(text, ticks_per_s()))
}

/// What of the machine's memory is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// What a new program could not have (`MemTotal - MemAvailable`), bytes.
    pub used_bytes: u64,
    /// What lies in swap (`SwapTotal - SwapFree`), bytes.
    pub swapped_bytes: u64,
}

/// Reads `/proc/meminfo`.
pub fn memory_use() -> Result<MemoryUse> {
    read("/proc/meminfo", decode_memory_use)
}

/// User and system time of a process (all its threads) so far; `None` if it is gone.
pub fn process_time(pid: u32) -> Result<Option<Duration>> {
    match read(&format!("/proc/{pid}/stat"), |text| decode_process_time(text, ticks_per_s())) {
        Ok(time) => Ok(Some(time)),
        Err(error) if matches!(error.errno(), Some(libc::ENOENT | libc::ESRCH)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Model name of the first processor (`/proc/cpuinfo`).
///
/// Where the kernel names none (most machines with Arm processors), what it
/// says instead: `CPU part` or the architecture.
pub fn model() -> Result<String> {
    read("/proc/cpuinfo", |text| Some(decode_model(text)))
}

/// Processors this process may run on (`sched_getaffinity`).
pub fn count() -> u32 {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else {
        // A machine with more processors than the set has places.
        return std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    };
    (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).count() as u32
}

/// Bytes of memory in the machine (`/proc/meminfo`).
pub fn memory_bytes() -> Result<u64> {
    read("/proc/meminfo", decode_memory)
}

/// Reads a file of `/proc` and understands it, or names it in the error.
fn read<T>(path: &str, decode: impl FnOnce(&str) -> Option<T>) -> Result<T> {
    let decoded = fs::read_to_string(path).and_then(|text| {
        decode(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "unexpected contents"))
    });
    decoded.context(|| format!("read {path}"))
}

/// Unit of the kernel's times (`_SC_CLK_TCK`), 100 everywhere in practice.
fn ticks_per_s() -> u64 {
    let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten();
    ticks.and_then(|ticks| u64::try_from(ticks).ok()).filter(|&ticks| ticks > 0).unwrap_or(100)
}

fn duration(ticks: u64, ticks_per_s: u64) -> Duration {
    let rest_ns = (ticks % ticks_per_s) * 1_000_000_000 / ticks_per_s;
    Duration::from_secs(ticks / ticks_per_s) + Duration::from_nanos(rest_ns)
}

/// `cpu user nice system idle iowait irq softirq steal guest guest_nice`;
/// the guests' times are in user and nice already (proc_stat(5)).
fn decode_times(text: &str, ticks_per_s: u64) -> Option<Times> {
    decode_line(text.lines().find_map(|line| line.strip_prefix("cpu "))?, ticks_per_s)
}

/// `cpu0 ...`, `cpu1 ...`: those that are in use, whose numbers may have gaps.
fn decode_cores(text: &str, ticks_per_s: u64) -> Option<Vec<Times>> {
    let of_core = |line: &'_ str| {
        let (number, fields) = line.strip_prefix("cpu")?.split_once(' ')?;
        number.parse::<u32>().is_ok().then(|| decode_line(fields, ticks_per_s))
    };
    text.lines().filter_map(of_core).collect()
}

/// The times of a line, behind its name.
fn decode_line(line: &str, ticks_per_s: u64) -> Option<Times> {
    let fields = line.split_ascii_whitespace().take(8).map(str::parse);
    let [user, nice, system, idle, iowait, irq, softirq, steal]: [u64; 8] =
        fields.collect::<std::result::Result<Vec<_>, _>>().ok()?.try_into().ok()?;
    let busy = [user, nice, system, irq, softirq].into_iter().try_fold(0u64, u64::checked_add)?;
    let total = [idle, iowait, steal].into_iter().try_fold(busy, u64::checked_add)?;
    let time = |ticks| duration(ticks, ticks_per_s);
    Some(Times { total: time(total), busy: time(busy), stolen: time(steal) })
}

/// Fields 14 and 15, counted from the name on, which may hold blanks and brackets (proc_pid_stat(5)).
fn decode_process_time(text: &str, ticks_per_s: u64) -> Option<Duration> {
    let (_, after_name) = text.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(duration(user.checked_add(system)?, ticks_per_s))
}

fn decode_model(text: &str) -> String {
    let value_of = |key: &str| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    let named = ["model name", "Model", "cpu model", "cpu"].into_iter().find_map(value_of);
    named
        .or_else(|| value_of("CPU part").map(|part| format!("{} part {part}", std::env::consts::ARCH)))
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

fn decode_memory(text: &str) -> Option<u64> {
    decode_bytes(text, "MemTotal:")
}

fn decode_memory_use(text: &str) -> Option<MemoryUse> {
    let bytes = |name| decode_bytes(text, name);
    let less = |all: u64, free: u64| all.saturating_sub(free);
    Some(MemoryUse {
        used_bytes: less(bytes("MemTotal:")?, bytes("MemAvailable:")?),
        swapped_bytes: less(bytes("SwapTotal:")?, bytes("SwapFree:")?),
    })
}

/// A line of `/proc/meminfo`, in bytes.
fn decode_bytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Reads a text as each of the files, for those who try any bytes on it; true if it tells times or memory.
pub fn reads(text: &str) -> bool {
    let _ = decode_model(text);
    let _ = decode_cores(text, 100);
    decode_memory_use(text).is_some()
        | decode_times(text, 100).is_some()
        | decode_process_time(text, 100).is_some()
        | decode_memory(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_time_is_split_into_busy_and_stolen() {
        let times = decode_times("cpu  10 20 30 400 5 6 7 50 9 9\ncpu0 1 1 1 1\n", 100).unwrap();
        assert_eq!(times.busy, Duration::from_millis(730));
        assert_eq!(times.total, Duration::from_millis(5280));
        assert_eq!(times.stolen, Duration::from_millis(500));
        for broken in ["", "cpu 1 2 3\n", "cpu a b c d e f g h\n", "cpu 18446744073709551615 1 1 1 1 1 1 1\n"] {
            assert_eq!(decode_times(broken, 100), None, "{broken}");
        }
    }

    #[test]
    fn each_processor_in_use_has_times_of_its_own() {
        let text =
            "cpu  9 9 9 9 9 9 9 9\ncpu0 10 0 0 90 0 0 0 0 0 0\ncpu2 20 0 0 80 0 0 0 0 0 0\nintr 1 2\ncpuidle x\n";
        let busy: Vec<Duration> = decode_cores(text, 100).unwrap().iter().map(|times| times.busy).collect();
        assert_eq!(busy, [Duration::from_millis(100), Duration::from_millis(200)]);
        assert_eq!(decode_cores("cpu0 1 2\n", 100), None);
    }

    #[test]
    fn memory_in_use_is_what_is_not_to_be_had() {
        let text = "MemTotal: 100 kB\nMemFree: 10 kB\nMemAvailable: 60 kB\nSwapTotal: 8 kB\nSwapFree: 5 kB\n";
        let used = decode_memory_use(text).unwrap();
        assert_eq!((used.used_bytes, used.swapped_bytes), (40 << 10, 3 << 10));
        assert_eq!(decode_memory_use("MemTotal: 100 kB\n"), None);
    }

    #[test]
    fn a_process_may_be_called_anything() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 1 0 5 0 0";
        assert_eq!(decode_process_time(stat, 100), Some(Duration::from_secs(2)));
        assert_eq!(decode_process_time("7 (x) S 1", 100), None);
        assert_eq!(decode_process_time("", 100), None);
    }

    #[test]
    fn a_processor_without_a_name_is_called_by_its_part() {
        assert_eq!(decode_model("processor\t: 0\nmodel name\t: Fast 9\n\nmodel name : Other\n"), "Fast 9");
        assert!(decode_model("processor : 0\nCPU part : 0xd0c\n").ends_with("part 0xd0c"));
        assert_eq!(decode_model(""), std::env::consts::ARCH);
    }

    #[test]
    fn memory_is_told_in_bytes() {
        assert_eq!(decode_memory("MemTotal:       16384 kB\nMemFree: 1 kB\n"), Some(16 << 20));
        assert_eq!(decode_memory("MemTotal: x kB\n"), None);
        assert_eq!(decode_memory("MemTotal: 18446744073709551615 kB\n"), None);
    }
}

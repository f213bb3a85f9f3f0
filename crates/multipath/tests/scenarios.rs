//! One thing at a time: states of paths, retries, limits, and what is shown of it.

use std::time::Duration;

use nicteam_multipath::{
    Config, Effect, Fence, IoError, Kind, Multipath, NoPath, Notice, Outcome, PathId, PathState, Policy, Request,
    TimerReason,
};

const A: PathId = PathId(0);
const B: PathId = PathId(1);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn write(id: u64, lba: u64) -> Request {
    Request { id, kind: Kind::Write, lba, blocks: 8 }
}

fn read(id: u64, lba: u64) -> Request {
    Request { kind: Kind::Read, ..write(id, lba) }
}

/// A caller and an executor that do nothing by themselves.
struct Desk {
    multipath: Multipath,
    now: Duration,
    notices: Vec<Notice>,
}

impl Desk {
    /// All paths up at time zero, round robin by every I/O.
    fn new(config: Config, paths: usize) -> Desk {
        let mut desk = Desk::logging_in(config, paths);
        for path in 0..paths {
            assert_eq!(desk.come_up(PathId(path)), []);
        }
        desk
    }

    fn logging_in(config: Config, paths: usize) -> Desk {
        let mut desk =
            Desk { multipath: Multipath::new(config, paths, Duration::ZERO), now: Duration::ZERO, notices: Vec::new() };
        let expected: Vec<Effect> = (0..paths).map(|path| log_in(PathId(path), PathId(path))).collect();
        assert_eq!(desk.effects(), expected);
        desk
    }

    fn come_up(&mut self, path: PathId) -> Vec<Effect> {
        self.multipath.handle_logged_in(path, self.now);
        let command = self.test(path);
        self.done((path, command), Outcome::Good)
    }

    /// Takes the one effect that there is: TEST UNIT READY.
    fn test(&mut self, path: PathId) -> u64 {
        match self.effects()[..] {
            [Effect::TestUnitReady { path: by, command }] if by == path => command,
            ref other => panic!("{other:?} instead of TEST UNIT READY by {path}"),
        }
    }

    /// What is to be done, without the notices.
    fn effects(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some(effect) = self.multipath.poll_effect() {
            match effect {
                Effect::Notice(notice) => self.notices.push(notice),
                other => effects.push(other),
            }
        }
        effects
    }

    fn submit(&mut self, request: Request) -> Vec<Effect> {
        self.multipath.submit(request, self.now).unwrap();
        self.effects()
    }

    /// Submits a request that is sent at once; its path and command.
    fn sent(&mut self, request: Request) -> (PathId, u64) {
        match self.submit(request)[..] {
            [Effect::Send { path, command, request: id }] if id == request.id => (path, command),
            ref other => panic!("{other:?} instead of a command of {request:?}"),
        }
    }

    fn done(&mut self, (path, command): (PathId, u64), outcome: Outcome) -> Vec<Effect> {
        self.multipath.handle_done(path, command, outcome, self.now);
        self.effects()
    }

    fn broken(&mut self, path: PathId) -> Vec<Effect> {
        self.multipath.handle_broken(path, "reset by peer", self.now);
        self.effects()
    }

    /// Time passes up to and including `to`, every deadline in its turn.
    fn pass(&mut self, to: Duration) -> Vec<Effect> {
        let mut effects = self.effects();
        while let Some((at, _)) = self.multipath.poll_timeout().filter(|(at, _)| *at <= to) {
            assert!(at >= self.now, "a deadline that is over comes again: {:?}", self.multipath.poll_timeout());
            self.now = at;
            self.multipath.handle_timeout(at);
            effects.extend(self.effects());
        }
        self.now = to;
        effects
    }

    /// The same, without the NOPs, which are answered at once.
    fn pass_quietly(&mut self, to: Duration) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some((at, _)) = self.multipath.poll_timeout().filter(|(at, _)| *at <= to) {
            for effect in self.pass(at) {
                match effect {
                    Effect::Nop { path, command } => effects.extend(self.done((path, command), Outcome::Good)),
                    other => effects.push(other),
                }
            }
        }
        self.now = to;
        effects
    }

    fn state(&self, path: PathId) -> PathState {
        self.multipath.status().paths[path.0].state
    }
}

fn config() -> Config {
    Config { policy: Policy::RoundRobin { ios: Some(1) }, ..Config::default() }
}

fn log_in(path: PathId, via: PathId) -> Effect {
    Effect::LogIn { path, via }
}

fn finish(request: u64, result: Result<(), IoError>) -> Effect {
    Effect::Finish { request, result }
}

fn find_reset(effects: &[Effect]) -> (PathId, u64) {
    let reset = effects.iter().find_map(|effect| match effect {
        Effect::LunReset { path, command } => Some((*path, *command)),
        _ => None,
    });
    reset.unwrap_or_else(|| panic!("no LUN reset in {effects:?}"))
}

/// The requests whose commands go out by a path; nothing else may.
fn sent_by(by: PathId, effects: &[Effect]) -> Vec<u64> {
    let request = |effect: &Effect| match effect {
        Effect::Send { path, request, .. } if *path == by => *request,
        other => panic!("{other:?} instead of a command by {by}"),
    };
    effects.iter().map(request).collect()
}

#[test]
fn a_silent_path_is_suspect_and_then_dead_within_250_ms() {
    let mut desk = Desk::new(config(), 2);
    desk.now = ms(1000);
    for path in [A, B] {
        desk.multipath.handle_heard(path, desk.now);
        assert_eq!(desk.effects(), []);
    }
    let nops = desk.pass(ms(1100));
    assert!(matches!(nops[..], [Effect::Nop { path: A, .. }, Effect::Nop { path: B, .. }]), "{nops:?}");
    let Effect::Nop { command, .. } = nops[1] else { panic!() };
    assert_eq!(desk.done((B, command), Outcome::Good), []);
    desk.pass_quietly(ms(1175));
    assert_eq!((desk.state(A), desk.state(B)), (PathState::Suspect, PathState::Up));
    // Nothing new goes there.
    assert_eq!((desk.sent(read(1, 0)).0, desk.sent(read(2, 8)).0), (B, B));
    let effects = desk.pass_quietly(ms(1250));
    assert_eq!(effects, [Effect::Drop { path: A }, log_in(A, A)]);
    assert_eq!(desk.state(A), PathState::LoggingIn);
}

#[test]
fn a_path_that_delivers_needs_no_nop_and_a_suspect_one_that_is_heard_is_up() {
    let mut desk = Desk::new(config(), 1);
    for time in (50..2000).step_by(50) {
        assert_eq!(desk.pass(ms(time)), []);
        desk.multipath.handle_heard(A, desk.now);
    }
    desk.pass(ms(2140));
    assert_eq!(desk.state(A), PathState::Suspect);
    assert_eq!(desk.submit(read(1, 0)), []);
    desk.multipath.handle_heard(A, desk.now);
    assert!(matches!(desk.effects()[..], [Effect::Send { path: A, request: 1, .. }]));
    assert_eq!(desk.state(A), PathState::Up);
    // Its NOP is still out, and counts from what was heard.
    desk.pass(ms(2140 + 149));
    assert_eq!(desk.state(A), PathState::Suspect);
    assert_eq!(desk.pass(ms(2140 + 150))[0], Effect::Drop { path: A });
}

#[test]
fn a_lost_carrier_fences_at_once_and_the_write_goes_by_another_path() {
    let mut desk = Desk::new(config(), 2);
    let (by, late) = desk.sent(write(1, 0));
    assert_eq!(by, A);
    let other = desk.sent(write(2, 64));
    assert_eq!(other.0, B);
    desk.now = ms(20);
    desk.multipath.handle_carrier(A, false, desk.now);
    assert_eq!(desk.effects(), [Effect::Drop { path: A }, log_in(A, B)]);
    assert_eq!(desk.state(A), PathState::Fencing);
    // What overlaps waits; what does not, goes on until the reset is to come.
    assert_eq!(desk.submit(read(3, 4)), []);
    let apart = desk.sent(read(4, 128));
    desk.multipath.handle_logged_in(A, desk.now);
    assert_eq!(desk.effects(), [], "commands are outstanding, which the reset would abort");
    assert_eq!(desk.submit(read(5, 256)), []);
    assert_eq!(desk.done(other, Outcome::Good), [finish(2, Ok(()))]);
    let effects = desk.done(apart, Outcome::Good);
    assert_eq!(effects[0], finish(4, Ok(())));
    let reset = find_reset(&effects);
    assert_eq!(reset.0, A);
    let effects = desk.done(reset, Outcome::Good);
    assert_eq!(effects[0], Effect::Drop { path: A });
    assert_eq!(sent_by(B, &effects[1..]), [1, 3, 5]);
    assert!(desk.notices.contains(&Notice::Fenced { path: A, via: B, writes: 1, took: Duration::ZERO }));
    // The answer of the old session is nobody's.
    assert_eq!(desk.done((A, late), Outcome::Good), []);
}

#[test]
fn reads_of_a_dead_path_go_by_another_one_at_once() {
    let mut desk = Desk::new(config(), 2);
    desk.sent(read(1, 0));
    let effects = desk.broken(A);
    assert!(matches!(effects[..], [Effect::Send { path: B, request: 1, .. }]), "{effects:?}");
    // A session that did not live for long is not opened again at once.
    assert_eq!(desk.pass_quietly(ms(99)), []);
    assert_eq!(desk.pass_quietly(ms(100)), [log_in(A, A)]);
}

#[test]
fn a_fence_through_a_path_that_dies_goes_through_the_next_one() {
    let mut desk = Desk::new(config(), 3);
    desk.pass_quietly(ms(5000));
    assert_eq!(desk.sent(write(1, 0)).0, A);
    assert_eq!(desk.broken(A), [log_in(A, B)]);
    assert_eq!(desk.broken(B), [Effect::Drop { path: A }, log_in(A, PathId(2)), log_in(B, B)]);
    // One that fails is followed by another one at once, too.
    let effects = desk.broken(A);
    assert_eq!(effects, []);
    assert_eq!(desk.pass_quietly(ms(5400))[0], log_in(A, A), "its own portal has its turn, after a pause");
}

#[test]
fn unit_attentions_are_consumed() {
    let mut desk = Desk::logging_in(config(), 1);
    desk.multipath.handle_logged_in(A, desk.now);
    for _ in 0..3 {
        let command = desk.test(A);
        desk.multipath.handle_done(A, command, Outcome::UnitAttention { asc: 0x29, ascq: 0 }, desk.now);
    }
    let command = desk.test(A);
    assert_eq!(desk.state(A), PathState::LoggingIn);
    assert_eq!(desk.done((A, command), Outcome::Good), []);
    let sent = desk.sent(write(1, 0));
    let effects = desk.done(sent, Outcome::UnitAttention { asc: 0x2a, ascq: 9 });
    let [Effect::Send { path: A, command, request: 1 }] = effects[..] else { panic!("{effects:?}") };
    assert_eq!(desk.done((A, command), Outcome::Good), [finish(1, Ok(()))]);
    assert!(desk.notices.contains(&Notice::UnitAttention { path: A, asc: 0x2a, ascq: 9 }));
    assert_eq!(desk.notices.iter().filter(|notice| matches!(notice, Notice::UnitAttention { .. })).count(), 4);
}

#[test]
fn a_target_that_is_not_ready_is_asked_again_and_a_broken_one_is_left() {
    let mut desk = Desk::logging_in(config(), 1);
    desk.multipath.handle_logged_in(A, desk.now);
    let command = desk.test(A);
    assert_eq!(desk.done((A, command), Outcome::CheckCondition { key: 2, asc: 4, ascq: 1 }), []);
    let effects = desk.pass(ms(20));
    let [Effect::TestUnitReady { path: A, command }] = effects[..] else { panic!("{effects:?}") };
    assert_eq!(
        desk.done((A, command), Outcome::CheckCondition { key: 5, asc: 0x25, ascq: 0 }),
        [Effect::Drop { path: A }]
    );
    let reason = "TEST UNIT READY: ILLEGAL REQUEST 25h/00h".to_owned();
    assert_eq!(
        desk.notices.last(),
        Some(&Notice::Path { path: A, from: PathState::LoggingIn, to: PathState::Dead, reason })
    );
}

#[test]
fn a_busy_target_is_asked_again_so_often_and_no_more() {
    let mut desk = Desk::new(Config { max_tries: 3, ..config() }, 1);
    let mut sent = desk.sent(write(1, 0));
    for n in 1..3 {
        assert_eq!(desk.done(sent, Outcome::Busy), []);
        let effects = desk.pass(ms(20 * n));
        let [Effect::Send { path, command, request: 1 }] = effects[..] else { panic!("{effects:?}") };
        sent = (path, command);
    }
    assert_eq!(desk.done(sent, Outcome::Busy), [finish(1, Err(IoError::Busy { tries: 3 }))]);
    let sent = desk.sent(read(2, 0));
    let medium_error = Outcome::CheckCondition { key: 3, asc: 0x11, ascq: 0 };
    let effects = desk.done(sent, medium_error);
    let [Effect::Finish { request: 2, result: Err(error) }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(error.to_string(), "CHECK CONDITION: MEDIUM ERROR (sense key 0x3, ASC/ASCQ 11h/00h)");
}

#[test]
fn without_a_path_requests_wait_so_long() {
    let mut desk = Desk::new(Config { no_path: NoPath::Queue(ms(500)), ..config() }, 1);
    desk.sent(write(1, 0));
    desk.multipath.handle_carrier(A, false, desk.now);
    assert_eq!(desk.effects(), [Effect::Drop { path: A }]);
    desk.now = ms(400);
    assert_eq!(desk.submit(read(2, 0)), []);
    assert_eq!(desk.multipath.poll_timeout(), Some((ms(500), TimerReason::NoPath)));
    let error = Err(IoError::NoPath { down: ms(500) });
    assert_eq!(desk.pass(ms(500)), [finish(1, error.clone()), finish(2, error)]);
    // Who comes now need not wait.
    desk.now = ms(600);
    assert_eq!(desk.submit(read(3, 0)), [finish(3, Err(IoError::NoPath { down: ms(600) }))]);
    assert_eq!(desk.multipath.poll_timeout(), None);
    // When the path is back, its session is reinstated, and what it held is no more.
    desk.multipath.handle_carrier(A, true, desk.now);
    assert_eq!(desk.effects(), [log_in(A, A)]);
    desk.multipath.handle_logged_in(A, desk.now);
    let effects = desk.effects();
    desk.multipath.handle_done(A, find_reset(&effects).1, Outcome::Good, desk.now);
    let command = desk.test(A);
    desk.done((A, command), Outcome::Good);
    desk.sent(read(4, 0));
}

#[test]
fn all_paths_down_for_five_seconds_lose_nothing() {
    let mut desk = Desk::new(config(), 2);
    desk.pass_quietly(ms(3000));
    desk.sent(write(1, 0));
    desk.sent(write(2, 64));
    desk.multipath.handle_carrier(A, false, desk.now);
    desk.effects();
    desk.multipath.handle_carrier(B, false, desk.now);
    desk.effects();
    assert_eq!(desk.submit(write(3, 128)), []);
    assert_eq!(desk.pass_quietly(ms(8000)), []);
    desk.multipath.handle_carrier(B, true, desk.now);
    assert_eq!(desk.effects(), [log_in(B, B)]);
    desk.multipath.handle_logged_in(B, desk.now);
    let reset = find_reset(&desk.effects());
    desk.multipath.handle_done(B, reset.1, Outcome::Good, desk.now);
    let command = desk.test(B);
    let effects = desk.done((B, command), Outcome::Good);
    // The other session is fenced through this one before its write is sent again.
    assert_eq!(effects[0], log_in(A, B));
    assert_eq!(sent_by(B, &effects[1..]), [2, 3]);
}

#[test]
fn without_a_path_requests_fail_at_once_where_they_shall() {
    let mut desk = Desk::new(Config { no_path: NoPath::Fail, ..config() }, 1);
    desk.sent(write(1, 0));
    assert_eq!(desk.broken(A), [finish(1, Err(IoError::NoPath { down: Duration::ZERO }))]);
    assert_eq!(desk.submit(write(2, 0)), [finish(2, Err(IoError::NoPath { down: Duration::ZERO }))]);
}

#[test]
fn what_cannot_be_fenced_fails_after_its_limit_and_the_rest_goes_on() {
    let fence = Fence { any_portal: false, limit: ms(700), ..Fence::default() };
    let mut desk = Desk::new(Config { fence, ..config() }, 2);
    desk.sent(write(1, 0));
    desk.multipath.handle_carrier(A, false, desk.now);
    assert_eq!(desk.effects(), [Effect::Drop { path: A }]);
    assert_eq!(desk.pass_quietly(ms(699)), []);
    let error = IoError::NotFenced { path: A, waited: ms(700) };
    assert_eq!(desk.pass_quietly(ms(700)), [finish(1, Err(error.clone()))]);
    assert_eq!(desk.submit(write(2, 7)), [finish(2, Err(error))]);
    assert_eq!(desk.sent(write(3, 8)).0, B);
}

#[test]
fn a_command_that_is_never_answered_costs_its_path_the_session() {
    let mut desk = Desk::new(Config { command_timeout: ms(2000), ..config() }, 2);
    desk.sent(read(1, 0));
    assert_eq!(desk.pass_quietly(ms(1999)), []);
    let effects = desk.pass_quietly(ms(2000));
    assert!(matches!(effects[..], [Effect::Drop { path: A }, Effect::LogIn { .. }, Effect::Send { path: B, .. }]));
}

#[test]
fn logins_are_tried_again_with_longer_and_longer_pauses() {
    let mut desk = Desk::logging_in(config(), 1);
    let mut at = Vec::new();
    for _ in 0..6 {
        assert_eq!(desk.broken(A), []);
        let (next, reason) = desk.multipath.poll_timeout().unwrap();
        assert_eq!(reason, TimerReason::LogIn(A));
        at.push((next - desk.now).as_millis());
        assert_eq!(desk.pass(next), [log_in(A, A)]);
    }
    assert_eq!(at, [100, 200, 400, 800, 1000, 1000]);
    // One that is not answered ends, too.
    let end = desk.now + ms(1000);
    assert_eq!(desk.pass(end), [Effect::Drop { path: A }]);
}

#[test]
fn fixed_goes_back_to_its_first_path() {
    let mut desk = Desk::new(Config { policy: Policy::Fixed, ..config() }, 2);
    assert_eq!(desk.sent(read(1, 0)).0, A);
    let effects = desk.broken(A);
    assert!(matches!(effects[..], [Effect::Send { path: B, request: 1, .. }]));
    assert_eq!(desk.sent(read(2, 0)).0, B);
    assert_eq!(desk.pass_quietly(ms(100)), [log_in(A, A)]);
    assert_eq!(desk.come_up(A), []);
    assert_eq!(desk.sent(read(3, 0)).0, A);
}

#[test]
fn the_status_is_in_the_words_of_esxi() {
    let mut desk = Desk::new(Config { policy: Policy::RoundRobin { ios: None }, ..config() }, 2);
    let expected = "   Path Selection Policy: VMW_PSP_RR\n   Path Selection Policy Device Config: \
        {policy=rr,iops=1000,bytes=10485760,useANO=0; lastPathIndex=0: NumIOsPending=0,numBytesPending=0}\n   \
        Working Paths: vmhba64:C0:T0:L0, vmhba64:C1:T0:L0\n   Dead Paths: \n";
    assert_eq!(desk.multipath.status().to_string(), expected);
    desk.multipath.set_policy(Policy::RoundRobin { ios: Some(1) }, desk.now);
    desk.sent(write(1, 0));
    let second = desk.sent(read(2, 64));
    let status = desk.multipath.status();
    assert_eq!(
        status.device_config,
        "{policy=iops,iops=1,bytes=10485760,useANO=0; lastPathIndex=1: NumIOsPending=2,numBytesPending=8192}"
    );
    assert_eq!((status.switches, status.paths[1].outstanding, status.paths[1].outstanding_bytes), (1, 1, 4096));
    desk.now = ms(3);
    desk.done(second, Outcome::Good);
    desk.broken(A);
    let status = desk.multipath.status();
    assert!(status.to_string().ends_with("Working Paths: vmhba64:C1:T0:L0\n   Dead Paths: vmhba64:C0:T0:L0\n"));
    let [dead, up] = &status.paths[..] else { panic!() };
    assert_eq!((dead.deaths, dead.unfenced, dead.ios, dead.outstanding), (1, 1, 0, 0));
    assert_eq!((up.ios, up.bytes, up.read_bytes, up.written_bytes, up.answer_time), (1, 4096, 4096, 0, ms(3)));
    desk.multipath.set_policy(Policy::Fixed, desk.now);
    let config = "{preferred=vmhba64:C0:T0:L0;current=vmhba64:C0:T0:L0}";
    let status = desk.multipath.status();
    assert_eq!((status.policy, status.device_config.as_str()), ("VMW_PSP_FIXED", config));
}

#[test]
fn policies_have_names() {
    for (name, policy) in [
        ("fixed", Policy::Fixed),
        ("round-robin", Policy::RoundRobin { ios: None }),
        ("queue-length", Policy::QueueLength),
        ("service-time", Policy::ServiceTime),
        ("best", Policy::Best),
    ] {
        assert_eq!((name.parse(), policy.to_string().as_str()), (Ok(policy), name));
    }
    assert_eq!(
        "rr".parse::<Policy>().unwrap_err().to_string(),
        "no path policy `rr`; hint: `fixed`, `round-robin`, `queue-length`, `service-time`, `best`"
    );
}

#[test]
fn requests_that_cannot_be_are_refused() {
    let mut desk = Desk::new(config(), 1);
    desk.sent(write(1, 0));
    let error = desk.multipath.submit(write(1, 8), desk.now).unwrap_err();
    assert_eq!(error.to_string(), "request 1 is not finished");
    assert!(desk.multipath.submit(write(2, u64::MAX), desk.now).is_err());
    // Paths and commands that there are not change nothing.
    desk.multipath.handle_broken(PathId(9), "", desk.now);
    desk.multipath.handle_done(A, 99, Outcome::Good, desk.now);
    assert_eq!(desk.effects(), []);
}

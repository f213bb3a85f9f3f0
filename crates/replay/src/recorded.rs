//! A team with a ring of what it was told.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use nicteam_events::{Effect, Group, Identity, Input, Subnet, TeamError, Traffic};
use nicteam_lacp::Answer;
use nicteam_machine::{MemberId, MemberLink, Source, Time};
use nicteam_options::Config;
use nicteam_plan::Loads;
use nicteam_plan::stripe::{Note, PlainReport};
use nicteam_wire::Mac;

use super::digest::Digest;
use super::encode::Keys;
use super::entry::{Did, PlanMade};
use super::recordable::Recordable;
use super::ring::Ring;
use super::{digest, encode, entry};

/// A team that can be changed by [`Recorded::apply`] alone, and by the functions that stand for it; so all that it is told can
/// be recorded. For the rest it is a team.
#[derive(Clone, Debug)]
pub struct Recorded<T> {
    team: T,
    recorder: Option<Box<Recorder>>,
}

/// A part of what is recorded that is read without those before it.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The number of its first entry, by which it is known.
    pub first: u64,
    /// Its blocks, which follow [`super::head`] in a file; more may come.
    pub blocks: &'a [Arc<[u8]>],
}

#[derive(Clone, Debug)]
struct Recorder {
    ring: Ring,
    keys: Keys,
    /// What the team wants and nobody has taken yet.
    effects: VecDeque<Effect>,
    /// Kept for their memory alone.
    bytes: Vec<u8>,
    did: Did,
}

impl<T: Recordable> Recorded<T> {
    /// A team as [`Recordable::begin`] makes it, with a ring of at most so many bytes.
    ///
    /// # Errors
    /// What [`Recordable::begin`] refuses.
    pub fn begin(config: Config, mac: Mac, now: Time, limit: usize) -> Result<Recorded<T>, TeamError> {
        let (mut keys, mut bytes, did) = (Keys::default(), Vec::new(), Did::default());
        encode::put_beginning(&mut bytes, &config, mac, &mut keys);
        did.put(&mut bytes);
        let mut team = T::begin(config, mac, now)?;
        team.set_source(Source::Noted);
        let mut ring = Ring::new(limit);
        ring.enter(entry::BEGINNING, &bytes, now);
        let recorder = Recorder { ring, keys, effects: VecDeque::new(), bytes, did };
        Ok(Recorded { team, recorder: Some(Box::new(recorder)) })
    }

    /// Tells the team something.
    ///
    /// # Errors
    /// What [`Recordable::apply`] refuses.
    pub fn apply(&mut self, input: Input<'_>, now: Time) -> Result<(), TeamError> {
        let Some(recorder) = &mut self.recorder else { return self.team.apply(input, now) };
        debug_assert!(recorder.effects.is_empty(), "a change before the effects of the last one were polled");
        recorder.apply(&mut self.team, input, now)
    }

    /// The next thing to do, in order; see [`Recordable::poll_effect`].
    pub fn poll_effect(&mut self) -> Option<Effect> {
        match &mut self.recorder {
            Some(recorder) => recorder.effects.pop_front(),
            None => self.team.poll_effect(),
        }
    }

    /// The blocks of a file of what the team was told, which follow [`super::head`]; none if it is not recorded.
    pub fn recording(&self) -> Option<Vec<Arc<[u8]>>> {
        self.recorder.as_ref().map(|recorder| recorder.ring.blocks())
    }

    /// The last segments of what is recorded, at most so many, the newest at the end.
    pub fn last_segments(&self, most: usize) -> impl Iterator<Item = Segment<'_>> {
        let rings = self.recorder.iter().map(|recorder| &recorder.ring);
        rings.flat_map(move |ring| ring.last_segments(most)).map(|(first, blocks)| Segment { first, blocks })
    }

    /// The block of the entries that are in no segment's blocks yet: it stands behind the newest one's.
    pub fn open_block(&self) -> Option<Vec<u8>> {
        self.recorder.as_ref()?.ring.open_block()
    }

    /// Bytes that are recorded, and how many entries there were, forgotten ones included.
    pub fn recorded(&self) -> (usize, u64) {
        self.recorder.as_ref().map_or((0, 0), |recorder| recorder.ring.size())
    }

    /// What needs no time is told when the last thing was.
    fn tell(&mut self, input: Input<'_>) {
        let now = self.recorder.as_ref().map_or(Time::ZERO, |recorder| recorder.ring.last());
        // Nothing of that kind is refused.
        let _ = self.apply(input, now);
    }
}

impl Recorder {
    fn apply<T: Recordable>(&mut self, team: &mut T, input: Input<'_>, now: Time) -> Result<(), TeamError> {
        let Recorder { ring, keys, effects, bytes, did } = self;
        if ring.wants_segment()
            && let Some(state) = team.state(keys)
        {
            ring.begin_segment(&state);
        }
        let kind = encode::kind(&input);
        bytes.clear();
        encode::put(bytes, &input, keys);
        let told = bytes.len();
        did.clear();
        let result = team.apply(input, now);
        watch(team, &result, did, effects);
        let slot = entry::slot(kind, &bytes[..told], did);
        did.put(bytes);
        ring.enter(slot, bytes, now);
        result
    }
}

/// Notes what a team did, and takes its effects.
pub(super) fn watch<T: Recordable>(
    team: &mut T,
    result: &Result<(), TeamError>,
    did: &mut Did,
    effects: &mut VecDeque<Effect>,
) {
    did.derived.extend(team.take_derived());
    if let Err(error) = result {
        digest::take_error(did.effects.get_or_insert_with(Digest::new), error);
    }
    while let Some(effect) = team.poll_effect() {
        match &effect {
            Effect::Apply(plan) => did.plans.push(PlanMade::of(plan)),
            // Of no consequence.
            Effect::Event(_) => {}
            other => digest::take_effect(did.effects.get_or_insert_with(Digest::new), other),
        }
        effects.push_back(effect);
    }
}

/// Not recorded.
impl<T> From<T> for Recorded<T> {
    fn from(team: T) -> Recorded<T> {
        Recorded { team, recorder: None }
    }
}

impl<T> Deref for Recorded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.team
    }
}

/// A team's functions of the same names, by the one door.
#[allow(missing_docs)]
impl<T: Recordable> Recorded<T> {
    pub fn set_identity(&mut self, identity: Identity, now: Time) {
        let _ = self.apply(Input::Identity(identity), now);
    }

    pub fn mark_probes(&mut self, mark: u32) {
        self.tell(Input::MarkProbes(mark));
    }

    pub fn begin_members(&mut self) {
        self.tell(Input::BeginMembers);
    }

    pub fn remember(&mut self, answer: Answer, silence: Duration) {
        self.tell(Input::Remember(answer, silence));
    }

    pub fn remember_active(&mut self, device: &str) {
        self.tell(Input::RememberActive(Cow::Borrowed(device)));
    }

    pub fn members_complete(&mut self, now: Time) {
        let _ = self.apply(Input::MembersComplete, now);
    }

    pub fn add_member(&mut self, name: &str, link: MemberLink, now: Time) -> Result<MemberId, TeamError> {
        let place = self.team.place_for(name)?;
        self.add_member_at(place, name, link, now)
    }

    pub fn add_member_at(
        &mut self,
        id: MemberId,
        name: &str,
        link: MemberLink,
        now: Time,
    ) -> Result<MemberId, TeamError> {
        self.apply(Input::AddMember(id, Cow::Borrowed(name), link), now).map(|()| id)
    }

    pub fn remove_member(&mut self, id: MemberId, now: Time) -> Result<(), TeamError> {
        self.apply(Input::RemoveMember(id), now)
    }

    pub fn rename_member(&mut self, id: MemberId, name: &str) -> Result<(), TeamError> {
        let now = self.recorder.as_ref().map_or(Time::ZERO, |recorder| recorder.ring.last());
        self.apply(Input::RenameMember(id, Cow::Borrowed(name)), now)
    }

    pub fn enable_member(&mut self, id: MemberId, enable: bool, now: Time) -> Result<(), TeamError> {
        self.apply(Input::EnableMember(id, enable), now)
    }

    pub fn activate(&mut self, id: MemberId, now: Time) -> Result<(), TeamError> {
        self.apply(Input::Activate(id), now)
    }

    pub fn migrate(&mut self, bucket: u8, to: MemberId, now: Time) -> Result<(), TeamError> {
        self.apply(Input::Migrate(bucket, to), now)
    }

    pub fn set_config(&mut self, config: Config, now: Time) -> Result<(), TeamError> {
        self.apply(Input::Config(Box::new(config)), now)
    }

    pub fn handle_link(&mut self, id: MemberId, link: MemberLink, now: Time) -> Result<(), TeamError> {
        self.handle_links(&[(id, link)], now)
    }

    pub fn handle_links(&mut self, links: &[(MemberId, MemberLink)], now: Time) -> Result<(), TeamError> {
        self.apply(Input::Links(Cow::Borrowed(links)), now)
    }

    pub fn handle_frame(&mut self, member: MemberId, frame: &[u8], now: Time) {
        let _ = self.apply(Input::Frame(member, Cow::Borrowed(frame)), now);
    }

    pub fn handle_punted(&mut self, frame: &[u8], now: Time) {
        let _ = self.apply(Input::Punted(Cow::Borrowed(frame)), now);
    }

    pub fn handle_timeout(&mut self, now: Time) {
        let _ = self.apply(Input::Timeout, now);
    }

    pub fn handle_traffic(&mut self, traffic: &[(MemberId, Traffic)], now: Time) {
        let _ = self.apply(Input::Traffic(Cow::Borrowed(traffic)), now);
    }

    pub fn handle_groups(&mut self, groups: &[Group], now: Time) {
        let _ = self.apply(Input::Groups(Cow::Borrowed(groups)), now);
    }

    pub fn handle_notes(&mut self, notes: &[Note], now: Time) {
        let _ = self.apply(Input::Notes(Cow::Borrowed(notes)), now);
    }

    pub fn handle_plain(&mut self, report: &PlainReport, now: Time) {
        let _ = self.apply(Input::Plain(Cow::Borrowed(report)), now);
    }

    pub fn handle_loads(&mut self, loads: &Loads, now: Time) {
        let _ = self.apply(Input::Loads(Box::new(loads.clone())), now);
    }

    pub fn handle_sources(&mut self, sources: &[(Mac, u16)], now: Time) {
        let _ = self.apply(Input::Sources(Cow::Borrowed(sources)), now);
    }

    pub fn handle_addresses(&mut self, addresses: Vec<(u16, IpAddr)>) {
        self.tell(Input::Addresses(addresses));
    }

    pub fn handle_subnets(&mut self, subnets: Vec<Subnet>) {
        self.tell(Input::Subnets(subnets));
    }

    pub fn handle_mac(&mut self, mac: Mac) {
        self.tell(Input::Mac(mac));
    }

    pub fn handle_member_mac(&mut self, id: MemberId, mac: Mac) {
        self.tell(Input::MemberMac(id, mac));
    }
}

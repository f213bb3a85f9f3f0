//! A team's programs and maps: loading them, finding those of a predecessor.

use std::collections::BTreeSet;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{MapCore, MapFlags, MapHandle, ObjectBuilder, OpenMap, OpenObject, ProgramHandle};
use nicteam_team::stripe::MAX_PEERS;
use nicteam_team::stripe::redundant::StreamCounters;
use nicteam_wire::Mac;

use super::failover::Failover;
use super::layout::{Answer, Control, Counters, LAYOUT_VERSION, Loads, Place, Plain, Plan, Tally, padded};
use super::lease::Lease;
use super::notes::Notes;
use super::peers::{Entry, Key, PeerLine};
use super::speech::attempt;
use super::streams::{Class, MAX_STREAMS, Stream};
use super::tc::{self, Point};
use crate::Error;

/// The compiled `bpf/team.bpf.c`: each without stripe and with it.
static OBJECTS: [&[u8]; 2] = [
    include_bytes!(concat!(env!("OUT_DIR"), "/team.bpf.o")),
    include_bytes!(concat!(env!("OUT_DIR"), "/team-stripe.bpf.o")),
];

/// The same, with programs that look at the members' carrier (`bpf/failover.h`).
static FAILOVER_OBJECTS: [&[u8]; 2] = [
    include_bytes!(concat!(env!("OUT_DIR"), "/team-failover.bpf.o")),
    include_bytes!(concat!(env!("OUT_DIR"), "/team-stripe-failover.bpf.o")),
];

/// The compiled `bpf/carrier.bpf.c`.
static CARRIER_OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/carrier.bpf.o"));

/// Program names, as the kernel shows them.
const EGRESS: &str = "team_egress";
const INGRESS: &str = "member_ingress";
const PUNTED: &str = "punted_ingress";
const CARRIER: &str = "member_egress";
const NOTE_DEVICE: &str = "note_device";
/// Where they are told what they are made for.
const PROGRAMS: &str = ".rodata.programs";

/// What the programs are made for: the verifier's walk through what a team does
/// not do would take most of the time in which the team is set up, and the maps of stripe most of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Programs {
    /// Every mode but stripe.
    WithoutStripe,
    /// Every mode.
    WithStripe,
}

/// The programs and maps of one team. The kernel keeps them as long as a filter uses them.
pub(super) struct Object {
    pub programs: Programs,
    pub egress: ProgramHandle,
    pub ingress: ProgramHandle,
    pub punted: ProgramHandle,
    /// Notes where the kernel keeps a member's device; none where the programs do not look at carriers.
    pub note_device: Option<ProgramHandle>,
    pub maps: Maps,
}

/// The maps of `bpf/maps.h`.
pub(super) struct Maps {
    control: MapHandle,
    plans: MapHandle,
    places: MapHandle,
    counters: MapHandle,
    tally: MapHandle,
    loads: MapHandle,
    lease: MapHandle,
    answers: MapHandle,
    stripe_peers: MapHandle,
    stripe_index: MapHandle,
    stripe_state: MapHandle,
    stripe_echoes: MapHandle,
    stripe_notes: MapHandle,
    stripe_classes: MapHandle,
    stripe_streams: MapHandle,
    carrier: MapHandle,
    failover: MapHandle,
}

impl Object {
    /// Loads the programs; with these maps, if there are any, else with new ones. Where the kernel lets them,
    /// they look at the members' carrier.
    pub(super) fn load(programs: Programs, maps: Option<&Maps>) -> Result<Object, Error> {
        let load = |objects: [&[u8]; 2]| Object::try_load(objects[programs as usize], programs, maps);
        let loaded = |objects| attempt(|| "load the eBPF programs".to_owned(), || load(objects));
        match shows_devices(&release()) {
            true => loaded(FAILOVER_OBJECTS).or_else(|_| loaded(OBJECTS)),
            false => loaded(OBJECTS),
        }
    }

    fn try_load(object: &[u8], programs: Programs, maps: Option<&Maps>) -> libbpf_rs::Result<Object> {
        let mut open = ObjectBuilder::default().open_memory(object)?;
        if let Some(maps) = maps {
            maps.lend_to(&mut open)?;
        }
        let mut constants =
            open.maps_mut().find(|map| map.name() == PROGRAMS).ok_or_else(|| missing("map", PROGRAMS))?;
        constants.set_initial_value(&u32::from(shows_devices(&release())).to_ne_bytes())?;
        let loaded = open.load()?;
        let find = |name: &str| match loaded.progs_mut().find(|program| program.name() == name) {
            Some(program) => ProgramHandle::try_from(&program),
            None => Err(missing("program", name)),
        };
        let (egress, ingress, punted) = (find(EGRESS)?, find(INGRESS)?, find(PUNTED)?);
        let note_device = find(NOTE_DEVICE).ok();
        let maps = Maps::find(|name| match loaded.maps().find(|map| map.name() == name) {
            Some(map) => MapHandle::try_from(&map),
            None => Err(missing("map", name)),
        })?;
        maps.all().into_iter().try_for_each(|map| bind(&egress, map))?;
        Ok(Object { programs, egress, ingress, punted, note_device, maps })
    }
}

/// Loads the program that looks at the members' carrier, with the maps of a team.
///
/// # Errors
/// The kernel is older than 6.2, or has no types of its own to show.
pub(super) fn load_carrier(maps: &Maps) -> Result<ProgramHandle, Error> {
    attempt(
        || "load the eBPF program that looks at carriers".to_owned(),
        || {
            let mut open = ObjectBuilder::default().open_memory(CARRIER_OBJECT)?;
            maps.lend_to(&mut open)?;
            let loaded = open.load()?;
            match loaded.progs_mut().find(|program| program.name() == CARRIER) {
                Some(program) => ProgramHandle::try_from(&program),
                None => Err(missing("program", CARRIER)),
            }
        },
    )
}

/// What the kernel says it is.
fn release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default()
}

/// True of kernels from 6.2 on: their verifiers follow a choice that heeds lost carriers, and nobody
/// else shows programs one.
fn shows_devices(release: &str) -> bool {
    let mut numbers = release.split(|digit: char| !digit.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (6, 2),
        _ => false,
    }
}

/// True if such a program is on this member.
pub(super) fn has_carrier_program(device: &str, index: u32) -> Result<bool, Error> {
    ours_at(device, index, Point::Egress, CARRIER).map(|id| id.is_some())
}

/// Makes a program hold a map, whether it uses it or not, so that a successor finds
/// all maps behind the team device's filter.
fn bind(program: &ProgramHandle, map: &MapHandle) -> libbpf_rs::Result<()> {
    let (program, map) = (program.as_fd().as_raw_fd(), map.as_fd().as_raw_fd());
    // SAFETY: both descriptors are open; no options are given.
    match unsafe { libbpf_sys::bpf_prog_bind_map(program, map, std::ptr::null()) } {
        0 => Ok(()),
        error => Err(libbpf_rs::Error::from_raw_os_error(-error)),
    }
}

fn missing(what: &str, name: &str) -> libbpf_rs::Error {
    std::io::Error::other(format!("the object has no {what} `{name}`")).into()
}

/// What an earlier process left on a team device.
pub(super) enum Predecessor {
    /// Nothing.
    None,
    /// Maps that programs of ours can use: these.
    Same(Box<Maps>, Programs),
    /// Maps of another version, readable or not.
    Other(Option<MapHandle>),
}

/// Looks for it behind the filter of the team device.
pub(super) fn predecessor(device: &str, index: u32) -> Result<Predecessor, Error> {
    let Some(id) = ours_at(device, index, Point::Egress, EGRESS)? else { return Ok(Predecessor::None) };
    let maps = attempt(|| format!("read the maps of the team `{device}`"), || maps_of(id))?;
    let find = |name: &str| maps.iter().find(|map| map.name() == name);
    let same = Maps::find(|name| match find(name) {
        Some(map) => MapHandle::try_from(map),
        None => Err(missing("map", name)),
    });
    let fits = |same: &Maps| same.fit(index).transpose();
    match same.ok().and_then(|same| Some((fits(&same)?, same))) {
        Some((programs, same)) => Ok(Predecessor::Same(Box::new(same), programs?)),
        None => {
            let counters = find("counters").filter(|map| map.value_size() as usize == size_of::<Counters>());
            Ok(Predecessor::Other(counters.and_then(|map| MapHandle::try_from(map).ok())))
        }
    }
}

/// True if the filter on this member is a team's.
pub(super) fn member_is_ours(device: &str, index: u32) -> Result<bool, Error> {
    ours_at(device, index, Point::Ingress, INGRESS).map(|id| id.is_some())
}

/// The program in our place on a device. A stranger's is not touched.
fn ours_at(device: &str, index: u32, point: Point, name: &str) -> Result<Option<u32>, Error> {
    let Some(id) = tc::program_at(index, point) else { return Ok(None) };
    let program = attempt(|| format!("read the program on `{device}`"), || ProgramHandle::from_prog_id(id))?;
    if program.name() == name {
        return Ok(Some(id));
    }
    let side = if point == Point::Egress { "egress" } else { "ingress" };
    Err(Error::Bpf {
        operation: format!("use `{device}`"),
        message: format!(
            "another eBPF program, `{}`, has the team's place among its {side} filters; hint: remove it with `tc filter del dev {device} {side}`",
            program.name().display()
        ),
    })
}

fn maps_of(program_id: u32) -> libbpf_rs::Result<Vec<MapHandle>> {
    let query = ProgInfoQueryOptions::default().include_map_ids(true);
    let info = ProgInfoIter::with_query_opts(query).find(|info| info.id == program_id);
    info.map_or_else(Vec::new, |info| info.map_ids).into_iter().map(MapHandle::from_map_id).collect()
}

impl Maps {
    fn find<E>(mut map: impl FnMut(&str) -> Result<MapHandle, E>) -> Result<Maps, E> {
        Ok(Maps {
            control: map(".data.control")?,
            plans: map(".data.plans")?,
            places: map("places")?,
            counters: map("counters")?,
            tally: map("tally")?,
            loads: map("loads")?,
            lease: map(".data.lease")?,
            answers: map("answers")?,
            stripe_peers: map("stripe_peers")?,
            stripe_index: map("stripe_index")?,
            stripe_state: map("stripe_state")?,
            stripe_echoes: map("stripe_echoes")?,
            stripe_notes: map(".bss.notes")?,
            stripe_classes: map("stripe_classes")?,
            stripe_streams: map("stripe_streams")?,
            carrier: map(".data.carrier")?,
            failover: map(".data.failover")?,
        })
    }

    fn all(&self) -> [&MapHandle; 17] {
        [
            &self.control,
            &self.plans,
            &self.places,
            &self.counters,
            &self.tally,
            &self.loads,
            &self.lease,
            &self.answers,
            &self.stripe_peers,
            &self.stripe_index,
            &self.stripe_state,
            &self.stripe_echoes,
            &self.stripe_notes,
            &self.stripe_classes,
            &self.stripe_streams,
            &self.carrier,
            &self.failover,
        ]
    }

    /// Where the process says that it lives.
    pub(super) fn lease(&self) -> Result<Lease, Error> {
        Lease::new(&self.lease)
    }

    /// What the programs know of the members' carrier.
    pub(super) fn failover(&self) -> Result<Failover, Error> {
        Failover::new(&self.failover)
    }

    /// What the programs note of peers' frames.
    pub(super) fn notes(&self, programs: Programs) -> Result<Option<Notes>, Error> {
        (programs == Programs::WithStripe).then(|| Notes::new(&self.stripe_notes)).transpose()
    }

    /// What is said to the partner of a place while the process is silent.
    pub(super) fn answer(&self, place: u32) -> Result<Answer, Error> {
        read(&self.answers, place)
    }

    pub(super) fn set_answer(&self, place: u32, answer: &Answer) -> Result<(), Error> {
        write(&self.answers, place, answer)
    }

    /// LACPDUs that were answered for the process.
    pub(super) fn answered(&self) -> Result<u64, Error> {
        self.tallied(|tally| tally.answered)
    }

    /// Acknowledgements that were withheld.
    pub(super) fn withheld(&self) -> Result<u64, Error> {
        self.tallied(|tally| tally.withheld)
    }

    /// One sum of the tally, of all CPUs.
    fn tallied(&self, sum: fn(&Tally) -> u64) -> Result<u64, Error> {
        let tallies: Vec<Tally> = read_percpu(&self.tally, 0)?;
        Ok(tallies.iter().map(sum).sum())
    }

    /// Of which programs of ours they are, for this team device.
    fn fit(&self, team_index: u32) -> Result<Option<Programs>, Error> {
        for programs in [Programs::WithoutStripe, Programs::WithStripe] {
            let open = || ObjectBuilder::default().open_memory(OBJECTS[programs as usize]);
            let expected = attempt(|| "read the eBPF object".to_owned(), open)?;
            if self.all().into_iter().all(|map| expected.maps().any(|other| is_like(&other, map))) {
                let control = self.control()?;
                let is_ours = control.layout == LAYOUT_VERSION && control.team_ifindex == team_index;
                return Ok(is_ours.then_some(programs));
            }
        }
        Ok(None)
    }

    /// Makes an object use these maps instead of new ones, but for those of stripe where only one of both has it.
    fn lend_to(&self, object: &mut OpenObject) -> libbpf_rs::Result<()> {
        for mut map in object.maps_mut() {
            if let Some(own) = self.all().into_iter().find(|own| is_like(&map, own)) {
                map.reuse_fd(own.as_fd())?;
            }
        }
        Ok(())
    }

    /// What the kernel sets aside for them, bytes: what the maps' own counts say (`memlock` in `/proc/PID/fdinfo`).
    pub(super) fn bytes(&self) -> Result<u64, Error> {
        let sizes = self.all().into_iter().map(|map| {
            let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", map.as_fd().as_raw_fd()));
            let info = info.map_err(|error| Error::Bpf { operation: reading(map), message: error.to_string() })?;
            let line = info.lines().find_map(|line| line.strip_prefix("memlock:"));
            line.and_then(|bytes| bytes.trim().parse::<u64>().ok()).ok_or_else(|| unexpected(map))
        });
        sizes.sum()
    }

    pub(super) fn control(&self) -> Result<Control, Error> {
        read(&self.control, 0)
    }

    pub(super) fn set_control(&self, control: &Control) -> Result<(), Error> {
        write(&self.control, 0, control)
    }

    pub(super) fn plan(&self, slot: u32) -> Result<Plan, Error> {
        let slots = read_bytes(&self.plans, 0)?;
        slots.get(slot_range(slot)).and_then(Plan::from_bytes).ok_or_else(|| unexpected(&self.plans))
    }

    /// The map holds all slots as one value: the others get the bytes that they have.
    pub(super) fn set_plan(&self, slot: u32, plan: &Plan) -> Result<(), Error> {
        let mut slots = read_bytes(&self.plans, 0)?;
        slots.get_mut(slot_range(slot)).ok_or_else(|| unexpected(&self.plans))?.copy_from_slice(plan.bytes());
        write_bytes(&self.plans, 0, &slots)
    }

    /// Writes the peer of this number in a slot.
    pub(super) fn set_peer(&self, slot: u32, number: u32, peer: &PeerLine) -> Result<(), Error> {
        write(&self.stripe_peers, slot * MAX_PEERS as u32 + number, peer)
    }

    /// Says in a slot whose address this is.
    pub(super) fn set_address(&self, key: &Key, entry: &Entry) -> Result<(), Error> {
        attempt(
            || "note an address of a peer".to_owned(),
            || self.stripe_index.update(key.bytes(), entry.bytes(), MapFlags::ANY),
        )
    }

    /// Forgets an address in a slot, if it is there.
    pub(super) fn remove_address(&self, key: &Key) -> Result<(), Error> {
        attempt(
            || "forget an address of a peer".to_owned(),
            || match self.stripe_index.delete(key.bytes()) {
                Err(error) if error.kind() == libbpf_rs::ErrorKind::NotFound => Ok(()),
                done => done,
            },
        )
    }

    /// Says in a slot what goes twice.
    pub(super) fn set_class(&self, slot: u32, class: &Class) -> Result<(), Error> {
        write(&self.stripe_classes, slot, class)
    }

    /// Remembers these peers' streams, old and new ones. Others are forgotten only when there is no room; where there
    /// is not enough for these, old ones stay.
    pub(super) fn keep_streams(&self, peers: impl Iterator<Item = Mac>) -> Result<(), Error> {
        let wanted: BTreeSet<[u8; 8]> = peers.map(padded).collect();
        let known: BTreeSet<[u8; 8]> = self.stripe_streams.keys().filter_map(|key| key.try_into().ok()).collect();
        let kept = wanted.intersection(&known).count();
        let new: Vec<&[u8; 8]> = wanted.difference(&known).take(MAX_STREAMS.saturating_sub(kept)).collect();
        let room = MAX_STREAMS.saturating_sub(known.len());
        for peer in known.difference(&wanted).take(new.len().saturating_sub(room)) {
            attempt(|| "forget a stream".to_owned(), || self.stripe_streams.delete(peer))?;
        }
        new.into_iter().try_for_each(|peer| {
            let stream = Stream::default();
            let add = || self.stripe_streams.update(peer, stream.bytes(), MapFlags::NO_EXIST);
            attempt(|| "remember a stream".to_owned(), add)
        })
    }

    /// What was sent to a peer and received from it, as numbered frames.
    pub(super) fn stream(&self, peer: Mac) -> Result<StreamCounters, Error> {
        let map = &self.stripe_streams;
        let bytes = attempt(|| reading(map), || map.lookup(&padded(peer), MapFlags::ANY))?;
        let Some(bytes) = bytes else { return Ok(StreamCounters::default()) };
        Ok(Stream::from_bytes(&bytes).ok_or_else(|| unexpected(map))?.counters())
    }

    /// All addresses of peers, in all slots.
    pub(super) fn indexed(&self) -> Result<Vec<Key>, Error> {
        let key = |key: Vec<u8>| Key::from_bytes(&key).ok_or_else(|| unexpected(&self.stripe_index));
        self.stripe_index.keys().map(key).collect()
    }

    /// Interface indexes and their places.
    pub(super) fn places(&self) -> Result<Vec<(u32, Place)>, Error> {
        let indexes = self.places.keys().filter_map(|key| Some(u32::from_ne_bytes(key.try_into().ok()?)));
        indexes.map(|index| Ok((index, read(&self.places, index)?))).collect()
    }

    pub(super) fn set_place(&self, index: u32, place: &Place) -> Result<(), Error> {
        write(&self.places, index, place)
    }

    pub(super) fn remove_place(&self, index: u32) -> Result<(), Error> {
        attempt(|| format!("forget interface {index}"), || self.places.delete(&index.to_ne_bytes()))
    }

    /// What a place carried, of all CPUs.
    pub(super) fn counters(&self, place: u32) -> Result<Counters, Error> {
        counters_of(&self.counters, place)
    }

    /// Sets what a place carried.
    pub(super) fn set_counters(&self, place: u32, counters: &Counters) -> Result<(), Error> {
        attempt(
            || "write counters".to_owned(),
            || {
                let mut values = vec![Counters::default().bytes().to_vec(); libbpf_rs::num_possible_cpus()?];
                if let Some(first) = values.first_mut() {
                    *first = counters.bytes().to_vec();
                }
                self.counters.update_percpu(&place.to_ne_bytes(), &values, MapFlags::ANY)
            },
        )
    }

    /// Frames that no member could send.
    pub(super) fn unsent(&self) -> Result<u64, Error> {
        self.tallied(|tally| tally.unsent)
    }

    /// What the stack sent, by bucket.
    pub(super) fn loads(&self) -> Result<nicteam_team::Loads, Error> {
        let mut sum = nicteam_team::Loads::default();
        for Loads { bytes: [buckets @ .., other] } in read_percpu::<Loads>(&self.loads, 0)? {
            sum.buckets.iter_mut().zip(buckets).for_each(|(sum, bytes)| *sum += bytes);
            sum.other += other;
        }
        Ok(sum)
    }
}

/// True of maps by the same name that hold as much of the same.
fn is_like(a: &OpenMap<'_>, b: &MapHandle) -> bool {
    (a.name(), a.map_type(), a.key_size(), a.value_size(), a.max_entries())
        == (b.name(), b.map_type(), b.key_size(), b.value_size(), b.max_entries())
}

/// What a place carried, by a counter map of this or a predecessor's.
pub(super) fn counters_of(map: &MapHandle, place: u32) -> Result<Counters, Error> {
    let mut sum = Counters::default();
    for one in read_percpu::<Counters>(map, place)? {
        sum.tx_frames += one.tx_frames;
        sum.tx_bytes += one.tx_bytes;
        sum.tx_drops += one.tx_drops;
        sum.rx_frames += one.rx_frames;
        sum.rx_bytes += one.rx_bytes;
        sum.rx_drops += one.rx_drops;
    }
    Ok(sum)
}

/// Where a slot is among the bytes of all.
fn slot_range(slot: u32) -> Range<usize> {
    let start = slot as usize * size_of::<Plan>();
    start..start + size_of::<Plan>()
}

fn read<T: Plain>(map: &MapHandle, key: u32) -> Result<T, Error> {
    T::from_bytes(&read_bytes(map, key)?).ok_or_else(|| unexpected(map))
}

fn read_bytes(map: &MapHandle, key: u32) -> Result<Vec<u8>, Error> {
    let bytes = attempt(|| reading(map), || map.lookup(&key.to_ne_bytes(), MapFlags::ANY))?;
    bytes.ok_or_else(|| unexpected(map))
}

fn read_percpu<T: Plain>(map: &MapHandle, key: u32) -> Result<Vec<T>, Error> {
    let values = attempt(|| reading(map), || map.lookup_percpu(&key.to_ne_bytes(), MapFlags::ANY))?;
    let values = values.ok_or_else(|| unexpected(map))?;
    values.iter().map(|bytes| T::from_bytes(bytes).ok_or_else(|| unexpected(map))).collect()
}

fn write<T: Plain>(map: &MapHandle, key: u32, value: &T) -> Result<(), Error> {
    write_bytes(map, key, value.bytes())
}

fn write_bytes(map: &MapHandle, key: u32, bytes: &[u8]) -> Result<(), Error> {
    attempt(
        || format!("write the map `{}`", map.name().display()),
        || map.update(&key.to_ne_bytes(), bytes, MapFlags::ANY),
    )
}

fn reading(map: &MapHandle) -> String {
    format!("read the map `{}`", map.name().display())
}

fn unexpected(map: &MapHandle) -> Error {
    Error::Bpf { operation: reading(map), message: "it does not hold what it should".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriers_are_looked_at_from_6_2_on() {
        for (release, shows) in [
            ("6.18.44-fc-v657\n", true),
            ("6.2.0", true),
            ("10.0", true),
            ("6.1.0-56-cloud-amd64", false),
            ("5.15.0", false),
            ("", false),
        ] {
            assert_eq!(shows_devices(release), shows, "{release}");
        }
    }
}

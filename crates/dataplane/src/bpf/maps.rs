//! A team's maps, as this process reads and writes them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle, OpenMap, OpenObject};
use nicteam_team::constants::{MAX_SOURCES, MAX_STREAMS, SOURCE_IDLE_NS};
use nicteam_team::stripe::MAX_PEERS;
use nicteam_team::stripe::redundant::StreamCounters;
use nicteam_wire::Mac;

use super::abi::{MAPS, names};
use super::failover::Failover;
use super::layout::{self, Answer, Control, Counters, Loads, Place, Plain, Plan, Source, SourceKey, Tally, padded};
use super::lease::{Lease, now_ns};
use super::libbpf_log::attempt;
use super::notes::Notes;
use super::peers::{Entry, Key, PeerLine};
use super::plain::PlainSeen;
use super::punts::Punts;
use super::streams::{Class, Stream};
use crate::{Error, Programs};

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
    punts: MapHandle,
    stripe_peers: MapHandle,
    stripe_index: MapHandle,
    stripe_state: MapHandle,
    stripe_echoes: MapHandle,
    stripe_notes: MapHandle,
    plain_flows: MapHandle,
    plain_seen: MapHandle,
    stripe_classes: MapHandle,
    stripe_streams: MapHandle,
    carrier: MapHandle,
    failover: MapHandle,
    buckets: MapHandle,
    sources: MapHandle,
}

impl Maps {
    /// Takes each by its name.
    pub(super) fn find<E>(mut map: impl FnMut(&str) -> Result<MapHandle, E>) -> Result<Maps, E> {
        Ok(Maps {
            control: map(names::DATA_CONTROL)?,
            plans: map(names::DATA_PLANS)?,
            places: map(names::PLACES)?,
            counters: map(names::COUNTERS)?,
            tally: map(names::TALLY)?,
            loads: map(names::LOADS)?,
            lease: map(names::DATA_LEASE)?,
            answers: map(names::ANSWERS)?,
            punts: map(names::PUNTS)?,
            stripe_peers: map(names::STRIPE_PEERS)?,
            stripe_index: map(names::STRIPE_INDEX)?,
            stripe_state: map(names::STRIPE_STATE)?,
            stripe_echoes: map(names::STRIPE_ECHOES)?,
            stripe_notes: map(names::BSS_NOTES)?,
            plain_flows: map(names::PLAIN_FLOWS)?,
            plain_seen: map(names::BSS_PLAIN)?,
            stripe_classes: map(names::STRIPE_CLASSES)?,
            stripe_streams: map(names::STRIPE_STREAMS)?,
            carrier: map(names::DATA_CARRIER)?,
            failover: map(names::DATA_FAILOVER)?,
            buckets: map(names::DATA_BUCKETS)?,
            sources: map(names::SOURCES)?,
        })
    }

    /// Every one of them.
    pub(super) fn all(&self) -> [&MapHandle; MAPS] {
        [
            &self.control,
            &self.plans,
            &self.places,
            &self.counters,
            &self.tally,
            &self.loads,
            &self.lease,
            &self.answers,
            &self.punts,
            &self.stripe_peers,
            &self.stripe_index,
            &self.stripe_state,
            &self.stripe_echoes,
            &self.stripe_notes,
            &self.plain_flows,
            &self.plain_seen,
            &self.stripe_classes,
            &self.stripe_streams,
            &self.carrier,
            &self.failover,
            &self.buckets,
            &self.sources,
        ]
    }

    /// Where the programs put what they punt.
    pub(super) fn punts(&self) -> Result<Punts, Error> {
        Punts::open(&self.punts)
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

    /// What the programs know of plain hosts.
    pub(super) fn plain(&self, programs: Programs) -> Result<Option<PlainSeen>, Error> {
        (programs == Programs::WithStripe).then(|| PlainSeen::new(&self.plain_seen)).transpose()
    }

    /// What is said to the partner of a place while the process is silent.
    pub(super) fn answer(&self, place: u32) -> Result<Answer, Error> {
        answer_of(&self.answers, place)
    }

    pub(super) fn set_answer(&self, place: u32, answer: &Answer) -> Result<(), Error> {
        write(&self.answers, place, answer)
    }

    /// LACPDUs that were answered for the process.
    pub(super) fn answered(&self) -> Result<u64, Error> {
        self.tallied(|tally| tally.answered)
    }

    /// Acknowledgements that were suppressed.
    pub(super) fn withheld(&self) -> Result<u64, Error> {
        self.tallied(|tally| tally.withheld)
    }

    /// One sum of the tally, of all CPUs.
    fn tallied(&self, sum: fn(&Tally) -> u64) -> Result<u64, Error> {
        let tallies: Vec<Tally> = read_percpu(&self.tally, 0)?;
        Ok(tallies.iter().map(sum).sum())
    }

    /// Makes an object use these maps instead of new ones, but for those of stripe where only one of both has it.
    pub(super) fn lend_to(&self, object: &mut OpenObject) -> libbpf_rs::Result<()> {
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
        places_of(&self.places)
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

    /// The sources that the stack sent in the last 300 s.
    pub(super) fn sources(&self) -> Result<Vec<(Mac, u16)>, Error> {
        let now_ns = now_ns();
        let source = |key: Vec<u8>| -> Result<Option<(Mac, u16)>, Error> {
            // It may have given way meanwhile.
            let Some(value) = attempt(|| reading(&self.sources), || self.sources.lookup(&key, MapFlags::ANY))? else {
                return Ok(None);
            };
            let key = SourceKey::from_bytes(&key).ok_or_else(|| unexpected(&self.sources))?;
            let value = Source::from_bytes(&value).ok_or_else(|| unexpected(&self.sources))?;
            let lasts = now_ns.saturating_sub(value.sent_ns) < SOURCE_IDLE_NS;
            Ok(lasts.then_some((Mac(key.mac), key.vlan)))
        };
        // One that gives way while they are listed lets the kernel begin again.
        let keys: BTreeSet<Vec<u8>> = self.sources.keys().take(2 * MAX_SOURCES).collect();
        keys.into_iter().map(source).filter_map(Result::transpose).collect()
    }

    /// Makes everything that is known of sources older.
    pub(super) fn age_sources(&self, by: Duration) -> Result<(), Error> {
        let by_ns = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        // An update of an LRU map moves the entry: a walk that goes on past it can turn in a circle for ever.
        let keys: BTreeSet<Vec<u8>> = self.sources.keys().take(2 * MAX_SOURCES).collect();
        for key in keys {
            let Some(value) = attempt(|| reading(&self.sources), || self.sources.lookup(&key, MapFlags::ANY))? else {
                continue;
            };
            let Source { sent_ns, locked_until_ns } =
                Source::from_bytes(&value).ok_or_else(|| unexpected(&self.sources))?;
            let older = Source {
                sent_ns: sent_ns.saturating_sub(by_ns),
                locked_until_ns: locked_until_ns.saturating_sub(by_ns),
            };
            attempt(|| "make a source older".to_owned(), || self.sources.update(&key, older.bytes(), MapFlags::EXIST))?;
        }
        Ok(())
    }

    /// Bytes that the stack sent, by bucket, and the member of each bucket.
    pub(super) fn loads(&self) -> Result<nicteam_team::Loads, Error> {
        let mut sum = nicteam_team::Loads::default();
        for Loads { bytes: [buckets @ .., other] } in read_percpu::<Loads>(&self.loads, 0)? {
            sum.buckets.iter_mut().zip(buckets).for_each(|(sum, bytes)| *sum += bytes);
            sum.other += other;
        }
        sum.members = read::<layout::Buckets>(&self.buckets, 0)?.members();
        Ok(sum)
    }
}

/// True of maps by the same name that hold as much of the same.
pub(super) fn is_like(a: &OpenMap<'_>, b: &MapHandle) -> bool {
    (a.name(), a.map_type(), a.key_size(), a.value_size(), a.max_entries())
        == (b.name(), b.map_type(), b.key_size(), b.value_size(), b.max_entries())
}

/// Which device has which place, by a map of this or a predecessor's.
pub(super) fn places_of(map: &MapHandle) -> Result<Vec<(u32, Place)>, Error> {
    let indexes = map.keys().filter_map(|key| Some(u32::from_ne_bytes(key.try_into().ok()?)));
    indexes.map(|index| Ok((index, read(map, index)?))).collect()
}

/// What is said to the partner of a place, by a map of this or a predecessor's.
pub(super) fn answer_of(map: &MapHandle, place: u32) -> Result<Answer, Error> {
    read(map, place)
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

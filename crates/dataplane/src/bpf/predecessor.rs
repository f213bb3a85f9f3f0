//! What an earlier process left on the devices of a team.

use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{ErrorKind, MapCore, MapHandle, ObjectBuilder, ProgramHandle};

use super::abi::{LAYOUT, names};
use super::layout::{Answer, Counters, Place};
use super::libbpf_log::attempt;
use super::maps::{Maps, is_like};
use super::object::{BEHIND, CARRIER, EGRESS, INGRESS, OBJECTS, missing};
use super::tc::{self, Point};
use crate::{Error, Programs, TeamDevice};

/// What an earlier process left on a team device.
pub(super) enum Predecessor {
    /// Nothing.
    None,
    /// Maps that programs of ours can use: these.
    Same(Box<Maps>, Programs),
    /// Maps of another version.
    Other(Readable),
}

/// What of another version's maps can be read: those whose values are as long as ours.
#[derive(Default)]
pub(super) struct Readable {
    /// What places carried.
    pub(super) counters: Option<MapHandle>,
    /// The members by place, and what is said to their partners.
    pub(super) answers: Option<(MapHandle, MapHandle)>,
}

/// Looks for it behind the filters of the team device and of the end behind it: of either alone, where the other was taken
/// away, or is none of the predecessor's (of earlier versions the team device's program chose the members).
pub(super) fn find(device: &TeamDevice) -> Result<Predecessor, Error> {
    let behind = ours_at(&device.peer_name, device.peer_index, Point::Behind, BEHIND)?;
    let egress = || ours_at(&device.name, device.index, Point::Egress, EGRESS);
    let Some(id) = behind.map_or_else(egress, |id| Ok(Some(id)))? else { return Ok(Predecessor::None) };
    let maps = attempt(|| format!("read the maps of the team `{}`", device.name), || maps_of(id))?;
    let named = |name: &str| maps.iter().find(|map| map.name() == name);
    let same = Maps::find(|name| match named(name) {
        Some(map) => MapHandle::try_from(map),
        None => Err(missing("map", name)),
    });
    let fits = |same: &Maps| fit(same, device.peer_index).transpose();
    match same.ok().and_then(|same| Some((fits(&same)?, same))) {
        Some((programs, same)) => Ok(Predecessor::Same(Box::new(same), programs?)),
        None => {
            let sized = |name: &str, size: usize| {
                let map = named(name).filter(|map| map.value_size() as usize == size)?;
                MapHandle::try_from(map).ok()
            };
            let answers = sized(names::PLACES, size_of::<Place>()).zip(sized(names::ANSWERS, size_of::<Answer>()));
            Ok(Predecessor::Other(Readable { counters: sized(names::COUNTERS, size_of::<Counters>()), answers }))
        }
    }
}

/// Of which programs of ours a team's maps are, for the team device whose end behind has this index.
fn fit(maps: &Maps, behind_index: u32) -> Result<Option<Programs>, Error> {
    for programs in [Programs::WithoutStripe, Programs::WithStripe] {
        let open = || ObjectBuilder::default().open_memory(OBJECTS[programs as usize]);
        let expected = attempt(|| "read the eBPF object".to_owned(), open)?;
        if maps.all().into_iter().all(|map| expected.maps().any(|other| is_like(&other, map))) {
            let control = maps.control()?;
            let is_ours = control.layout == LAYOUT && control.behind_ifindex == behind_index;
            return Ok(is_ours.then_some(programs));
        }
    }
    Ok(None)
}

/// True if the filter on this member is a team's.
pub(super) fn member_is_ours(device: &str, index: u32) -> Result<bool, Error> {
    let at = |point| ours_at(device, index, point, INGRESS).map(|id| id.is_some());
    Ok(at(Point::Ingress)? || has_former(index))
}

/// True if the program of an earlier version is on this member, ahead of where ours is.
fn has_former(index: u32) -> bool {
    let name = |id| name_of(id, index, Point::FormerIngress).ok();
    tc::program_at(index, Point::FormerIngress).and_then(name).is_some_and(|name| name == INGRESS)
}

/// Takes it off. A stranger's program stays.
pub(super) fn remove_former(index: u32) -> Result<(), Error> {
    if has_former(index) { tc::remove_filter(index, Point::FormerIngress) } else { Ok(()) }
}

/// True if the program that looks at carriers is on this member.
pub(super) fn has_carrier_program(device: &str, index: u32) -> Result<bool, Error> {
    ours_at(device, index, Point::Egress, CARRIER).map(|id| id.is_some())
}

/// The program in our place on a device. A stranger's is not touched.
pub(super) fn ours_at(device: &str, index: u32, point: Point, name: &str) -> Result<Option<u32>, Error> {
    let Some(id) = tc::program_at(index, point) else { return Ok(None) };
    let found = attempt(|| format!("read the program on `{device}`"), || name_of(id, index, point))?;
    if found == name {
        return Ok(Some(id));
    }
    let side = if point.is_egress() { "egress" } else { "ingress" };
    Err(Error::Bpf {
        operation: format!("use `{device}`"),
        message: format!(
            "another eBPF program, `{found}`, has the team's place among its {side} filters; hint: remove it with `tc filter del dev {device} {side}`"
        ),
    })
}

/// A program's name: what it says itself or, to a process that has given up the capability to ask it, what its filter is called.
fn name_of(id: u32, index: u32, point: Point) -> Result<String, Box<dyn std::error::Error>> {
    match ProgramHandle::from_prog_id(id) {
        Ok(program) => Ok(program.name().to_string_lossy().into_owned()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let called = tc::filter_name(index, point)?.unwrap_or_default();
            Ok(called.strip_suffix(&format!(":[{id}]")).unwrap_or_default().to_owned())
        }
        Err(error) => Err(error.into()),
    }
}

fn maps_of(program_id: u32) -> libbpf_rs::Result<Vec<MapHandle>> {
    let query = ProgInfoQueryOptions::default().include_map_ids(true);
    let info = ProgInfoIter::with_query_opts(query).find(|info| info.id == program_id);
    info.map_or_else(Vec::new, |info| info.map_ids).into_iter().map(MapHandle::from_map_id).collect()
}

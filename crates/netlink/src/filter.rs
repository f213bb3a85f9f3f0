//! Filters of traffic control.

use std::collections::BTreeSet;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_ECHO};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcFilterBpfOption, TcHandle, TcMessage, TcOption};

use super::Netlink;
use nicteam_sys::Result;

/// Where filters of what a device receives are (`TC_H_CLSACT`, `TC_H_MIN_INGRESS`).
const INGRESS: TcHandle = TcHandle { major: 0xffff, minor: 0xfff2 };
/// The same for what it sends.
const EGRESS: TcHandle = TcHandle { major: 0xffff, minor: 0xfff3 };

/// The filter for all protocols at one place: on what a device receives or sends, with this priority and handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterPlace {
    /// Interface index.
    pub index: u32,
    /// On what it sends; else on what it receives.
    pub egress: bool,
    /// Its priority.
    pub priority: u16,
    /// Its handle.
    pub handle: u32,
}

/// A filter on what a device receives, in the order in which frames meet them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IngressFilter {
    /// Its priority.
    pub priority: u16,
    /// Its kind: `bpf`, `u32`, `flower`.
    pub kind: String,
}

impl Netlink {
    /// Removes every filter from what a device receives and sends (tc; links of TCX stay). The queueing discipline that holds
    /// them stays.
    ///
    /// # Errors
    /// `ENODEV`: there is no device.
    pub fn remove_filters(&mut self, index: u32) -> Result<()> {
        for parent in [INGRESS, EGRESS] {
            let request = RouteNetlinkMessage::DelTrafficFilter(message(index, parent));
            match self.done(request, 0, || format!("remove the filters of device {index}")) {
                // No queueing discipline holds filters.
                Err(error) if matches!(error.errno(), Some(libc::EINVAL | libc::ENOENT)) => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// The filters on what a device receives (tc; links of TCX are not among them), one for each priority and kind.
    ///
    /// # Errors
    /// `ENODEV`: there is no device.
    pub fn ingress_filters(&mut self, index: u32) -> Result<Vec<IngressFilter>> {
        let request = RouteNetlinkMessage::GetTrafficFilter(message(index, INGRESS));
        let answers = self.request(request, NLM_F_DUMP, || format!("list the filters of interface {index}"))?;
        let filter = |answer: RouteNetlinkMessage| match answer {
            RouteNetlinkMessage::NewTrafficFilter(filter) => Some(IngressFilter {
                // The upper half; the lower is the protocol.
                priority: (filter.header.info >> 16) as u16,
                kind: filter.attributes.into_iter().find_map(|attribute| match attribute {
                    TcAttribute::Kind(kind) => Some(kind),
                    _ => None,
                })?,
            }),
            _ => None,
        };
        let filters: BTreeSet<IngressFilter> = answers.into_iter().filter_map(filter).collect();
        Ok(filters.into_iter().collect())
    }

    /// The name that the eBPF filter at this place was given when it was attached; `None` if it has none. libbpf gives
    /// `NAME:[ID]`, by its program. This takes no capability; the program itself tells its name to `CAP_SYS_ADMIN` alone.
    ///
    /// # Errors
    /// `ENOENT`: there is no filter; `ENODEV`: there is no device.
    pub fn filter_name(&mut self, place: FilterPlace) -> Result<Option<String>> {
        let mut message = message(place.index, if place.egress { EGRESS } else { INGRESS });
        message.header.handle = TcHandle::from(place.handle);
        message.header.info = u32::from(place.priority) << 16 | u32::from((libc::ETH_P_ALL as u16).to_be());
        message.attributes = vec![TcAttribute::Kind("bpf".to_owned())];
        let operation = || format!("ask for the filter of interface {}", place.index);
        let request = RouteNetlinkMessage::GetTrafficFilter(message);
        let answers = self.connection.request(request, NLM_F_ECHO, operation)?;
        Ok(answers.into_iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewTrafficFilter(filter) => name_of(&filter),
            _ => None,
        }))
    }
}

/// A message about filters of a device.
fn message(index: u32, parent: TcHandle) -> TcMessage {
    let mut message = TcMessage::default();
    message.header.index = i32::try_from(index).unwrap_or(i32::MAX);
    message.header.parent = parent;
    message
}

fn name_of(filter: &TcMessage) -> Option<String> {
    let options = filter.attributes.iter().find_map(|attribute| match attribute {
        TcAttribute::Options(options) => Some(options),
        _ => None,
    })?;
    options.iter().find_map(|option| match option {
        TcOption::Bpf(TcFilterBpfOption::ProgName(name)) => Some(name.clone()),
        _ => None,
    })
}

//! Filters of traffic control.

use netlink_packet_core::NLM_F_ECHO;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcFilterBpfOption, TcHandle, TcMessage, TcOption};

use super::Netlink;
use crate::Result;

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

impl Netlink {
    /// The name that the eBPF filter at this place was given when it was attached; `None` if it has none. libbpf gives
    /// `NAME:[ID]`, by its program. This takes no capability; the program itself tells its name to `CAP_SYS_ADMIN` alone.
    ///
    /// # Errors
    /// `ENOENT`: there is no filter; `ENODEV`: there is no device.
    pub fn filter_name(&mut self, place: FilterPlace) -> Result<Option<String>> {
        let mut message = TcMessage::default();
        message.header.index = i32::try_from(place.index).unwrap_or(i32::MAX);
        message.header.parent = TcHandle { major: 0xffff, minor: if place.egress { 0xfff3 } else { 0xfff2 } };
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
